"""A candidate made into an entry: completed, screened, and turned into a fact and the text of its note.

`JudgedCandidate` holds what was decided about a candidate; its properties say whether it must wait for a person, and
what happens to the entry that it is about. Nothing here writes to the vault: `save` does.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from commonplace.errors import Refused, UsageError
from commonplace.facts.claims import is_own_line, is_own_word
from commonplace.facts.entry_format import KEY_ORDER, changed_keys, entry_frontmatter
from commonplace.facts.entry_paths import (
    PLAYBOOK_KINDS,
    checked_kind,
    default_importance,
    entry_path,
    entry_slug,
    fact_class_of,
)
from commonplace.facts.triples import ME, triple_sentence
from commonplace.flows.notes.write import KEEP_ELSEWHERE, refuse_secrets
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Action, ActorKind, Bond, Candidate, Fact, Verdict
from commonplace.model.entry_field import inherited, texts_of
from commonplace.model.layout import staging_path
from commonplace.model.moment import moment_text
from commonplace.model.request import NewEntry
from commonplace.notes import remove_key, set_key
from commonplace.notes.markdown import top_blocks
from commonplace.notes.note_text import split_note
from commonplace.notes.yaml_emit import emit_yaml, plain_value
from commonplace.screening.narration import statement_of

if TYPE_CHECKING:
    from commonplace.screening.gate import GateResult

_FLIPPED: Final = "Programs have replaced it back and forth: the person decides which one holds."
_MICROSECONDS: Final = 1000  # in a millisecond: a number that fits the 12 bits below it
_LABEL: Final = re.compile(r"[*_]*[^\W\d_][^:.!?\n]{0,40}:[*_]*(?:\s|$)")
_STOPS: Final = (".", "!", "?", "\u3002")
_MOST_IN_PART: Final = 100  # characters of a part that an error quotes


def refuse_several(new: NewEntry) -> None:
    """Raise UsageError with the parts of a text that says several things: each may be an entry.

    Parts are list items, the lines of a paragraph if each is a sentence, and paragraphs; but the second of two without
    a label is the reason of the first. What belongs to one statement passes: paragraphs and lines with a label,
    such as "Why: ...", below a statement that has none, and a list below such a label; and a playbook with its steps.
    """
    if "\n" not in new.text.strip() or new.kind.strip().casefold() in PLAYBOOK_KINDS:
        return
    refuse_secrets(new.text)  # the error quotes it
    parts = [*_parts(new.text)]
    if len(parts) > 1 and not _is_statement_with_reason(new.text):
        listed = "; ".join(f"({number}) {part[:_MOST_IN_PART]}" for number, part in enumerate(parts, start=1))
        raise UsageError(
            f"this text says {len(parts)} things: {listed}",
            hint="Save each by itself, in a sentence that stands alone; or all in one entry with `whole`.",
        )


def _is_statement_with_reason(text: str) -> bool:
    """True for two paragraphs, of which the second has no label."""
    blocks = [*top_blocks(text)]
    is_plain = [each.kind == "paragraph" and not _sentences(each.text) for each in blocks]
    return is_plain == [True, True] and not _LABEL.match(blocks[1].text)


def _parts(text: str) -> Iterator[str]:
    """The paragraphs, sentences on lines of their own, and list items that belong to no other one."""
    first, is_below_label = "", False
    for block in top_blocks(text):
        lines = _sentences(block.text) if block.kind == "paragraph" else ()
        for part in lines or [" ".join(block.text.split())]:
            if block.kind == "paragraph":
                is_below_label = bool(first and _LABEL.match(part) and not _LABEL.match(first))
            if not is_below_label and not (block.kind == "paragraph" and part.endswith(":")):
                first = first or part
                yield part


def _sentences(paragraph: str) -> Sequence[str]:
    """The lines of a paragraph, if each is a sentence; empty if it is wrapped.

    No line of them begins with a small letter, and each but the last ends with a stop; of three or more none may.
    """
    lines = [" ".join(line.split()) for line in paragraph.splitlines()]
    stops = [line.endswith(_STOPS) for line in lines]
    is_listed = len(lines) > 2 and all(line[-1:].isalnum() for line in lines)
    is_begun = not any(line[:1].islower() for line in lines)
    return lines if len(lines) > 1 and is_begun and (all(stops[:-1]) or is_listed) else ()


def complete_candidate(candidate: Candidate, session: Session, *, old_kind: str = "") -> Candidate:
    """The candidate with its statement, class and validity filled in, and without narration around the statement.

    What an agent says of the person with a predicate of one value says who they are, whatever class the agent gives.
    Raises UsageError if it is not consistent, or if its kind is neither a known one nor `old_kind`, that of the entry
    which it replaces.
    """
    if candidate.predicate and not (candidate.subject and candidate.object):
        raise UsageError("a triple needs a subject, a predicate and an object", hint="Give all three, or none of them.")
    if candidate.importance is not None and not 0 <= candidate.importance <= 1:
        raise UsageError(
            f"importance must be from 0 to 1, not {candidate.importance}", hint="Give a number such as 0.5."
        )
    own_kinds = (*session.stores.facts.kinds, old_kind)
    kind = checked_kind(candidate.kind, known=filter(None, own_kinds)) if candidate.kind else ""
    rules = session.stores.rules
    begins = candidate.valid_from or session.now
    until = candidate.valid_until or rules.predicates.default_until(candidate.predicate, begins)
    if until and until <= begins:
        raise UsageError("the entry would end before it begins", hint="Give a later end, or an earlier beginning.")
    text = statement_of(_stripped(candidate.text))
    if candidate.predicate and not text:
        text = triple_sentence(candidate.subject, candidate.predicate, candidate.object, user=rules.user)
    is_identity = rules.entity(candidate.subject) == ME and rules.predicates.is_single(candidate.predicate)
    given = "" if is_identity and session.actor.kind == "agent" else candidate.fact  # else a class opens the door
    fact = given or ("identity" if is_identity else fact_class_of(kind))
    return replace(candidate, text=text, kind=kind, fact=fact, valid_until=until)


def _stripped(text: str) -> str:
    """The text without surrounding blanks. Raises UsageError if UTF-8 cannot encode it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"an entry must be text: {error.reason}", hint="Give text.") from error
    return text.strip()


