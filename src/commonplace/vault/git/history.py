"""What the branch's history says: which commits touched a path, and what they say of themselves."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from commonplace.vault.base import Revision
from commonplace.vault.git.program import Git, failed, literal

KIND: Final = "Commonplace-Kind"
MUTATION: Final = "Commonplace-Mutation"
PATH: Final = "Commonplace-Path"
"""The trailer that names a file of the commit; one for each."""

_NEWEST: Final = 500
_RECORD: Final = re.compile(r"(?:^|\0)\x1e(?=[0-9a-f]{40,64}\0)")
_FORMAT: Final = "%x1e%H%x00%cI%x00%an%x00 %B%x00"  # the blank: a message can begin with any character
_TRAILER: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?: (.*))?")
_NO_TRAILER: Final = "(cherry picked from commit "  # git puts it among them
_CHANGES: Final = {"A": "added", "M": "changed", "T": "changed", "D": "removed"}
_LOG: Final = ("log", "--no-color", "--no-decorate", "--no-show-signature", "--no-notes", "--encoding=UTF-8")
_PLAIN_DIFF: Final = ("--no-renames", "--no-ext-diff", "--no-textconv", "--relative", "-O/dev/null", "--name-status")


def find_mutation(git: Git, mutation: str) -> str | None:
    """The commit that carries this mutation's id, if it is among the newest of the branch."""
    log = git.ask(*_LOG, "-z", f"--max-count={_NEWEST}", "--format=%H%n%B")
    for field in os.fsdecode(log.out).split("\0"):
        commit, _, body = field.partition("\n")
        if split_message(body)[1].get(MUTATION) == mutation:
            return commit
    return None


def revisions(git: Git, path: str | None, *, ours: bool, limit: int | None) -> tuple[Revision, ...]:
    """The commits of the branch that touched the path, or the vault; newest first."""
    asked = limit
    while True:
        found = _log(git, path, ours=ours, limit=asked)
        chosen = [each for each in found if not ours or KIND in each.trailers]
        if asked is None or limit is None or len(found) < asked or len(chosen) >= limit:
            return tuple(chosen[:limit])
        asked *= 2  # a person's text looked like our trailer


def held_by(git: Git, paths: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """How many commits of any branch or tag changed one of the paths, and the names of the remotes."""
    count = git.tell("rev-list", "--count", "--full-history", "--all", "--", *map(literal, paths)).out
    return int(count), tuple(os.fsdecode(git.tell("remote").out).splitlines())


def split_message(body: str) -> tuple[str, Mapping[str, str]]:
    """The words of a message and its trailers: its last paragraph, if that is nothing but `Name: value` lines.

    Git's own reading ends at a line of scissors, wherever it stands. The values of a name that is repeated are joined
    by line breaks.
    """
    body = body.strip()
    words, _, last = body.rpartition("\n\n")
    lines = [line for line in last.split("\n") if not line.startswith(_NO_TRAILER)]
    found = [match for line in lines if (match := _TRAILER.fullmatch(line.rstrip()))]
    if not words or not found or len(found) < len(lines):
        return body, {}
    trailers: dict[str, str] = {}
    for name, value in (match.groups(default="") for match in found):
        trailers[name] = f"{trailers[name]}\n{_decoded(value)}" if name in trailers else _decoded(value)
    return words.strip(), trailers


def trailer_lines(trailers: Iterable[tuple[str, str]]) -> str:
    """The trailers, each on one line, so that `split_message` finds the same values but for line breaks."""
    return "\n".join(f"{name}: {_encoded(value)}" for name, value in trailers)


def _encoded(value: str) -> str:
    """The value on one line; as a JSON string when blanks at its ends, between its words, or quotes could be lost."""
    value = re.sub(r"[\r\n]+", " ", value)
    is_plain = value == " ".join(value.split()) and value.isprintable() and '"' not in value
    return value if is_plain else json.dumps(value, ensure_ascii=not value.isprintable())


def _decoded(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value


def _log(git: Git, path: str | None, *, ours: bool, limit: int | None) -> list[Revision]:
    if limit == 0:
        return []
    choice = ["--basic-regexp", f"--grep=^{KIND}: "] if ours else []  # else the configuration says what a pattern is
    if limit is not None:
        choice.append(f"--max-count={limit}")
    answer = git.ask(
        *_LOG,
        *_PLAIN_DIFF,
        *choice,
        "-z",
        "--full-history",
        "--no-merges",
        f"--format={_FORMAT}",
        "--",
        literal(path) if path else ".",
    )
    if not answer.ok and "does not have any commits yet" not in answer.err:
        raise failed("log", answer.err)
    return list(_records(answer.out.decode(errors="surrogateescape")))


def _records(text: str) -> Iterator[Revision]:
    for record in _RECORD.split(text):
        if record:
            yield _revision(record)


def _revision(record: str) -> Revision:
    commit, when, author, body, *changes = record.split("\0")
    message, trailers = split_message(body)
    words = [word.strip("\n") for word in changes]
    pairs = [word for word in words if word]
    return Revision(
        commit=commit,
        when=datetime.fromisoformat(when),
        author=author,
        message=message,
        trailers=trailers,
        paths={path: _CHANGES.get(letter[:1], "changed") for letter, path in zip(pairs[::2], pairs[1::2], strict=True)},
    )
