"""The load of `bench/clients.py`: MCP clients in one process, each asking and saving one thing after another.

Every second client is an old one, with a handshake; the others are of the sessionless kind. All come in by TCP with a
token of their own.
"""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from bench.entries_vault import WORDS
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError
from mcp import MCPError

SHARES: Final = {"memory_search": 60, "memory_recall": 20, "memory_save": 10, "note_read": 5, "memory_facts": 5}
_SYLLABLES: Final = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


@dataclass(frozen=True, slots=True)
class Load:
    """What one process does: its clients by number and token, when it begins, for how long, and what it asks about."""

    url: str
    tokens: Mapping[int, str]
    begins: float
    seconds: float
    people: Sequence[str]
    notes: Sequence[str]


@dataclass(slots=True)
class Told:
    """What came of it: milliseconds by tool, errors in words, the texts whose saving was acknowledged, the end.

    `late` counts the recalls of which a part was not ready in time.
    """

    times: dict[str, list[float]] = field(default_factory=lambda: {tool: [] for tool in SHARES})
    errors: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)
    late: int = 0
    ended: float = 0.0


def run(load: Load) -> Told:
    """Carry the load out; this is the whole work of one process."""
    told = Told()
    asyncio.run(_all(load, told))
    return told


async def _all(load: Load, told: Told) -> None:
    await asyncio.gather(*(_client(number, token, load, told) for number, token in load.tokens.items()))


async def _client(number: int, token: str, load: Load, told: Told) -> None:
    way = StreamableHttpTransport(load.url, headers={"Authorization": f"Bearer {token}"})
    source = random.Random(number)
    async with Client(way, mode="legacy" if number % 2 else "auto") as client:
        if time.time() > load.begins:
            told.errors.append(f"client {number} was connected only after the load had begun")
        await asyncio.sleep(max(0.0, load.begins - time.time()))  # connecting is over: now all begin together
        while time.time() < load.begins + load.seconds:
            (tool,) = source.choices(list(SHARES), weights=list(SHARES.values()))
            await _call(client, tool, _arguments(tool, source, load), told)
            told.ended = time.time()


async def _call(client: "Client[Any]", tool: str, arguments: dict[str, Any], told: Told) -> None:
    begun = time.perf_counter()
    try:
        answer = await client.call_tool(tool, arguments)
    except (ToolError, MCPError, httpx2.HTTPError, OSError, TimeoutError) as error:
        told.errors.append(f"{tool}: {type(error).__name__}: {error}")
        return
    told.times[tool].append((time.perf_counter() - begun) * 1000)
    said = answer.structured_content or {}
    if tool == "memory_save":
        told.saved.append(arguments["text"])
    elif tool == "memory_recall":
        told.late += bool(said.get("late"))
    elif tool == "memory_search" and not said.get("searched"):
        told.errors.append(f"{tool}: nothing was searched for {arguments}")


def _arguments(tool: str, source: random.Random, load: Load) -> dict[str, Any]:
    question = " ".join(source.choices(WORDS, k=4))
    match tool:
        case "memory_search":
            return {"query": question, "verbose": True}
        case "memory_recall":
            return {"prompt": f"{question}, and what of {source.choice(load.people)}?", "verbose": True}
        case "memory_save":
            # Words that no other text has: what is like something known is confirmed, and not written again.
            return {"text": f"Wants {' '.join(_word(source) for _ in range(6))}.", "kind": "preference"}
        case "note_read":
            return {"path": source.choice(load.notes)}
        case _:
            return {"entity": source.choice(load.people)}


def _word(source: random.Random) -> str:
    return "".join(source.choices(_SYLLABLES, k=4))
