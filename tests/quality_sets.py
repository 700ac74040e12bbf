"""A folder with the three public sets in their formats, made up and tiny: what is found in it is known by hand."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_SESSIONS = {
    "aaaa": ["The violin teacher lives near the harbour.", "Noted."],
    "bbbb": ["Our parrot learned to whistle.", "Charming."],
    "cccc": ["Grandmother knits a scarf.", "Warm."],
    "dddd": ["The bakery sells rye bread.", "Tasty."],
    "eeee": ["A comet crossed the sky.", "Bright."],
    "ffff": ["The tractor needs diesel.", ""],
}
_QUESTIONS = [
    ("q1", "single-session-user", "Where does the violin teacher live?", ["aaaa", "bbbb"], ["aaaa"]),
    ("q2", "multi-session", "Which parrot did whistle?", ["bbbb", "cccc", "dddd"], ["bbbb", "cccc"]),
    ("q3_abs", "single-session-user", "What is the zeppelin called?", ["eeee", "ffff"], ["eeee"]),
]


def write_sets(folder: Path) -> Path:
    """The folder, with the three sets in it."""
    _write_longmemeval(folder / "longmemeval_s")
    _write_locomo(folder / "locomo")
    _write_scifact(folder / "beir/scifact")
    return folder


def _write_longmemeval(folder: Path) -> None:
    sessions = (
        {"id": id_, "turns": [{"role": "user", "content": said}, {"role": "assistant", "content": reply}]}
        for id_, (said, reply) in _SESSIONS.items()
    )
    questions = (
        {
            "id": id_,
            "type": type_,
            "question": text,
            "date": "2023/05/30 (Tue) 10:15",
            "answer": "",
            "haystack": [[session, f"2023/05/2{place} (Mon) 09:00"] for place, session in enumerate(haystack)],
            "gold_sessions": gold,
            "gold_turns": [[session, 0] for session in gold],
        }
        for id_, type_, text, haystack, gold in _QUESTIONS
    )
    _pack(folder / "sessions.jsonl.gz", sessions)
    _pack(folder / "questions.jsonl.gz", questions)


def _write_locomo(folder: Path) -> None:
    """Two conversations of two sessions, held in an order that their numbers do not tell."""
    for name, first, second in (("conversation_00", "Ada", "Ben"), ("conversation_02", "Cleo", "Dan")):
        conversation = {
            "speaker_a": first,
            "speaker_b": second,
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": first, "dia_id": "D1:1", "text": f"My kayak is {name}green."},
                {"speaker": second, "dia_id": "D1:2", "text": "Look!", "blip_caption": "a lighthouse"},
            ],
            "session_2_date_time": "9:00 am on 1 May, 2023",
            "session_2": [{"speaker": first, "dia_id": "D2:1", "text": "The marathon was wet."}],
            "session_3_date_time": "9:00 am on 9 May, 2023",
        }
        asked = [
            {"question": "Which colour has the kayak?", "evidence": ["D1:1"], "category": 4, "answer": "green"},
            {"question": "Who saw a kayak and the marathon?", "evidence": ["D1:1; D:2:1"], "category": 1, "answer": ""},
            {"question": "Who shared the lighthouse?", "evidence": ["D1:2", "D9:9"], "category": 5, "answer": ""},
            {"question": "When did it rain?", "evidence": ["D2:1"], "category": 2, "answer": ""},
            {"question": "Is this dropped?", "evidence": [], "category": 3, "answer": ""},
        ]
        _pack(folder / f"{name}.json.gz", [{"conversation": conversation, "qa": asked}])


def _write_scifact(folder: Path) -> None:
    abstracts = {"11": ("Zinc", "Zinc binds enzymes."), "22": ("Mice", "Mice dislike cold."), "33": ("Iron", "Rust.")}
    questions = {"1": "Zinc binds.", "2": "Mice sleep.", "3": "Rust exists."}
    (folder / "qrels").mkdir(parents=True)
    rows = ({"_id": id_, "title": title, "text": text} for id_, (title, text) in abstracts.items())
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    rows = ({"_id": id_, "text": text, "title": ""} for id_, text in questions.items())
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels/test.tsv").write_text(f"{head}1\t11\t1\n2\t22\t1\n2\t33\t1\n2\t11\t0\n", encoding="utf-8")
    (folder / "qrels/train.tsv").write_text(f"{head}3\t33\t1\n", encoding="utf-8")


def _pack(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
