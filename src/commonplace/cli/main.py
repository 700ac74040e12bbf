"""The entry point of `commonplace`: the table of commands, the global options, and errors as exit codes.

A command's module is imported when the command runs or its own help is shown, so that `commonplace --help` and
`--version` load next to nothing. A test compares the help lines of the table with the commands' own.
"""

from collections.abc import Iterator, MutableMapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, get_args

import typer
from typer.core import TyperGroup

from commonplace import events
from commonplace.cli.completion import vault_folders
from commonplace.cli.invocation import Invocation, print_json, print_line, print_stderr, show_help
from commonplace.errors import CommonplaceError, UsageError, codes_for

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter
    from typer._click.shell_completion import CompletionItem


Group = Literal[
    "Every day", "Entries", "Facts", "Notes", "Conversations", "Index", "Setting up", "Agents' hosts", "Server"
]


class CommandSource(NamedTuple):
    """Where a command is: the module in `commonplace.cli`, the function or Typer app in it; its line of help, and the
    heading under which the help lists it."""

    module: str
    name: str
    help: str
    group: Group


COMMANDS: Final[dict[str, CommandSource]] = {
    "search": CommandSource("search", "search", "Search the vault by words and by meaning.", "Every day"),
    "recall": CommandSource("search", "recall", "Search the entries only.", "Every day"),
    "save": CommandSource("entry", "save", "Save one thing worth remembering as a note of its own.", "Every day"),
    "show": CommandSource(
        "entry", "show", "Print an entry or fact with all its versions, sources and relations.", "Every day"
    ),
    "facts": CommandSource(
        "fact", "facts", "List facts that are true now, or that were true or known on a day.", "Every day"
    ),
    "note": CommandSource("note", "app", "Read and change notes, and see what they link to.", "Every day"),
    "review": CommandSource(
        "review",
        "app",
        "Approve, edit or reject what programs saved, and decide what nobody has settled.",
        "Every day",
    ),
    "day": CommandSource(
        "day",
        "day",
        "Show what happened on a day: conversations, what was learned, writes, your own edits, meetings.",
        "Every day",
    ),
    "digest": CommandSource(
        "digest",
        "digest",
        "Show what was learned, changed, archived, proposed, refused and spent since you last looked.",
        "Every day",
    ),
    "user": CommandSource(
        "user", "app", "Show USER.md or a channel's CHANNEL.md, and change single statements in it.", "Every day"
    ),
    "undo": CommandSource(
        "history",
        "undo",
        "Undo the newest changes made through Commonplace; what people wrote since stays.",
        "Every day",
    ),
    "log": CommandSource(
        "history",
        "log",
        "List what was written through Commonplace, by whom and why; or show the diff of one change.",
        "Every day",
    ),
    "open": CommandSource(
        "open_page",
        "open_page",
        "Open your memory in the browser: what is new, what waits, search, facts and settings.",
        "Every day",
    ),
    "status": CommandSource(
        "serve", "status", "Show whether the daemon is running, what it is doing, and what is paused.", "Every day"
    ),
    "settle": CommandSource(
        "entry",
        "settle",
        "Say how an entry relates to older ones: it replaces or covers them, says the same, or both hold.",
        "Entries",
    ),
    "evolve": CommandSource(
        "entry", "evolve", "Replace an entry by a new version; the old one goes to the archive.", "Entries"
    ),
    "describe": CommandSource(
        "entry",
        "describe",
        "Say what an entry is about and when it matters; prompts about that find it, and its words stay.",
        "Entries",
    ),
    "confirm": CommandSource("entry", "confirm", "Confirm that an entry is still true today.", "Entries"),
    "forget": CommandSource(
        "entry", "forget", "Forget an entry: its note stays, marked as deleted, and is never recalled.", "Entries"
    ),
    "erase": CommandSource(
        "entry", "erase", "Erase an entry and everything derived from it; cannot be undone.", "Entries"
    ),
    "load": CommandSource(
        "entry", "load", "Load an entry before every prompt, or only when it is relevant.", "Entries"
    ),
    "topics": CommandSource(
        "topics", "app", "List the topics of the memory, or infer the topics of a message.", "Entries"
    ),
    "styles": CommandSource(
        "topics", "styles", "List the writing styles in Agent/styles, or print the one that fits a message.", "Entries"
    ),
    "fact": CommandSource("fact", "app", "Add and end facts: a subject, a predicate and an object.", "Facts"),
    "commitment": CommandSource(
        "commitment", "app", "List who has to do what by when, and close what is done.", "Facts"
    ),
    "timeline": CommandSource(
        "timeline", "timeline", "Draw a timeline of the facts about someone or something.", "Facts"
    ),
    "grant": CommandSource("history", "grant", "Print a token that lets an agent change one note once.", "Notes"),
    "lint": CommandSource(
        "lint", "lint", "List every problem in notes, entries and facts, with its path and line.", "Notes"
    ),
    "links": CommandSource("lint", "links", "List links that are broken or ambiguous.", "Notes"),
    "conversation": CommandSource(
        "conversation",
        "app",
        "Record, list, show and erase conversations, and switch what they are used for.",
        "Conversations",
    ),
    "import": CommandSource(
        "import_files", "import_", "Import conversations, notes and memories of other programs.", "Conversations"
    ),
    "task": CommandSource("task", "task_app", "Record, list, show and erase tasks and their results.", "Conversations"),
    "correction": CommandSource(
        "task", "correction_app", "Record, list, show and erase what you corrected.", "Conversations"
    ),
    "project": CommandSource(
        "project",
        "app",
        "Show and save where the work of a project stands: plan, progress, features.",
        "Conversations",
    ),
    "pause": CommandSource(
        "conversation", "pause", "Pause recording conversations with agents, until `resume`.", "Conversations"
    ),
    "resume": CommandSource("conversation", "resume", "Resume recording conversations with agents.", "Conversations"),
    "learn": CommandSource(
        "learn", "app", "Learn facts from new conversations and from notes marked as sources.", "Conversations"
    ),
    "jobs": CommandSource(
        "jobs", "app", "List and run what runs on a schedule, and show what each run did.", "Conversations"
    ),
    "calendar": CommandSource(
        "calendar", "app", "Read your calendars, so that meetings are known: add, sync, list, remove.", "Conversations"
    ),
    "template": CommandSource(
        "template", "app", "List, show and run the templates of notes that are written by themselves.", "Conversations"
    ),
    "context": CommandSource(
        "context", "context", "Print the memory that would be put before a prompt.", "Conversations"
    ),
    "sync": CommandSource(
        "index", "sync", "Update the index with what is new, changed, moved or deleted in the vault.", "Index"
    ),
    "watch": CommandSource(
        "index", "watch", "Keep the index up to date while you write, until you press Ctrl-C.", "Index"
    ),
    "rebuild": CommandSource("index", "rebuild", "Rebuild the index from scratch.", "Index"),
    "stats": CommandSource("index", "stats", "Print what is in the index.", "Index"),
    "eval": CommandSource("evaluate", "evaluate", "Measure how well search finds your notes.", "Index"),
    "init": CommandSource(
        "setup", "init", "Create or adopt a vault: put it under git and register it on this machine.", "Setting up"
    ),
    "welcome": CommandSource(
        "welcome", "welcome", "Tell your agents who you are, and see what can be imported.", "Setting up"
    ),
    "vault": CommandSource(
        "vault",
        "app",
        "List the vaults on this machine, choose the default one, tell where one was moved, export and import one.",
        "Setting up",
    ),
    "model": CommandSource("model", "app", "Install and choose the encoder model for search by meaning.", "Setting up"),
    "settings": CommandSource(
        "settings", "app", "Show and change the settings, and see where each value comes from.", "Setting up"
    ),
    "doctor": CommandSource(
        "index", "doctor", "Check the vault, git, index, encoder and installed hosts, and say what to do.", "Setting up"
    ),
    "demo": CommandSource(
        "demo", "demo", "Show Commonplace at work on a sample vault in a temporary folder.", "Setting up"
    ),
    "install": CommandSource(
        "install",
        "install",
        "Install this memory in an agent's host: an MCP server, hooks and skills.",
        "Agents' hosts",
    ),
    "uninstall": CommandSource("uninstall", "uninstall", "Remove what `install` added.", "Agents' hosts"),
    "mcp": CommandSource(
        "serve", "mcp", "Speak MCP on standard input and output, through the daemon.", "Agents' hosts"
    ),
    "hook": CommandSource("serve", "hook", "Handle an event of an agent's session; hosts run this.", "Agents' hosts"),
    "serve": CommandSource(
        "serve", "serve", "Serve every registered vault to programs on this machine, over MCP and HTTP.", "Server"
    ),
    "stop": CommandSource("serve", "stop", "Stop the daemon after it has finished its current work.", "Server"),
    "person": CommandSource(
        "person", "app", "Manage the people of this server: their vaults, limits and sign-in codes.", "Server"
    ),
    "token": CommandSource(
        "token", "app", "Create, list and revoke tokens for programs that reach the daemon over TCP.", "Server"
    ),
}
"""Every command, in the order of the help: by heading, and under it by what a person needs first."""


