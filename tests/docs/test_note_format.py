"""The page on the format of notes says what the code does."""

from pathlib import Path

from commonplace.facts.entry_format import KEY_ORDER
from commonplace.facts.line_facts import RELATION_PHRASES
from commonplace.model import KINDS, STATUSES, TRUSTS

PAGE = (Path(__file__).parents[2] / "docs/formats/note.md").read_text("utf-8")


def rows_below(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading."""
    lines = PAGE.partition(f"\n{heading}\n")[2].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|---"))
    rows = []
    for line in lines[first + 1 :]:
        if not line.startswith("| "):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_every_key_of_an_entry_is_on_the_page_in_its_order() -> None:
    """The table's order is the order in the file."""
    named = [name.strip("` ") for row in rows_below("## Entries") for name in row[0].split(",")]

    assert tuple(named) == KEY_ORDER


def test_every_kind_status_and_trust_is_on_the_page() -> None:
    """A word that the code knows and the page does not would be a secret."""
    assert [row[0].strip("`") for row in rows_below("### Statuses")] == list(STATUSES)
    assert not [word for word in (*KINDS, *TRUSTS) if f"`{word}`" not in PAGE]


def test_the_table_of_cues_is_the_table_of_the_code() -> None:
    """Every relation with all its phrases."""
    shown = {row[0].strip("`"): tuple(row[1].split("; ")) for row in rows_below("## Typed links")}

    assert shown == dict(RELATION_PHRASES)
