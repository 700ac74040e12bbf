"""`commonplace note`: reading and changing single notes."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from commonplace.cli.invocation import (
    Invocation,
    file_time_text,
    invocation_of,
    local_time,
    print_line,
    print_linked,
    print_note,
    print_stderr,
    print_table,
    print_text,
    show_help,
)
from commonplace.errors import Refused, UsageError
from commonplace.memory import shapes
from commonplace.model import Changed, Erasure, Link, Note, Terms
from commonplace.model.moment import moment_text

app = typer.Typer(
    help="Read and change notes, and see what they link to.",
    callback=show_help,
    invoke_without_command=True,
    rich_markup_mode=None,
)

NotePath = Annotated[str, typer.Argument(metavar="PATH", help="The note's path in the vault, such as People/Ada.md.")]
Expect = Annotated[
    str | None,
    typer.Option(metavar="VERSION", help="Write only if this is the current version (12 digits or more), or `absent`."),
]
Message = Annotated[str | None, typer.Option("-m", "--message", help="The commit message: why.")]
Personal = Annotated[
    bool,
    typer.Option(
        "--personal", help="Confirm a change to a personal note: one outside the folders that programs may write to."
    ),
]
DryRun = Annotated[bool, typer.Option(help="Change nothing; print the difference.")]


@app.command("read")
def read(
    context: typer.Context,
    path: NotePath,
    section: Annotated[str | None, typer.Option(help="Only this heading and the text below it.")] = None,
) -> None:
    """Print a note; with --json, its parts.

    \b
    Examples:
      commonplace note read People/Ada.md
      commonplace note read Projects/Garden.md --section Plan
      commonplace note read People/Ada.md --json
    """
    invocation = invocation_of(context)
    notes = invocation.memory().notes
    if section is not None:
        part = notes.section(path, section)
        invocation.answer({"path": path, "section": part}, lambda: print_note(part.text))
        return
    note = notes.read(path)
    sensitive = notes.is_sensitive(note)
    shape = shapes.note_shape(note, sensitive=sensitive, link=notes.link(note.path))
    invocation.answer(shape, lambda: _show_note(note, sensitive=sensitive, link=shape["link"]))


@app.command("list")
def list_(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Only notes below this folder.")] = "",
    recursive: Annotated[bool, typer.Option(help="Include subfolders.")] = True,
) -> None:
    """List notes by path.

    \b
    Examples:
      commonplace note list
      commonplace note list Meetings --no-recursive --json
    """
    invocation = invocation_of(context)
    notes = invocation.memory().notes
    stats = notes.list(folder, recursive=recursive)

    def show() -> None:
        if sys.stdout.isatty():
            print_table(
                ["note", "changed", "bytes"],
                [(stat.path, file_time_text(stat.mtime), str(stat.size)) for stat in stats],
                [{stat.path: notes.link(stat.path)} for stat in stats],
            )
        else:
            print_text("".join(f"{stat.path}\n" for stat in stats))

    invocation.answer({"count": len(stats), "notes": [*stats]}, show)


@app.command("stat")
def stat(context: typer.Context, path: NotePath) -> None:
    """Print a note's size and modification time.

    \b
    Example:
      commonplace note stat People/Ada.md
    """
    invocation = invocation_of(context)
    info = invocation.memory().notes.stat(path)
    invocation.answer(
        {"path": info.path, "mtime": info.mtime, "size": info.size},
        lambda: print_line(f"{info.path}  {info.size} bytes  {file_time_text(info.mtime)}"),
    )


@app.command("links")
def links(context: typer.Context, path: NotePath) -> None:
    """Print where each link of a note leads.

    \b
    Example:
      commonplace note links Projects/Garden.md
    """
    invocation = invocation_of(context)
    resolved = invocation.memory().notes.links(path)

    def show() -> None:
        rows = [(f"{each.link.line:>5}", link_text(each.link), each.path or "(no such file)") for each in resolved]
        print_table(["line", "link", "leads to"], rows)
        if not resolved:
            invocation.inform("no links")

    invocation.answer(
        {"path": path, "count": len(resolved), "links": [shapes.link_shape(each) for each in resolved]}, show
    )


def link_text(link: Link) -> str:
    """The link in the note's own syntax, without the alias of a wikilink."""
    anchor = f"#^{link.block}" if link.block else f"#{link.heading}" if link.heading else ""
    if link.form == "markdown":
        return f"[{link.alias or ''}]({link.target}{anchor})"
    return f"{'!' if link.form == 'embed' else ''}[[{link.target}{anchor}]]"


