"""The labelled sets for memory: people with entries and prompts, candidate memories, questions to a vault.

Their form is described in the README beside them. A data folder has them under `memory`, or is itself that folder.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import figures

CONTEXT: Final = "context.jsonl"
CUES: Final = figures.HERE / "sets/cues"
GATE: Final = "gate.jsonl"
QUERIES: Final = "queries.jsonl"
CODING: Final = "coding.jsonl"
UNLIKE: Final = "unlike"
NONE: Final = "none"
SUPERSEDED: Final = "superseded"
FOLLOWUP: Final = "followup"
LABELS: Final = ("keep", "junk", "duplicate", "secret", "update")

GENERIC_CODING: Final = (
    "Why is the build failing?",
    "Run the tests and fix whatever breaks.",
    "Rename this variable to something clearer.",
    "Add a docstring to the function above.",
    "What does this regular expression match?",
    "The import at the top is unused, remove it.",
    "Write a unit test for parse_date.",
    "Refactor this loop into a list comprehension.",
    "Why does this return None?",
    "Explain the stack trace.",
    "Show me the last three commits.",
    "Revert that change.",
    "Convert this callback to async/await.",
    "Is there a race condition in this code?",
    "Sort these imports.",
    "Make the button blue.",
    "How do I undo a git rebase?",
    "What is the difference between a list and a tuple?",
    "Fix the type error on line 42.",
    "Split this file into two modules.",
    "Add logging to the upload handler.",
    "The page is blank after login, what could it be?",
    "Bump the version to 1.4.2.",
    "Extract this block into a helper.",
    "Why is this query slow?",
    "Generate a migration for the new column.",
    "Center the dialog on the screen.",
    "Which HTTP status code fits a missing parameter?",
    "Print the result as JSON instead.",
    "Does this function handle an empty list?",
)
"""Prompts of a working day that need no memory, written for this program; the data folder may bring others."""


class Cues(NamedTuple):
    """What an entry is about and when it matters, as somebody wrote it who saw nothing but its text."""

    about: str = ""
    when: str = ""


NO_CUES: Final = Cues()


@dataclass(frozen=True, slots=True)
class LabelledEntry:
    """What memory holds of a person: an id, a kind, the text, and the text that it replaced, if any.

    `cues` say what the text is about and when it matters, `old_cues` the same of the text that it replaced.
    """

    id: str
    kind: str
    text: str
    old: str
    cues: Cues = NO_CUES
    old_cues: Cues = NO_CUES


@dataclass(frozen=True, slots=True)
class LabelledPrompt:
    """A prompt with the ids of entries that must, may and must not come; `after` is the prompt before it."""

    id: str
    type: str
    prompt: str
    gold: tuple[str, ...]
    ok: tuple[str, ...]
    harmful: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person with entries, notes by their paths, and prompts."""

    name: str
    entries: tuple[LabelledEntry, ...]
    notes: tuple[tuple[str, str], ...]
    prompts: tuple[LabelledPrompt, ...]

    def texts(self) -> dict[str, str]:
        """The text of each entry by its id, and each replaced text by that id with `old` behind it."""
        now = {each.id: each.text for each in self.entries}
        return now | {f"{each.id}old": each.old for each in self.entries if each.old}


@dataclass(frozen=True, slots=True)
class CandidateMemory:
    """A text in an agent's words, what should become of it, and what memory holds already, if anything."""

    id: str
    label: str
    text: str
    known: str


@dataclass(frozen=True, slots=True)
class GardenQuestion:
    """A question to the garden, and the notes that answer it, each with a heading or without."""

    id: str
    type: str
    query: str
    gold: tuple[tuple[str, str], ...]


def sets_folder(data: Path) -> Path:
    """Where the sets of a data folder are: under `memory`, or in the folder itself."""
    return data / "memory" if (data / "memory").is_dir() else data


def memory_folder(data: Path) -> Path:
    """The folder with the sets. Ends the program, saying what is missing, when it has none of them."""
    folder = sets_folder(data)
    if not any((folder / name).is_file() for name in (CONTEXT, GATE, QUERIES)):
        sys.exit(f"no {CONTEXT}, {GATE} or {QUERIES} in {folder}: name their folder with --data")
    return folder


