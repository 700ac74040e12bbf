"""`commonplace` and `python -m commonplace`: the command line, or what hosts start, which does without loading it."""

import sys

TYPE_CHECKING = False  # the module that has it takes a tenth of the time of a hook to load
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    """Run one command; the exit code says how it went."""
    if "hook" in sys.argv:
        from commonplace.hooks.line import hook_line

        if line := hook_line(sys.argv[1:]):
            from commonplace.hooks.running import run_hook

            run_hook(line)
    if (asked := stdio_options(sys.argv[1:])) is not None:
        from commonplace.client.stdio import serve_stdio

        sys.exit(serve_stdio(vault=asked.get("--vault"), client=asked.get("--client")))
    from commonplace.cli.main import main as run_command

    run_command()


def stdio_options(words: "Sequence[str]") -> dict[str, str] | None:
    """The options of a plain `commonplace mcp`; None for every other line, which is the command line's.

    A host waits for its first answer while the command line would be loaded, which takes longer than all the rest.
    """
    options: dict[str, str] = {}
    commands = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in ("--vault", "--client") and name not in options:
            options[name] = value if equals else next(rest, "")
        else:
            commands.append(word)
    return options if commands == ["mcp"] and all(options.values()) else None


if __name__ == "__main__":
    main()
