"""A person and an agent at work in one vault under real git, with crashes and restarts: nothing anyone wrote is lost.

Texts are known by the id that git gives them as a blob, so that the disk, the index and the history compare at once.
"""

import atexit
import hashlib
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from commonplace.app import open_memory
from commonplace.errors import CommonplaceError, Conflict, NotFound
from commonplace.memory import Memory
from commonplace.model import ActorKind, Changed, Terms
from commonplace.vault.base import ABSENT, version_of
from tests.faults.figures import Figures
from tests.faults.writing import DOES_NOT_FIT
from tests.gitvault import git, leftovers
from tests.integration.vault.test_recovery import STEPS
from tests.run_length import LONG, rounds
from tests.vaults import make_vault
from tests.warm import WarmProcess

PATHS = ("Inbox/a.md", "Projects/deep/er/b.md", "People/é c.md")
DEATHS = sorted({step[:3] for name, step in STEPS.items() if ":" in step[0] and int(name.split()[0]) > 4})
OLDER = version_of(b"a version that nobody has")

# Three places that can be changed without touching each other, so that an undo can be merged with a later edit.
NOTE = "top {}\n\nsome\nlines\n\nmiddle {}\n\nmore\nlines\n\nend {}\n"
SHAPE = re.compile(NOTE.replace("{}", r"(\d+)"))

ACKNOWLEDGED = 0
FIGURES = Figures("state machine of writes")

paths = st.sampled_from(PATHS)
places = st.integers(0, 2)
verbs = st.sampled_from(("write", "write", "delete", "move"))
actors: st.SearchStrategy[ActorKind] = st.sampled_from(("person", "agent"))


@cache
def warm() -> WarmProcess:
    """The process that forks those to be killed."""
    process = WarmProcess("tests.faults.writing")
    atexit.register(process.close)
    return process


def blob_of(text: bytes) -> str:
    """The id that git gives to this text."""
    return hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()


