"""Live events: what a listener gets, what it gets after it was away, and how many may listen."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from commonplace.web.live_events import LiveEvents, TooManyListeners

VAULT = "/home/ada/Notes"


def parsed(text: str) -> tuple[str, str, Any]:
    """The kind, the id and the fields of one event."""
    lines = dict(line.split(": ", 1) for line in text.strip().splitlines())
    return lines["event"], lines["id"], json.loads(lines["data"])


async def taken(stream: AsyncIterator[str], count: int) -> list[tuple[str, str, Any]]:
    """So many events of a stream; several may come at once."""
    events: list[tuple[str, str, Any]] = []
    while len(events) < count:
        text = await asyncio.wait_for(anext(stream), 60)
        events += [parsed(each) for each in text.split("\n\n") if each and not each.startswith(":")]
    return events


def test_a_listener_gets_what_happens_in_its_vault_alone() -> None:
    """In order, from any thread; what happened before it came, and in other vaults, is left out."""

    async def listen() -> list[tuple[str, str, Any]]:
        live = LiveEvents()
        live.publish(VAULT, "review", waiting=1)
        async with aclosing(live.stream(VAULT, "")) as stream:
            (hello,) = await taken(stream, 1)
            await asyncio.to_thread(live.publish, VAULT, "write", path="Inbox/A.md")
            live.publish("/home/ada/Other", "write", path="Secret.md")
            live.publish(VAULT, "review", waiting=2)
            return [hello, *await taken(stream, 2)]

    hello, write, review = asyncio.run(listen())

    assert (hello[0], write[0], review[0]) == ("hello", "write", "review")
    assert (write[2], review[2]) == ({"path": "Inbox/A.md"}, {"waiting": 2})


def test_whoever_is_not_admitted_any_more_is_told_nothing_further() -> None:
    """The stream ends before the next event, and without one at the next sign of life."""

    async def listen(live: LiveEvents, *, is_quiet: bool) -> list[str]:
        admitted = [True]
        async with aclosing(live.stream(VAULT, "", is_admitted=lambda: admitted[0])) as stream:
            await taken(stream, 1)
            admitted[0] = False
            if not is_quiet:
                live.publish(VAULT, "write", path="Secret.md")
            return [text async for text in stream]

    assert asyncio.run(listen(LiveEvents(), is_quiet=False)) == []
    assert asyncio.run(listen(LiveEvents(heartbeat=0.01), is_quiet=True)) == []


def test_a_listener_that_was_away_goes_on_from_the_last_event_it_saw() -> None:
    """With what it missed; if the ring has lost some, or the daemon started anew, it is told so first."""

    async def listen() -> tuple[list[str], list[str], list[str]]:
        live = LiveEvents(ring=3)
        live.publish(VAULT, "review", waiting=1)
        async with aclosing(live.stream(VAULT, "")) as stream:
            ((_, seen, _),) = await taken(stream, 1)
        answers = []
        for waiting, id in ((3, seen), (8, seen), (9, "another-1")):
            for number in range(2, waiting):
                live.publish(VAULT, "review", waiting=number)
            async with aclosing(live.stream(VAULT, id)) as stream:
                _, first, *_ = await taken(stream, 2)
                answers.append([first[0], str(first[2].get("waiting", ""))])
        return answers[0], answers[1], answers[2]

    gone_on, lost, restarted = asyncio.run(listen())

    assert gone_on == ["review", "2"]
    assert (lost[0], restarted[0]) == ("missed", "missed")


def test_a_stream_says_that_it_is_there_and_ends_when_the_daemon_does() -> None:
    """A comment while nothing happens, and an end at once."""

    async def listen() -> list[str]:
        live = LiveEvents(heartbeat=0.01)
        stream = live.stream(VAULT, "")
        texts = [await anext(stream), await anext(stream)]
        live.close()
        return [*texts, *[each async for each in stream]]

    _, alive, *rest = asyncio.run(listen())

    assert alive == ": still here\n\n"
    assert not [each for each in rest if not each.startswith(":")]


def test_only_so_many_may_listen_and_one_that_leaves_makes_room() -> None:
    """The vault counts as listened to for a while, so that the one who left misses nothing."""

    async def listen() -> tuple[int, int, frozenset[str]]:
        live = LiveEvents(most_listeners=1)
        first = live.stream(VAULT, "")
        await anext(first)
        with pytest.raises(TooManyListeners):
            live.stream(VAULT, "")
        during = live.listeners
        await first.aclose()
        live.stream(VAULT, "")
        return during, live.listeners, live.vaults()

    assert asyncio.run(listen()) == (1, 0, frozenset({VAULT}))


def test_one_person_who_listens_as_often_as_may_be_leaves_room_for_others() -> None:
    """Pages and programs of one person are counted together, in whichever vault."""

    async def listen() -> int:
        live = LiveEvents(most_of_person=2, most_listeners=4)
        streams = [live.stream(vault, "", person="ada") for vault in (VAULT, "/other")]
        for each in streams:
            await anext(each)
        with pytest.raises(TooManyListeners, match="2 of your programs"):
            live.stream(VAULT, "", person="ada")
        for person in ("ben", ""):
            streams.append(live.stream(VAULT, "", person=person))
            await anext(streams[-1])
        with pytest.raises(TooManyListeners, match="4 programs are listening"):
            live.stream(VAULT, "", person="cleo")
        count = live.listeners
        for each in streams:
            await each.aclose()
        return count

    assert asyncio.run(listen()) == 4


def test_progress_is_published_now_and_then_and_at_the_end() -> None:
    """A thousand calls in a moment are few events."""
    live = LiveEvents()
    progress = live.progress(VAULT, "sync")
    for done in range(1_000):
        progress("notes", done + 1, 1_000)

    events = list(live._ring)
    assert 2 <= len(events) < 20
    assert events[-1].fields == {"work": "sync", "what": "notes", "done": 1_000, "total": 1_000}
