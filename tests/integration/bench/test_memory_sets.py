"""The sets of the benchmarks of memory, read from a folder."""

import json
from pathlib import Path

import pytest
from bench.memory_sets import garden_of, memory_folder, read_coding, read_people
from bench.sessions_days import own_day, read_days


def test_the_sets_are_read_from_the_folder_or_from_memory_in_it(tmp_path: Path) -> None:
    """A file that is missing leaves its part out; a folder without any ends the program."""
    with pytest.raises(SystemExit, match="name their folder"):
        memory_folder(tmp_path)
    prompt = {"id": "q", "type": "obvious", "prompt": "what?", "gold": ["e"]}
    entry = {"id": "e", "kind": "fact", "text": "New.", "old": "Old."}
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/context.jsonl").write_text(json.dumps({"user": "p", "entries": [entry], "prompts": [prompt]}))
    (person,) = read_people(memory_folder(tmp_path))

    assert person.texts() == {"e": "New.", "eold": "Old."}
    assert read_coding(tmp_path / "memory") == ("", None)
    assert read_days(tmp_path / "memory")[1] == [own_day()]
    assert garden_of(tmp_path, tmp_path, tmp_path / "unpacked") is None
