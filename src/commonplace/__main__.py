"""`commonplace` and `python -m commonplace`: runs one command, or what hosts start without loading the command line."""

import os
import sys

TYPE_CHECKING = False  # importing `typing` would take a tenth of a hook's time
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    """Run one command and exit with its code."""
    if sys.platform == "win32":
        sys.exit("commonplace: Windows is not supported. Install it inside WSL, as on Linux: docs/guide/platforms.md")
    if "hook" in sys.argv:
        from commonplace.hooks.arguments import parse_hook_arguments

        if hook := parse_hook_arguments(sys.argv[1:]):
            from commonplace.hooks.main import run_hook

            run_hook(hook)
    if (options := stdio_options(sys.argv[1:])) is not None:
        sys.exit(serve_mcp(vault=options.get("--vault"), client=options.get("--client"), entry=options.get("--entry")))
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open as long as the program)
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: "Sequence[str]") -> int:
    """Run one command of the command line and return its exit code; errors are printed."""
    from commonplace.cli.main import app, global_options_first, report

    try:
        code = app(global_options_first(arguments), prog_name="commonplace", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the outermost door: every error gets an answer)
        return report(error, as_json="--json" in arguments)
    return code if isinstance(code, int) else 0


def serve_mcp(*, vault: str | None, client: str | None, entry: str | None) -> int:
    """Speak MCP on standard input and output until it ends; the exit code. `entry` is what of a host started it."""
    if entry:
        from commonplace.hosts.plugin import serve_entry

        return serve_entry(entry, vault=vault, client=client)
    from commonplace.client.stdio import serve_stdio

    return serve_stdio(vault=vault, client=client)


def stdio_options(words: "Sequence[str]") -> dict[str, str] | None:
    """The options of a plain `commonplace mcp`; None for any other command line.

    A host waits for the first answer, and loading the command line would take longer than everything else.
    """
    options: dict[str, str] = {}
    commands = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in ("--vault", "--client", "--entry") and name not in options:
            options[name] = value if equals else next(rest, "")
        else:
            commands.append(word)
    return options if commands == ["mcp"] and all(options.values()) else None


if __name__ == "__main__":
    main()
