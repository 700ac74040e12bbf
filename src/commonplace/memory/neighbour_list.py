"""The list of neighbours in the answer of a save, for people and models: a line each, and short in all."""

from collections.abc import Sequence
from typing import Final

from commonplace.memory.fact_shapes import NeighbourShape
from commonplace.model.untrusted_text import line_of

MOST_CHARACTERS: Final = 500
"""Characters of the whole list: a model reads it after every save that has neighbours."""

_LONGEST_SPEAKER: Final = 24


def neighbour_lines(neighbours: Sequence[NeighbourShape]) -> tuple[str, ...]:
    """A line for each: its name as `settle` takes it, the day, who said it, and the text, shortened if it is long.

    A short text leaves its room to the longer ones. What the vault says stands on one line, without marks.
    """
    heads = [_head(each) for each in neighbours]
    texts = [line_of(each["text"]) for each in neighbours]
    room = MOST_CHARACTERS - sum(len(head) + len("\n") for head in heads)
    by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for done, place in enumerate(by_length):
        texts[place] = _shortened(texts[place], room // (len(texts) - done))
        room -= len(texts[place])
    return tuple(f"{head}{text}" for head, text in zip(heads, texts, strict=True))


def _head(neighbour: NeighbourShape) -> str:
    speaker = _shortened(line_of(neighbour["speaker"]), _LONGEST_SPEAKER)
    same = " (same?)" if neighbour["same"] else ""
    return f"- {neighbour['name']}, {neighbour['day']}, {speaker}{same}: "


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"
