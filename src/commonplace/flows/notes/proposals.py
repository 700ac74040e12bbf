"""Proposals: a program suggests a change of a note that it may not write, and the person decides in `review`.

A proposal is a note in the staging folder: its keys name the note, the version it was made from and who proposes it,
its text says why and shows the difference. There is one for each note and proposer: a newer one takes its place, under
an id of its own, so that nobody approves another change than the one they were shown.
`approve_proposal` applies the difference to the note as it is then, and says so where it does not fit any more; a note
moves only if it is the version that was proposed;
`reject_proposal` leaves a mark without words, so that the same change is not proposed again.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from commonplace.errors import Conflict, NotFound, Refused, UsageError, VaultUnavailable
from commonplace.facts.entry_format import is_entry
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    check_version,
    commit_message,
    parse_existing,
    read_existing,
    refuse_new_secrets,
    refuse_secrets,
)
from commonplace.flows.read import is_hidden, list_notes, locate
from commonplace.flows.stores import Session, Stores
from commonplace.model import Note, Terms
from commonplace.model.layout import REJECTED, STAGING, flat_name, is_profile, is_staged, is_standing
from commonplace.model.moment import moment_text, read_moment
from commonplace.model.proposal import Proposal, ProposalResult
from commonplace.model.untrusted_text import clean_text
from commonplace.notes import parse, set_key
from commonplace.notes.note_text import apply_patch, make_patch, patch_changes
from commonplace.policy.write_policy import PROPOSAL
from commonplace.vault.base import ABSENT, Blob, version_of

PREFIX: Final = "p-"
LONGEST_TEXT: Final = 60_000
"""Characters of a text that is proposed: a person reads the whole difference."""
LONGEST_SHOWN: Final = 2000
"""Characters of a note that are shown with the proposal to move it."""
_NAME: Final = re.compile(r"proposal-.+-([0-9a-f]{6,16})\.md", re.ASCII | re.DOTALL)
_FENCED: Final = re.compile(r"^(`{3,})diff\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_TICKS: Final = re.compile("`+")
_DIGITS: Final = 16  # of an id: 64 bits, so that two changes share one neither by chance nor by a few tries


def propose(
    target: str,
    session: Session,
    *,
    why: str,
    text: bytes | None = None,
    move_to: str = "",
    about: str = "",
    dry_run: bool = False,
) -> ProposalResult:
    """Let a change of the note at `target` wait for the person: its new text, or the path it should move to.

    What the actor proposed for this note before is replaced. A change that the person rejected is not proposed again:
    `changed` is False. With `about`, a word for the kind of change, none of that kind is. Raises Refused for a
    sensitive note and for secrets, NotFound for a move of a missing note, and UsageError unless there is either a text
    or a place.
    """
    if (text is None) == (not move_to):
        raise UsageError("a proposal needs either a new text or a new place", hint="Give `text` or `move_to`.")
    stores, by = session.stores, session.actor.origin
    at = locate(target, stores.vault)
    there = read_existing(at, stores.vault.read)
    if there is None and move_to:
        raise NotFound(f"there is no note {at.path}", path=at.path, hint="`commonplace note list` shows all notes.")
    _refuse_hidden(there, session)
    before = there.content if there else None
    _refuse_secrets(before, text, why)
    if session.actor.kind == "agent" and text is not None:
        _refuse_unseen(before, text, path=at.path)
    proposal = _made(at.path, before, text, move_to, why=why, by=by, session=session, about=about)
    if text is not None and text == before:
        return ProposalResult(action="propose", proposal=proposal, remarks=("The note says this.",), changed=False)
    if _was_rejected(proposal, stores):
        said = ("The person rejected this change before.",)
        return ProposalResult(action="propose", proposal=proposal, remarks=said, changed=False)
    return _stage(proposal, session, dry_run=dry_run)


def is_kind_rejected(target: str, about: str, session: Session) -> bool:
    """True if the person rejected a change of that kind of the note, proposed by this actor. For plans of jobs."""
    made = _made(target, None, None, "", why="", by=session.actor.origin, session=session, about=about)
    return session.stores.vault.exists(locate(_rejected_path(made), session.stores.vault))


def is_rejected(target: str, session: Session, *, before: bytes | None, text: bytes | None, move_to: str = "") -> bool:
    """True if the person rejected this very change of the note, whoever proposed it. For plans of jobs."""
    made = _made(target, before, text, move_to, why="", by=session.actor.origin, session=session)
    return _was_rejected(made, session.stores)


def proposals(stores: Stores, *, by: str = "") -> tuple[Proposal, ...]:
    """Every proposal that waits, oldest first; those of one job or agent with `by`."""
    found = [proposal for path in _paths(stores) if (proposal := _read(path, stores))]
    return tuple(sorted((each for each in found if by in ("", each.by)), key=lambda each: (each.made, each.id)))


def proposal_count(stores: Stores) -> int:
    """How many proposals wait."""
    return len(_paths(stores))


def proposal_of(name: str, stores: Stores) -> Proposal:
    """The waiting proposal of that id. Raises NotFound."""
    for proposal in proposals(stores):
        if proposal.id == name:
            return proposal
    hint = "`commonplace review` lists what waits; a proposal that is made anew has another id."
    raise NotFound(f"no proposal {name} waits", hint=hint)


def text_after(proposal: Proposal, before: bytes | None) -> bytes | None:
    """The note's bytes after the proposed change; None if it does not fit the note any more, or is a move."""
    try:
        return None if proposal.move_to else _applied(proposal, before)
    except Conflict:
        return None


