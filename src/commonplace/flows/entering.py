"""A candidate becomes an entry: written where it belongs or waits, and what it replaces put away, in one commit."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commonplace.facts.entry import changes
from commonplace.facts.routes import archive_path, importance_of, path_for
from commonplace.facts.slug import slug_of
from commonplace.flows.amend import entry_edit, refuse_elsewhere
from commonplace.flows.entry_notes import entry_note, heir_note
from commonplace.flows.identity import new_id
from commonplace.flows.keeper import Keeper
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.read import locate
from commonplace.flows.write import Edit, Permit, Reader, change, changed, marks_of
from commonplace.model import Bond, Candidate, Fact, Remembered, Terms, Verdict
from commonplace.policy.spaces import staging_path
from commonplace.recalling.times import in_utc

if TYPE_CHECKING:
    from commonplace.policy.gate import Gated


@dataclass(frozen=True, slots=True)
class Entering:
    """A candidate on its way into the vault: what is to become of it, and of the fact that it is about.

    `holds` is whether that fact holds now; `contradicts`, that it speaks against yet another; `was_forgotten`, that
    someone asked not to be told these words again.
    """

    candidate: Candidate
    verdict: Verdict
    old: Fact | None
    keeper: Keeper
    gated: "Gated"
    holds: bool = True
    contradicts: bool = False
    was_forgotten: bool = False

    @property
    def ended(self) -> Fact | None:
        """The entry that ends with the new one; a line of a note stays as its person wrote it."""
        is_entry = self.old is not None and self.old.origin == "entry"
        return self.old if self.verdict.action in ("supersede", "insert") and is_entry else None

    @property
    def staged_because(self) -> str:
        """Why it must wait for a person; empty where it need not."""
        old, verdict = self.old, self.verdict
        if self.gated.verdict == "stage":
            return self.gated.said
        if self.keeper.desk.actor.kind == "person":
            return ""
        if self.candidate.origins.trust == "told":
            return "It is given as the person's own word."
        if self.was_forgotten:
            return "It was forgotten once."
        if self.contradicts or verdict.action == "contradict":
            return f"It speaks against what is known. {verdict.reason}"
        if old and verdict.action in ("supersede", "insert"):
            if old.origin == "line":
                return "It would end what a note of the person says."
            if old.place == "staging":
                return "It is a new version of what waits."
            if old.always_load or old.origins.trust in ("told", "read"):
                return "It would replace the person's own word."
        return ""

    def carry_out(self, *, dry_run: bool) -> Remembered:
        """Write the new entry, and put the old one away, in one commit. Raises as `change` does, and Refused."""
        desk, waits = self.keeper.desk, self.staged_because
        fact, is_over = self._fact(waits), self._is_over
        content = self._content(fact)
        verb = "evolve" if self.verdict.action == "supersede" else "save"
        message = desk.message.replace("{verb}", verb).replace("{path}", fact.path)
        terms = Terms(message=message, dry_run=dry_run)
        at, new = locate(fact.path, desk.vault), Permit(desk, terms, "remember", fact.path)
        refuse_elsewhere(new.ask(incoming=marks_of(content, path=fact.path)), fact.path)
        away = _Ending(self.ended, fact, self.keeper, terms, is_over=is_over) if self.ended and not waits else None

        def plan(read: Reader) -> tuple[Edit, ...]:
            first = Edit(at, None, content)
            return (first, away.edit(read)) if away else (first,)

        permits = [new, away.permit] if away else [new]
        edits, made = change(plan, permits, path=fact.path, trailers=away.trailers if away else {})
        told = changed(edits[0], new, made, more=edits[1:])
        return Remembered(
            action=self.verdict.action,
            fact=fact,
            reason=waits or self.verdict.reason,
            old=self.verdict.target,
            commit=told.commit,
            staged=bool(waits),
            changed=told.changed,
            difference=told.difference,
        )

    def _content(self, fact: Fact) -> bytes:
        """The new note; the heir of another keeps what a person wrote beside our keys, such as that it is sensitive."""
        slug = slug_of(fact.text)
        if self.ended is None or not fact.supersedes:
            return entry_note(fact, tags=self.candidate.tags, slug=slug)
        vault = self.keeper.desk.vault
        return heir_note(
            vault.read(locate(self.ended.path, vault)).content, self.ended, fact, tags=self.candidate.tags, slug=slug
        )

    @property
    def _is_over(self) -> bool:
        """Whether the old entry is replaced now, and not only from a moment that is still to come."""
        begins = self.candidate.valid_from or self.keeper.now
        return self.verdict.action == "supersede" and (begins <= self.keeper.now or not self.holds)

    def _fact(self, waits: str) -> Fact:
        candidate, verdict, ended = self.candidate, self.verdict, self.ended
        now = self.keeper.desk.clock()
        id_, recorded = new_id(now), in_utc(now)
        heir_of = ended if verdict.action == "supersede" else None
        always_load = candidate.always_load or bool(heir_of and heir_of.always_load)
        own = path_for(candidate.kind, id=id_, slug=slug_of(candidate.text), recorded=recorded, always_load=always_load)
        usual = heir_of.importance if heir_of else importance_of(candidate.fact)
        until = min((each for each in (candidate.valid_until, verdict.until) if each), default="")
        return Fact(
            id=id_,
            path=staging_path(own) if waits else own,
            line=0,
            origin="entry",
            text=candidate.text,
            kind=candidate.kind,
            fact=candidate.fact,
            place="staging" if waits else "",
            sensitive=bool(heir_of and heir_of.sensitive),
            always_load=always_load,
            importance=usual if candidate.importance is None else candidate.importance,
            topics=candidate.topics or (heir_of.topics if heir_of else ()),
            subject=candidate.subject,
            predicate=candidate.predicate,
            object=candidate.object,
            valid_from=candidate.valid_from,
            valid_until=until,
            recorded=recorded,
            updated=recorded,
            supersedes=ended.id if ended and self._is_over else "",
            reason=waits or (verdict.reason if ended else ""),
            bonds=self._bonds(),
            origins=candidate.origins,
        )

    def _bonds(self) -> tuple[tuple[Bond, str], ...]:
        bonds = dict.fromkeys(self.candidate.bonds)
        target, action = self.verdict.target, self.verdict.action
        if target and action in ("extend", "derive", "contradict"):
            bonds[action, target] = None
        if target and action == "supersede" and not self._is_over:  # a version that is announced
            bonds["derive", target] = None
        return tuple(sorted(bonds))


class _Ending:
    """An entry that ends where another begins: it is marked, and goes to the archive if that `is_over` now."""

    def __init__(self, old: Fact, new: Fact, keeper: Keeper, terms: Terms, *, is_over: bool) -> None:
        self._old, self._new, self._keeper, self._is_over = old, new, keeper, is_over
        self._to = archive_path(old.path) if is_over else old.path
        self.permit = Permit(keeper.desk, terms, "remember", old.path)
        self.trailers = {MOVED_FROM: old.path, MOVED_TO: self._to} if self._to != old.path else {}

    def edit(self, read: Reader) -> Edit:
        """The old entry as it is to be. Raises Conflict when it is no longer what the index says."""
        old, new, now = self._old, self._new, self._keeper.now
        ends = min(new.begins, old.valid_until) if old.valid_until else new.begins
        ends = max(ends, old.begins)  # one that is corrected from its beginning on never held
        ended = replace(old, valid_until=ends, invalidated_at=now, was_valid_until=old.valid_until, updated=now)
        if self._is_over:
            ended = replace(ended, status="superseded", superseded_by=new.id, superseded_at=now)
        edit = entry_edit(old, changes(old, ended), self._keeper, read)
        refuse_elsewhere(self.permit.ask(there=read(edit.at)), old.path)
        if self._to == old.path:
            return edit
        refuse_elsewhere(self.permit.ask(self._to, there=read(edit.at), moved_from=old.path), self._to)
        return replace(edit, moved_to=locate(self._to, self._keeper.desk.vault))
