"""The index: exactly our paths are set, whatever else is staged, and another program's lock is waited for."""

import os
import time
from collections.abc import Mapping
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.place import Place
from commonplace.vault.git.program import Git, failed

PATIENCE_S: Final = 5.0
"""How long another program may hold the index's lock."""

_PAUSE_S: Final = 0.02


def stage(git: Git, place: Place, files: Mapping[str, str | None]) -> None:
    """Set these entries, each a mode and a blob, or remove them.

    Raises VaultUnavailable(repository_busy) when another program holds the lock all the time.
    """
    nothing = "0" * (64 if place.object_format == "sha256" else 40)
    lines = []
    for path, entry in files.items():
        lines.append(os.fsencode(f"{entry or f'0 {nothing}'}\t{place.inside(path)}") + b"\0")
    _update(git, place, b"".join(lines))


def _update(git: Git, place: Place, given: bytes) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        answer = git.ask("update-index", "-z", "--index-info", given=given)
        if answer.ok:
            return
        if "index.lock': File exists" not in answer.err:
            raise failed("update-index", answer.err)
        if time.monotonic() > deadline:
            raise VaultUnavailable(
                f"another program has held the index of the vault's repository for {PATIENCE_S:g} seconds",
                path=str(place.git_dir / "index.lock"),
                reason="repository_busy",
                hint="Let it finish and try again. Only if no git process runs, remove this file.",
            )
        time.sleep(_PAUSE_S)
