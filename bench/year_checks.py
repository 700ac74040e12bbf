"""What is looked at during the year: current facts, the profile, recall, the commands of the digest, and rebuild."""

import hashlib
import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bench.year_life import Life
from bench.year_person import PROJECT, RECURRING, Year, attributes_said, says
from bench.year_talk import HYPOTHETICAL_WORDS, INJECTED_WORDS

from commonplace.memory import Memory
from commonplace.model.digest import DigestLine
from tests.command_line import run_commonplace

_SAMPLE: Final = 2  # lines of each kind in one digest whose command is run
_MARK: Final = re.compile(r"memory-[0-9a-f]{8}")  # the fence of a context, another one each time
_FOUND: Final = 5  # hits among which the answer must be


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What memory holds on a day, after the person's review.

    `facts` are the distinct things that are true and were said; `known` of the attributes have their value as a current
    entry, `stale` entries give one a value that is over; `profile_stale` lines of the session's start do.
    """

    day: int
    entries: int
    archived: int
    waiting: int
    facts: int
    attributes: int
    known: int
    stale: int
    profile: int
    profile_lines: int
    profile_stale: int
    wrong: tuple[str, ...] = ()

    @property
    def figures(self) -> dict[str, Any]:
        """The values as JSON has them."""
        return asdict(self)


def look(life: Life) -> Checkpoint:
    """The state of memory now."""
    day, year, true = life.day, life.year, life.year.true_on(life.day)
    said = [(attributes_said(each.fact.text, year), each.fact.text) for each in life.current()]
    missing = [
        f"{key} should be {value}" for key, value in true.items() if not any(each.get(key) == value for each, _ in said)
    ]
    stale = [
        f"{key} is not {each[key]} any more: {text}"
        for each, text in said
        for key in each
        if each[key] != true.get(key)
    ]
    lines = [attributes_said(line, year) for line in profile(life.memory).splitlines()]
    told = [each for each in lines if each]
    return Checkpoint(
        day=day + 1,
        entries=len(said),
        archived=_archived(life.memory),
        waiting=life.memory.reviews.count(),
        facts=len(true) + len(_lasting(year, day)),
        attributes=len(true),
        known=len(true) - len(missing),
        stale=len(stale),
        profile=len(profile(life.memory)),
        profile_lines=len(told),
        profile_stale=sum(any(each[key] != true.get(key) for key in each) for each in told),
        wrong=(*missing, *stale),
    )


def profile(memory: Memory) -> str:
    """What a new session is given."""
    return memory.context.start(peek=True, within=None).text


def _lasting(year: Year, day: int) -> set[str]:
    """Preferences that recur, trivia, decisions and events, said until that day: true for good."""
    lasting = (*RECURRING, "trivia", PROJECT, "event")
    return {each.attribute for each in year.statements if each.day <= day and each.attribute.startswith(lasting)}


def _archived(memory: Memory) -> int:
    return sum(each.fact.place == "archive" for each in memory.facts.about(every=True) if each.fact.origin == "entry")


def injected(life: Life) -> list[str]:
    """Current entries with words of an injection, a hypothesis or another person: there must be none."""
    words = (*INJECTED_WORDS, *HYPOTHETICAL_WORDS)
    return [each.fact.text for each in life.current() if any(word in each.fact.text for word in words)]


# ---------------------------------------------------------------- recall


def recall(life: Life) -> dict[str, float]:
    """The share of the year's questions whose answer, as it is true now, is in the context and among the first hits."""
    true = life.year.true_on(life.day)
    asked = [each for each in life.year.questions if each.attribute in true]
    in_context = in_hits = 0
    for question in asked:
        value = true[question.attribute]
        text = life.memory.context(question.text, peek=True, within=None).text
        in_context += any(says(question.attribute, value, line, life.year) for line in text.splitlines())
        hits = life.memory.search(question.text).hits[:_FOUND]
        in_hits += any(
            says(question.attribute, value, line, life.year) for hit in hits for line in hit.text.splitlines()
        )
    number = max(1, len(asked))
    return {
        "questions": len(asked),
        "in_context": round(in_context / number, 3),
        "in_hits": round(in_hits / number, 3),
    }


# ---------------------------------------------------------------- rebuild


def is_rebuilt_equal(life: Life) -> bool:
    """True if all answers to all questions are the same after the index was built again."""
    before = _answers(life)
    life.memory.index.rebuild()
    return _answers(life) == before