class Vault(RuleBasedStateMachine):
    """The vault, and what must be true of it after every step.

    `saved` are texts of a person, `acknowledged` texts of writes that came back: none of them may be lost.
    `known` are all texts that a note may have. `staged` is what the person staged, `touched` the paths that the
    library was at since. `crashed` says that a process was killed and no transaction has been made since.
    """

    def __init__(self) -> None:
        super().__init__()
        self.saved: set[str] = set()
        self.acknowledged: set[str] = set()
        self.known: set[bytes] = set()
        self.staged: set[tuple[str, str]] = set()
        self.touched: set[str] = set()
        self.crashed = False
        self.number = self.steps = 0
        self.memory: dict[ActorKind, Memory] = {}
        self.home = Path(tempfile.mkdtemp(prefix="commonplace-machine-"))
        self.root = self.home / "vault"
        self.environment = pytest.MonkeyPatch()
        for name in ("CONFIG", "STATE", "DATA", "CACHE"):
            self.environment.setenv(f"XDG_{name}_HOME", str(self.home / name.lower()))

    @initialize(is_old=st.booleans())
    def begin(self, is_old: bool) -> None:
        """A new vault; or one with notes that were there before the repository."""
        self.root.mkdir()
        for path in PATHS if is_old else ():
            self.put(path, self.new_text(path, 0))
        make_vault(self.root)
        self.open()

    # What a person does with programs of their own

    @rule(path=paths, place=places)
    def person_saves(self, path: str, place: int) -> None:
        """A person makes a note, or edits one place of it."""
        text = self.new_text(path, place)
        self.by_hand(lambda: self.put(path, text))
        self.saved.add(blob_of(text))

    @rule(path=paths, to=paths | st.none())
    def person_renames_or_deletes(self, path: str, to: str | None) -> None:
        """A person renames a file, over another if there is one; or deletes it."""
        if self.text(path) is None:
            return
        if to is None:
            self.by_hand((self.root / path).unlink)
        else:
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            self.by_hand(lambda: (self.root / path).rename(self.root / to))

    @rule(path=paths | st.none())
    def person_stages_or_commits(self, path: str | None) -> None:
        """A person stages a file, or that it is gone; or commits all that is there, as Obsidian Git does."""
        if path:
            self.by_hand(lambda: git(self.root, "add", "--all", "--", path, check=False))
        else:
            self.by_hand(lambda: git(self.root, "add", "--all"))
            self.by_hand(lambda: git(self.root, "commit", "--quiet", "--message", "by hand", check=False))

    # What a person and an agent do through the library

    @rule(path=paths, place=places, actor=actors, based_on=st.sampled_from(("anything", "this", "older")))
    def write(self, path: str, place: int, actor: ActorKind, based_on: str) -> None:
        """A write is made, unless it was based on another version; after a crash it also recovers the vault."""
        text = self.new_text(path, place)
        based_on = "anything" if self.crashed else based_on
        expected = {"anything": None, "this": self.version(path), "older": OLDER}[based_on]
        done = self.through_library(
            lambda: self.memory[actor].notes.write(path, text, Terms(expected=expected)),
            touches=[path],
            fails_with=Conflict if based_on == "older" else None,
        )
        if done:
            assert self.text(path) == text
            self.acknowledged.add(blob_of(text))
            self.saved |= {blob_of(text)} if actor == "person" else set()

    @precondition(lambda self: not self.crashed)
    @rule(path=paths, actor=actors, is_stale=st.booleans())
    def delete(self, path: str, actor: ActorKind, is_stale: bool) -> None:
        """A note is deleted if it is there, and is the one that the caller saw; git has it."""
        there = self.text(path)
        done = self.through_library(
            lambda: self.memory[actor].notes.delete(path, Terms(expected=OLDER if is_stale else None)),
            touches=[path],
            fails_with=NotFound if there is None else Conflict if is_stale else None,
        )
        if done and there is not None:
            assert self.text(path) is None
            self.acknowledged.add(blob_of(there))

    @precondition(lambda self: not self.crashed)
    @rule(path=paths, to=paths, actor=actors)
    def move(self, path: str, to: str, actor: ActorKind) -> None:
        """A note is moved if it is there, to a path that is free."""
        there, taken = self.text(path), self.text(to) is not None
        done = self.through_library(
            lambda: self.memory[actor].notes.move(path, to),
            touches=[path, to],
            fails_with=NotFound if there is None else Conflict if taken else None,
        )
        if done and there is not None:
            assert (self.text(path), self.text(to)) == (None, there)
            self.acknowledged.add(blob_of(there))

    @precondition(lambda self: not self.crashed)
    @rule(actor=actors)
    def undo(self, actor: ActorKind) -> None:
        """The newest change is taken back from what is there now; where that cannot be, nothing changes."""
        try:
            done = self.through_library(lambda: self.memory[actor].notes.undo()[0], touches=PATHS)
        except (Conflict, NotFound):
            return
        if done:
            for text in filter(None, map(self.text, PATHS)):
                self.learn_merged(text)

    @precondition(lambda self: LONG or not self.crashed)  # the short run has no time for crashes upon crashes
    @rule(death=st.integers(0, len(DEATHS) - 1), path=paths, to=paths, place=places, verb=verbs, restarts=st.booleans())
    def crash(self, death: int, path: str, to: str, place: int, verb: str, restarts: bool) -> None:
        """A process is killed at some step of its change, if it comes to that step. Others go on or start anew."""
        text = self.new_text(path, place)
        verb = "write" if self.text(path) is None else verb
        arguments = {"write": [path, text.decode()], "delete": [path], "move": [path, to]}[verb]
        target, moment, nth = DEATHS[(death + self.number) % len(DEATHS)]  # by themselves, draws repeat a few
        words = [target, moment, str(nth), str(self.root), "agent", verb, *arguments]
        output = errors = self.home / "child"
        code = warm().fork("tests.faults.writing:change_and_die", *words, output=output, errors=errors).wait()
        assert code in (-signal.SIGKILL, ACKNOWLEDGED, DOES_NOT_FIT), errors.read_text()
        self.touched |= {path, to}
        if code == ACKNOWLEDGED and verb == "write":
            self.acknowledged.add(blob_of(text))
        self.crashed = code == -signal.SIGKILL
        FIGURES.kills += self.crashed
        if restarts:
            self.open()

    # What must be true after every step

    @invariant()
    def is_counted(self) -> None:
        """For the figures."""
        self.steps += 1

    @invariant()
    def nothing_a_person_saved_is_lost(self) -> None:
        """It is on disk, staged, or in the history; only the person themselves can make away with it."""
        assert self.saved - self.kept() == set()

    @invariant()
    def every_acknowledged_write_is_in_the_history(self) -> None:
        """Also what was deleted or written over."""
        assert self.acknowledged - self.history() == set()

    @invariant()
    def no_note_is_torn(self) -> None:
        """A note has a text that someone wrote, or one that came of a clean merge."""
        assert [path for path, text in self.files().items() if path.endswith(".md") and text not in self.known] == []

    @invariant()
    def nothing_half_made_is_left(self) -> None:
        """Neither files of ours nor locks, once a transaction has been made."""
        if not self.crashed:
            assert leftovers(self.root) == []

    @invariant()
    def nothing_is_staged_but_by_the_person(self) -> None:
        """What they staged stays so, except where we committed it because we changed the note."""
        if self.crashed or not self.memory:
            return
        now = self.staged_now()
        assert now - self.staged == set()
        assert {path for path, _ in self.staged - now} <= self.touched
        self.staged, self.touched = now, set()

    def teardown(self) -> None:
        """At the end a new process finds all in order, and so does git."""
        FIGURES.add(steps=self.steps, acknowledged=len(self.acknowledged))
        try:
            if self.memory:
                self.write(PATHS[0], 0, "agent", "anything")
                self.nothing_a_person_saved_is_lost()
                self.nothing_half_made_is_left()

                assert git(self.root, "fsck", "--no-dangling", "--strict") == ""
        finally:
            self.close()
            self.environment.undo()
            shutil.rmtree(self.home)

    # How the steps are made

    def by_hand(self, act: Callable[[], object]) -> None:
        """A person acts. A text that this takes away is theirs to lose."""
        before = self.kept()
        act()
        self.saved -= before - self.kept()
        self.staged = self.staged_now()

    def through_library(
        self, act: Callable[[], Changed], *, touches: Iterable[str], fails_with: type[CommonplaceError] | None = None
    ) -> Changed | None:
        """What came of a call; None when it failed as it should. A call that fails changes nothing."""
        before = self.files(), git(self.root, "rev-parse", "HEAD"), git(self.root, "ls-files", "--stage")
        try:
            done = act()
        except CommonplaceError as error:
            assert before == (self.files(), git(self.root, "rev-parse", "HEAD"), git(self.root, "ls-files", "--stage"))
            if fails_with and isinstance(error, fails_with):
                return None
            raise
        assert fails_with is None, f"{done} should have failed"
        self.touched |= set(touches)
        self.crashed = False
        return done

    def new_text(self, path: str, place: int) -> bytes:
        """The note with one place changed to what it never was; a whole new note where there is none."""
        self.number += 1
        found = SHAPE.fullmatch((self.text(path) or b"").decode())
        numbers = list(found.groups()) if found else [str(self.number)] * 3
        numbers[place] = str(self.number)
        text = NOTE.format(*numbers).encode()
        self.known.add(text)
        return text

    def learn_merged(self, text: bytes) -> None:
        """A merge is clean when it has the shape of a note."""
        assert SHAPE.fullmatch(text.decode())
        self.known.add(text)

    def put(self, path: str, text: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)

    def text(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.exists() else None

    def version(self, path: str) -> str:
        text = self.text(path)
        return ABSENT if text is None else version_of(text)

    def files(self) -> dict[str, bytes]:
        """Every file of the vault, half-made ones too."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        inside = {path.relative_to(self.root).as_posix(): path for path in found}
        return {path: file.read_bytes() for path, file in inside.items() if not path.startswith(".git/")}

    def history(self) -> set[str]:
        """Every blob of every commit."""
        return set(git(self.root, "rev-list", "--objects", "--no-object-names", "--all").split())

    def kept(self) -> set[str]:
        """Every text that a person can come by: on disk, staged, or in the history."""
        staged = {line.split()[1] for line in git(self.root, "ls-files", "--stage").splitlines()}
        return {blob_of(text) for text in self.files().values()} | staged | self.history()

    def staged_now(self) -> set[tuple[str, str]]:
        """The paths and blobs in which the index differs from HEAD."""
        fields = git(self.root, "diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev").split("\0")
        return {(path, about.split()[3]) for about, path in zip(fields[::2], fields[1::2], strict=False)}

    def open(self) -> None:
        """The program is started, or ends and is started again."""
        self.close()
        self.memory = {actor: open_memory(self.root, actor=actor) for actor in ("person", "agent")}

    def close(self) -> None:
        for memory in self.memory.values():
            memory.close()


Vault.TestCase.settings = settings(
    max_examples=rounds(12, long=200),
    stateful_step_count=rounds(12, long=40),
    deadline=None,
    derandomize=not LONG,  # the short run is the same every time, the long one looks further
    phases=[Phase.generate, Phase.shrink] if LONG else [Phase.generate],  # a step takes a tenth of a second
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


class TestVault(Vault.TestCase):  # type: ignore[misc,valid-type]
    """The machine as a test, which tells its figures."""

    def runTest(self) -> None:  # noqa: N802 (the name that unittest calls)
        with FIGURES:
            super().runTest()
