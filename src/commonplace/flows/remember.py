"""Remembering: the one road into memory. A candidate -> the gate -> what is known -> an entry, or a confirmation.

Everything goes through `flows/write`, one commit for each verb, and the writer reads its own writes. Nothing is ever
overwritten: what is said anew becomes a new entry, and the old one goes to the archive with a link both ways.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from commonplace.errors import Refused, UsageError
from commonplace.facts.entities import ME
from commonplace.facts.entry import changes
from commonplace.facts.integrate import integrate
from commonplace.facts.routes import archive_path, checked_kind, class_of, importance_of, path_for
from commonplace.facts.sentence import sentence_of
from commonplace.facts.slug import slug_of
from commonplace.flows.amend import confirm_fact, entry_edit, refuse_elsewhere, standing_entry
from commonplace.flows.entry_notes import entry_note
from commonplace.flows.identity import new_id
from commonplace.flows.keeper import Keeper
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.neighbours import neighbours
from commonplace.flows.read import locate
from commonplace.flows.write import Edit, Permit, Reader, change, changed, marks_of
from commonplace.model import Bond, Candidate, Fact, Near, Remembered, Terms, Verb, Verdict
from commonplace.policy.spaces import staging_path
from commonplace.policy.trust import is_trusted
from commonplace.recalling.times import in_utc

if TYPE_CHECKING:
    from commonplace.policy.gate import Gated

_BONDS: Final[dict[str, Bond]] = {"extend": "extend", "derive": "derive", "contradict": "contradict"}


def save(candidate: Candidate, keeper: Keeper, *, dry_run: bool = False) -> Remembered:
    """Keep what is said: a new entry, or a confirmation of what is known already. Never overwrites.

    Raises Refused for a secret and for what is worth nothing, UsageError, VaultUnavailable and IndexDamaged.
    """
    candidate = _completed(candidate, keeper)
    gated = _admit(candidate, keeper)
    with keeper.turn():
        candidate, near = neighbours(candidate, keeper)
        verdict = _judged(candidate, near, keeper)
        old = next((each.known.fact for each in near if each.known.fact.id == verdict.target), None)
        if verdict.action == "confirm" and old:
            return _confirmed(old, verdict, gated, keeper, dry_run=dry_run)
        return _Saving(candidate, verdict, old, gated, keeper).carry_out(dry_run=dry_run)


def evolve(name: str, candidate: Candidate, keeper: Keeper, *, reason: str, dry_run: bool = False) -> Remembered:
    """Replace an entry by a new version of it; the old one goes to the archive, and each names the other.

    Fields of the candidate that are empty are taken over from the entry. Raises as `save` does, NotFound, and
    Conflict for an entry that was replaced or forgotten already.
    """
    if not reason.strip():
        raise UsageError("an entry is not replaced without a reason", hint="Say why: --reason 'moved to Berlin'.")
    with keeper.turn():
        old = standing_entry(name, keeper)
        heir = _completed(_heir(candidate, old), keeper)
        gated = _admit(heir, keeper, reason)
        if heir.text.strip() == old.text and heir.object == old.object:
            return _confirmed(old, Verdict("confirm", old.id, "it says this already"), gated, keeper, dry_run=dry_run)
        return _Saving(heir, Verdict("supersede", old.id, reason.strip()), old, gated, keeper).carry_out(
            dry_run=dry_run
        )


def _completed(candidate: Candidate, keeper: Keeper) -> Candidate:
    """The candidate with what can be filled in: its statement, class, importance and window."""
    if candidate.predicate and not (candidate.subject and candidate.object):
        raise UsageError("a triple has a subject, a predicate and an object", hint="Give all three, or none of them.")
    kind = checked_kind(candidate.kind) if candidate.kind else ""
    predicates = keeper.rules.predicates
    begins = candidate.valid_from or keeper.now
    until = candidate.valid_until or predicates.default_until(candidate.predicate, begins)
    if until and until <= begins:
        raise UsageError("it would end before it begins", hint="Give a later end, or say since when it held.")
    text = candidate.text.strip()
    if candidate.predicate and not text:
        text = sentence_of(candidate.subject, candidate.predicate, candidate.object, user=keeper.rules.user)
    is_who_i_am = keeper.rules.entity(candidate.subject) == ME and predicates.is_single(candidate.predicate)
    fact = candidate.fact or ("identity" if is_who_i_am else class_of(kind))
    importance = importance_of(fact) if candidate.importance is None else candidate.importance
    if not 0 <= importance <= 1:
        raise UsageError(f"an importance of {importance} is none", hint="Give one from 0 to 1.")
    return replace(candidate, text=text, kind=kind, fact=fact, importance=importance, valid_until=until)


def _admit(candidate: Candidate, keeper: Keeper, *more: str) -> "Gated":
    """What the gate says of it. Raises Refused for secrets, in whatever field, and for junk."""
    from commonplace.policy.gate import gate  # seventy milliseconds of patterns that a reader need not spend
    from commonplace.policy.secrets import find_secrets

    for said in (candidate.subject, candidate.object, *candidate.topics, *candidate.tags, *more):
        for secret in find_secrets(said):
            raise Refused(
                f"it holds a secret: {secret.kind}", reason="secret", hint="Keep secrets in a password manager."
            )
    gated = gate(
        candidate.text,
        trust=candidate.origins.trust,
        always_load=candidate.always_load,
        actor=keeper.desk.actor.kind,
        staged_trusts=keeper.options.staged_trusts,
    )
    if gated.verdict == "refuse":
        is_secret = gated.reason == "secret"
        hint = "Keep secrets in a password manager." if is_secret else "Say one thing worth knowing, in a sentence."
        raise Refused(gated.said, reason="secret" if is_secret else "junk", hint=hint)
    return gated


def _judged(candidate: Candidate, near: tuple[Near, ...], keeper: Keeper) -> Verdict:
    """What becomes of the candidate by the rules; by a model where they cannot tell and there is one."""
    verdict = integrate(candidate, near, rules=keeper.rules, now=keeper.now)
    if not (verdict.is_grey and keeper.judge):
        return verdict
    other = next(each.known.fact for each in near if each.known.fact.id == verdict.target)
    action = keeper.judge(candidate, other)
    target = "" if action == "insert" else verdict.target
    return Verdict(action, target, f"a model was asked: {action}", verdict.until)


def _confirmed(old: Fact, verdict: Verdict, gated: "Gated", keeper: Keeper, *, dry_run: bool) -> Remembered:
    """The known fact, confirmed; one that stands in a line of a note, or is said by a doubtful source, is only told."""
    if dry_run or old.origin == "line" or gated.verdict == "stage":
        return Remembered("confirm", old, verdict.reason, old=old.id, changed=False)
    return confirm_fact(old, keeper, reason=verdict.reason)


def _heir(candidate: Candidate, old: Fact) -> Candidate:
    """The candidate with what it does not say taken over from the fact that it replaces."""
    text, object_ = candidate.text, candidate.object
    if old.predicate and not object_:  # of a triple, the words that are given are its new object
        text, object_ = "", candidate.text.strip()
    return replace(
        candidate,
        text=text,
        kind=candidate.kind or old.kind,
        fact=candidate.fact or old.fact,
        subject=old.subject,
        predicate=old.predicate,
        object=object_,
        topics=candidate.topics or old.topics,
        importance=old.importance if candidate.importance is None else candidate.importance,
        always_load=candidate.always_load or old.always_load,
        bonds=candidate.bonds or old.bonds,
    )


@dataclass(frozen=True, slots=True)
class _Saving:
    """A candidate on its way into the vault: what is to become of it, and of the fact that it replaces."""

    candidate: Candidate
    verdict: Verdict
    old: Fact | None
    gated: "Gated"
    keeper: Keeper

    def carry_out(self, *, dry_run: bool) -> Remembered:
        """Write the new entry, and put the old one away, in one commit."""
        desk, replaced = self.keeper.desk, self._replaced()
        is_staged, why = self._stages(replaced)
        fact = self._fact(replaced, is_staged=is_staged)
        content = entry_note(fact, tags=self.candidate.tags, slug=slug_of(fact.text))
        verb = "evolve" if self.verdict.action == "supersede" else "save"
        message = desk.message.replace("{verb}", verb).replace("{path}", fact.path)
        terms = Terms(message=message, dry_run=dry_run)
        at, new = locate(fact.path, desk.vault), Permit(desk, terms, "write", fact.path)
        refuse_elsewhere(new.ask(incoming=marks_of(content, path=fact.path)), fact.path)
        is_over = self.verdict.action == "supersede" and fact.begins <= self.keeper.now
        away = None
        if replaced and not is_staged:
            away = _Replacing(replaced, fact, self.keeper, terms, is_over=is_over)

        def plan(read: Reader) -> tuple[Edit, ...]:
            first = Edit(at, None, content)
            return (first, away.edit(read)) if away else (first,)

        permits = [new, away.permit] if away else [new]
        edits, made = change(plan, permits, path=fact.path, trailers=away.trailers if away else {})
        told = changed(edits[0], new, made, more=edits[1:])
        return Remembered(
            action=self.verdict.action,
            fact=fact,
            reason=why or self.verdict.reason,
            old=self.verdict.target,
            commit=told.commit,
            staged=is_staged,
            changed=told.changed,
            difference=told.difference,
        )

    def _replaced(self) -> Fact | None:
        """The entry that ends with the new one; a line of a note stays as its person wrote it."""
        is_entry = self.old is not None and self.old.origin == "entry"
        return self.old if self.verdict.action in ("supersede", "insert") and is_entry else None

    def _stages(self, replaced: Fact | None) -> tuple[bool, str]:
        """Whether it must wait for a person, and why."""
        if self.gated.verdict == "stage":
            return True, self.gated.said
        if self.keeper.desk.actor.kind == "person":
            return False, ""
        if self.candidate.origins.trust == "told":
            return True, "it is given as the person's own word"
        if self.verdict.action == "contradict":
            return True, f"it speaks against what is known: {self.verdict.reason}"
        if replaced and (replaced.always_load or is_trusted({"trust": replaced.origins.trust})):
            return True, "it would replace the person's own word"
        return False, ""

    def _fact(self, replaced: Fact | None, *, is_staged: bool) -> Fact:
        candidate, keeper, verdict = self.candidate, self.keeper, self.verdict
        now = keeper.desk.clock()
        id_, recorded = new_id(now), in_utc(now)
        own = path_for(
            candidate.kind,
            id=id_,
            slug=slug_of(candidate.text),
            recorded=recorded,
            always_load=candidate.always_load,
        )
        bonds = dict.fromkeys(candidate.bonds)
        if verdict.action in _BONDS and verdict.target:
            bonds[(_BONDS[verdict.action], verdict.target)] = None
        until = min((each for each in (candidate.valid_until, verdict.until) if each), default="")
        return Fact(
            id=id_,
            path=staging_path(own) if is_staged else own,
            line=0,
            origin="entry",
            text=candidate.text,
            kind=candidate.kind,
            fact=candidate.fact,
            place="staging" if is_staged else "",
            always_load=candidate.always_load,
            importance=0.5 if candidate.importance is None else candidate.importance,
            topics=candidate.topics,
            subject=candidate.subject,
            predicate=candidate.predicate,
            object=candidate.object,
            valid_from=candidate.valid_from,
            valid_until=until,
            recorded=recorded,
            updated=recorded,
            supersedes=replaced.id if replaced and not replaced.superseded_by else "",
            reason=verdict.reason if replaced else "",
            bonds=tuple(bonds),
            origins=candidate.origins,
        )


class _Replacing:
    """An entry that ends where another begins: it is marked, and goes to the archive if that `is_over` now."""

    def __init__(self, old: Fact, new: Fact, keeper: Keeper, terms: Terms, *, is_over: bool) -> None:
        self._old, self._new, self._keeper, self._is_over = old, new, keeper, is_over
        self._to = archive_path(old.path) if is_over else old.path
        verb: Verb = "move" if is_over else "write"
        self.permit = Permit(keeper.desk, terms, verb, old.path)
        self.trailers = {MOVED_FROM: old.path, MOVED_TO: self._to} if is_over else {}

    def edit(self, read: Reader) -> Edit:
        """The old entry as it is to be. Raises Conflict when it is no longer what the index says."""
        old, new, now = self._old, self._new, self._keeper.now
        ends = min(new.begins, old.valid_until) if old.valid_until else new.begins
        replaced = replace(
            old,
            status="superseded" if self._is_over else old.status,
            valid_until=ends,
            invalidated_at=now,
            was_valid_until=old.valid_until,
            superseded_by=old.superseded_by or new.id,
            superseded_at=old.superseded_at or now,
            updated=now,
        )
        edit = entry_edit(old, changes(old, replaced), self._keeper, read)
        refuse_elsewhere(self.permit.ask(there=read(edit.at)), old.path)
        if not self._is_over:
            return edit
        refuse_elsewhere(self.permit.ask(self._to, there=read(edit.at), moved_from=old.path), self._to)
        return replace(edit, moved_to=locate(self._to, self._keeper.desk.vault))