def screen_candidate(candidate: Candidate, session: Session) -> "GateResult":
    """The gate's verdict on the candidate. Raises Refused for a secret in any field, and for junk."""
    from commonplace.screening.gate import gate  # seventy milliseconds of patterns that a reader need not spend

    triple = " ".join((candidate.subject, candidate.predicate.replace("_", " "), candidate.object))
    refuse_secrets(*texts_of(candidate), triple)
    result = gate(
        candidate.text,
        trust=candidate.origins.trust,
        always_load=candidate.always_load,
        actor=session.actor.kind,
        staged_trusts=session.stores.facts.staged_trusts,
    )
    if result.verdict == "refuse":
        is_secret = result.reason == "secret"
        hint = KEEP_ELSEWHERE if is_secret else "Say one thing worth knowing, in a sentence."
        raise Refused(result.message, reason="secret" if is_secret else "junk", hint=hint)
    return result


@dataclass(frozen=True, slots=True)
class JudgedCandidate:
    """A candidate and the decision about it at one moment; `old` is the known fact that the verdict names.

    `others` are more facts that it is said to replace. `holds` is whether the old fact holds now; `waiting` is a staged
    entry with the same words; `was_forgotten`, that someone asked to forget these words; `rejected` is the entry with
    these words that the person rejected in review; `must_wait` says why it waits because of what is near to it;
    `flipped` are the ids of entries that programs have replaced back and forth.
    """

    candidate: Candidate
    verdict: Verdict
    old: Fact | None
    gate: "GateResult"
    actor: ActorKind
    now: datetime
    holds: bool = True
    others: tuple[Fact, ...] = ()
    waiting: Fact | None = None
    was_forgotten: bool = False
    rejected: Fact | None = None
    must_wait: str = ""
    flipped: frozenset[str] = frozenset()

    @property
    def ended(self) -> tuple[Fact, ...]:
        """The entries that end when the new one begins. A line of a note stays as its person wrote it."""
        return tuple(each for each in self._replaced if self._may_end(each))

    @property
    def asked(self) -> tuple[Fact, ...]:
        """The facts that it is said to end, and that only the person may end."""
        return tuple(each for each in self._replaced if not self._may_end(each))

    @property
    def _replaced(self) -> tuple[Fact, ...]:
        is_ending = self.verdict.action in ("supersede", "insert") and self.old is not None
        of_person = self.actor == "person"
        olds = (self.old, *self.others) if is_ending and self.old else ()
        return tuple(each for each in olds if each.origin == "entry" or (not of_person and is_own_line(each)))

    def _may_end(self, old: Fact) -> bool:
        is_flipped = old.id in self.flipped
        return may_end(old, actor=self.actor, is_spoken=self.candidate.is_spoken, is_flipped=is_flipped)

    @property
    def action(self) -> Action:
        """What becomes of the candidate: what may end nothing by itself stands beside the old entry."""
        return "insert" if self.verdict.action == "supersede" and not self.ended else self.verdict.action

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        if not self.asked:
            return self.verdict.reason
        is_flipped = all(each.id in self.flipped for each in self.asked)
        return _FLIPPED if is_flipped else "The person decides whether it replaces their own word."

    @property
    def replaces_now(self) -> bool:
        """True if the old entry is replaced now, and not only from a later moment on."""
        now = moment_text(self.now)
        begins = self.candidate.valid_from or now
        return self.verdict.action == "supersede" and (begins <= now or not self.holds)

    @property
    def staged_because(self) -> str:
        """Why the entry must wait for a person; empty if it need not."""
        if self.gate.verdict == "stage":
            return self.gate.message
        if self.actor == "person":
            return ""
        if self.candidate.doubt:
            return self.candidate.doubt
        if self.candidate.origins.trust == "told" and not self.candidate.is_spoken:
            return "It claims to be the person's own word."
        if self.was_forgotten:
            return "It was forgotten before."
        if self.must_wait:
            return self.must_wait
        if self.asked and "identity" in (self.candidate.kind, self.candidate.fact):
            return "It would replace the person's own word."
        if any(each.place == "staging" for each in self._replaced):
            return "It is a new version of an entry that waits for the person's approval."
        return ""

    def fact(self) -> Fact:
        """The fact as it is to be written, with a new id."""
        candidate, verdict, ended, waits = self.candidate, self.verdict, self.ended, self.staged_because
        id_, recorded = new_id(self.now), moment_text(self.now)
        parent = ended[0] if ended and verdict.action == "supersede" else None
        values = inherited(Fact, candidate, parent, as_version=False)
        if values["importance"] is None:
            values["importance"] = default_importance(candidate.fact)
        values |= self._window(parent, recorded) | {"bonds": self._bonds()}
        fact = Fact(
            **values,
            id=id_,
            path="",
            line=0,
            origin="entry",
            place="staging" if waits else "",
            recorded=recorded,
            updated=recorded,
            supersedes=ended[0].id if ended and self.replaces_now and not waits else "",
            reason=waits or (verdict.reason if ended else ""),
        )
        path = entry_path(fact.kind, id=fact.id, slug=entry_slug(fact), recorded=recorded, always_load=fact.always_load)
        return replace(fact, path=staging_path(path) if waits else path)

    def _window(self, parent: Fact | None, recorded: str) -> dict[str, str]:
        """When it holds: an end that another entry causes is no stated one, nor one that its older version had so.

        What never held, because it was said before what is known, has an end and no moment at which somebody set it.
        """
        begins, stated = self.candidate.valid_from or self.candidate.said, self.candidate.valid_until
        until = min((each for each in (stated, self.verdict.until) if each), default="")
        window = {"valid_from": begins, "valid_until": until}
        if until != stated and until > begins:
            return {**window, "invalidated_at": recorded, "was_valid_until": stated}
        if until and parent and parent.invalidated_at and parent.valid_until == until:
            return {**window, "invalidated_at": recorded, "was_valid_until": parent.was_valid_until}
        return window

    def _bonds(self) -> tuple[tuple[Bond, str], ...]:
        bonds = dict.fromkeys(each for each in self.candidate.bonds if each[0] != "update")  # `supersedes` says that
        target, action = self.verdict.target, self.verdict.action
        if target and action in ("extend", "derive", "contradict"):
            bonds[action, target] = None
        if target and action == "supersede" and not self.replaces_now and self.ended:  # announced for later
            bonds["derive", target] = None
        asked = self._replaced if self.staged_because else self.asked
        return tuple(sorted(bonds | dict.fromkeys(("end", each.id) for each in asked)))


