"""`commonplace note write|delete|move|history|erase`, `undo`, `log`, `grant`: changing notes."""

import shlex
import sys
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from commonplace.cli.door import Door, door_of, print_aside, print_line, print_table, print_text
from commonplace.errors import UsageError
from commonplace.memory import AuditEntry
from commonplace.model import Changed, Erased, Terms

NotePath = Annotated[str, typer.Argument(metavar="PATH", help="The note's path in the vault, such as Inbox/Idea.md.")]
Expect = Annotated[
    str | None, typer.Option(metavar="VERSION", help="Only over this version, 12 digits or more of it; or `absent`.")
]
Message = Annotated[str | None, typer.Option("-m", "--message", help="Why; the message of the commit.")]
Personal = Annotated[bool, typer.Option(help="Yes, also a note outside the folders that programs may write to.")]
DryRun = Annotated[bool, typer.Option(help="Change nothing; print the difference it would make.")]


def write(
    context: typer.Context,
    path: NotePath,
    file: Annotated[Path | None, typer.Option(help="Take the text from this file instead of standard input.")] = None,
    expect: Expect = None,
    message: Message = None,
    personal: Personal = False,
    dry_run: DryRun = False,
) -> None:
    """Write a note: its keys win, keys it leaves out survive; one commit, undoable.

    \b
    Examples:
      echo "An idea." | commonplace note write Inbox/Idea.md
      commonplace note write People/Ada.md --file ada.md --expect 9f86d0… -m "new role"
      commonplace note write README.md --file readme.md --personal --dry-run
    """
    door = door_of(context)
    terms = Terms(message=message, expected=expect, personal=personal, dry_run=dry_run)
    if file is None and sys.stdin.isatty():
        door.aside("Type the note; end it with Ctrl-D.")
    with door.memory() as memory:
        limit = door.settings().settings.safety.max_note_bytes + 1  # one more shows that it is too large
        _answer(door, memory.notes.write(path, _incoming(file, limit), terms))


def delete(
    context: typer.Context,
    path: NotePath,
    expect: Expect = None,
    message: Message = None,
    personal: Personal = False,
    dry_run: DryRun = False,
) -> None:
    """Remove a note; git keeps it, and `commonplace undo` brings it back.

    \b
    Example:
      commonplace note delete Inbox/Idea.md
    """
    door = door_of(context)
    terms = Terms(message=message, expected=expect, personal=personal, dry_run=dry_run)
    with door.memory() as memory:
        _answer(door, memory.notes.delete(path, terms))


def move(
    context: typer.Context,
    path: NotePath,
    to: Annotated[str, typer.Argument(metavar="TO", help="The new path.")],
    expect: Expect = None,
    message: Message = None,
    personal: Personal = False,
    dry_run: DryRun = False,
) -> None:
    """Give a note another path; the links to it follow, in the same commit.

    \b
    Example:
      commonplace note move Inbox/Idea.md Projects/Idea.md
    """
    door = door_of(context)
    terms = Terms(message=message, expected=expect, personal=personal, dry_run=dry_run)
    with door.memory() as memory:
        _answer(door, memory.notes.move(path, to, terms))


def erase(
    context: typer.Context,
    path: NotePath,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    personal: Personal = False,
) -> None:
    """Remove a note for good, with all that is known of it; cannot be undone.

    \b
    Example:
      commonplace note erase "Inbox/Old password.md"
    """
    door = door_of(context)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("erasing needs a yes", path=path, hint="Add --yes; it cannot be undone.")
        typer.confirm(f"Erase {path} for good?", abort=True, err=True)
    with door.memory() as memory:
        erased = memory.notes.erase(path, Terms(personal=personal))

    door.answer({"erased": erased}, lambda: show_erased(erased))


def history(
    context: typer.Context,
    path: NotePath,
    limit: Annotated[int, typer.Option("-n", min=1, help="The newest so many.")] = 20,
) -> None:
    """List the commits that touched a note, whoever made them.

    \b
    Example:
      commonplace note history People/Ada.md
    """
    door = door_of(context)
    with door.memory() as memory:
        found = memory.notes.history(path, limit=limit)
    rows = [
        {
            "commit": each.commit,
            "when": each.when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "author": each.author,
            "message": each.message,
        }
        for each in found
    ]
    shown = [(row["commit"][:10], row["when"], row["author"], _first_line(row["message"])) for row in rows]
    door.answer({"path": path, "revisions": rows}, lambda: print_table(["commit", "when", "author", "why"], shown))


