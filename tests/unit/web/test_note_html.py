"""The Markdown of a note as HTML: links to pages, boxes, headings; nothing that runs or loads."""

import re

import pytest

from commonplace.web.page.charts import bar_chart, line_chart, row_chart
from commonplace.web.page.note_html import note_html
from commonplace.web.page.view import ahead, message, note_title, without_links

UNSAFE = ("onclick", "onload", "onerror", "style=", "javascript:", " id=")
PATHS = {"Ada": "People/Ada Lindqvist.md", "Plan.md": "Projects/Plan.md"}


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[[Ada]]", '<a class="note-link" href="/notes/People/Ada%20Lindqvist.md"'),
        ("[[Ada#Work|her work]]", ">her work</a>"),
        ("[the plan](Plan.md#Why)", 'href="/notes/Projects/Plan.md"'),
        ("[[Nobody]]", '<span class="missing-link">Nobody</span>'),
        ("![[bed.png|400]]", '<span class="image-name">[picture: bed.png]</span>'),
        ("- [ ] sow", "☐ sow"),
        ("- [x] dig", "☑ dig"),
        ("Signed. ^approval", "<p>Signed.</p>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>2</td>"),
        ("`[[Ada]]`", "<code>[[Ada]]</code>"),
        ("## Why\n\n### How", "<h2>Why</h2>\n<h3>How</h3>"),
        ("# One\n\n## Two", "<h2>One</h2>\n<h3>Two</h3>"),
    ],
)
def test_markdown_of_obsidian_is_shown_as_it_reads(text: str, html: str) -> None:
    """Links lead to the pages of their notes; one to nowhere is text."""
    assert html in note_html(text, PATHS.get)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<svg onload=alert(1)>",
        "<iframe src='https://evil.example'></iframe>",
        "[x](javascript:alert(1))",
        "<a href='javascript:alert(1)'>x</a>",
        "<b onclick='alert(1)' style='position:fixed' class='flash' id='keys'>x</b>",
        "![x](https://evil.example/x.png) <img src='https://evil.example/x.png'>",
        "<form action='/logout'><input name=csrf><button>x</button></form>",
        "[[Ada|<img src=x onerror=alert(1)>]]",
        "<style>body{}</style><link rel=stylesheet href=//evil.example/x.css><meta http-equiv=refresh>",
    ],
)
def test_nothing_in_a_note_can_run_or_load_or_look_like_ours(text: str) -> None:
    """Tags, attributes and addresses are those of a short list."""
    html = str(note_html(text, PATHS.get)).lower()
    tags = [part.split(">")[0] for part in html.split("<")[1:]]
    forbidden = ("script", "svg", "iframe", "img", "form", "input", "button", "style", "link", "meta")

    assert not [tag for tag in tags if tag.lstrip("/").split()[0] in forbidden]
    assert not [tag for tag in tags for each in UNSAFE if each in tag]
    assert 'class="flash"' not in html


def test_a_chart_names_its_values_and_escapes_them() -> None:
    """Bars with a title each; an empty chart is a chart, too."""
    bars = bar_chart([("<Mon>", 2), ("Tue", 4)], title='Calls "a day"', unit="calls")

    assert "&lt;Mon&gt;: 2 calls" in bars
    assert 'aria-label="Calls &#34;a day&#34;"' in bars
    assert bars.count("<rect") == 2
    assert "<polyline" in line_chart([], title="None")


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 20_000,
        "<div><object></div></object>" * 5000,
        "<p>" + "".join(f"<b title={each}>" for each in range(1000)) + "</p><p>x" * 5000,
        "".join(f"<i title='>{each}'>" for each in range(30)),
        "x <a " + " ".join(f"x{each}" for each in range(30_000)) + ">y</a>",
    ],
)
def test_html_that_would_take_long_or_grow_is_shown_as_text_and_the_note_says_so(html: str) -> None:
    """The Markdown around it is formatted all the same."""
    shown = note_html(f"# Tags\n\n{html}\n\n**bold**")

    assert "This note has too much HTML to be shown here, so its tags are shown as text." in shown
    assert "<strong>bold</strong>" in shown
    assert html[:5].replace("<", "&lt;").replace(">", "&gt;") in shown
    assert len(shown) < 10 * len(html)


def test_html_that_people_write_is_shown() -> None:
    """Also many tags, and tags that are left open."""
    rows = "".join(f"<tr><td><b>{each}</b></td></tr>\n" for each in range(1000))
    colours = "".join(f"<font color={each % 5}>x</font> " for each in range(500))
    links = "".join(f"<a href=https://a.example/{each}>y</a> " for each in range(50))
    folded = "<details><summary>More</summary>\n\n**bold**\n\n</details>"
    shown = note_html(f"{folded}\n\n<table>\n{rows}</table>\n\n{colours}\n\n{links}")

    assert "<details><summary>More</summary>" in shown
    assert "<td><b>999</b></td>" in shown
    assert "too much HTML" not in shown


def test_a_note_that_is_too_long_to_format_is_plain_text_and_says_so() -> None:
    """Prose of any length is formatted: what takes time is marks and lines."""
    prose, listed = "word " * 300_000, "- [[a]] <b>\n" * 30_000
    shown = note_html(listed)

    assert note_html(prose).startswith("<p>word")
    assert "too long to be formatted here, so it is shown as plain text." in shown
    assert "- [[a]] &lt;b&gt;\n" in shown


def test_rows_of_a_chart_have_their_names_and_amounts() -> None:
    """Dollars are written as such; the longest row has the highest value."""
    rows = row_chart([("extract", 1.5), ("<draft>", 0.25)], title="Dollars by task", unit="$")
    widths = [float(each) for each in re.findall(r'width="([0-9.]+)"', rows)]

    assert "$1.50" in rows
    assert "$0.2500" in rows
    assert "&lt;draft&gt;" in rows
    assert widths[0] > widths[1]


@pytest.mark.parametrize(
    ("path", "title"),
    [
        (
            "Agent/Memory/fact/2026-11/the-rainwater-tank-holds-300-litres-d0a29b.md",
            "The rainwater tank holds 300 litres",
        ),
        (
            "Agent/Memory/_staging/Agent-Memory-preference-2026-11-drinks-green-tea-e089f2-c7e896.md",
            "Drinks green tea",
        ),
        ("People/Ada Lindqvist.md", "People/Ada Lindqvist"),
    ],
)
def test_the_title_of_an_entry_is_its_words_and_of_a_note_its_path(path: str, title: str) -> None:
    """Without the digits of its id and without the folder of what waits."""
    assert note_title(path) == title


def test_a_message_shows_commands_as_code_and_is_escaped() -> None:
    """A lone backtick stays as it is."""
    assert message("Run `commonplace sync` <now>") == "Run <code>commonplace sync</code> &lt;now&gt;"
    assert message("a ` b") == "a ` b"


def test_what_is_due_is_now_and_not_some_time_ago() -> None:
    """The next run of a job is never in the past."""
    assert ahead("2020-01-01T00:00:00Z") == "now"
    assert ">1 Jan 2999<" in ahead("2999-01-01T00:00:00Z")
    assert ahead(None) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ask [[Zora]] and [[People/Ada|Ada]]", "Ask Zora and Ada"),
        ("no [link] at [[]] all", "no [link] at [[]] all"),
    ],
)
def test_links_in_a_line_are_read_by_their_names(text: str, shown: str) -> None:
    """As a note shows them."""
    assert without_links(text) == shown
