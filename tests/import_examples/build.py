"""Exports that are made rather than stored: zips, damaged and endless files, and large ChatGPT exports."""

import io
import json
import random
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent
_WORDS = tuple(
    word
    for line in (
        "the boat engine pump keel mast harbour wind paint varnish rope we should I think that because after before",
        "tomorrow morning check replace order weigh measure rent buy sell question answer rather maybe never always",
        "Utrecht Rotterdam Ada Grace project report meeting invoice client deadline tile grout mortar bread flour",
    )
    for word in line.split()
)


def example(path: str) -> bytes:
    """The bytes of an example."""
    return (EXAMPLES / path).read_bytes()


def zip_of(files: Mapping[str, bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


def zip_of_example(folder: str, *, below: str = "") -> bytes:
    """A zip of an example folder, as its program would send it."""
    paths = sorted(path for path in (EXAMPLES / folder).rglob("*") if path.is_file())
    return zip_of({f"{below}{path.relative_to(EXAMPLES / folder)}": path.read_bytes() for path in paths})


def chatgpt_message(id_: str, role: str, text: str, at: float | None) -> dict[str, Any]:
    """A message as ChatGPT exports it, with the fields that make its exports large."""
    return {
        "id": id_,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-4o", "request_id": f"req-{id_}", "timestamp_": "absolute", "citations": []},
        "recipient": "all",
        "channel": None,
    }


def chatgpt_conversation(number: int, turns: list[tuple[str, str]], *, at: float = 1_719_830_400.0) -> dict[str, Any]:
    """A conversation without branches as ChatGPT exports it; ids depend on its number alone.

    A turn of `tool` is a page that ChatGPT has read, which it does not show.
    """
    id_ = f"66801d40-0000-8001-9000-{number:012x}"
    nodes: dict[str, dict[str, Any]] = {
        f"{id_}-root": {"id": f"{id_}-root", "message": None, "parent": None, "children": []}
    }
    parent = f"{id_}-root"
    for turn, (role, text) in enumerate(turns):
        node = f"{number:08x}-{turn:04x}-4000-8000-000000000000"
        nodes[parent]["children"] = [node]
        message = chatgpt_message(node, role, text, at + 60 * number + turn)
        if role == "tool":
            message["content"] = {"content_type": "sonic_webpage", "url": "https://example.org", "text": text}
        nodes[node] = {"id": node, "message": message, "parent": parent, "children": []}
        parent = node
    return {
        "title": f"Talk {number}",
        "create_time": at + 60 * number,
        "update_time": at + 60 * number + len(turns),
        "mapping": nodes,
        "moderation_results": [],
        "current_node": parent,
        "plugin_ids": None,
        "conversation_id": id_,
        "conversation_template_id": None,
        "gizmo_id": None,
        "is_archived": False,
        "safe_urls": [],
        "default_model_slug": "gpt-4o",
        "id": id_,
    }


def small_talks(count: int, *, turns: int = 4) -> list[dict[str, Any]]:
    """Conversations with short turns whose words name their place."""
    return [
        chatgpt_conversation(
            number,
            [("user" if turn % 2 == 0 else "assistant", f"talk {number} turn {turn}") for turn in range(turns)],
        )
        for number in range(count)
    ]


def large_chatgpt_export(file: Path, *, size: int, pages: bool = False, seed: int = 18) -> int:
    """Write an export of about `size` bytes with conversations of all lengths; returns how many it has.

    With `pages`, a web page stands before every fourth answer, as in exports of those who let ChatGPT search.
    """
    number = 0
    with file.open("wb") as stream:
        stream.write(b"[")
        for number, conversation in enumerate(_talks(random.Random(seed), pages=pages)):
            stream.write((b"," if number else b"") + json.dumps(conversation).encode())
            if stream.tell() >= size:
                break
        stream.write(b"]")
    return number + 1


def _talks(chance: random.Random, *, pages: bool) -> Iterator[dict[str, Any]]:
    number = 0
    while True:
        count = min(400, 2 + int(chance.expovariate(1 / 12)))
        turns = list[tuple[str, str]]()
        for turn in range(count):
            if pages and turn % 8 == 7:
                turns.append(("tool", "\n\n".join(_paragraphs(chance, 1) for _ in range(chance.randint(5, 40)))))
            turns.append(("user" if turn % 2 == 0 else "assistant", _paragraphs(chance, turn)))
        yield chatgpt_conversation(number, turns)
        number += 1


def _paragraphs(chance: random.Random, turn: int) -> str:
    """A sentence or two of a person, or the paragraphs and lists of an answer."""
    if turn % 2 == 0:
        return " ".join(_sentence(chance) for _ in range(chance.randint(1, 3)))
    paragraphs = list[str]()
    for _ in range(chance.randint(1, 6)):
        sentences = [_sentence(chance) for _ in range(chance.randint(2, 5))]
        paragraphs.append(
            "\n".join(f"- {each}" for each in sentences) if chance.random() < 0.3 else " ".join(sentences)
        )
    return "\n\n".join(paragraphs)


def _sentence(chance: random.Random) -> str:
    words = chance.choices(_WORDS, k=chance.randint(5, 18))
    if len(words) > 8:
        words[4] += ","
    if chance.random() < 0.2:
        words[2] = str(chance.randint(2, 2030))
    return " ".join(words).capitalize() + chance.choice(".....?")
