"""The benchmark of what has changed, run whole on one question whose figures are known by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from bench.updates import measure

SAID = {
    "aaaa": ("My quince tree stands in the garden here.", "2013/05/20 (Mon) 09:00"),
    "bbbb": ("Now my old quince tree stands in the garden here.", "2023/05/29 (Mon) 09:00"),
    "cccc": ("The tractor needs diesel.", "2023/05/28 (Sun) 09:00"),
}
ASKED = {
    "id": "q1",
    "type": "knowledge-update",
    "question": "Where in the garden stands my quince tree?",
    "date": "2023/05/30 (Tue) 10:15",
    "answer": "",
    "haystack": [[session, at] for session, (_, at) in SAID.items()],
    "gold_sessions": ["aaaa", "bbbb"],
    "gold_turns": [["aaaa", 0], ["bbbb", 0]],
}


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    """The figures, with the hashing encoder."""
    sessions = [{"id": id_, "turns": [{"role": "user", "content": said}]} for id_, (said, _) in SAID.items()]
    for name, rows in (("sessions", sessions), ("questions", [ASKED, ASKED | {"id": "q2_abs"}])):
        file = tmp_path / f"longmemeval_s/{name}.jsonl.gz"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    settings = {"embedding.provider": "hashing", "embedding.cache_file": str(tmp_path / "vectors.db")}
    return measure(tmp_path, settings, count=None, processes=1)


def test_age_brings_the_current_value_before_the_old_one(told: dict[str, Any]) -> None:
    """The old one is worded more like the question, and ten years old; what has no answer does not count."""
    assert [(row["half_life"], row["n"], row["both"], row["above"]) for row in told["order"]] == [
        (0, 1, 1, 0),
        *((days, 1, 1, 1) for days in (30, 90, 180, 365)),
    ]
    assert [row["strict@5"] for row in told["types"]] == [dict.fromkeys(("0", "30", "90", "180", "365"), 1.0)] * 2
    assert told["questions"] == "all"
