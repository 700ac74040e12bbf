"""What a host writes to a hook, and what of it goes on to the daemon."""

import json
import os
from collections.abc import Mapping
from types import SimpleNamespace

import pytest

from commonplace.hooks import main
from commonplace.hooks.main import InvalidInput, deadline_for, read_input, request_fields

CLAUDE = {"session_id": "s", "transcript_path": "/home/me/.claude/projects/-p/s.jsonl", "cwd": "/p"}


def read(written: bytes) -> Mapping[str, object]:
    """What is read when a host has written this and closed the pipe; it must fit into one."""
    out, into = os.pipe()
    try:
        os.write(into, written)
        os.close(into)
        return read_input(out)
    finally:
        os.close(out)


def test_one_object_is_read_whatever_stands_around_it() -> None:
    """A byte order mark, blanks, a line end or none; bytes that are no UTF-8 are replaced."""
    assert read(b'\xef\xbb\xbf {"cwd": "/p"} \n') == {"cwd": "/p"}
    assert read(b'{"prompt": "caf\xe9"}') == {"prompt": "caf\N{REPLACEMENT CHARACTER}"}
    assert read(b"") == read(b" \n") == {}


@pytest.mark.parametrize("written", [b"{", b"nothing", b"[]", b"3", b"[" * 60_000])
def test_what_is_no_object_is_told(written: bytes) -> None:
    """In words, whatever the parser makes of it."""
    with pytest.raises(InvalidInput, match=r"not (JSON|a JSON object)"):
        read(written)


def test_a_closed_input_is_told() -> None:
    """Nothing can be read from it."""
    out, into = os.pipe()
    os.close(into)
    os.close(out)

    with pytest.raises(InvalidInput, match="cannot be read"):
        read_input(out)


def test_the_daemon_is_told_what_it_needs_and_nothing_else() -> None:
    """Not the last message, nor the model; what is no text is left out, and so is a path longer than any."""
    given = {**CLAUDE, "prompt": "x", "source": 3, "last_assistant_message": "secret", "cwd": "/" * 5000}

    assert request_fields(given) == {
        "session_id": "s",
        "transcript_path": CLAUDE["transcript_path"],
        "prompt": "x",
    }


def test_why_a_session_starts_goes_on() -> None:
    """A session that was compacted is given again what one that is resumed still has."""
    assert request_fields({**CLAUDE, "source": "compact"}) == {**CLAUDE, "source": "compact", "prompt": ""}


def test_of_a_huge_prompt_its_beginning_and_its_end_go_on() -> None:
    """What the person asks stands before or after what was pasted."""
    prompt = request_fields({"prompt": f"Why? {'log line ' * 200_000} Tell me."})["prompt"]

    assert len(prompt) < 101_000
    assert prompt.startswith("Why? ")
    assert prompt.endswith(" Tell me.")


def test_halves_of_characters_do_not_go_on() -> None:
    """JSON can hold one half of a pair of surrogates; no other program can."""
    told = request_fields(json.loads(r'{"prompt": "a \ud83d b \ud83d\ude00"}'))

    assert told == {"prompt": "a ? b \N{GRINNING FACE}"}


@pytest.mark.parametrize("name", ["prompt_id", "turn_id"])
def test_what_a_prompt_is_known_by_goes_on_under_one_name(name: str) -> None:
    """So that two hooks of one prompt are known for it."""
    assert request_fields({name: "t-1", "prompt": "x"}) == {"turn": "t-1", "prompt": "x"}


@pytest.mark.parametrize(("event", "seconds"), [("session-start", 0.8), ("prompt", 0.5), ("stop", 0.3)])
def test_an_event_has_a_deadline_of_its_own(event: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the whole process: 50 ms are taken off for the start of the interpreter."""
    monkeypatch.setattr(main, "time", SimpleNamespace(monotonic=lambda: 0.0))

    assert deadline_for(event).left == seconds - 0.05
