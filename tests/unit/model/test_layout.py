"""The layout of a vault: flat names for redirects, places, folders of entries, channels, dated notes, links."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model import Place
from commonplace.model.layout import (
    flat_name,
    folder_of,
    is_entry_path,
    is_recallable,
    is_retold,
    is_visible_in,
    newest_dated,
    obsidian_link,
    place_of,
    was_staged,
)

NAMES = st.sampled_from(["Inbox", "Projects", "Agent", "_staging", "..", ".", "", "x.md", "-"]) | st.text(
    st.characters(exclude_characters="/", exclude_categories=["Cs"]), max_size=8
)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("Inbox/x.md", "inbox"),
        ("inbox/deep/x.md", "inbox"),
        ("01 Inbox/x.md", "inbox"),
        ("Inbox-archive/x.md", ""),
        ("Projects/Inbox/x.md", ""),
        ("Agent/Memory/_inbox/2026-03/x.md", "inbox"),
        ("Agent/Memory/_staging/x.md", "staging"),
        ("agent/memory/_Staging/_archive/x.md", "staging"),
        ("Agent/Memory/_archive/fix/x.md", "archive"),
        ("Agent/old/_ARCHIVE/x.md", "archive"),
        ("Projects/_archive/x.md", "archive"),
        ("Projects/Garden/_Archive/2019/x.md", "archive"),
        ("_archive/x.md", "archive"),
        ("Inbox/_archive/x.md", "archive"),
        ("Projects/archive/x.md", ""),
        ("Projects/_archive.md", ""),
        ("Agent/Memory/fix/x.md", ""),
        ("Agent/Memory/_archive", ""),
        ("Agent/Memory/../Memory/_archive/x.md", ""),
    ],
)
def test_a_path_says_the_stage_of_its_note(path: str, place: Place) -> None:
    """Case does not count; an archive may be anywhere; a path that could lead elsewhere says nothing."""
    assert place_of(path) == place


@pytest.mark.parametrize(
    ("path", "waited"),
    [
        ("Agent/Memory/_staging/x.md", True),
        ("Agent/Memory/_archive/_staging/x.md", True),
        ("agent/memory/_Archive/_STAGING/x.md", True),
        ("Agent/Memory/_archive/fix/x.md", False),
        ("Agent/Memory/fix/x.md", False),
        ("_staging/x.md", False),
    ],
)
def test_a_path_says_whether_the_note_waited_for_the_person(path: str, waited: bool) -> None:
    """It waits, or it was rejected; what was archived otherwise never waited."""
    assert was_staged(path) == waited


@pytest.mark.parametrize(
    ("path", "folder", "is_entry"),
    [
        ("Agent/Memory/fix/2026-03/x.md", "fix", True),
        ("agent/MEMORY/Fix/x.md", "fix", True),
        ("Agent/Memory/x.md", ".", True),
        ("Agent/Memory/_index.md", ".", False),
        ("Agent/Memory/fix/_Index.md", "fix", False),
        ("Agent/Memory/_meta/x.md", "", False),
        ("Agent/Memory/fix/x.txt", "fix", False),
        ("Agent/feedback/x.md", "", False),
        ("Projects/x.md", "", False),
    ],
)
def test_entries_are_notes_below_agent_memory(path: str, folder: str, is_entry: bool) -> None:
    """Not the generated overviews, and not the folder of metadata."""
    assert folder_of(path) == folder
    assert is_entry_path(path) is is_entry


def test_the_notes_of_a_channel_are_visible_in_it_alone() -> None:
    """A channel whose name begins alike is another one; styles are never recalled."""
    path = "Agent/channels/team/x.md"

    assert is_visible_in(path, channel="team")
    assert not is_visible_in(path, channel="")
    assert not is_visible_in(path, channel="te")
    assert is_visible_in("Projects/x.md", channel="team")
    assert not is_recallable("Agent/styles/Curt.md", channel="")


def test_dated_notes_are_named_for_a_day_up_to_today() -> None:
    """Newest first, at most `limit`."""
    paths = ["a/2026-03-01.md", "2026-03-03.md", "a/2026-02-28.md", "a/2026-03-02-b.md", "a/notes.md"]

    assert newest_dated(paths, today="2026-03-02", limit=5) == ("a/2026-03-01.md", "a/2026-02-28.md")
    assert newest_dated(paths, today="2026-03-31", limit=1) == ("2026-03-03.md",)


@given(one=PATHS, other=PATHS)
def test_two_targets_never_share_a_redirect(one: str, other: str) -> None:
    """Nor does one target have two; two Unicode forms of a path are one target."""
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)

    assert (flat_name(one) == flat_name(other)) is same


@given(parts=st.lists(st.text("ab-", min_size=1, max_size=4), min_size=2, max_size=6), data=st.data())
def test_slashes_and_dashes_are_told_apart(parts: list[str], data: st.DataObject) -> None:
    """`a/b-c` and `a-b/c` flatten to the same words; their digits differ."""
    joints = st.lists(st.sampled_from("/-"), min_size=len(parts), max_size=len(parts))
    one, other = ("".join(map("".join, zip(parts, data.draw(joints), strict=True))) + "x.md" for _ in range(2))

    assert (flat_name(one) == flat_name(other)) is (one == other)


@given(path=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400))
def test_a_redirect_is_one_name_that_a_disk_can_hold(path: str) -> None:
    """No slash, at most 255 bytes, whatever the length of the path."""
    name = flat_name(f"Projects/{path}.md")

    assert "/" not in name
    assert name.endswith(".md")
    assert len(name.encode()) <= 255


def test_long_paths_that_begin_alike_are_told_apart() -> None:
    """What is cut off counts in the digits, of which there are more then."""
    one, other = (flat_name(f"Projects/{'long/' * 100}{name}.md") for name in ("a", "b"))

    assert one != other
    assert len(one.rpartition("-")[2]) == len("0123456789abcdef.md")


@pytest.mark.parametrize(
    ("path", "headings", "file"),
    [
        ("Note.md", (), "Note"),
        ("People/Ada Lindqvist.md", (), "People%2FAda%20Lindqvist"),
        ("Plan.md", ("Plan", "Which board?"), "Plan%23Which%20board%3F"),
        ("Plan.md", ("Costs: #1 [[Budget]] | 50 %",), "Plan%23Costs%201%20Budget%2050"),
        ("Größe & co.md", (), "Gr%C3%B6%C3%9Fe%20%26%20co"),
        ("50%.md", ("##",), "50%25"),
    ],
)
def test_a_note_opens_in_obsidian_at_its_heading(path: str, headings: tuple[str, ...], file: str) -> None:
    """Slashes and all other signs are encoded; a heading has no signs that Obsidian leaves out of links."""
    assert obsidian_link(path, vault="My Notes", heading_path=headings) == (
        f"obsidian://open?vault=My%20Notes&file={file}"
    )


@given(path=st.text(max_size=40), heading=st.text(max_size=40), vault=st.text(min_size=1, max_size=40))
def test_a_link_holds_nothing_that_a_terminal_would_obey(path: str, heading: str, vault: str) -> None:
    """Whatever a note is called: a link is plain ASCII without blanks and control characters."""
    link = obsidian_link(path, vault=vault, heading_path=(heading,))

    assert all("!" <= sign <= "~" for sign in link)


def test_a_vault_without_a_folder_has_no_links() -> None:
    """For example one that is kept in memory."""
    assert obsidian_link("Note.md", vault="") == ""


def test_notes_that_jobs_keep_from_other_sources_are_not_part_of_the_past() -> None:
    """Words that are erased leave these notes; an older version would bring them back."""
    retold = (
        "Agent/memories/2026-11-18.md",
        "agent/Memories/2026-11-18.md",
        "Agent/channels/c1/memories/2026-11-18.md",
        "Agent/projects/garden/_harness/progress.md",
        "Agent/digests/2026-11-18.md",
    )

    assert all(map(is_retold, retold))
    assert not any(
        map(is_retold, ("Agent/USER.md", "Agent/channels/c1/CHANNEL.md", "Daily/2026-11-18.md", "_harness.md"))
    )