class CommandTable(MutableMapping[str, "Command"]):
    """The commands by name, each loaded when it is first asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Command] = {}

    def __getitem__(self, name: str) -> "Command":
        if name not in self._loaded:
            self._loaded[name] = load_command(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: "Command") -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandGroup(TyperGroup):
    """The top level of the command line, whose commands are loaded by name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "commands": None})
        self.commands = CommandTable()

    def list_commands(self, ctx: "Context") -> list[str]:
        """The names of all commands, in the order of the table."""
        return [*COMMANDS]

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        """The command of that name, loaded; None if there is no such command."""
        return self.commands[cmd_name] if cmd_name in COMMANDS else None

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the list of commands from the table under its headings, without loading the commands."""
        width = max(map(len, COMMANDS)) + 2
        for heading in get_args(Group):
            rows = [(name.ljust(width), each.help) for name, each in COMMANDS.items() if each.group == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def make_context(
        self, info_name: str | None, args: list[str], parent: "Context | None" = None, **extra: Any
    ) -> "Context":
        """The context of a command line; where the shell completes it, global options may stand anywhere as well."""
        if extra.get("resilient_parsing"):
            args = global_options_first(args[:-1] if args and args[-1] in _WITH_VALUE else args)
        return super().make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: "Context", incomplete: str) -> "list[CompletionItem]":
        """What the shell offers: the names of commands from the table, without loading them, and global options."""
        from typer._click.shell_completion import CompletionItem

        commands = [(name, each.help) for name, each in COMMANDS.items() if name.startswith(incomplete)]
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [*(CompletionItem(name, help=line) for name, line in commands), *options]


def load_command(name: str) -> "Command":
    """Import the module of a command and build the command. Raises KeyError for a name that is not in the table."""
    where = COMMANDS[name]
    defined = getattr(import_module(f"commonplace.cli.{where.module}"), where.name)
    if isinstance(defined, typer.Typer):
        group = typer.main.get_group(defined)
        group.name = name
        return group
    single = typer.Typer(rich_markup_mode=None, add_completion=False)
    single.command(name)(defined)
    return typer.main.get_command(single)


app = typer.Typer(
    name="commonplace",
    cls=CommandGroup,
    help="A memory for AI agents, kept in a Markdown vault that you own.",
    epilog="""The options above may appear anywhere on the line. `commonplace COMMAND --help` has examples of each.

