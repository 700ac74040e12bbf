"""Working days: what memory holds of a person, and the prompts of one session with what should come for each.

A data folder brings its own in `days.jsonl`; the one here was written for this program and is used when there is none.
"""

import json
from pathlib import Path
from typing import Any, Final

from bench.memory_sets import LabelledEntry, LabelledPrompt, Person

DAYS: Final = "days.jsonl"

OWN_DAY: Final[dict[str, Any]] = {
    "person": "Runa, web developer for a museum in Bergen",
    "memories": [
        {
            "id": "w01",
            "kind": "identity",
            "text": "Runa Solheim keeps the website and the ticket shop of a maritime museum.",
        },
        {"id": "w02", "kind": "preference", "text": "Wants answers without an introduction, in British spelling."},
        {
            "id": "w03",
            "kind": "constraint",
            "text": "Pages have to work without JavaScript: the kiosks in the halls run an old browser.",
        },
        {
            "id": "w04",
            "kind": "workflow",
            "text": "Releases go out on Thursday before nine, after Jonas has seen the preview.",
        },
        {"id": "w05", "kind": "preference", "text": "Uses uv for Python packages, never pip by hand."},
        {
            "id": "w06",
            "kind": "fact",
            "text": "The ticket shop is a Django application on one server at a local host, behind nginx.",
        },
        {
            "id": "w07",
            "kind": "fact",
            "text": "Jonas Bakke decides about texts for the exhibitions and is in on Tuesday and Thursday.",
        },
        {
            "id": "w08",
            "kind": "decision",
            "text": "Pictures are served as AVIF with a JPEG beside it, because the kiosks show nothing newer.",
        },
        {
            "id": "w09",
            "kind": "fix",
            "text": "The nightly import of loans fails when the register has an empty year; setting it to 0 helps.",
        },
        {"id": "w10", "kind": "fact", "text": "Runa is deaf in one ear and prefers written reviews to calls."},
        {"id": "w11", "kind": "event", "text": "The exhibition on whaling opens on 22 May 2027."},
        {
            "id": "w12",
            "kind": "preference",
            "text": "Tests are written with plain asserts and fixtures, no unittest classes.",
        },
        {
            "id": "w13",
            "kind": "domain-reference",
            "text": "An 'object' is a thing in the register, an 'item' is its page on the website.",
        },
        {
            "id": "w14",
            "kind": "fact",
            "text": "Her daughter Liv is picked up from the kindergarten at half past three.",
        },
        {"id": "w15", "kind": "feedback", "text": "Did not like that a small fix came with a reformatted file."},
    ],
    "prompts": [
        {"prompt": "what does nonlocal do in Python?", "gold": [], "ok": ["w02"]},
        {"prompt": "install the new dependency for barcodes", "gold": ["w05"], "ok": ["w06"]},
        {"prompt": "why is the build failing?", "gold": [], "ok": []},
        {
            "prompt": "add a carousel with the three newest exhibitions to the front page",
            "gold": ["w03"],
            "ok": ["w08", "w11"],
        },
        {"prompt": "write the tests for it", "gold": ["w12"], "ok": []},
        {"prompt": "rename `tmp` to something that says what it is", "gold": [], "ok": ["w15"]},
        {"prompt": "when can we put this live?", "gold": ["w04"], "ok": ["w07"]},
        {"prompt": "explain this traceback", "gold": [], "ok": []},
        {"prompt": "last night's loans did not arrive, have a look at the log", "gold": ["w09"], "ok": ["w06"]},
        {"prompt": "which status code is right for a sold-out slot?", "gold": [], "ok": ["w02"]},
        {
            "prompt": "propose a time today to go through the pull request with Jonas",
            "gold": ["w10"],
            "ok": ["w07", "w14"],
        },
        {"prompt": "thanks, that will do for today", "gold": [], "ok": []},
    ],
}


def read_days(folder: Path) -> tuple[str, list[Person]]:
    """The days of the data folder, or else our own; and where they are from."""
    file = folder / DAYS
    if not file.is_file():
        return "bench/sessions_days.py", [own_day()]
    lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
    return str(file), [_day(line) for line in lines]


def own_day() -> Person:
    """The day written for this program."""
    return _day(OWN_DAY)


def _day(line: dict[str, Any]) -> Person:
    name = line["person"].split(",")[0]
    entries = [
        LabelledEntry(each["id"], each["kind"], each["text"], each.get("old") or "") for each in line["memories"]
    ]
    prompts = [
        LabelledPrompt(
            id=f"{name}-{number}",
            type="needs" if each["gold"] else "none",
            prompt=each["prompt"],
            gold=tuple(each["gold"]),
            ok=tuple(each["ok"]),
            harmful=(),
            after="",
        )
        for number, each in enumerate(line["prompts"], 1)
    ]
    return Person(name, tuple(entries), (), tuple(prompts))
