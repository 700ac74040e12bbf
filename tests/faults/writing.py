"""Writers to be killed, by others or by themselves.

One that others kill makes one transaction after the other, each acknowledged by a line on standard output: it tells the
paths it wrote and the tokens of their texts, None for one that was deleted.
"""

import itertools
import json
import os
import random
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from commonplace.app import open_memory
from commonplace.errors import Conflict, NotFound
from commonplace.model import ActorKind
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


def write_until_killed(root: str, name: str) -> None:
    """Write until killed. When a person was quicker, the next thing is tried."""
    vault = ObsidianVault(Path(root), author=Author("Commonplace", "commonplace@localhost"))
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


DOES_NOT_FIT = 4
"""The exit code of a change that the vault refused."""


def change_and_die(target: str, moment: str, nth: str, root: str, actor: ActorKind, verb: str, *arguments: str) -> None:
    """Do one verb of the library, killed right before or after the nth call of the function "module:name"."""
    module, _, names = target.partition(":")
    *owners, name = names.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    real, calls = getattr(owner, name), itertools.count(1)

    def deadly(*positional: Any, **named: Any) -> Any:
        is_last = next(calls) == int(nth)
        if is_last and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*positional, **named)
        if is_last and moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)
    try:
        getattr(open_memory(root, actor=actor).notes, verb)(*arguments)
    except (Conflict, NotFound):
        sys.exit(DOES_NOT_FIT)
