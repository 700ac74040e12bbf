"""Evaluate search on a vault: its own headings, names, links and definitions -> questions -> an index without these
texts -> how often each mode finds the note that a question was taken from.

Nothing is written to the vault or to its index. New vectors are cached with the others.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from commonplace.errors import UsageError
from commonplace.events import emit
from commonplace.flows.ingest.documents import document_of
from commonplace.flows.ingest.index_notes import batches
from commonplace.flows.ingest.sync import FreshIndex
from commonplace.flows.read import is_hidden, note_stats, read_all, vault_names
from commonplace.flows.search.search import SearchQuery, search_index
from commonplace.flows.stores import Stores
from commonplace.index.base import Index
from commonplace.model import Mode, Note
from commonplace.model.diagnostics import PROBE_KINDS, Evaluation, Miss, ProbeKind, Score
from commonplace.model.layout import place_of
from commonplace.model.progress import Progress
from commonplace.notes import LinkResolver
from commonplace.notes.probes import Probe, ProbeSample, Vocabulary, link_probes, probes_of, sample_probes
from commonplace.questions.words import STOP_WORDS, forms_of, stem, token_texts, words_of

EVALUATED: Final[tuple[Mode, ...]] = ("hybrid", "words", "sense", "rrf")
LEAST_QUESTIONS: Final = 3  # fewer say nothing about a vault
_HITS: Final = 10
_LEAST_WORDS: Final = 20  # words that a note must keep to be found at all
_SCANNED: Final = 4000  # characters of a note in which they are counted
_LETTER = re.compile(r"[^\W\d_]")
_PUT_AWAY: Final = ("superseded", "expired", "archived", "deleted")
_DIGITS: Final = 4  # of a share
_SHOWN_INSTEAD: Final = 3


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """How to evaluate: the most questions, the search modes, and the seed that chooses the questions."""

    questions: int = 100
    modes: tuple[Mode, ...] = EVALUATED
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """A question as one mode answered it: the note it should find, and the notes it found, best first."""

    mode: Mode
    kind: ProbeKind
    question: str
    expected: str
    paths: tuple[str, ...]

    @property
    def rank(self) -> int | None:
        """The rank of the expected note, from 1; None if it was not found."""
        return self.paths.index(self.expected) + 1 if self.expected in self.paths else None


def evaluate(stores: Stores, plan: EvaluationPlan, *, progress: Progress) -> Evaluation:
    """How well search finds the notes of this vault by texts that were held out of them.

    Without vectors, only the mode `words` is evaluated. Raises UsageError if too few questions can be made, and
    VaultUnavailable.
    """
    start = time.perf_counter()
    notes, resolver = _read(stores)
    sample = _sample(notes, resolver, stores, plan)
    with stores.parts().temporary_index() as index:
        fresh = _fill(index, [sample.without.get(path, note) for path, note in notes.items()], stores, progress)
        modes: tuple[Mode, ...] = ("words",) if fresh.missing else plan.modes
        results = list(_ask(sample.probes, modes, stores.using(index=index), progress))
    evaluation = Evaluation(
        modes=modes,
        rows=tuple(score_rows(results, modes)),
        misses=tuple(misses_among(results)),
        notes=len(notes),
        questions=len(sample.probes),
        encoded=fresh.encoded,
        seconds=round(time.perf_counter() - start, 1),
        missing=fresh.missing,
    )
    emit("vault_evaluated", notes=len(notes), questions=len(sample.probes), encoded=fresh.encoded)
    return evaluation


def _read(stores: Stores) -> tuple[dict[str, Note], LinkResolver]:
    """Every readable note by its path, and a resolver of links to all files."""
    files = stores.vault.list(skip=stores.unindexed)
    notes = [each for each in read_all(stores.vault, note_stats(files)) if isinstance(each, Note)]
    return {note.path: note for note in notes}, vault_names(files, notes)


def _sample(notes: Mapping[str, Note], resolver: LinkResolver, stores: Stores, plan: EvaluationPlan) -> ProbeSample:
    """The questions to ask. Raises UsageError if there are too few."""
    if plan.questions < 1:
        raise UsageError(f"the number of questions must be at least 1, not {plan.questions}", hint="Give 1 or more.")
    words = Vocabulary(notes.values(), _content_words, is_usable=lambda note: _is_in_use(note, stores))
    probes = [probe for note in notes.values() for probe in probes_of(note, words)]
    probes += link_probes(notes, words, resolver=resolver)
    counts = Counter(words.key(probe.question) for probe in probes)
    probes = [probe for probe in probes if counts[words.key(probe.question)] == 1]  # others have two right answers
    sample = sample_probes(probes, notes, count=plan.questions, seed=plan.seed, is_large=_is_large)
    if len(sample.probes) < min(LEAST_QUESTIONS, plan.questions):
        raise UsageError(
            f"too few questions can be made from this vault: {len(sample.probes)}, from {len(notes)} notes",
            hint="Questions come from headings, aliases, link texts and definitions: write more notes that have them.",
        )
    return sample


def _is_in_use(note: Note, stores: Stores) -> bool:
    """True if a plain search finds the note and it is not sensitive: a question would show its words."""
    is_put_away = str(note.frontmatter.get("status", "")).strip().lower() in _PUT_AWAY
    is_searched = place_of(note.path) not in ("archive", "staging")
    return is_searched and not is_put_away and not is_hidden(note, stores)


def _content_words(text: str) -> tuple[str, ...]:
    """The stemmed words of a text without stop words; a joined word such as `camelCase` counts as one."""
    words = (word for token in token_texts(text) for word in _longest(forms_of(token, pairs_only=True)))
    return tuple(stem(word) for word in words if word not in STOP_WORDS and _LETTER.search(word))


def _longest(forms: Sequence[str]) -> Iterator[str]:
    return (form for form in dict.fromkeys(forms) if not any(form != other and form in other for other in forms))


def _is_large(note: Note) -> bool:
    return len(words_of(note.body[:_SCANNED])) >= _LEAST_WORDS


def _fill(index: Index, notes: Sequence[Note], stores: Stores, progress: Progress) -> FreshIndex:
    done, chunking = 0, stores.chunking
    with index.replacement() as replacement:
        fresh = FreshIndex(replacement, stores)
        for some in batches(notes):
            fresh.put([document_of(note, chunking, rules=stores.rules, safety=stores.safety) for note in some])
            done += len(some)
            progress("notes", done, len(notes))
        fresh.finish()
    return fresh


def _ask(probes: Sequence[Probe], modes: Sequence[Mode], stores: Stores, progress: Progress) -> Iterator[ProbeResult]:
    """Ask each question in each mode. Only this index is searched: `search` would check the files for changes."""
    for done, probe in enumerate(probes, start=1):
        for mode in modes:
            answer = search_index(SearchQuery(probe.question, mode, k=_HITS, by="document"), stores, "person").answer
            paths = tuple(hit.path for hit in answer.hits)
            yield ProbeResult(mode, probe.kind, probe.question, probe.path, paths)
        progress("questions", done, len(probes))


def score_rows(results: Sequence[ProbeResult], modes: Sequence[Mode]) -> Iterator[Score]:
    """The scores of each mode: one for each kind of question, then one for all."""
    for mode in modes:
        of_mode = [each for each in results if each.mode == mode]
        for kind in PROBE_KINDS:
            of_kind = [each for each in of_mode if each.kind == kind]
            if of_kind:
                yield _score(of_kind, mode, kind)
        yield _score(of_mode, mode, "all")


def misses_among(results: Sequence[ProbeResult]) -> Iterator[Miss]:
    """The questions that did not find their note."""
    for each in results:
        if each.rank is None:
            yield Miss(each.mode, each.kind, each.question, each.expected, each.paths[:_SHOWN_INSTEAD])


def _score(results: Sequence[ProbeResult], mode: Mode, kind: ProbeKind | Literal["all"]) -> Score:
    ranks = [each.rank for each in results]
    hits = [rank for rank in ranks if rank is not None]

    def share(most: int) -> float:
        return round(sum(rank <= most for rank in hits) / len(ranks), _DIGITS)

    mrr = round(sum(1 / rank for rank in hits) / len(ranks), _DIGITS)
    return Score(mode, kind, len(ranks), share(1), share(5), share(10), mrr)