def propose_text(
    target: str, text: str, session: Session, *, why: str, expected: str = "", dry_run: bool = False
) -> ProposalResult:
    """Propose another text of a directive, a preference, a style or another note, as `propose` does.

    `expected` is the version that was read. A note that does not exist can be proposed as a directive or a style.
    Raises as `propose` does; UsageError for a text that is the note's already, for a profile, which changes by
    operations, and for an entry; NotFound; Conflict if the note is another version; Refused for a change that was
    rejected before.
    """
    at = locate(target, session.stores.vault)
    there = read_existing(at, session.stores.vault.read)
    _refuse_other_ways(at.path, parse_existing(there), is_new=there is None)
    if expected:
        check_version(at.path, there, Terms(expected=expected))
    if not text.strip() or len(text) > LONGEST_TEXT:
        said = f"has {len(text)} characters" if text.strip() else "is empty"
        raise UsageError(f"the proposed text {said}", path=at.path, hint=f"Give at most {LONGEST_TEXT} characters.")
    result = propose(at.path, session, why=why, text=text.encode(), dry_run=dry_run)
    if not (result.changed or dry_run or proposals_of(result.proposal.id, session.stores)):
        raise Refused(result.remarks[0], path=at.path, hint="Ask the person before you propose it again.")
    return result


def proposals_of(id: str, stores: Stores) -> tuple[Proposal, ...]:
    """The waiting proposal of that id, if there is one."""
    return tuple(each for each in proposals(stores) if each.id == id)


def _refuse_other_ways(path: str, note: Note | None, *, is_new: bool) -> None:
    """Raise UsageError for a note that is changed in another way, and NotFound for one that may not be new."""
    if is_profile(path):
        hint = "Append, replace or remove a statement (profile_edit, `commonplace user`)."
        raise UsageError(f"{path} changes by operations alone", path=path, hint=hint)
    if is_new and not is_standing(path):
        raise NotFound(f"there is no note {path}", path=path, hint="Only directives and styles can be proposed anew.")
    if is_new and not _is_plain_path(path):
        hint = "Leave out blanks at the beginning or end of a name, and characters that cannot be seen."
        raise UsageError(f"{path!r} is not a name for a new note", path=path, hint=hint)
    if note and (is_entry(note) or is_staged(path)):
        raise UsageError(f"{path} is an entry", path=path, hint="Save what is right, with its id as `replaces`.")