def may_end(old: Fact, *, actor: ActorKind, is_spoken: bool, is_flipped: bool = False) -> bool:
    """True if this actor may end the entry: what the person said or fixed, only the person ends, and what programs
    have replaced back and forth."""
    if actor == "person" or old.origin != "entry":
        return old.origin == "entry"
    is_fixed = old.always_load or old.pinned or old.place == "staging"
    return not is_fixed and (is_spoken or not (is_own_word(old) or is_flipped))


def flipped_among(facts: Iterable[Fact], session: Session) -> frozenset[str]:
    """The ids of those facts that have the words of an earlier version, with only a program's versions since.

    Programs have replaced that version and come back to it: whoever replaces it once more is not the last one.
    """
    with session.stores.index.reader() as reader:
        return frozenset(fact.id for fact in facts if _is_flipped(fact, reader))


def _is_flipped(fact: Fact, reader: IndexReader) -> bool:
    version, passed = fact, {fact.id}
    while version.supersedes and version.supersedes not in passed and not is_own_word(version):
        records = reader.facts(FactQuery(ids=(version.supersedes,)))
        if not records:
            return False
        version = records[0].fact
        if version.fingerprint == fact.fingerprint:
            return True
        passed.add(version.id)
    return False


def new_id(now: datetime) -> str:
    """A version 7 UUID: unique, and sorted after those of earlier moments."""
    micros = int(now.timestamp() * 1_000_000)
    millis, rest = divmod(micros, _MICROSECONDS)
    value = (millis & (2**48 - 1)) << 80
    value |= 0x7 << 76 | (rest * 4096 // _MICROSECONDS) << 64
    value |= 0b10 << 62 | int.from_bytes(os.urandom(8)) >> 2
    return str(UUID(int=value))


def new_entry_note(fact: Fact, *, tags: Sequence[str]) -> bytes:
    """The note of a new entry: its keys in order, and its statement. Raises UsageError for a value YAML cannot hold."""
    keys = entry_frontmatter(fact, tags=tags, slug=entry_slug(fact), created=fact.recorded)
    block = "".join(emit_yaml(key, plain_value(value, path=fact.path), inline=True) for key, value in keys.items())
    return f"---\n{block}---\n{fact.text.strip()}\n".encode()


def successor_note(raw: bytes, old: Fact, new: Fact, *, tags: Sequence[str]) -> bytes:
    """The note of a new version, made from the old one's bytes: our keys are replaced, a person's own keys stay.

    Raises Refused if the old frontmatter cannot be edited without losing something.
    """
    keys = {**changed_keys(old, new), "slug": entry_slug(new), "created": new.recorded}
    edited = with_keys(raw, {**keys, **({"tags": [*tags]} if tags else {})}, path=new.path)
    head = edited[: len(edited) - len(split_note(edited).body.encode("utf-8", "surrogateescape"))]
    return head + f"{new.text.strip()}\n".encode()


def with_keys(raw: bytes, keys: Mapping[str, object | None], *, path: str) -> bytes:
    """The note with these keys set, and those that are None removed; every other byte stays. Raises Refused."""
    for key, value in keys.items():
        is_gone = value is None
        raw = remove_key(raw, key, path=path) if is_gone else set_key(raw, key, value, path=path, order=KEY_ORDER)
    return raw
