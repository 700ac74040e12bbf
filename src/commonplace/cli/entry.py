"""`commonplace save | settle | evolve | describe | show | confirm | forget | load | erase`: one statement each."""

import sys
from typing import Annotated, Final

import typer

from commonplace.cli.completion import kinds
from commonplace.cli.fact_view import answer_remembered, short, show_chain, statement
from commonplace.cli.invocation import Invocation, invocation_of, printable
from commonplace.cli.neighbours import show_neighbours
from commonplace.cli.note import show_erased
from commonplace.cli.parameters import (
    About,
    Both,
    Covers,
    DryRun,
    EntryId,
    FactClass,
    Importance,
    NoProject,
    ProjectName,
    Replaces,
    Same,
    Topics,
    Until,
    ValidFrom,
    ValidUntil,
    When,
    project_of,
)
from commonplace.client.paths import working_folder
from commonplace.errors import UsageError
from commonplace.memory import fact_shapes
from commonplace.model.request import NewEntry

STANDARD_INPUT: Final = "-"
Text = Annotated[str, typer.Argument(metavar="[TEXT]", help="One statement; `-` or nothing reads standard input.")]
Ids = list[str] | None


def save(
    context: typer.Context,
    text: Text = STANDARD_INPUT,
    kind: Annotated[
        str,
        typer.Option(
            metavar="K",
            help="preference, constraint, fact, decision, ...; an unknown one lists all.",
            autocompletion=kinds,
        ),
    ] = "",
    topic: Topics = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag for the note; may be repeated.")] = None,
    about: About = "",
    when: When = "",
    trigger: Annotated[list[str] | None, typer.Option(metavar="TASK", hidden=True)] = None,
    fact: FactClass = "",
    subject: Annotated[str, typer.Option(metavar="S", help="Who or what it is about.")] = "",
    predicate: Annotated[str, typer.Option(metavar="P", help="The relation, such as works_at.")] = "",
    object: Annotated[str, typer.Option(metavar="O", help="The value.")] = "",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    importance: Importance = None,
    project: ProjectName = "",
    no_project: NoProject = False,
    always_load: Annotated[bool, typer.Option("--always-load", help="Load it at the start of every session.")] = False,
    extends: Annotated[Ids, typer.Option(metavar="ID", help="It adds to this entry.")] = None,
    derived_from: Annotated[Ids, typer.Option(metavar="ID", help="It follows from this entry.")] = None,
    contradicts: Annotated[Ids, typer.Option(metavar="ID", help="It contradicts this entry.")] = None,
    replaces: Replaces = None,
    covers: Covers = None,
    same: Same = None,
    both: Both = None,
    until: Until = "",
    dry_run: DryRun = False,
) -> None:
    """Save one thing worth remembering as a note of its own.

    A statement that is already known is confirmed instead; nothing is overwritten, and nothing ends on a guess: what is
    near it is printed, and `commonplace settle` says what holds no longer. On a terminal it asks; Enter keeps all. In a
    git repository it is saved with that project.

    \b
    Examples:
      commonplace save "Prefers concise pull requests." --kind preference --topic coding
      commonplace save "Ada works at Acme." --subject Ada --predicate works_at --object Acme --valid-from 2026-03-01
      commonplace save "Is allergic to shellfish." --about "food allergies" --when "restaurants, menus, prawns"
      commonplace save "The dentist is Dr. Okafor." --replaces 3f9a1c
      pbpaste | commonplace save --kind fix --topic git --dry-run
    """
    invocation = invocation_of(context)
    words = _words(text, invocation)
    new = NewEntry(
        words,
        kind=kind,
        fact=fact,
        subject=subject,
        predicate=predicate,
        object=object,
        topics=topic or (),
        tags=tag or (),
        about=about,
        when=when or "; ".join(trigger or ()),
        importance=importance,
        valid_from=valid_from,
        valid_until=valid_until,
        always_load=always_load,
        project=project_of(project, without=no_project),
        folder=working_folder(),
        interface="cli",
        extends=extends or (),
        derived_from=derived_from or (),
        contradicts=contradicts or (),
        replaces=replaces or (),
        covers=covers or (),
        same=same or (),
        both=both or (),
        until=until,
        dry_run=dry_run,
    )
    with invocation.memory() as memory:
        remembered = memory.entries.add(new)
        answer_remembered(invocation, remembered, memory)
        show_neighbours(remembered, memory, invocation)


