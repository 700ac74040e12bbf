"""`commonplace review`: what programs saved and you have not approved yet, and what nobody has decided."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer
from click import edit as edit_text

from commonplace.cli.fact_view import day, evidence_lines, label, links_of, short, statement
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_linked, print_text, printable
from commonplace.cli.parameters import ENTRY_ID_HELP, DryRun, EntryId
from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.memory import fact_shapes
from commonplace.memory.fact_shapes import speaker_and_day
from commonplace.model import Fact
from commonplace.model.fact import (
    GROUP_VERDICTS,
    GroupVerdict,
    OldEnding,
    ReviewQueue,
    ReviewResult,
    WaitingEntry,
    WaitingGroup,
)
from commonplace.model.proposal import Proposal, ProposalResult

if TYPE_CHECKING:
    from commonplace.memory import Memory
    from commonplace.memory.shapes import NoteLink

Reviewed = ReviewResult | ProposalResult
_Deeds = dict[str, Callable[[], Sequence[Reviewed]]]

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help=ENTRY_ID_HELP)]
All = Annotated[bool, typer.Option("--all", help="Everything that waits.")]
KeepOld = Annotated[bool, typer.Option("--keep-old", help="Keep what it speaks against as well.")]
EndedIds = Annotated[list[str], typer.Argument(metavar="ID...", help=ENTRY_ID_HELP)]

_DEEDS: Final = {
    "approve": "approved",
    "edit": "approved",
    "reject": "rejected",
    "confirm": "already known, confirmed",
    "both": "both hold",
    "replace": "kept",
    "same": "kept for all",
    "back": "brought back",
    "agree": "stays ended",
}
_PROPOSED: Final = "p-"
_QUESTION: Final = "approve, edit, reject, skip or quit? [a/e/r/s/q]"
_KNOWN_QUESTION: Final = (
    "approve and keep this one, keep both, confirm what is known, reject, skip or quit? [a/b/k/r/s/q]"
)
_ENDING_QUESTION: Final = "end the old one, keep both, forget the new one, skip or quit? [a/b/f/s/q]"
_GROUP_QUESTION: Final = "all hold, the newest alone holds, they mean the same, skip or quit? [b/n/m/s/q]"
_OLD_QUESTION: Final = "bring it back, agree that it ended, skip or quit? [b/a/s/q]"
_NONE_ENDED: Final = "no old rule has ended anything that you have not looked at"
_VERDICTS: Final[dict[str, GroupVerdict]] = {"b": "both", "n": "replaces", "m": "same"}


def review(
    context: typer.Context,
    ended: Annotated[bool, typer.Option("--ended", help="What an old rule ended because it was alike.")] = False,
) -> None:
    """Approve, edit or reject what programs saved, and decide what nobody has settled.

    On a terminal it asks about one thing after another; elsewhere it prints the list.

    \b
    Examples:
      commonplace review
      commonplace review approve 3f9a1c
      commonplace review reject 3f9a1c --reason "never true"
      commonplace review settle g-7d20c1 replaces
      commonplace review --ended
      commonplace review --json
    """
    if context.invoked_subcommand:
        return
    invocation = invocation_of(context)
    is_asking = sys.stdin.isatty() and sys.stdout.isatty() and not invocation.json
    with invocation.memory() as memory:
        if ended:
            _walk_ended(memory, invocation) if is_asking else _answer_ended(memory, invocation)
        elif is_asking:
            _walk(memory, invocation)
        else:
            _answer_queue(memory, invocation)


app = typer.Typer(callback=review, invoke_without_command=True, rich_markup_mode=None)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List what waits for you, oldest first, with the reason and what it speaks against, and what is undecided.

    \b
    Examples:
      commonplace review list
      commonplace review list --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        _answer_queue(memory, invocation)


@app.command("show")
def show(context: typer.Context, id: EntryId) -> None:
    """Print one waiting entry or ending with its whole text, its source and what it speaks against; or one proposal.

    \b
    Examples:
      commonplace review show 3f9a1c
      commonplace review show p-7d20c1
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        if id.startswith(_PROPOSED):
            proposal, link = memory.reviews.show_proposal(id), memory.notes.link
            shape = fact_shapes.proposal_shape(proposal, link)
            invocation.answer({"proposal": shape}, lambda: _print_proposal(proposal, link))
            return
        waiting, link = memory.reviews.show(id), memory.notes.link
    invocation.answer(
        {"waiting": fact_shapes.waiting_shape(waiting, link)},
        lambda: _print_all(_full_lines(waiting), _facts_in(waiting), link),
    )