def _show_note(note: Note, *, sensitive: bool, link: str) -> None:
    """Print the text; on a terminal with a header line above it, and its problems on standard error."""
    if sys.stdout.isatty():
        marks = [
            note.path,
            file_time_text(note.mtime),
            note.version[:12],
            *[f"#{tag}" for tag in note.tags],
            *(["sensitive"] if sensitive else []),
        ]
        print_linked("  ".join(marks) + "\n", {note.path: link})
    print_note(note.text)
    for problem in note.problems:
        print_stderr(f"{problem.path}:{problem.line}: {problem.message}")


@app.command("write")
def write(
    context: typer.Context,
    path: NotePath,
    file: Annotated[
        Path | None, typer.Option(help="Read the text from this file; `-` or nothing reads standard input.")
    ] = None,
    expect: Expect = None,
    message: Message = None,
    personal: Personal = False,
    dry_run: DryRun = False,
) -> None:
    """Write a note in one commit that can be undone.

    Frontmatter keys that the new text leaves out keep their values.

    \b
    Examples:
      echo "An idea." | commonplace note write Inbox/Idea.md
      commonplace note write People/Ada.md --file ada.md --expect 9f86d0… -m "new role"
      commonplace note write README.md --file readme.md --personal --dry-run
    """
    invocation = invocation_of(context)
    terms = Terms(message=message, expected=expect, personal=personal, dry_run=dry_run)
    if file is None and sys.stdin.isatty():
        invocation.inform("Type the note; finish with Ctrl-D.")
    with _explaining_personal(), invocation.memory() as memory:
        limit = memory.notes.max_bytes + 1  # one byte more shows that it is too large
        _answer(invocation, memory.notes.write(path, incoming(file, limit), terms))


@app.command("delete")
def delete(
    context: typer.Context,
    path: NotePath,
    expect: Expect = None,
    message: Message = None,
    personal: Personal = False,
    dry_run: DryRun = False,
) -> None:
    """Delete a note; git keeps it, and `commonplace undo` restores it.

    \b
    Example:
      commonplace note delete Inbox/Idea.md
    """
    invocation = invocation_of(context)
    terms = Terms(message=message, expected=expect, personal=personal, dry_run=dry_run)
    with _explaining_personal(), invocation.memory() as memory:
        _answer(invocation, memory.notes.delete(path, terms))


@app.command("move")
def move(
    context: typer.Context,
    path: NotePath,
    to: Annotated[str, typer.Argument(metavar="TO", help="The new path.")],
    expect: Expect = None,
    message: Message = None,
    personal: Personal = False,
    dry_run: DryRun = False,
) -> None:
    """Move a note and update the links to it, in one commit.

    \b
    Example:
      commonplace note move Inbox/Idea.md Projects/Idea.md
    """
    invocation = invocation_of(context)
    terms = Terms(message=message, expected=expect, personal=personal, dry_run=dry_run)
    with _explaining_personal(), invocation.memory() as memory:
        _answer(invocation, memory.notes.move(path, to, terms))


@app.command("mark")
def mark(context: typer.Context, path: NotePath, dry_run: DryRun = False) -> None:
    """Mark a note as a source of memory: facts are learned from it, again whenever you edit it.

    Writes `memory: source` into its frontmatter, and nothing else is ever changed in it. Facts end when their words
    leave the note. A note that is marked sensitive is not read.

    \b
    Examples:
      commonplace note mark People/Me.md
      commonplace learn --note People/Me.md
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        _answer(invocation, memory.learning.mark(path, dry_run=dry_run))
    if not dry_run:
        invocation.inform("`commonplace learn` reads it now; the daemon does so by itself")


@app.command("unmark")
def unmark(context: typer.Context, path: NotePath, dry_run: DryRun = False) -> None:
    """Take the mark of a memory source away; facts that were learned from the note stay.

    \b
    Example:
      commonplace note unmark People/Me.md
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        _answer(invocation, memory.learning.unmark(path, dry_run=dry_run))


@app.command("erase")
def erase(
    context: typer.Context,
    path: NotePath,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    personal: Personal = False,
) -> None:
    """Erase a note and everything derived from it; cannot be undone.

    \b
    Example:
      commonplace note erase "Inbox/Old password.md"
    """
    invocation = invocation_of(context)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("erasing needs confirmation", path=path, hint="Add --yes; it cannot be undone.")
        typer.confirm(f"Erase {path} for good?", abort=True, err=True)
    with _explaining_personal(), invocation.memory() as memory:
        erased = memory.notes.erase(path, Terms(personal=personal))

    invocation.answer({"erased": erased}, lambda: show_erased(erased, invocation))


