"""Evaluation: a vault's own headings, names, links and definitions -> questions -> an index without these texts -> how
often each mode finds the note that a question was taken from.

Nothing is written to the vault or to its index. What had to be encoded is kept with the other vectors.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from commonplace.errors import UsageError
from commonplace.events import emit
from commonplace.flows.document import document_of
from commonplace.flows.fill import Filling
from commonplace.flows.ingest import BATCH
from commonplace.flows.look_up import Ask, LookUp
from commonplace.flows.read import names_in, notes_in, read_all
from commonplace.flows.scores import Asked, misses_among, score_rows
from commonplace.flows.shelf import Shelf
from commonplace.index.base import Index
from commonplace.model import Evaluation, Mode, Note
from commonplace.notes import Names
from commonplace.notes.link_probes import link_probes
from commonplace.notes.probe_choice import Choice, choose_probes
from commonplace.notes.probes import Probe, Wording, probes_of
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.spaces import place_of
from commonplace.recalling.stop_words import STOP_WORDS
from commonplace.recalling.tokens import forms_of, token_texts
from commonplace.recalling.words import stem, words_of

EVALUATED: Final[tuple[Mode, ...]] = ("hybrid", "words", "sense", "rrf")
LEAST_QUESTIONS: Final = 3  # fewer say nothing of a vault
_HITS: Final = 10
_LEAST_LEFT: Final = 20  # words of a note without which there is little to find it by
_FAR_ENOUGH: Final = 4000  # characters of a note in which they are looked for
_LETTER = re.compile(r"[^\W\d_]")
_PUT_AWAY: Final = ("superseded", "expired", "archived", "deleted")

Telling = Callable[[Literal["indexed", "asked"], int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a vault is to be evaluated: how many questions at most, in which modes, and the seed that chooses them."""

    questions: int = 100
    modes: tuple[Mode, ...] = EVALUATED
    seed: int = 0


def evaluate(shelf: Shelf, plan: Plan, *, progress: Telling) -> Evaluation:
    """How well search finds the notes of this vault by what was held out of them.

    Without vectors only the mode `words` is asked. Raises UsageError when too few questions can be made, and
    VaultUnavailable.
    """
    start = time.perf_counter()
    notes, names = _read(shelf)
    choice = _choose(notes, names, shelf, plan)
    with shelf.scratch() as index:
        filling = _fill(index, [choice.without.get(path, note) for path, note in notes.items()], shelf, progress)
        modes: tuple[Mode, ...] = ("words",) if filling.missing else plan.modes
        asked = list(_ask(choice.probes, modes, replace(shelf, index=index), progress))
    evaluation = Evaluation(
        modes=modes,
        rows=tuple(score_rows(asked, modes)),
        misses=tuple(misses_among(asked)),
        notes=len(notes),
        questions=len(choice.probes),
        encoded=filling.encoded,
        seconds=round(time.perf_counter() - start, 1),
        missing=filling.missing,
    )
    emit("vault_evaluated", notes=len(notes), questions=len(choice.probes), encoded=filling.encoded)
    return evaluation


def _read(shelf: Shelf) -> tuple[dict[str, Note], Names]:
    """Every note that can be read, by its path, and what all files are called."""
    files = shelf.vault.list(skip=shelf.ignored)
    notes = [each for each in read_all(shelf.vault, notes_in(files)) if isinstance(each, Note)]
    return {note.path: note for note in notes}, names_in(files, notes)


def _choose(notes: Mapping[str, Note], names: Names, shelf: Shelf, plan: Plan) -> Choice:
    """The probes to ask. Raises UsageError when they are too few."""
    if plan.questions < 1:
        raise UsageError(f"{plan.questions} questions are none", hint="Ask for at least one.")
    wording = Wording(notes.values(), _content, tells=lambda note: _is_in_use(note, shelf))
    probes = [probe for note in notes.values() for probe in probes_of(note, wording)]
    probes += link_probes(notes, wording, names=names)
    often = Counter(wording.key(probe.question) for probe in probes)
    probes = [probe for probe in probes if often[wording.key(probe.question)] == 1]  # else it has two answers
    choice = choose_probes(probes, notes, count=plan.questions, seed=plan.seed, is_large=_is_large)
    if len(choice.probes) < min(LEAST_QUESTIONS, plan.questions):
        raise UsageError(
            f"too few questions can be made from this vault: {len(choice.probes)}, from {len(notes)} notes",
            hint="Questions come from headings, aliases, link texts and definitions: write more notes that have them.",
        )
    return choice


def _is_in_use(note: Note, shelf: Shelf) -> bool:
    """Whether the note is found without being asked for, and is not sensitive: a question would show its words."""
    is_put_away = str(note.frontmatter.get("status", "")).strip().lower() in _PUT_AWAY
    place = place_of(note.path)
    return not is_put_away and place not in ("archive", "staging") and not is_sensitive(note, shelf.safety)


def _content(text: str) -> tuple[str, ...]:
    """The words of a text that say something, stemmed; of a joined word such as `camelCase` the whole alone."""
    words = (word for token in token_texts(text) for word in _wholes(forms_of(token, pairs_only=True)))
    return tuple(stem(word) for word in words if word not in STOP_WORDS and _LETTER.search(word))


def _wholes(forms: Sequence[str]) -> Iterator[str]:
    return (form for form in dict.fromkeys(forms) if not any(form != other and form in other for other in forms))


def _is_large(note: Note) -> bool:
    return len(words_of(note.body[:_FAR_ENOUGH])) >= _LEAST_LEFT


def _fill(index: Index, notes: Sequence[Note], shelf: Shelf, progress: Telling) -> Filling:
    """Put these notes into the index."""
    with index.rebuilding() as fresh:
        filling = Filling(fresh, shelf)
        for at in range(0, len(notes), BATCH):
            some = notes[at : at + BATCH]
            filling.put([document_of(note, shelf.cut, rules=shelf.rules, safety=shelf.safety) for note in some])
            progress("indexed", at + len(some), len(notes))
        filling.finish()
    return filling


def _ask(probes: Sequence[Probe], modes: Sequence[Mode], shelf: Shelf, progress: Telling) -> Iterator[Asked]:
    """Each question in each mode. The index is asked itself: `recall` would look whether the notes have changed."""
    for done, probe in enumerate(probes, start=1):
        for mode in modes:
            answer = LookUp(Ask(probe.question, mode, k=_HITS, by="document"), shelf, "person").answer()
            came = tuple(hit.path for hit in answer.hits)
            yield Asked(mode, probe.kind, probe.question, probe.path, came)
        progress("asked", done, len(probes))