def garden_of(data: Path, vaults: Path | None, folder: Path) -> Path | None:
    """The garden, unpacked into a new folder; None, with a message, when it is not there.

    It is looked for in `vaults` if given, else in the data folder, else in the usual one.
    """
    places = [vaults] if vaults else [data / "vaults", data.parent / "vaults", figures.DATA / "vaults"]
    for place in places:
        for archive in sorted(place.glob(f"{figures.GARDEN}*.tar.gz")):
            return figures.unpack(archive, folder)
    figures.say(f"no {figures.GARDEN}*.tar.gz in {', '.join(map(str, places))}: what needs it is left out")
    return None


def read_people(folder: Path, *, cues: bool = False) -> list[Person]:
    """The people of the set; none, with a message, when it is missing.

    With `cues`, their entries have those of the set, or those that we had written for the development sets.
    """
    own = folder / "cues.jsonl"
    known = read_cues(own if own.is_file() else CUES / "development.jsonl") if cues else {}
    return [_person(line, known) for line in _lines(folder / CONTEXT)]


def read_cues(file: Path, *, key: str = "id") -> dict[Any, Cues]:
    """The cues of a file by what they belong to."""
    return {line[key]: Cues(line["about"], line.get("when", "")) for line in _lines(file)}


def read_candidates(folder: Path) -> list[CandidateMemory]:
    """The candidate memories; none, with a message, when the file is missing."""
    return [
        CandidateMemory(line["id"], line["label"], line["text"], line.get("known") or "")
        for line in _lines(folder / GATE)
    ]


def read_questions(folder: Path) -> list[GardenQuestion]:
    """The questions to the garden; none, with a message, when the file is missing."""
    return [
        GardenQuestion(
            line["id"],
            line["type"],
            line["query"],
            tuple((each["path"], each.get("heading") or "") for each in line["gold"]),
        )
        for line in _lines(folder / QUERIES)
    ]


def read_coding(folder: Path) -> tuple[str, Person | None]:
    """Coding prompts as those of one person, who has the memories that some of them need; and where they are from.

    None when the data folder has no such prompts.
    """
    file = folder / CODING
    if not file.is_file():
        return "", None
    lines = list(_lines(file))
    needed = {each["id"]: each["memory"] for each in lines if each.get("needs")}
    prompts = [
        coding_prompt(each["id"], each["prompt"], gold=(each["id"],) if each.get("needs") else ()) for each in lines
    ]
    entries = [LabelledEntry(id, "preference", text, "") for id, text in needed.items()]
    return str(file), Person("coding", tuple(entries), (), tuple(prompts))


def coding_prompt(id: str, prompt: str, *, gold: tuple[str, ...] = ()) -> LabelledPrompt:
    """A coding prompt that needs these entries, or none."""
    type = "needs" if gold else NONE
    return LabelledPrompt(id=id, type=type, prompt=prompt, gold=gold, ok=(), harmful=(), after="")


def _person(line: dict[str, Any], cues: Mapping[str, Cues]) -> Person:
    name = line["user"]
    return Person(
        name=name,
        entries=tuple(
            LabelledEntry(
                each["id"],
                each["kind"],
                each["text"],
                each.get("old") or "",
                cues.get(f"{name}/{each['id']}", NO_CUES),
                cues.get(f"{name}/{each['id']}old", NO_CUES),
            )
            for each in line["entries"]
        ),
        notes=tuple((each["path"], each["text"]) for each in line.get("notes", ())),
        prompts=tuple(_prompt(each) for each in line["prompts"]),
    )


def _prompt(line: dict[str, Any]) -> LabelledPrompt:
    return LabelledPrompt(
        id=line.get("id") or line["prompt"],
        type=line["type"],
        prompt=line["prompt"],
        gold=tuple(line.get("gold") or ()),
        ok=tuple(line.get("ok") or ()),
        harmful=tuple(line.get("harmful") or ()),
        after=line.get("after") or "",
    )


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        figures.say(f"no {file}: what needs it is left out")
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)