@app.command("history")
def history(
    context: typer.Context,
    path: NotePath,
    limit: Annotated[int, typer.Option("-n", min=1, help="Show at most this many, newest first.")] = 20,
) -> None:
    """List the commits that changed a note, whoever made them.

    \b
    Example:
      commonplace note history People/Ada.md
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        resolved = memory.notes.history(path, limit=limit)
    rows = [
        {
            "commit": each.commit,
            "when": moment_text(each.when),
            "author": each.author,
            "message": each.message,
        }
        for each in resolved
    ]
    shown = [(row["commit"][:10], local_time(row["when"]), row["author"], first_line(row["message"])) for row in rows]
    invocation.answer(
        {"path": path, "revisions": rows}, lambda: print_table(["commit", "when", "author", "why"], shown)
    )


def show_erased(erased: Erasure, invocation: Invocation) -> None:
    """Print what was erased, what git still holds, and how to purge that."""
    print_line(f"erased {erased.path}")
    if erased.former:
        print_line(f"  earlier paths: {', '.join(erased.former)}")
    if erased.commit is None:
        return
    if not erased.purge:
        print_line("  its history is erased, too; backups of the database may still hold it")
        return
    root = invocation.settings().settings.vault.root
    git = f"git -C {shlex.quote(str(root))}" if root else "git"
    if erased.commits_holding_it:
        _show_purge(erased, git)
    print_line("to remove staged and unreachable objects as well:")
    print_line(f"  {git} reflog expire --expire=now --all && {git} gc --prune=now")


def _show_purge(erased: Erasure, git: str) -> None:
    """Print how to take the note out of every commit, and what else that does.

    Tried with git-filter-repo 2.47: without --force it stops in a repository that is not a fresh clone.
    """
    where = f" and may be on {', '.join(erased.remotes)}" if erased.remotes else ""
    commits = "1 commit" if erased.commits_holding_it == 1 else f"{erased.commits_holding_it} commits"
    paths = " ".join(f"--path {shlex.quote(path)}" for path in erased.purge)
    print_line(f"git still holds it in {commits}{where}; to purge it there, with a tool that is not part of git:")
    print_line("  uv tool install git-filter-repo     # or: pipx install git-filter-repo")
    print_line(f"  {git} filter-repo --force --invert-paths {paths}")
    print_line("  This rewrites the history: copy the vault first, and commit everything, as changes without a commit")
    print_line("  are lost. Commits get new ids, the first one too if it held the note.")
    if erased.remotes:
        print_line("  It also removes the remote origin: add it again, and push with --force.")


def first_line(message: str) -> str:
    """The subject line of a commit message."""
    return message.partition("\n")[0].rstrip()


@contextmanager
def _explaining_personal() -> Iterator[None]:
    """Add to the refusal to change a personal note the command that confirms it."""
    try:
        yield
    except Refused as refusal:
        if refusal.reason != "outside_allowlist":
            raise
        words, dashes, rest = _split_at_dashes(sys.argv[1:])
        again = shlex.join(["commonplace", *words, "--personal", *dashes, *rest])
        hint = f"{refusal.hint or ''} To do it: {again}"
        raise Refused(refusal.message, path=refusal.path, reason=refusal.reason, hint=hint) from refusal


def _split_at_dashes(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The words before the first `--`, that mark, and the words after it."""
    place = words.index("--") if "--" in words else len(words)
    return [*words[:place]], [*words[place : place + 1]], [*words[place + 1 :]]


def incoming(file: Path | None, limit: int) -> bytes:
    """The bytes of the file, or of standard input (no file, or `-`), at most `limit`. Raises UsageError."""
    if file is None or str(file) == "-":
        return sys.stdin.buffer.read(limit)
    try:
        with file.open("rb") as opened:
            return opened.read(limit)
    except OSError as error:
        raise UsageError(
            f"cannot read the file: {error.strerror}", path=str(file), hint="Name a file that exists."
        ) from error


def _answer(invocation: Invocation, changed: Changed) -> None:
    invocation.answer({"change": changed}, lambda: show_change(changed))


def show_change(changed: Changed) -> None:
    """Print what a change did, or for a dry run the difference that it would make."""
    if changed.difference is not None:
        print_text(changed.difference)
        return
    done = {"write": "wrote", "delete": "deleted", "move": "moved to", "undo": "undid the change of", "erase": "erased"}
    what = done[changed.verb] if changed.changed else "no change in"
    print_line(f"{what} {changed.path}  {(changed.commit or '')[:10]}")
    if changed.path != changed.asked:
        print_stderr(f"  (requested {changed.asked}; policy redirected it here)")
    if changed.repointed:
        print_line(f"  links updated in: {', '.join(changed.repointed)}")
    if changed.left:
        print_stderr(f"  links not changed in: {', '.join(changed.left)}")