\b
Examples:
  commonplace search "how do we water the beds in summer?"
  commonplace save "Prefers concise pull requests." --kind preference
  commonplace note list --vault ~/Notes --json
""",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

_HELP = "`commonplace --help` lists every command."
_SWITCHES = {"--json", "-q", "--quiet", "-v", "--verbose"}
_WITH_VALUE = {"--vault", "--data", "--user", "--set"}


def _print_version(is_set: bool) -> None:
    if is_set:
        from commonplace import __version__

        print_line(f"commonplace {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _globals(
    context: typer.Context,
    vault: Annotated[
        str | None,
        typer.Option(help="The vault's folder, or postgresql:NAME. [$COMMONPLACE_VAULT]", autocompletion=vault_folders),
    ] = None,
    data: Annotated[str | None, typer.Option(help="The folder for derived data. [$COMMONPLACE_DATA]")] = None,
    user: Annotated[str | None, typer.Option(help="The owner of the memory. [$COMMONPLACE_USER]")] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any setting, for this call only.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print answers and errors as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors on standard error.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Print every event on standard error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    events.listen("error" if quiet else "debug" if verbose else "warning")
    flags: dict[str, object] = {"vault.root": vault, "data": data, "user": user}
    flags.update(_assignment(text) for text in assignments or [])
    context.obj = Invocation(json=as_json, quiet=quiet, verbose=verbose, flags=flags)
    show_help(context)


def report(error: BaseException, *, as_json: bool) -> int:
    """Print the error that ended a command and return its exit code."""
    if isinstance(error, CommonplaceError):
        return _print_error(error, as_json=as_json)
    if isinstance(error, typer.TyperException):
        message = error.format_message().rstrip(".")
        return _print_error(UsageError(message[:1].lower() + message[1:], hint=_HELP), as_json=as_json)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return 130
    events.emit("unexpected_error", level="error", exc_info=error)
    bug = CommonplaceError(f"unexpected {type(error).__name__}: {error}", hint="This is a bug: please report it.")
    return _print_error(bug, as_json=as_json)


def _print_error(error: CommonplaceError, *, as_json: bool) -> int:
    if as_json:
        print_json({"ok": False, "error": error.as_dict()})
    else:
        print_stderr(f"commonplace: {error.message}")
        if error.path and error.path not in error.message:
            print_stderr(f"  in: {error.path}")
        if error.found and "\n" in error.found:  # the lines in which two changes conflict
            print_stderr(error.found.rstrip("\n"))
        if error.hint:
            print_stderr(f"  {error.hint}")
    return codes_for(error).exit_code


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: missing `=`", hint="Write it as --set retrieval.default_k=5.")
    return key.strip(), value


def global_options_first(arguments: Sequence[str]) -> list[str]:
    """The global options moved to the front, so that they may appear anywhere before a `--`."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in _SWITCHES or (word.split("=")[0] in _WITH_VALUE and "=" in word):
            front.append(word)
        elif word in _WITH_VALUE:
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        else:
            rest.append(word)
    return front + rest
