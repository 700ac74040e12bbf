"""`commonplace`: the entry point, the global options, and the one place where errors become exit codes."""

import os
import sys
from typing import Annotated

import typer

from commonplace import events
from commonplace.cli import (
    amend,
    change,
    context,
    conversation,
    demo,
    entry,
    evaluate,
    fact,
    hook,
    index,
    init,
    install,
    lint,
    mcp,
    model,
    note,
    pause,
    search,
    serve,
    settings,
    token,
    topics,
)
from commonplace.cli.door import Door, help_alone, print_aside, print_json, print_line
from commonplace.errors import CommonplaceError, UsageError, answer_to

app = typer.Typer(
    name="commonplace",
    help="A memory for AI agents, kept in a Markdown vault that you own.",
    epilog="The options above may stand anywhere on the line. Example: commonplace --vault ~/Notes note list --json",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(note.app, name="note")
app.add_typer(conversation.app, name="conversation")
app.add_typer(settings.app, name="settings")
for verb in (change.write, change.delete, change.move, change.history, change.erase):
    note.app.command(verb.__name__)(verb)
for word in (init.init, change.undo, change.log, change.grant):
    app.command(word.__name__)(word)
for deed in (index.sync, index.watch, index.rebuild, index.stats, index.doctor):
    app.command(deed.__name__)(deed)
for thought in (
    entry.save,
    entry.show,
    entry.evolve,
    amend.confirm,
    amend.forget,
    amend.load,
    amend.erase,
    entry.recall,
):
    app.command(thought.__name__)(thought)
for look in (fact.facts, fact.timeline, topics.styles, lint.lint, lint.links):
    app.command(look.__name__)(look)
for duty in (serve.serve, serve.status, serve.stop, pause.pause, pause.resume):
    app.command(duty.__name__)(duty)
app.add_typer(fact.app, name="fact")
app.add_typer(topics.app, name="topics")
app.command("search")(search.search)
app.command("context")(context.context)
app.command("eval")(evaluate.evaluate)
app.add_typer(model.app, name="model")
app.add_typer(token.app, name="token")
app.command("demo")(demo.demo)
app.command("mcp")(mcp.mcp)
app.command("hook")(hook.hook)
for step in (install.install, install.uninstall):
    app.command(step.__name__)(step)

_HELP = "`commonplace --help` shows every command."
_SWITCHES = {"--json", "-q", "--quiet", "-v", "--verbose"}
_WITH_VALUE = {"--vault", "--data", "--user", "--set"}


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print_line(f"commonplace {version('commonplace')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _globals(
    context: typer.Context,
    vault: Annotated[str | None, typer.Option(help="The vault's folder. [$COMMONPLACE_VAULT]")] = None,
    data: Annotated[str | None, typer.Option(help="Where derived data is kept. [$COMMONPLACE_DATA]")] = None,
    user: Annotated[str | None, typer.Option(help="Whose memory this is. [$COMMONPLACE_USER]")] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any setting, for this call.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer, and errors, as JSON on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Nothing but errors on standard error.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Every event on standard error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    events.listen("error" if quiet else "debug" if verbose else "warning")
    flags: dict[str, object] = {"vault.root": vault, "data": data, "user": user}
    flags.update(_assignment(text) for text in assignments or [])
    context.obj = Door(json=as_json, quiet=quiet, flags=flags)
    help_alone(context)


def main() -> None:
    """Run one command; the exit code says how it went."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it: nobody wants the answer
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open as long as the program)
    sys.exit(_run(_globals_first(sys.argv[1:])))


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        code = app(arguments, prog_name="commonplace", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except CommonplaceError as error:
        return _report(error, as_json=as_json)
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        return _report(UsageError(message[:1].lower() + message[1:], hint=_HELP), as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:  # noqa: BLE001 (the outermost door: whatever it is, the caller gets an answer)
        events.emit("unexpected_error", level="error", exc_info=error)
        bug = CommonplaceError(f"unexpected {type(error).__name__}: {error}", hint="This is a bug: please report it.")
        return _report(bug, as_json=as_json)


def _report(error: CommonplaceError, *, as_json: bool) -> int:
    if as_json:
        print_json({"ok": False, "error": error.as_dict()})
    else:
        print_aside(f"commonplace: {error.message}")
        if error.path and error.path not in error.message:
            print_aside(f"  in: {error.path}")
        if error.found and "\n" in error.found:  # the place where two changes met
            print_aside(error.found.rstrip("\n"))
        if error.hint:
            print_aside(f"  {error.hint}")
    return answer_to(error).exit_code


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: no `=` in it", hint="Write it as --set retrieval.default_k=5.")
    return key.strip(), value


def _globals_first(arguments: list[str]) -> list[str]:
    """The global options moved to the front, so that they may stand anywhere before a `--`."""
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
