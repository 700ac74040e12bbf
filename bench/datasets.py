"""The public sets that recall is measured on, read from their files: LongMemEval_S, LoCoMo, SciFact."""

import csv
import gzip
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.questions import UNANSWERABLE, Question, Session, Store, Turn

FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "longmemeval": ("longmemeval_s/questions.jsonl.gz", "longmemeval_s/sessions.jsonl.gz"),
    "locomo": ("locomo/conversation_*.json.gz",),
    "scifact": tuple(f"beir/scifact/{name}" for name in ("corpus.jsonl", "queries.jsonl", "qrels/*.tsv")),
}
_SPLITS: Final = ("test", "train")
_SOME_DAY: Final = datetime(2024, 1, 1, tzinfo=UTC)  # SciFact knows no dates; a fixed one keeps its answers the same
_SESSION: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")  # one entry may name several turns, and one is written `D:11:26`


@dataclass(frozen=True, slots=True)
class LongMemEval:
    """Questions in the order of the file, each with a haystack of its own: sessions and when they were held."""

    questions: tuple[Question, ...]
    haystacks: Mapping[str, Mapping[str, datetime]]
    turns: Mapping[str, tuple[Turn, ...]]

    def store(self, *ids: str) -> Store:
        """The haystacks of these questions as one; the date of the first one counts where several have a session."""
        dates: dict[str, datetime] = {}
        for id_ in ids:
            dates = {**self.haystacks[id_], **dates}
        ordered = sorted(dates.items(), key=lambda each: (each[1], each[0]))
        return Store(tuple(Session(session, at, self.turns[session]) for session, at in ordered))

    def after(self, question: Question, steps: int) -> Question:
        """The question so many places further in the file, cyclic."""
        return self.questions[(self.questions.index(question) + steps) % len(self.questions)]


@dataclass(frozen=True, slots=True)
class Asked:
    """A set whose stores are given: LoCoMo, SciFact. `dropped` counts the questions without gold in their store."""

    questions: tuple[Question, ...]
    stores: Mapping[str, Store]
    dropped: int = 0


def check_files(data: Path, names: Iterable[str]) -> None:
    """Ends the program, naming every file that these sets need and that is not in the folder."""
    wanted = [data / file for name in names for file in FILES[name]]
    missing = [str(file) for file in wanted if not any(file.parent.glob(file.name))]
    if missing:
        sys.exit("missing: " + ", ".join(missing) + "; name the folder that holds the sets with --data")


def read_longmemeval(data: Path) -> LongMemEval:
    """The half of LongMemEval_S that is in the folder."""
    rows = list(_lines(data / "longmemeval_s/questions.jsonl.gz"))
    turns = {
        row["id"]: tuple(Turn(turn["role"], turn["content"]) for turn in row["turns"])
        for row in _lines(data / "longmemeval_s/sessions.jsonl.gz")
    }
    haystacks = {row["id"]: {id_: _slashed(at) for id_, at in reversed(row["haystack"])} for row in rows}
    return LongMemEval(tuple(map(_longmemeval_question, rows)), haystacks, turns)


def _longmemeval_question(row: Mapping[str, Any]) -> Question:
    return Question(
        id=row["id"],
        text=row["question"],
        now=_slashed(row["date"]),
        store=row["id"],
        type=UNANSWERABLE if row["id"].endswith("_abs") else row["type"],
        gold=frozenset(row["gold_sessions"]),
        gold_turns=frozenset((session, place + 1) for session, place in row["gold_turns"]),
    )


def read_locomo(data: Path) -> Asked:
    """The conversations of LoCoMo in the folder: each is a store, each of its sessions a conversation."""
    questions: list[Question] = []
    stores: dict[str, Store] = {}
    dropped = 0
    for file in sorted((data / "locomo").glob("conversation_*.json.gz")):
        told = json.loads(gzip.decompress(file.read_bytes()))
        name = file.name.removesuffix(".json.gz")
        stores[name] = Store(tuple(_locomo_sessions(told["conversation"], name)))
        found = list(_locomo_questions(told, name, now=stores[name].sessions[-1].at + timedelta(days=1)))
        questions += [question for question in found if question.gold]
        dropped += sum(not question.gold for question in found)
    return Asked(tuple(questions), stores, dropped)


def _locomo_sessions(told: Mapping[str, Any], name: str) -> Iterator[Session]:
    """The sessions in the order of their dates."""
    numbers = [int(match[1]) for key in told if (match := _SESSION.fullmatch(key)) and told[key]]
    sessions = [
        Session(_opaque(name, number), _spoken(told[f"session_{number}_date_time"]), _said(told[f"session_{number}"]))
        for number in numbers
    ]
    yield from sorted(sessions, key=lambda session: session.at)


def _said(turns: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """What each said; a picture that was shared is told by its caption."""
    captions = (f"\n[shares {turn['blip_caption']}]" if "blip_caption" in turn else "" for turn in turns)
    return tuple(Turn("user", turn["text"] + told, turn["speaker"]) for turn, told in zip(turns, captions, strict=True))


def _locomo_questions(told: Mapping[str, Any], name: str, *, now: datetime) -> Iterator[Question]:
    places = {
        turn["dia_id"]: (_opaque(name, int(match[1])), place)
        for key, turns in told["conversation"].items()
        if (match := _SESSION.fullmatch(key))
        for place, turn in enumerate(turns, start=1)
    }
    for number, row in enumerate(told["qa"]):
        named = [f"D{session}:{turn}" for session, turn in _EVIDENCE.findall(" ".join(row["evidence"]))]
        turns = frozenset(places[each] for each in named if each in places)
        gold = frozenset(session for session, _ in turns)
        yield Question(f"{name}-{number}", row["question"], now, name, str(row["category"]), gold, turns)


def read_scifact(data: Path) -> Asked:
    """SciFact: every abstract is a note; `test` and `train` are the types of its questions."""
    folder = data / "beir/scifact"
    notes = {row["_id"]: f"# {row['title']}\n\n{row['text']}\n" for row in _lines(folder / "corpus.jsonl")}
    texts = {row["_id"]: row["text"] for row in _lines(folder / "queries.jsonl")}
    questions = [
        Question(id_, texts[id_], _SOME_DAY, "scifact", split, gold)
        for split in _SPLITS
        for id_, gold in _judged(folder / f"qrels/{split}.tsv").items()
    ]
    return Asked(tuple(questions), {"scifact": Store(notes=notes)})


def _judged(file: Path) -> dict[str, frozenset[str]]:
    """The abstracts that were judged to fit, by question."""
    gold: dict[str, frozenset[str]] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["score"]) > 0:
                gold[row["query-id"]] = gold.get(row["query-id"], frozenset()) | {row["corpus-id"]}
    return gold


def _opaque(name: str, number: int) -> str:
    return hashlib.sha256(f"{name}/{number}".encode()).hexdigest()[:16]


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    packed = file.read_bytes()
    for line in (gzip.decompress(packed) if file.suffix == ".gz" else packed).splitlines():
        yield json.loads(line)


def _slashed(text: str) -> datetime:
    """A time such as `2023/04/10 (Mon) 10:15`."""
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def _spoken(text: str) -> datetime:
    """A time such as `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