@app.command("approve")
def approve(
    context: typer.Context,
    ids: Ids = None,
    everything: All = False,
    keep_old: KeepOld = False,
    confirm_known: Annotated[
        bool, typer.Option("--confirm-known", help="Where the same words are known by now, confirm what is known.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Approve entries: they become your own word and replace what they speak against. A proposal changes its note.

    `commonplace undo` takes an approval back. Where the same words are known by now, the approved entry stays.

    \b
    Examples:
      commonplace review approve 3f9a1c
      commonplace review approve 3f9a1c 7b20de --keep-old
      commonplace review approve p-7d20c1 --dry-run
      commonplace review approve --all --dry-run
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        entries, proposed = _split(ids, everything=everything)
        results: list[Reviewed] = []
        if entries or not proposed:
            results += memory.reviews.approve(
                *entries, all=everything, keep_old=keep_old, confirm_known=confirm_known, dry_run=dry_run
            )
        if proposed or everything:
            results += memory.reviews.approve_proposals(*proposed, all=everything, dry_run=dry_run)
    _answer_results(results, invocation, memory.notes.link)


@app.command("edit")
def edit(
    context: typer.Context,
    id: EntryId,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="The entry in your own words.")] = "",
    object: Annotated[
        str, typer.Option(metavar="O", help="The new value of a triple; TEXT is then its sentence.")
    ] = "",
    keep_old: KeepOld = False,
    dry_run: DryRun = False,
) -> None:
    """Approve an entry in your own words.

    \b
    Examples:
      commonplace review edit 3f9a1c "Prefers long pull requests, with a picture."
      commonplace review edit 7b20de --object "Acme Berlin"
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        result: Reviewed = (
            memory.reviews.edit_proposal(id, text, dry_run=dry_run)
            if id.startswith(_PROPOSED)
            else memory.reviews.edit(id, text, object=object, keep_old=keep_old, dry_run=dry_run)
        )
    _answer_results((result,), invocation, memory.notes.link)


@app.command("reject")
def reject(
    context: typer.Context,
    ids: Ids = None,
    everything: All = False,
    reason: Annotated[str, typer.Option(metavar="R", help="The reason.")] = "",
    dry_run: DryRun = False,
) -> None:
    """Reject entries: they go to the archive, and programs cannot save the same words again, nor propose a change.

    Of a rejected ending both entries hold. `commonplace undo` lets them wait for your review again.

    \b
    Examples:
      commonplace review reject 3f9a1c --reason "never true"
      commonplace review reject --all
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        entries, proposed = _split(ids, everything=everything)
        results: list[Reviewed] = []
        if entries or not proposed:
            results += memory.reviews.reject(*entries, all=everything, reason=reason, dry_run=dry_run)
        if proposed or everything:
            results += memory.reviews.reject_proposals(*proposed, all=everything, reason=reason, dry_run=dry_run)
    _answer_results(results, invocation, memory.notes.link)


@app.command("settle")
def settle(
    context: typer.Context,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The id of a group, such as g-7d20c1.")],
    verdict: Annotated[str, typer.Argument(metavar="both|replaces|same", help="How its entries relate.")],
    dry_run: DryRun = False,
) -> None:
    """Decide a group of near entries: all of them hold, the newest replaces the others, or all mean the same.

    `commonplace undo` takes it back.

    \b
    Examples:
      commonplace review settle g-7d20c1 both
      commonplace review settle g-7d20c1 replaces --dry-run
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        result = memory.reviews.settle(group, _verdict(verdict), dry_run=dry_run)
    _answer_results((result,), invocation, memory.notes.link)


def _verdict(name: str) -> GroupVerdict:
    """The verdict of that name. Raises UsageError if there is none."""
    for verdict in GROUP_VERDICTS:
        if verdict == name:
            return verdict
    raise UsageError(f"{name!r} is no verdict on a group", hint=f"Choose from: {', '.join(GROUP_VERDICTS)}.")


@app.command("bring-back")
def bring_back(context: typer.Context, ids: EndedIds, dry_run: DryRun = False) -> None:
    """Bring entries back that were replaced: each holds again, beside its newest version.

    \b
    Examples:
      commonplace review --ended
      commonplace review bring-back 3f9a1c
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        results = memory.reviews.bring_back(*ids, dry_run=dry_run)
    _answer_results(results, invocation, memory.notes.link)


@app.command("agree")
def agree(context: typer.Context, ids: EndedIds, dry_run: DryRun = False) -> None:
    """Agree with endings that an old rule made: they are not listed again.

    \b
    Example:
      commonplace review agree 3f9a1c
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        results = memory.reviews.leave_ended(*ids, dry_run=dry_run)
    _answer_results(results, invocation, memory.notes.link)


def _split(ids: list[str] | None, *, everything: bool) -> tuple[list[str], list[str]]:
    """The ids of entries, and those of proposals; the entries' verb says what is wrong if both ways are mixed."""
    entries = [id for id in ids or () if everything or not id.startswith(_PROPOSED)]
    return entries, [id for id in ids or () if id not in entries]


def _walk(memory: "Memory", invocation: Invocation) -> None:
    """Ask about one thing after another until all are decided or the person quits."""
    queue, link = memory.reviews.list(), memory.notes.link
    walks = (_walk_entries, _walk_endings, _walk_groups, _walk_proposals)
    if all(walk(memory, queue) for walk in walks):
        _print_end(queue, invocation, link)


def _walk_entries(memory: "Memory", queue: ReviewQueue) -> bool:
    """Ask about one entry after another; False if the person quits."""
    for number, listed in enumerate(queue.entries, start=1):
        if waiting := _again(memory, listed):
            print_line()
            lines = waiting_lines(waiting, number=number, of=len(queue.entries))
            _print_all(lines, _facts_in(waiting), memory.notes.link)
            question = _KNOWN_QUESTION if waiting.known else _QUESTION
            if not _ask(question, _deeds(memory, waiting), memory):
                return False
    return True


def _again(memory: "Memory", listed: WaitingEntry) -> WaitingEntry | None:
    """What waits as it is now: an approval may have changed what it speaks against; None if it is settled by then."""
    try:
        return memory.reviews.show(listed.fact.id)
    except (Conflict, NotFound):
        return None


def _walk_endings(memory: "Memory", queue: ReviewQueue) -> bool:
    reviews = memory.reviews
    for listed in queue.endings:
        if waiting := _again(memory, listed):
            id = waiting.fact.id
            print_line()
            _print_all(ending_lines(waiting), _facts_in(waiting), memory.notes.link)
            deeds: _Deeds = {"a": partial(reviews.approve, id), "b": partial(reviews.reject, id)}
            if not _ask(_ENDING_QUESTION, {**deeds, "f": partial(_forget, memory, id)}, memory):
                return False
    return True


def _walk_groups(memory: "Memory", queue: ReviewQueue) -> bool:
    for group in queue.groups:
        print_line()
        _print_all(group_lines(group), group.entries, memory.notes.link)
        deeds: _Deeds = {key: partial(_settled, memory, group, verdict) for key, verdict in _VERDICTS.items()}
        if not _ask(_GROUP_QUESTION, deeds, memory):
            return False
    return True


def _walk_ended(memory: "Memory", invocation: Invocation) -> None:
    """Ask about one ending of an old rule after another."""
    reviews, endings = memory.reviews, memory.reviews.ended()
    for ending in endings:
        print_line()
        _print_all(old_ending_lines(ending), _facts_of(ending), memory.notes.link)
        id = ending.fact.id
        deeds: _Deeds = {"b": partial(reviews.bring_back, id), "a": partial(reviews.leave_ended, id)}
        if not _ask(_OLD_QUESTION, deeds, memory):
            return
    if not endings:
        invocation.inform(_NONE_ENDED)


def _walk_proposals(memory: "Memory", queue: ReviewQueue) -> bool:
    """Ask about one proposal after another; False if the person quits."""
    reviews, link = memory.reviews, memory.notes.link
    for proposal in reviews.list().proposals:
        print_line()
        _print_proposal(proposal, link)
        deeds: _Deeds = {
            "a": partial(reviews.approve_proposals, proposal.id),
            "e": partial(_edit_proposal, memory, proposal),
            "r": partial(reviews.reject_proposals, proposal.id),
        }
        if not _ask(_QUESTION, deeds, memory):
            return False
    return True


def _ask(question: str, deeds: "_Deeds", memory: "Memory") -> bool:
    """Ask until a key is given that the question knows, and do what it says; False if the person quits."""
    while True:
        answer = str(typer.prompt(question, prompt_suffix=" ")).strip().lower()[:1]
        if answer in deeds:
            try:
                results = deeds[answer]()
            except Conflict as conflict:  # it has changed meanwhile: the next one may be decided all the same
                print_line(f"{conflict.message}. {conflict.hint or ''}".rstrip())
                results = ()
            for result in results:
                _print_result(result, memory.notes.link)
        if answer in deeds or answer in ("s", "q"):
            return answer != "q"


def _settled(memory: "Memory", group: WaitingGroup, verdict: GroupVerdict) -> Sequence[Reviewed]:
    return (memory.reviews.settle(group.id, verdict),)


def _forget(memory: "Memory", id: str) -> Sequence[Reviewed]:
    forgotten = memory.entries.forget(id, reason="never true").fact
    print_line(f"forgot {label(forgotten)}")
    return ()


def _edit_proposal(memory: "Memory", proposal: Proposal) -> Sequence[Reviewed]:
    text = _edited(memory, proposal)
    return (memory.reviews.edit_proposal(proposal.id, text),) if text else ()


def _edited(memory: "Memory", proposal: Proposal) -> str | None:
    """The note in the person's words, from the proposed ones; None if they leave it, or if it only moves."""
    return None if proposal.move_to else edit_text(memory.reviews.proposed_text(proposal.id), extension=".md")


def _deeds(memory: "Memory", waiting: WaitingEntry) -> "_Deeds":
    """What each key but `s` and `q` does to the entry."""
    id, reviews = waiting.fact.id, memory.reviews
    deeds: _Deeds = {"a": partial(reviews.approve, id), "r": partial(reviews.reject, id)}
    if waiting.known:
        both, known = partial(reviews.approve, id, keep_old=True), partial(reviews.approve, id, confirm_known=True)
        return {**deeds, "b": both, "k": known}
    return {**deeds, "e": lambda: (_edit(memory, waiting.fact),)}


def _edit(memory: "Memory", fact: Fact) -> Reviewed:
    """Ask for the new text, or for the new value of a triple."""
    if fact.predicate:
        object = typer.prompt(f"new value of {fact.predicate}", default=printable(fact.object))
        return memory.reviews.edit(fact.id, object=object)
    return memory.reviews.edit(fact.id, typer.prompt("new text", default=printable(fact.text)))


def _answer_queue(memory: "Memory", invocation: Invocation) -> None:
    queue, link = memory.reviews.list(), memory.notes.link

    def show_queue() -> None:
        entries, of = queue.entries, len(queue.entries)
        parts: list[tuple[Iterator[str], Iterable[Fact]]] = [
            (waiting_lines(each, number=number, of=of), _facts_in(each)) for number, each in enumerate(entries, start=1)
        ]
        parts += [(ending_lines(each), _facts_in(each)) for each in queue.endings]
        parts += [(group_lines(each), each.entries) for each in queue.groups]
        _print_parts(parts, link)
        for proposal in queue.proposals:
            print_line()
            _print_proposal(proposal, link)
        _print_end(queue, invocation, link)

    invocation.answer(fact_shapes.queue_shape(queue, link), show_queue)


def _answer_ended(memory: "Memory", invocation: Invocation) -> None:
    endings, link = memory.reviews.ended(), memory.notes.link

    def show_endings() -> None:
        _print_parts([(old_ending_lines(each), _facts_of(each)) for each in endings], link)
        if not endings:
            invocation.inform(_NONE_ENDED)

    rows = [fact_shapes.old_ending_shape(each, link) for each in endings]
    invocation.answer({"count": len(rows), "ended": rows}, show_endings)


def _print_parts(parts: Sequence[tuple[Iterator[str], Iterable[Fact]]], link: "NoteLink") -> None:
    """Print what waits, with an empty line between two."""
    for number, (lines, facts) in enumerate(parts):
        if number:
            print_line()
        _print_all(lines, facts, link)


def _print_end(queue: ReviewQueue, invocation: Invocation, link: "NoteLink") -> None:
    """Print the staged notes that are neither entries nor proposals, and for an empty queue that it is empty."""
    for path in queue.notes:
        print_linked(f"note {path}", {path: link(path)})
        print_line("   not an entry: `commonplace note move` puts it in its place, `note delete` removes it")
    if not queue.count:
        invocation.inform("nothing waits for your review")


def waiting_lines(waiting: WaitingEntry, *, number: int, of: int) -> Iterator[str]:
    """A waiting entry as the list shows it: its statement, who saved it, why it waits, and what it speaks against."""
    fact = waiting.fact
    yield f"{number} of {of}  {label(fact)}"
    yield from _evidence(waiting)


def ending_lines(waiting: WaitingEntry) -> Iterator[str]:
    """An ending that waits: the new statement and what it would end, each with its speaker and day."""
    fact = waiting.fact
    yield f"ending  {_spoken(fact)}"
    for old in waiting.against:
        yield f"   would end {_spoken(old)}"
    yield from (f"   note: {remark}" for remark in waiting.remarks)
    id = short(fact.id)
    yield f"   end it: commonplace review approve {id}; keep both: commonplace review reject {id}"


def group_lines(group: WaitingGroup) -> Iterator[str]:
    """A group, its newest entry first, each entry with its speaker and day."""
    yield f"{group.id}  {len(group.entries)} near entries, the newest first: how do they relate?"
    yield from (f"   {_spoken(fact)}" for fact in group.entries)
    yield f"   commonplace review settle {group.id} both|replaces|same"


def old_ending_lines(ending: OldEnding) -> Iterator[str]:
    """An entry that an old rule ended, and the one that replaced it."""
    fact = ending.fact
    yield f"ended {day(ending.at)}  {_spoken(fact)}"
    yield f"   replaced by {_spoken(ending.by) if ending.by else 'a statement that is erased'}"
    yield f"   because: {ending.reason}"
    id = short(fact.id)
    yield f"   bring it back: commonplace review bring-back {id}; it is right: commonplace review agree {id}"


def _facts_of(ending: OldEnding) -> tuple[Fact, ...]:
    return (ending.fact, ending.by) if ending.by else (ending.fact,)


def _spoken(fact: Fact) -> str:
    """A statement with who said it, and on which day."""
    speaker, said = speaker_and_day(fact)
    return f"{label(fact)} ({speaker}, {said})"


def _full_lines(waiting: WaitingEntry) -> Iterator[str]:
    """A waiting entry with its whole text and path."""
    fact = waiting.fact
    yield f"{fact.id}  {fact.kind}".rstrip()
    yield from (f"   {line}" for line in fact.text.splitlines())
    if fact.predicate:
        yield f"   {fact.subject} | {fact.predicate} | {fact.object}"
    yield from _evidence(waiting)
    yield f"   {fact.path}"


def _evidence(waiting: WaitingEntry) -> Iterator[str]:
    fact = waiting.fact
    source = fact.origins
    conversation = f", conversation {source.conversation}" if source.conversation else ""
    yield f"   saved {day(fact.recorded)} by {source.interface or 'a program'} ({source.trust}){conversation}"
    yield from (f"   {line}" for line in evidence_lines(source))
    if fact.place == "staging" and fact.reason:
        yield f"   waits: {fact.reason}"
    for old in waiting.against:
        yield f"   against {short(old.id)}: {statement(old)} ({_source(old)})"
    if waiting.known:
        yield f"   known {short(waiting.known.id)}: {statement(waiting.known)} ({_source(waiting.known)})"
    yield from (f"   note: {remark}" for remark in waiting.remarks)


def _source(old: Fact) -> str:
    """Where a known fact is from: its line, or its trust and day."""
    return f"{old.path}:{old.line}" if old.origin == "line" else f"{old.origins.trust}, {day(old.begins)}"


def _answer_results(results: Sequence[Reviewed], invocation: Invocation, link: "NoteLink") -> None:
    def show_results() -> None:
        for result in results:
            if result.difference is not None:
                print_text(result.difference)
                invocation.inform(f"dry run, nothing was written: {result.action} {_name(result)}")
            else:
                _print_result(result, link)
        if not results:
            invocation.inform("nothing waits for your review")

    invocation.answer(fact_shapes.reviewed_shape(results, link), show_results)


def _name(result: Reviewed) -> str:
    return result.proposal.id if isinstance(result, ProposalResult) else short(result.fact.id)


def _print_result(result: Reviewed, link: "NoteLink") -> None:
    if isinstance(result, ReviewResult):
        _print_all(result_lines(result), (result.fact, *result.ended), link)
        return
    proposal = result.proposal
    target = proposal.move_to if proposal.move_to and result.action == "approve" else proposal.target
    print_linked(f"{_DEEDS[result.action]} {proposal.id}  {target}", {target: link(target)})
    for remark in result.remarks:
        print_line(f"  {remark}")


def _print_proposal(proposal: Proposal, link: "NoteLink") -> None:
    """A proposal with the reason and the difference that it would make."""
    made = f" {day(proposal.made)}" if proposal.made else ""
    print_linked(f"{proposal.id}  change of {proposal.target}", {proposal.target: link(proposal.target)})
    print_line(f"   proposed{made} by {proposal.by}: {proposal.why}")
    if proposal.move_to:
        for line in proposal.text.splitlines():
            print_line(f"   | {line}")
        print_line(f"   move it to {proposal.move_to}")
    print_text(proposal.difference)


def result_lines(result: ReviewResult) -> Iterator[str]:
    """What became of an entry, what it replaced, and what the person should know besides."""
    yield f"{_DEEDS[result.action]} {label(result.fact)}"
    yield from (f"  replaced {short(old.id)}: {statement(old)}" for old in result.ended)
    yield from (f"  {remark}" for remark in result.remarks)


def _facts_in(waiting: WaitingEntry) -> Iterator[Fact]:
    yield waiting.fact
    yield from waiting.against


def _print_all(lines: Iterator[str], facts: Iterable[Fact], link: "NoteLink") -> None:
    """Print lines; on a terminal the ids and paths of these facts open their notes."""
    links = {shown: address for fact in facts for shown, address in links_of(fact, link).items()}
    for line in lines:
        print_linked(line, links)
