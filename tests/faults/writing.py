"""A writer to be killed: one transaction after the other, each acknowledged by a line on standard output.

The line tells the paths it wrote and the tokens of their texts, None for one that was deleted.
"""

import itertools
import json
import os
import random
import sys
from pathlib import Path

from commonplace.errors import Conflict
from commonplace.vault.changes import Changes
from commonplace.vault.git.commit import Author
from commonplace.vault.obsidian import ObsidianVault

SHARED = [f"shared-{number}.md" for number in range(4)]
"""Notes that every writer replaces, and a person too."""
PAIR = ("pair-a.md", "pair-b.md")
"""Notes that are only ever written together."""
ROUND = 6
"""Transactions in which a writer does one of each."""

Written = dict[str, str | None]


def text_of(token: str) -> bytes:
    """A text of some pages that shows when a part of it is missing."""
    return f"{token}\n".encode() * 300 + b"end\n"


def is_whole(text: bytes) -> bool:
    """Whether a text is all there."""
    return text == text_of(text.partition(b"\n")[0].decode())


def main(root: Path, name: str) -> None:
    """Write until killed. When a person was quicker, the next thing is tried."""
    vault = ObsidianVault(root, author=Author("Commonplace", "commonplace@localhost"))
    chance = random.Random(name)
    for number in itertools.count():
        shared = chance.choice(SHARED)
        try:
            with vault.transaction(wait=120) as changes:
                written = _change(vault, changes, name, number, shared)
        except Conflict:
            continue
        os.write(1, json.dumps(written).encode() + b"\n")


def _change(vault: ObsidianVault, changes: Changes, name: str, number: int, shared: str) -> Written:
    token, turn = f"{name}-{number}", number % ROUND
    new, moved = (vault.resolve(f"{folder}/{name}/{number // ROUND}.md") for folder in ("new", "moved"))
    if turn in (0, 3):
        at = vault.resolve(shared)
        changes.write(at, text_of(token), expected=changes.read(at).version)
        return {shared: token}
    if turn == 1:
        return _write_pair(vault, changes, token)
    if turn == 2:
        changes.write(new, text_of(token))
        return {new.path: token}
    if turn == 4:
        changes.move(new, moved)
        return {moved.path: f"{name}-{number - 2}"}
    changes.delete(moved)
    return {moved.path: None}


def _write_pair(vault: ObsidianVault, changes: Changes, token: str) -> Written:
    both = [vault.resolve(path) for path in PAIR]
    found = {changes.read(at).content for at in both}
    if len(found) > 1 or not is_whole(*found):
        sys.exit(f"the pair is torn: {[text[:40] for text in found]}")
    for at in both:
        changes.write(at, text_of(token))
    return dict.fromkeys(PAIR, token)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
