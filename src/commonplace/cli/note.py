"""`commonplace note`: the verbs on single notes."""

import sys
from typing import Annotated

import typer

from commonplace.cli.door import door_of, help_alone, iso, print_aside, print_line, print_table, print_text
from commonplace.memory import shapes
from commonplace.model import Link, Note

app = typer.Typer(
    help="Read and change notes, and see what they link to.",
    callback=help_alone,
    invoke_without_command=True,
    rich_markup_mode=None,
)

Path = Annotated[str, typer.Argument(metavar="PATH", help="The note's path in the vault, such as People/Ada.md.")]


@app.command("read")
def read(
    context: typer.Context,
    path: Path,
    section: Annotated[str | None, typer.Option(help="Only this heading and what is below it.")] = None,
) -> None:
    """Print a note as it is; with --json, its parts.

    \b
    Examples:
      commonplace note read People/Ada.md
      commonplace note read Projects/Garden.md --section Plan
      commonplace note read People/Ada.md --json
    """
    door = door_of(context)
    notes = door.memory().notes
    if section is not None:
        part = notes.section(path, section)
        door.answer({"path": path, "section": part}, lambda: print_text(part.text))
        return
    note = notes.read(path)
    sensitive = notes.is_sensitive(note)
    door.answer(shapes.note_shape(note, sensitive=sensitive), lambda: _show(note, sensitive=sensitive))


@app.command("list")
def list_(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Only notes below this folder.")] = "",
    recursive: Annotated[bool, typer.Option(help="Look into the folders below, too.")] = True,
) -> None:
    """List notes by path.

    \b
    Examples:
      commonplace note list
      commonplace note list Meetings --no-recursive --json
    """
    door = door_of(context)
    stats = door.memory().notes.list(folder, recursive=recursive)
    rows = [shapes.stat_shape(stat) for stat in stats]

    def show() -> None:
        if sys.stdout.isatty():
            print_table(["note", "changed", "bytes"], [(stat.path, iso(stat.mtime), str(stat.size)) for stat in stats])
        else:
            print_text("".join(f"{stat.path}\n" for stat in stats))

    door.answer({"count": len(rows), "notes": rows}, show)


@app.command("stat")
def stat(context: typer.Context, path: Path) -> None:
    """Print a note's size and time.

    \b
    Example:
      commonplace note stat People/Ada.md
    """
    door = door_of(context)
    found = door.memory().notes.stat(path)
    door.answer(
        {"path": found.path, "mtime": found.mtime, "size": found.size},
        lambda: print_line(f"{found.path}  {found.size} bytes  {iso(found.mtime)}"),
    )


@app.command("links")
def links(context: typer.Context, path: Path) -> None:
    """Print where each link of a note leads.

    \b
    Example:
      commonplace note links Projects/Garden.md
    """
    door = door_of(context)
    found = door.memory().notes.links(path)

    def show() -> None:
        rows = [(f"{each.link.line:>5}", link_text(each.link), each.path or "(no such file)") for each in found]
        print_table(["line", "link", "leads to"], rows)
        if not found:
            door.aside("no links")

    door.answer({"path": path, "count": len(found), "links": [shapes.link_shape(each) for each in found]}, show)


def link_text(link: Link) -> str:
    """The link as a person would write it, without the alias of a wikilink."""
    anchor = f"#^{link.block}" if link.block else f"#{link.heading}" if link.heading else ""
    if link.form == "markdown":
        return f"[{link.alias or ''}]({link.target}{anchor})"
    return f"{'!' if link.form == 'embed' else ''}[[{link.target}{anchor}]]"


def _show(note: Note, *, sensitive: bool) -> None:
    """The text; on a terminal below a line that says what it is, and with its Problems beside it."""
    if sys.stdout.isatty():
        marks = [
            note.path,
            iso(note.mtime),
            note.version[:12],
            *[f"#{tag}" for tag in note.tags],
            *(["sensitive"] if sensitive else []),
        ]
        print_line("  ".join(marks) + "\n")
    print_text(note.text)
    for problem in note.problems:
        print_aside(f"{problem.path}:{problem.line}: {problem.message}")