def settle(
    context: typer.Context,
    id: EntryId,
    replaces: Replaces = None,
    covers: Covers = None,
    same: Same = None,
    both: Both = None,
    until: Until = "",
    reason: Annotated[str, typer.Option(metavar="R", help="The reason.")] = "",
    dry_run: DryRun = False,
) -> None:
    """Say how an entry relates to older ones: it replaces or covers them, says the same, or both hold.

    What it replaces or covers goes to the archive; of what says the same, the older wording stays. `commonplace undo`
    takes all of it back. An ID may be followed by digits of the words that you saw, as `save` prints it (91f607.3ac).

    \b
    Examples:
      commonplace settle 7c20de --replaces 3f9a1c --reason "she took over"
      commonplace settle 7c20de --covers 3f9a1c --covers 91f607.3ac
      commonplace settle 7c20de --same 3f9a1c
      commonplace settle 7c20de --both 3f9a1c --until 2027-03-01 --dry-run
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        settled = memory.entries.settle(
            id,
            replaces=replaces or (),
            covers=covers or (),
            same=same or (),
            both=both or (),
            until=until,
            reason=reason,
            dry_run=dry_run,
        )
    answer_remembered(invocation, settled, memory)


def evolve(
    context: typer.Context,
    id: EntryId,
    text: Text = STANDARD_INPUT,
    reason: Annotated[str, typer.Option(metavar="R", help="Why it changed; required.")] = "",
    topic: Topics = None,
    about: About = "",
    when: When = "",
    importance: Importance = None,
    object: Annotated[
        str, typer.Option(metavar="O", help="The new value of a triple; TEXT is then its sentence.")
    ] = "",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    dry_run: DryRun = False,
) -> None:
    """Replace an entry by a new version; the old one goes to the archive.

    Both versions link to each other.

    \b
    Example:
      commonplace evolve 3f9a1c "Prefers long pull requests." --reason "said so on Monday"
    """
    invocation = invocation_of(context)
    words = _words(text, invocation)
    with invocation.memory() as memory:
        remembered = memory.entries.evolve(
            id,
            words,
            reason=reason,
            topics=topic or (),
            about=about,
            when=when,
            importance=importance,
            object=object,
            valid_from=valid_from,
            valid_until=valid_until,
            interface="cli",
            dry_run=dry_run,
        )
    answer_remembered(invocation, remembered, memory)


def describe(
    context: typer.Context,
    id: EntryId,
    about: Annotated[
        str | None, typer.Option(metavar="Q", help="The question that it answers; empty removes it.")
    ] = None,
    when: Annotated[
        str | None, typer.Option(metavar="S", help="Situations in which it matters; empty removes them.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Say what an entry is about and when it matters; prompts about that find it, and its words stay.

    \b
    Examples:
      commonplace describe 3f9a1c --about "food allergies" --when "restaurants, menus, prawns, dinner at friends"
      commonplace describe 3f9a1c --when ""
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        described = memory.entries.describe(id, about=about, when=when, dry_run=dry_run)
    answer_remembered(invocation, described, memory)


def show(context: typer.Context, id: EntryId) -> None:
    """Print an entry or fact with all its versions, sources and relations.

    \b
    Examples:
      commonplace show 3f9a1c
      commonplace show Agent/Memory/preference/2026-03/concise-pull-requests-3f9a1c.md --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        chain = memory.entries.show(id)
        link = memory.notes.link
    invocation.answer(fact_shapes.chain_shape(chain, link), lambda: show_chain(chain, link))


def _words(text: str, invocation: Invocation) -> str:
    """The text, or what standard input holds. Raises UsageError if that is not UTF-8."""
    if text != STANDARD_INPUT:
        return text
    if sys.stdin.isatty():
        invocation.inform("Type the statement; finish with Ctrl-D.")
    try:
        return sys.stdin.buffer.read().decode().strip()
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not UTF-8 text", hint="Convert it to UTF-8.") from error


def confirm(context: typer.Context, id: EntryId) -> None:
    """Confirm that an entry is still true today.

    \b
    Example:
      commonplace confirm 3f9a1c
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        answer_remembered(invocation, memory.entries.confirm(id), memory)


def forget(
    context: typer.Context,
    id: EntryId,
    reason: Annotated[str, typer.Option(metavar="R", help="The reason.")] = "",
) -> None:
    """Forget an entry: its note stays, marked as deleted, and is never recalled.

    `commonplace undo` restores it.

    \b
    Example:
      commonplace forget 3f9a1c --reason "never true"
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        answer_remembered(invocation, memory.entries.forget(id, reason=reason), memory)
    invocation.inform(f"`commonplace erase {id}` erases it for good")


def load(
    context: typer.Context,
    id: EntryId,
    always: Annotated[
        bool, typer.Option("--always/--on-demand", help="Before every prompt, or only when relevant.")
    ] = True,
    pin: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Keep upkeep from changing it, or let upkeep change it.")
    ] = None,
) -> None:
    """Load an entry before every prompt, or only when it is relevant.

    \b
    Examples:
      commonplace load 3f9a1c
      commonplace load 3f9a1c --pin
      commonplace load 3f9a1c --on-demand
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        answer_remembered(invocation, memory.entries.load(id, always=always, pinned=pin), memory)


def erase(
    context: typer.Context,
    id: EntryId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Erase an entry and everything derived from it; cannot be undone.

    \b
    Example:
      commonplace erase 3f9a1c
    """
    invocation = invocation_of(context)
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"erasing {id} needs confirmation", hint="Add --yes; it cannot be undone.")
    with invocation.memory() as memory:
        if not yes:
            fact = memory.entries.show(id).fact
            id = fact.id
            asked = f"Erase {short(id)}, {printable(statement(fact))!r}, for good?"
            typer.confirm(asked, abort=True, err=True)
        erased = memory.entries.erase(id)
    invocation.answer({"erased": erased}, lambda: show_erased(erased, invocation))
