"""What the branch's history says: which commits touched a path, and what they say of themselves."""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from commonplace.vault.base import Revision
from commonplace.vault.git.program import Git, failed, literal

KIND: Final = "Commonplace-Kind"
MUTATION: Final = "Commonplace-Mutation"
_NEWEST: Final = 500
_RECORD: Final = "\x1e"
_FORMAT: Final = "%x1e%H%x00%cI%x00%an%x00%B%x00%(trailers:only,unfold)%x00"
_CHANGES: Final = {"A": "added", "M": "changed", "T": "changed", "D": "removed"}
_LOG: Final = ("log", "--no-color", "--no-decorate", "--no-show-signature", "--no-notes", "--encoding=UTF-8")
_PLAIN_DIFF: Final = ("--no-renames", "--no-ext-diff", "--no-textconv", "--relative", "-O/dev/null", "--name-status")


def find_mutation(git: Git, mutation: str) -> str | None:
    """The commit that carries this mutation's id, if it is among the newest of the branch."""
    log = git.ask(*_LOG, "-z", f"--max-count={_NEWEST}", f"--format=%H%n%(trailers:key={MUTATION})")
    for field in os.fsdecode(log.out).split("\0"):
        commit, _, trailers = field.partition("\n")
        if trailers_in(trailers).get(MUTATION) == mutation:
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


def held_by(git: Git, path: str) -> tuple[int, tuple[str, ...]]:
    """How many commits of any branch or tag changed that path, and the names of the remotes."""
    count = git.tell("rev-list", "--count", "--full-history", "--all", "--", literal(path)).out
    return int(count), tuple(os.fsdecode(git.tell("remote").out).splitlines())


def trailers_in(text: str) -> Mapping[str, str]:
    """Trailers as git prints them, one a line; the last of a name counts."""
    pairs = (line.partition(":") for line in text.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _log(git: Git, path: str | None, *, ours: bool, limit: int | None) -> list[Revision]:
    if limit == 0:
        return []
    choice = [f"--grep=^{KIND}: "] if ours else []
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
    for record in text.split(f"\0{_RECORD}"):
        if record:
            yield _revision(record.removeprefix(_RECORD))


def _revision(record: str) -> Revision:
    commit, when, author, message, trailers, *changes = record.split("\0")
    words = [word.strip("\n") for word in changes]
    pairs = [word for word in words if word]
    return Revision(
        commit=commit,
        when=datetime.fromisoformat(when),
        author=author,
        message=_without_trailers(message, trailers),
        trailers=trailers_in(trailers),
        paths={path: _CHANGES.get(letter[:1], "changed") for letter, path in zip(pairs[::2], pairs[1::2], strict=True)},
    )


def _without_trailers(message: str, trailers: str) -> str:
    return (message.strip().rpartition("\n\n")[0] if trailers.strip() else message).strip()
