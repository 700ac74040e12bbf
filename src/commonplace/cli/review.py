"""`commonplace review`: what programs saved and you have not approved yet."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer
from click import edit as edit_text

from commonplace.cli.fact_view import day, evidence_lines, label, links_of, short, statement
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_linked, print_text, printable
from commonplace.cli.parameters import ENTRY_ID_HELP, DryRun, EntryId
from commonplace.memory import fact_shapes
from commonplace.model import Fact
from commonplace.model.fact import ReviewQueue, ReviewResult, WaitingEntry
from commonplace.model.proposal import Proposal, ProposalResult

if TYPE_CHECKING:
    from commonplace.memory import Memory
    from commonplace.memory.shapes import NoteLink

Reviewed = ReviewResult | ProposalResult

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help=ENTRY_ID_HELP)]
All = Annotated[bool, typer.Option("--all", help="Everything that waits.")]
KeepOld = Annotated[bool, typer.Option("--keep-old", help="Keep what it speaks against as well.")]

_DEEDS: Final = {"approve": "approved", "edit": "approved", "reject": "rejected", "confirm": "already known, confirmed"}
_PROPOSED: Final = "p-"
_QUESTION: Final = "approve, edit, reject, skip or quit? [a/e/r/s/q]"


def review(context: typer.Context) -> None:
    """List, approve, edit and reject what programs saved and you have not approved yet.

    On a terminal it asks about one entry after another; elsewhere it prints the list.

    \b
    Examples:
      commonplace review
      commonplace review approve 3f9a1c
      commonplace review reject 3f9a1c --reason "never true"
      commonplace review --json
    """
    if context.invoked_subcommand:
        return
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        if sys.stdin.isatty() and sys.stdout.isatty() and not invocation.json:
            _walk(memory, invocation)
        else:
            _answer_queue(memory, invocation)


app = typer.Typer(callback=review, invoke_without_command=True, rich_markup_mode=None)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List what waits for your approval, oldest first, with the reason and what it speaks against.

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
    """Print one waiting entry with its whole text, its source and what it speaks against; or one proposal.

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
    dry_run: DryRun = False,
) -> None:
    """Approve entries: they become your own word and replace what they speak against. A proposal changes its note.

    `commonplace undo` takes an approval back.

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
            results += memory.reviews.approve(*entries, all=everything, keep_old=keep_old, dry_run=dry_run)
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

    `commonplace undo` lets them wait for your review again.

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


def _split(ids: list[str] | None, *, everything: bool) -> tuple[list[str], list[str]]:
    """The ids of entries, and those of proposals; the entries' verb says what is wrong if both ways are mixed."""
    entries = [id for id in ids or () if everything or not id.startswith(_PROPOSED)]
    return entries, [id for id in ids or () if id not in entries]


def _walk(memory: "Memory", invocation: Invocation) -> None:
    """Ask about one entry after another until all are decided or the person quits."""
    queue, link = memory.reviews.list(), memory.notes.link
    for number, listed in enumerate(queue.entries, start=1):
        waiting = memory.reviews.show(listed.fact.id)  # an approval may have changed what it speaks against
        print_line()
        _print_all(waiting_lines(waiting, number=number, of=len(queue.entries)), _facts_in(waiting), link)
        choice = _choice()
        if choice == "q":
            return
        if deed := _deeds(memory, waiting).get(choice):
            for result in deed():
                _print_result(result, link)
    if _walk_proposals(memory):
        _print_end(queue, invocation, link)


def _walk_proposals(memory: "Memory") -> bool:
    """Ask about one proposal after another; False if the person quits."""
    reviews, link = memory.reviews, memory.notes.link
    for proposal in reviews.list().proposals:
        print_line()
        _print_proposal(proposal, link)
        choice = _choice()
        if choice == "q":
            return False
        if choice == "a":
            _print_result(reviews.approve_proposals(proposal.id)[0], link)
        elif choice == "r":
            _print_result(reviews.reject_proposals(proposal.id)[0], link)
        elif choice == "e" and (text := _edited(memory, proposal)):
            _print_result(reviews.edit_proposal(proposal.id, text), link)
    return True


def _edited(memory: "Memory", proposal: Proposal) -> str | None:
    """The note in the person's words, from the proposed ones; None if they leave it, or if it only moves."""
    return None if proposal.move_to else edit_text(memory.reviews.proposed_text(proposal.id), extension=".md")


def _choice() -> str:
    while True:
        answer = str(typer.prompt(_QUESTION, prompt_suffix=" ")).strip().lower()[:1]
        if answer in ("a", "e", "r", "s", "q"):
            return answer


def _deeds(memory: "Memory", waiting: WaitingEntry) -> dict[str, Callable[[], Sequence[Reviewed]]]:
    """What each key but `s` and `q` does to the entry."""
    id, reviews = waiting.fact.id, memory.reviews
    return {
        "a": lambda: reviews.approve(id),
        "e": lambda: (_edit(memory, waiting.fact),),
        "r": lambda: reviews.reject(id),
    }


def _edit(memory: "Memory", fact: Fact) -> Reviewed:
    """Ask for the new text, or for the new value of a triple."""
    if fact.predicate:
        object = typer.prompt(f"new value of {fact.predicate}", default=printable(fact.object))
        return memory.reviews.edit(fact.id, object=object)
    return memory.reviews.edit(fact.id, typer.prompt("new text", default=printable(fact.text)))


def _answer_queue(memory: "Memory", invocation: Invocation) -> None:
    queue, link = memory.reviews.list(), memory.notes.link

    def show_queue() -> None:
        for number, waiting in enumerate(queue.entries, start=1):
            if number > 1:
                print_line()
            _print_all(waiting_lines(waiting, number=number, of=len(queue.entries)), _facts_in(waiting), link)
        for proposal in queue.proposals:
            print_line()
            _print_proposal(proposal, link)
        _print_end(queue, invocation, link)

    invocation.answer(fact_shapes.queue_shape(queue, link), show_queue)


def _print_end(queue: ReviewQueue, invocation: Invocation, link: "NoteLink") -> None:
    """Print the staged notes that are neither entries nor proposals, and for an empty queue that it is empty."""
    for path in queue.notes:
        print_linked(f"note {path}", {path: link(path)})
        print_line("   not an entry: `commonplace note move` puts it in its place, `note delete` removes it")
    if not (queue.entries or queue.notes or queue.proposals):
        invocation.inform("nothing waits for your review")


def waiting_lines(waiting: WaitingEntry, *, number: int, of: int) -> Iterator[str]:
    """A waiting entry as the list shows it: its statement, who saved it, why it waits, and what it speaks against."""
    fact = waiting.fact
    yield f"{number} of {of}  {label(fact)}"
    yield from _evidence(waiting)


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
    if fact.reason:
        yield f"   waits: {fact.reason}"
    for old in waiting.against:
        yield f"   against {short(old.id)}: {statement(old)} ({_source(old)})"
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