def undo(
    context: typer.Context,
    count: Annotated[int, typer.Argument(metavar="[N]", min=1, help="How many of our newest changes.")] = 1,
    commit: Annotated[str | None, typer.Option(help="Undo this change of ours instead; also an undo.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Take back our own newest changes; what people wrote since stays.

    \b
    Examples:
      commonplace undo
      commonplace undo 3
      commonplace undo --commit 3f2a9c1b
    """
    door = door_of(context)
    with door.memory() as memory:
        done = memory.notes.undo(count, commit=commit, terms=Terms(dry_run=dry_run))

    def show() -> None:
        for each in done:
            _show(each)

    door.answer({"undone": done}, show)


def log(
    context: typer.Context,
    path: Annotated[str | None, typer.Option(help="Only changes of this note.")] = None,
    limit: Annotated[int, typer.Option("-n", min=1, help="The newest so many.")] = 20,
) -> None:
    """List what was written through Commonplace, by whom and why.

    \b
    Examples:
      commonplace log
      commonplace log --path People/Ada.md -n 5 --json
    """
    door = door_of(context)
    with door.memory() as memory:
        entries = memory.notes.log(path=path, limit=limit)
    rows = [_log_row(list(mutation)) for _, mutation in groupby(entries, key=lambda each: each.commit)]
    door.answer({"entries": entries}, lambda: print_table(["commit", "when", "who", "what", "note", "why"], rows))


def show_erased(erased: Erased) -> None:
    """What is gone, what git still holds, and how to purge that."""
    print_line(f"erased {erased.path}")
    if erased.former:
        print_line(f"  it was moved there from: {', '.join(erased.former)}")
    if erased.commits_holding_it:
        where = f" and may be on {', '.join(erased.remotes)}" if erased.remotes else ""
        paths = " ".join(f"--path {shlex.quote(path)}" for path in erased.purge)
        print_line(f"git still holds it in {erased.commits_holding_it} commits{where}; to purge it there:")
        print_line(f"  git filter-repo --invert-paths {paths}   (rewrites history: make a copy first)")
    print_line("what was staged or is dangling goes with:")
    print_line("  git reflog expire --expire=now --all && git gc --prune=now")


def _first_line(message: str) -> str:
    return message.partition("\n")[0].rstrip()


def _log_row(entries: list[AuditEntry]) -> tuple[str, ...]:
    """One line for one commit: the note it is about, and how many others went with it."""
    main = next((each for each in entries if each.destination), entries[-1])
    more = f" (+{len(entries) - 1})" if len(entries) > 1 else ""
    return (
        (main.commit or "")[:10],
        main.when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        main.actor,
        main.verb,
        (f"{main.path} -> {main.destination}" if main.destination else main.path) + more,
        _first_line(main.reason),
    )


def grant(
    context: typer.Context,
    path: NotePath,
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="How long it may be used.")] = 10,
) -> None:
    """Print a token with which an agent may change this one note once.

    \b
    Example:
      commonplace grant "Journal/Today.md"
    """
    door = door_of(context)
    with door.memory() as memory:
        token = memory.notes.grant(path, minutes=minutes)
    door.answer({"path": path, "grant": token, "minutes": minutes}, lambda: print_line(token))


def _incoming(file: Path | None, limit: int) -> bytes:
    if file is None:
        return sys.stdin.buffer.read(limit)
    try:
        with file.open("rb") as opened:
            return opened.read(limit)
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror}", path=str(file), hint="Name a file that is there."
        ) from error


def _answer(door: Door, changed: Changed) -> None:
    door.answer({"change": changed}, lambda: _show(changed))


def _show(changed: Changed) -> None:
    if changed.difference is not None:
        print_text(changed.difference)
        return
    done = {"write": "wrote", "delete": "deleted", "move": "moved to", "undo": "undid the change of", "erase": "erased"}
    what = done[changed.verb] if changed.changed else "nothing to change in"
    print_line(f"{what} {changed.path}  {(changed.commit or '')[:10]}")
    if changed.path != changed.asked:
        print_aside(f"  (asked for {changed.asked}; policy chose this path)")
    if changed.repointed:
        print_line(f"  links followed in: {', '.join(changed.repointed)}")
    if changed.left:
        print_aside(f"  links not changed in: {', '.join(changed.left)}")
