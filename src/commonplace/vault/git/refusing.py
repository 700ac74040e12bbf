"""Paths that are not ours to commit: ignored ones, those of an external filter, those of another repository."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from commonplace.errors import Refused
from commonplace.vault.git.knowledge import Knowledge, elsewhere


def refuse_unwritable(folder: Path, knowledge: Knowledge, paths: Sequence[str], *, filters: bool) -> None:
    """Raise Refused for the first path that must not be committed."""
    if not paths:
        return
    for path in paths:
        refuse_nested(folder, path)
    for path in knowledge.ignored(paths):
        raise Refused(
            f"git ignores this path: {path}",
            path=path,
            reason="ignored",
            hint="Choose another path, or take it out of .gitignore: what is ignored would have no history.",
        )
    for path, attributes in knowledge.attributes(paths).items():
        if attributes.driver and not filters:
            raise Refused(
                f"git passes this path through the external filter '{attributes.driver}': {path}",
                path=path,
                hint="Set vault.git_filters to true to let the filter run, or choose a path outside its pattern.",
            )


def refuse_nested(folder: Path, path: str) -> None:
    """Raise Refused for a path below a folder that is a repository of its own."""
    for parent in PurePosixPath(path).parents[:-1]:
        if os.path.lexists(folder / parent / ".git"):
            raise elsewhere(path, repository=str(parent))