def _answers(life: Life) -> str:
    memory = life.memory
    answers: list[Any] = []
    for question in life.year.questions:
        for mode in ("words", "hybrid"):
            hits = memory.search(question.text, mode=mode).hits
            answers.append([(hit.chunk_id, hit.path, hit.line, hit.score, hit.text) for hit in hits])
        answers.append(_MARK.sub("memory", memory.context(question.text, peek=True, within=None).text))
    answers.append([(each.fact.id, each.state, each.importance) for each in memory.facts.about(every=True)])
    return json.dumps(answers, ensure_ascii=False)


# ---------------------------------------------------------------- the commands of a digest


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command of a digest line that was run in a copy; `wrong` says what it did not do, empty if it did."""

    kind: str
    command: str
    wrong: str = ""


class Copy:
    """A copy of vault and data in which commands are run, as the person would type them."""

    def __init__(self, home: Path, place: Path, settings: dict[str, object]) -> None:
        shutil.rmtree(place, ignore_errors=True)
        for name in ("vault", "data"):
            shutil.copytree(home / name, place / name, symlinks=True)
        self.vault = place / "vault"
        self._flags = ["--vault", str(self.vault), "--data", str(place / "data")]
        for name, value in settings.items():
            self._flags += ["--set", f"{name}={value}"]

    def run(self, command: str) -> tuple[int, str]:
        """The exit code of a command, and what it said."""
        done = run_commonplace(*self._flags, *command.split()[1:])
        return done.returncode, (done.stdout + done.stderr).strip()

    def git(self, *words: str) -> bytes | None:
        """What git answers; None if it fails."""
        done = subprocess.run(["git", *words], cwd=self.vault, capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def tree(self) -> dict[str, str]:
        """Every note except the list of entries, which is derived, with a hash of its bytes."""
        return {
            str(file.relative_to(self.vault)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in self.vault.rglob("*.md")
            if ".git" not in file.parts and file.name != "_index.md"
        }


def kind_of(line: DigestLine) -> str:
    """What sort of line it is: its group, its first word, and the command's."""
    words = line.said.split()
    return f"{line.group}: {words[0]} / {' '.join(line.command.split()[1:3])}"


def run_commands(lines: Sequence[DigestLine], copy: Copy) -> Iterator[CommandRun]:
    """Run the commands of a sample of each kind in the copy, the newest first, and look at what they did."""
    kinds: defaultdict[str, list[DigestLine]] = defaultdict(list)
    for line in sorted(lines, key=lambda each: each.at, reverse=True):
        if len(kinds[kind_of(line)]) < _SAMPLE:
            kinds[kind_of(line)].append(line)
    for kind, chosen in kinds.items():
        for line in chosen:
            words = line.command.split()
            check = _check_of(words)
            yield CommandRun(kind, line.command, check(line.command, copy))


def _check_of(words: Sequence[str]) -> Callable[[str, Copy], str]:
    if words[1] == "undo":
        return _check_undo
    return _check_approval if words[1:3] == ["review", "approve"] else _check_word


def _check_undo(command: str, copy: Copy) -> str:
    """The command succeeds, and each note of the commit is as it was before."""
    commit = command.split()[-1]
    listed = copy.git("diff-tree", "--no-commit-id", "--name-only", "-r", "--root", "-z", commit)
    if listed is None:
        return f"git does not know {commit}"
    changed = [path for path in listed.decode().split("\0") if path]
    code, said = copy.run(command)
    if code:
        return f"exit {code}: {said}"
    differing = [path for path in changed if path.endswith(".md") and not _is_as_before(path, commit, copy)]
    return f"not as before: {', '.join(differing)}" if differing else ""


def _is_as_before(path: str, commit: str, copy: Copy) -> bool:
    file = copy.vault / path
    now = file.read_bytes() if file.is_file() else None
    if now == copy.git("show", f"{commit}^:{path}"):
        return True
    return copy.git("show", f"HEAD~1:{path}") != copy.git("show", f"{commit}:{path}")  # it was changed since


def _check_approval(command: str, copy: Copy) -> str:
    """What was proposed is approved, waits no longer, and `undo` brings all back."""
    before, id_ = copy.tree(), command.split()[-1]
    code, said = copy.run(command)
    if code:
        return f"exit {code}: {said}"
    if copy.run(f"commonplace review show {id_}")[0] == 0:
        return "it still waits"
    code, said = copy.run("commonplace undo")
    if code:
        return f"undo of the approval: exit {code}: {said}"
    after = copy.tree()
    differing = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return f"undo of the approval leaves: {', '.join(differing[:3])}" if differing else ""


def _check_word(command: str, copy: Copy) -> str:
    """A command that explains: it answers. `doctor` may find something, which is no failure of the command."""
    code, said = copy.run(command)
    return f"exit {code}: {said[:300]}" if code not in ((0, 1) if "doctor" in command else (0,)) else ""
