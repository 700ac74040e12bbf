"""A passage of a note, as it is found and cited, and the texts that stand for it when it is encoded."""

from dataclasses import dataclass

STEP = " > "
"""What stands between a heading and the one below it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Some text of one section, beginning at `line` of the file.

    `heading_path` names the headings from the top down to the section, as a reader sees them.
    `under` is the same in one line, as it is encoded above the text, and cut where it is very long.
    `tokens` counts those of the text.
    """

    text: str
    heading_path: tuple[str, ...]
    line: int
    tokens: int
    under: str


def parts_of(passage: Passage, title: str, *, is_first: bool) -> tuple[str, ...]:
    """The texts to encode: the passage under its headings, then with the first of a note its title alone.

    The title is left out where the headings say it already. There is always one part, if only an empty one.
    """
    whole = "\n".join(filter(None, (passage.under, passage.text)))
    name = " ".join(title.split())
    said = {_folded(heading) for heading in (*passage.heading_path, whole)}
    if not (is_first and name) or _folded(name) in said:
        return (whole or name,)
    return (whole, name) if whole else (name,)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
