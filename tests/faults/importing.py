"""An import to be killed, on a vault with its data beside it."""

from pathlib import Path

from tests.memories import make_memory


def import_until_killed(folder: str, *exports: str) -> None:
    """Import these files, and say so at the end."""
    with make_memory(Path(folder)) as memory:
        report = memory.imports.run(exports)
    print(report.messages)  # noqa: T201