def _is_plain_path(path: str) -> bool:
    """True if the path looks like no other: `x .md` and `x.md` are two notes, and a person sees one."""
    parts = path.removesuffix(".md").split("/")
    return path.isprintable() and clean_text(path) == path and all(part == part.strip() for part in parts)


def proposal_paths(targets: Collection[str], stores: Stores) -> tuple[str, ...]:
    """The staged notes of proposals about these notes."""
    return tuple(each.path for each in proposals(stores) if each.target in targets or each.move_to in targets)


def approve_proposal(
    proposal: Proposal, session: Session, *, text: str | None = None, dry_run: bool = False
) -> ProposalResult:
    """Make the proposed change, as the person: the note changes and the proposal goes, in one commit.

    `text` is the whole note in the person's own words instead. A move is made by `move_note`, which repairs links.
    Raises Conflict if the difference does not fit the note any more.
    """
    if proposal.move_to:
        return _approve_move(proposal, session, dry_run=dry_run)
    stores, terms = session.stores, _terms("approve", proposal, session, dry_run=dry_run)
    at, staged = locate(proposal.target, stores.vault), locate(proposal.path, stores.vault)
    permit, removal = Permit(session, terms, "write", at.path), Permit(session, terms, "delete", staged.path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read_existing(at, read)
        permit.ask(there=parse_existing(there))
        before = there.content if there else None
        after = text.encode() if text is not None else _applied(proposal, before)
        return Edit(at, before, after), Edit(staged, read(staged).content, None)

    edits, written = change(plan, [permit, removal], path=at.path)
    changed = change_result(edits[0], permit, written)
    remarks = () if edits[0].makes_a_difference else (f"{at.path} says this already.",)
    result = ProposalResult(action="approve" if text is None else "edit", proposal=proposal, remarks=remarks)
    return replace(result, commit=changed.commit, difference=changed.difference)


def reject_proposal(proposal: Proposal, session: Session, *, reason: str = "", dry_run: bool = False) -> ProposalResult:
    """Remove the proposal; a mark without the note's words keeps it from being proposed again."""
    stores = session.stores
    why = reason.strip() or "The person rejected it."
    terms = replace(_terms("reject", proposal, session, dry_run=dry_run), why=why)
    staged, mark = (locate(path, stores.vault) for path in (proposal.path, _rejected_path(proposal)))
    permit = Permit(session, terms, "write", mark.path)
    keys = {PROPOSAL: proposal.id, "target": proposal.target, "by": proposal.by, "status": "rejected"}
    content = _with_keys(f"{why}\n".encode(), keys, path=mark.path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        known = read_existing(mark, read)
        return Edit(staged, read(staged).content, None), Edit(mark, known.content if known else None, content)

    edits, written = change(plan, [permit], path=mark.path)
    changed = change_result(edits[0], permit, written, more=edits[1:])
    result = ProposalResult(action="reject", proposal=proposal)
    return replace(result, commit=changed.commit, difference=changed.difference)


def withdraw_proposal(proposal: Proposal, session: Session) -> ProposalResult:
    """Take back what this actor proposed, since it no longer applies. Raises Refused for another's."""
    if session.actor.kind != "person" and proposal.by != session.actor.origin:
        raise Refused(
            f"{proposal.id} is a proposal of {proposal.by}", path=proposal.path, hint="Leave it to its author."
        )
    terms = _terms("withdraw", proposal, session, dry_run=False)
    at = locate(proposal.path, session.stores.vault)
    permit = Permit(session, terms, "remember", at.path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read_existing(at, read)
        return (Edit(at, there.content if there else None, None),)

    _, written = change(plan, [permit], path=at.path)
    return ProposalResult(action="reject", proposal=proposal, commit=written.commit, changed=written.changed)


# ---------------------------------------------------------------- the person decides


def approve_proposals(
    names: Iterable[str], session: Session, *, every: bool = False, dry_run: bool = False
) -> tuple[ProposalResult, ...]:
    """Make these proposed changes, or all that wait, in one commit each.

    Raises Refused unless a person asks, NotFound, and Conflict if one does not fit its note any more.
    """
    here = _person(session)
    return tuple(approve_proposal(each, here, dry_run=dry_run) for each in _chosen(names, here, every=every))


def edit_proposal(name: str, text: str, session: Session, *, dry_run: bool = False) -> ProposalResult:
    """Write the note as the person words it, and end the proposal. Raises as `approve_proposals`, and UsageError."""
    if not text.strip():
        raise UsageError("an edit needs new words", hint="Give the whole note as it should be.")
    here = _person(session)
    return approve_proposal(proposal_of(name, here.stores), here, text=text, dry_run=dry_run)


def reject_proposals(
    names: Iterable[str], session: Session, *, every: bool = False, reason: str = "", dry_run: bool = False
) -> tuple[ProposalResult, ...]:
    """Reject these proposals, or all that wait; none is made again. Raises Refused unless a person asks, NotFound."""
    refuse_secrets(reason)
    here = _person(session)
    chosen = _chosen(names, here, every=every)
    return tuple(reject_proposal(each, here, reason=reason, dry_run=dry_run) for each in chosen)


def show_proposal(name: str, session: Session) -> Proposal:
    """The waiting proposal of that id. Raises Refused unless a person asks, and NotFound."""
    return proposal_of(name, _person(session).stores)


def proposed_text(name: str, session: Session) -> str:
    """The whole note as the proposal would have it, for the person to edit; as it is now if that does not fit any more.

    Raises as `show_proposal`, and UsageError for a move.
    """
    here = _person(session)
    proposal = proposal_of(name, here.stores)
    if proposal.move_to:
        raise UsageError(f"{name} moves a note and changes no words", hint="Approve or reject it.")
    vault = here.stores.vault
    at = vault.resolve(proposal.target)
    before = vault.read(at).content if vault.exists(at) else None
    after = text_after(proposal, before)
    return (before or b"").decode(errors="replace") if after is None else after.decode()


def _chosen(names: Iterable[str], session: Session, *, every: bool) -> tuple[Proposal, ...]:
    if every:
        return proposals(session.stores)
    return tuple(proposal_of(name, session.stores) for name in dict.fromkeys(names))


def _person(session: Session) -> Session:
    if session.actor.kind != "person":
        raise Refused("only the person may decide about a proposal", hint="Ask them to run `commonplace review`.")
    return session.at(session.clock())


# ---------------------------------------------------------------- the staged note


def _with_keys(content: bytes, keys: Mapping[str, Any], *, path: str) -> bytes:
    for key, value in keys.items():
        content = set_key(content, key, value, path=path)
    return content


def _made(
    target: str,
    before: bytes | None,
    text: bytes | None,
    move_to: str,
    *,
    why: str,
    by: str,
    session: Session,
    about: str = "",
) -> Proposal:
    path = f"{STAGING}/{flat_name(f'proposal/{by}/{target}')}"
    try:
        difference = "" if text is None else make_patch(before, text, path=target)
    except ValueError as error:
        raise Refused(str(error), path=target, hint="Save the note as UTF-8 first.") from error
    base = ABSENT if before is None else version_of(before)
    return Proposal(
        id=_id(path, base, difference, move_to),
        path=path,
        target=target,
        by=by,
        why=" ".join(why.split()),
        base=base,
        made=moment_text(session.clock()),
        difference=difference,
        move_to=move_to,
        fingerprint=_fingerprint(target, difference, move_to, about),
        about=about,
    )


def _fingerprint(target: str, difference: str, move_to: str, about: str) -> str:
    """What makes two proposals the same change: the note, and the lines that change, the new place or the kind."""
    change = (target, about) if about else (target, patch_changes(difference), move_to)
    digest = hashlib.sha256(repr(change).encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def _rejected_path(proposal: Proposal) -> str:
    return f"{REJECTED}/proposal-{re.sub(r'[^a-z0-9]+', '-', proposal.by.lower())}-{proposal.fingerprint}.md"


def _was_rejected(proposal: Proposal, stores: Stores) -> bool:
    """True if the person rejected this change; the name of the mark says who had proposed it, which does not matter."""
    try:
        marks = list_notes(REJECTED, stores.vault, skip=stores.ignored, recursive=False)
    except NotFound:
        return False
    return any(mark.path.endswith(f"-{proposal.fingerprint}.md") for mark in marks)


def _id(path: str, base: str, difference: str, move_to: str) -> str:
    """The id of exactly this change of exactly that version: what a person has seen under it is what they approve."""
    digest = hashlib.sha256(repr((path, base, difference, move_to)).encode(errors="surrogatepass"))
    return f"{PREFIX}{digest.hexdigest()[:_DIGITS]}"


def _is_name(path: str) -> bool:
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def _stage(proposal: Proposal, session: Session, *, dry_run: bool) -> ProposalResult:
    stores = session.stores
    terms = _terms("propose", proposal, session, dry_run=dry_run)
    at = locate(proposal.path, stores.vault)
    permit = Permit(session, terms, "remember", at.path)
    waiting = _read(at.path, stores) if stores.vault.exists(at) else None
    if waiting and waiting.id == proposal.id:
        return ProposalResult(action="propose", proposal=waiting, remarks=("It waits already.",), changed=False)
    content = _rendered(proposal)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read_existing(at, read)
        permit.ask(incoming=parse(content, path=at.path, mtime=0.0))
        return (Edit(at, there.content if there else None, content),)

    (edit,), written = change(plan, [permit], path=at.path)
    changed = change_result(edit, permit, written)
    return ProposalResult(
        action="propose",
        proposal=proposal,
        commit=changed.commit,
        changed=changed.changed,
        difference=changed.difference,
    )


def _rendered(proposal: Proposal) -> bytes:
    keys: dict[str, Any] = {
        PROPOSAL: proposal.id,
        "target": proposal.target,
        "base": proposal.base,
        "by": proposal.by,
        "made": proposal.made,
        "fingerprint": proposal.fingerprint,
        **({"move_to": proposal.move_to} if proposal.move_to else {}),
        **({"about": proposal.about} if proposal.about else {}),
    }
    ticks = "`" * max([2, *(len(run) for run in _TICKS.findall(proposal.difference))])
    shown = f"\n{ticks}`diff\n{proposal.difference}{ticks}`\n" if proposal.difference else ""
    return _with_keys(f"{proposal.why}\n{shown}".encode(), keys, path=proposal.path)


def _read(path: str, stores: Stores) -> Proposal | None:
    """The proposal that the staged note holds; None if it holds none, or one for another path than its own."""
    blob = read_existing(stores.vault.resolve(path), stores.vault.read)
    proposal = _parsed(parse_existing(blob), path) if blob else None
    return replace(proposal, text=_text_of(proposal.target, stores)) if proposal and proposal.move_to else proposal


def _text_of(path: str, stores: Stores) -> str:
    """What the note says, shortened; empty if it is gone or cannot be read: then the move fails by itself."""
    try:
        note = parse_existing(read_existing(stores.vault.resolve(path), stores.vault.read))
    except (Refused, VaultUnavailable):
        return ""
    text = note.body.strip() if note else ""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} ..."


def _parsed(note: Note | None, path: str) -> Proposal | None:
    keys = note.frontmatter if note else {}
    if note is None or not is_proposal_note(note) or not _is_name(path):
        return None
    fenced = _FENCED.search(note.body)
    target, move_to, about = (str(keys.get(name) or "") for name in ("target", "move_to", "about"))
    difference = fenced[2] if fenced else ""
    if not target or not (difference or move_to):
        return None
    base = str(keys.get("base") or "")
    return Proposal(
        id=_id(path, base, difference, move_to),
        path=path,
        target=target,
        by=str(keys.get("by") or ""),
        why=" ".join((note.body[: fenced.start()] if fenced else note.body).split()),
        base=base,
        made=read_moment(keys.get("made")),
        difference=difference,
        move_to=move_to,
        fingerprint=_fingerprint(target, difference, move_to, about),
        about=about,
    )


def is_proposal_note(note: Note) -> bool:
    """True if the note says that it is a proposal."""
    return str(note.frontmatter.get(PROPOSAL) or "").startswith(PREFIX)


def _paths(stores: Stores) -> Sequence[str]:
    try:
        stats = list_notes(STAGING, stores.vault, skip=stores.ignored)
    except NotFound:
        return ()
    return [stat.path for stat in stats if _is_name(stat.path)]


# ---------------------------------------------------------------- applying it


def _applied(proposal: Proposal, before: bytes | None) -> bytes:
    """The note's new bytes. Raises Conflict if the note is gone, new by now, or differs where it should change."""
    version = ABSENT if before is None else version_of(before)
    is_base = version == proposal.base
    if (before is None or proposal.base == ABSENT) and not is_base:
        what = "gone" if before is None else "there by now"
        raise _conflict(proposal, f"{proposal.target} is {what}")
    try:
        text = (before or b"").decode()
    except UnicodeDecodeError as error:
        raise _conflict(proposal, f"{proposal.target} is not UTF-8") from error
    after = apply_patch(text, proposal.difference, is_base=is_base)
    if after is None:
        raise _conflict(proposal, f"{proposal.target} has changed where the proposal changes it")
    return after.encode()


def _approve_move(proposal: Proposal, session: Session, *, dry_run: bool) -> ProposalResult:
    stores = session.stores
    terms = Terms(personal=True, dry_run=dry_run, why=proposal.why, expected=proposal.base)
    at, target = (stores.vault.resolve(path) for path in (proposal.target, proposal.move_to))
    there = read_existing(at, stores.vault.read)
    if there is None and not stores.vault.exists(target):
        raise _conflict(proposal, f"{proposal.target} is gone")
    if there and there.version != proposal.base:
        raise _conflict(proposal, f"{proposal.target} has changed since the move was proposed")
    result = ProposalResult(action="approve", proposal=proposal, remarks=(f"{proposal.move_to} is there already.",))
    if there:
        moved = move_note(proposal.target, proposal.move_to, session, terms, proposal=proposal.path)
        left = (f"links in {', '.join(moved.left)} could not be updated",) if moved.left else ()
        result = replace(result, remarks=left, commit=moved.commit, difference=moved.difference)
    elif not dry_run:
        withdraw_proposal(proposal, session)
    return result


def _conflict(proposal: Proposal, what: str) -> Conflict:
    hint = f"Look at it with `commonplace review show {proposal.id}`, change the note by hand, then reject it."
    if proposal.move_to:
        hint = f"Read the note; `commonplace jobs run {proposal.by}` proposes it anew if it still applies."
    return Conflict(f"{what}: the proposal {proposal.id} does not fit any more", path=proposal.target, hint=hint)


def _terms(verb: str, proposal: Proposal, session: Session, *, dry_run: bool) -> Terms:
    message = commit_message(session.stores, verb=verb, path=proposal.target)
    return Terms(message=message, why=proposal.why, personal=True, dry_run=dry_run)


def _refuse_hidden(there: Blob | None, session: Session) -> None:
    note = parse_existing(there)
    if note is not None and session.actor.kind != "person" and is_hidden(note, session.stores):
        raise Refused(
            f"may not propose a change of {note.path}: the note is marked sensitive", path=note.path, reason="sensitive"
        )


def _refuse_unseen(before: bytes | None, text: bytes, *, path: str) -> None:
    """Raise Refused for a new line that a person would not see as it is: hidden characters, and other ends of lines,
    which would show the rest of an added line as one that is there already."""
    sides = (each.decode(errors="surrogateescape").replace("\r\n", "\n") for each in (before or b"", text))
    old, new = (each.split("\n") for each in sides)
    known = frozenset(old)
    if any(clean_text(line) != line for line in new if line not in known):
        hint = "Leave out characters that cannot be seen, and end lines with a line feed."
        raise Refused(f"the text for {path} has characters that the person would not see", path=path, hint=hint)


def _refuse_secrets(before: bytes | None, text: bytes | None, why: str) -> None:
    refuse_secrets(why)
    if text is not None:
        refuse_new_secrets(before or b"", text)
