"""Arguments and options that several commands share, and what several of them require."""

from typing import Annotated, Final

import typer

from commonplace.cli.completion import offer
from commonplace.errors import UsageError
from commonplace.model import FACT_CLASSES

ENTRY_ID_HELP: Final = "The entry's id, its beginning or last six digits, or its path."


EntryId = Annotated[str, typer.Argument(metavar="ID", help=ENTRY_ID_HELP)]


Topics = Annotated[list[str] | None, typer.Option("--topic", metavar="T", help="A topic; may be repeated.")]


About = Annotated[
    str, typer.Option(metavar="Q", help='The question that it answers, in 2 to 6 words: "how she commutes".')
]


When = Annotated[
    str,
    typer.Option(
        metavar="S", help='Situations in which it matters, in other words: "restaurants, menus, dinner at friends".'
    ),
]


ProjectName = Annotated[
    str, typer.Option("--project", metavar="NAME", help="Its project. [default: that of the repository you are in]")
]


NoProject = Annotated[bool, typer.Option("--no-project", help="It belongs to no project.")]


ValidFrom = Annotated[str, typer.Option(metavar="D", help="True since: 2026-03-01, 2026-03, yesterday.")]


ValidUntil = Annotated[str, typer.Option(metavar="D", help="True until: 2026-03-01, 2026-03.")]


FactClass = Annotated[
    str,
    typer.Option(
        "--fact",
        metavar="F",
        help=f"How it ages: {', '.join(filter(None, FACT_CLASSES))}.",
        autocompletion=offer(*filter(None, FACT_CLASSES)),
    ),
]


Importance = Annotated[float | None, typer.Option(min=0, max=1, metavar="X", help="From 0 to 1.")]


DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; print the difference.")]


_Ids = list[str] | None


Replaces = Annotated[_Ids, typer.Option(metavar="ID", help="This entry holds no longer; may be repeated.")]


Covers = Annotated[_Ids, typer.Option(metavar="ID", help="It says all that this entry says, and more.")]


Same = Annotated[_Ids, typer.Option(metavar="ID", help="It says the same as this entry, whose wording stays.")]


Both = Annotated[_Ids, typer.Option(metavar="ID", help="It and this entry both hold.")]


Until = Annotated[
    str, typer.Option(metavar="D", help="It holds until that day; then the older entries hold alone again.")
]


def project_of(name: str, *, without: bool) -> str | None:
    """The project that the options name: None for that of the working folder, empty for none. Raises UsageError."""
    if name and without:
        raise UsageError("--project and --no-project cannot be combined", hint="Use one of them.")
    return "" if without else name or None
