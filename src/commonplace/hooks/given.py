"""What the host says of the event: one JSON object on standard input, of which little is passed on."""

import json
import os
from collections.abc import Mapping

_MOST_BYTES = 2_000_000
_CHUNK = 1 << 16
_LONGEST_PROMPT = 100_000  # characters; of a longer one, in which something is pasted, its beginning and its end
_LONGEST_FIELD = 4096
_FIELDS = ("session_id", "transcript_path", "cwd")
_TURNS = ("prompt_id", "turn_id")  # what Claude Code and Codex call one prompt with all that comes of it

Given = Mapping[str, object]


class NotUnderstood(Exception):
    """What came is no event; the text says why."""


def read_given(descriptor: int = 0) -> Given:
    """What the host wrote, once it has ended; the caller bounds how long that may take. Raises NotUnderstood."""
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(descriptor, _CHUNK):
            size += len(chunk)
            if size <= _MOST_BYTES:
                chunks.append(chunk)  # the rest is read all the same: a host may take a closed pipe for an error
    except OSError as error:
        raise NotUnderstood(f"standard input cannot be read: {error.strerror}") from error
    if size > _MOST_BYTES:
        raise NotUnderstood(f"the host sent {size} bytes, and {_MOST_BYTES} are read at most")
    return _parsed(b"".join(chunks))


def host_of(given: Given, environ: Mapping[str, str]) -> str:
    """The host that such an object comes from: both that share a plugin write it much alike.

    A Codex that was started by Claude Code has inherited its environment, so that the object itself counts most.
    """
    transcript = os.path.basename(_text(given.get("transcript_path")))
    if transcript.startswith("rollout-") or "turn_id" in given:
        return "codex"
    if "prompt_id" in given or transcript:
        return "claude-code"
    return "codex" if "model" in given or "PLUGIN_ROOT" in environ else "claude-code"


def passed_on(given: Given) -> dict[str, str]:
    """What the daemon is told of it, as text that any program can read."""
    told = {name: text for name in _FIELDS if (text := _text(given.get(name))) and len(text) <= _LONGEST_FIELD}
    turn = next((text for name in _TURNS if (text := _text(given.get(name)))), "")
    prompt = _text(given.get("prompt"))
    if len(prompt) > _LONGEST_PROMPT:
        half = _LONGEST_PROMPT // 2
        prompt = f"{prompt[:half]}\n{prompt[-half:]}"
    return {**told, **({"turn": turn} if 0 < len(turn) <= _LONGEST_FIELD else {}), "prompt": prompt}


def _parsed(written: bytes) -> Given:
    if not written.strip():
        return {}
    try:
        given = json.loads(written.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise NotUnderstood("the host's input is no JSON") from error
    if not isinstance(given, dict):
        raise NotUnderstood("the host's input is no JSON object")
    return given


def _text(value: object) -> str:
    """The text, without halves of characters, which JSON can hold and nothing else can; empty for what is none."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
