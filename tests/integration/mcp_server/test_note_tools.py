"""The tools on notes, the resource, and undo."""

import asyncio
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.mcp_server.note_tools import MAX_CONTENT
from commonplace.memory import Memory
from tests.integration.mcp_server.host import Host, vault_with

LONG = "# Long\n\n" + "".join(f"Sentence number {number}.\n" for number in range(3000)) + "\n## Last\n\nThe end.\n"
ADA = "---\nrole: painter\n---\n# Ada\n\nKnows [[Jonas]] and [[Nobody]].\n\n## Work\n\nPaints.\n"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return vault_with(
        tmp_path,
        People__Ada=ADA,
        People__Jonas="# Jonas\n",
        Private__Diary="---\nsensitive: true\n---\nhidden words\n",
    )


def test_a_note_is_read_with_its_version_and_a_section_alone(memory: Memory) -> None:
    """note_write takes the version; a section is named by its heading."""
    host = Host(memory)
    whole = host.ask("note_read", path="People/Ada.md")
    part = host.ask("note_read", path="People/Ada.md", section="Work")

    assert whole["content"] == ADA[ADA.index("# Ada") :]
    assert whole["frontmatter"] == {"role": "painter"}
    assert whole["version"] == memory.notes.read("People/Ada.md").version
    assert whole["headings"] == ["Ada", "Work"]
    assert (part["section"], part["content"]) == ("Ada > Work", "## Work\n\nPaints.\n")
    assert "Its headings: Ada, Work." in host.error("note_read", path="People/Ada.md", section="Home")["hint"]


def test_a_long_note_is_cut_and_can_be_read_to_its_end(memory: Memory, tmp_path: Path) -> None:
    """By the line that the answer names, or by a section."""
    (tmp_path / "vault/Projects").mkdir()
    (tmp_path / "vault/Projects/Long.md").write_text(LONG)
    host = Host(memory)
    first = host.ask("note_read", path="Projects/Long.md")
    texts, line = [first["content"]], first["next_line"]
    while line:
        more = host.ask("note_read", path="Projects/Long.md", first_line=line)
        texts, line = [*texts, more["content"]], more["next_line"]

    assert first["is_cut"] is True
    assert len(first["content"]) < MAX_CONTENT + 200
    assert f"first_line={first['next_line']}" in first["content"]
    assert all("".join(texts).count(f"number {number}.\n") == 1 for number in (0, 1500, 2999))
    assert texts[-1].endswith("The end.\n")
    assert "The end." in host.ask("note_read", path="Projects/Long.md", section="Last")["content"]


def test_a_list_of_notes_says_when_there_are_more(memory: Memory) -> None:
    """By path, below a folder."""
    host = Host(memory)
    some, all_ = host.ask("note_list", limit=1), host.ask("note_list", folder="People")

    assert (some["count"], some["total"], some["more"]) == (1, 3, True)
    assert [each["path"] for each in all_["notes"]] == ["People/Ada.md", "People/Jonas.md"]
    assert all_["more"] is False


def test_the_links_of_a_note_say_where_they_lead(memory: Memory) -> None:
    """A link to a missing file has no path."""
    links = Host(memory).ask("note_read", links=True, path="People/Ada.md")["links"]

    assert [(each["target"], each["path"]) for each in links] == [("Jonas", "People/Jonas.md"), ("Nobody", None)]


def test_a_note_is_written_over_the_version_that_was_read_alone(memory: Memory, tmp_path: Path) -> None:
    """Keys that are left out survive; a note that was changed meanwhile is not overwritten."""
    host = Host(memory)
    version = host.ask("note_read", path="People/Ada.md")["version"]
    wrote = host.ask("note_write", path="People/Ada.md", text="# Ada\n\nSculpts.\n", expected=version, message="news")
    late = host.error("note_write", path="People/Ada.md", text="# Ada\n", expected=version)

    assert (wrote["verb"], wrote["path"], wrote["changed"]) == ("write", "People/Ada.md", True)
    assert (tmp_path / "vault/People/Ada.md").read_text() == "---\nrole: painter\n---\n# Ada\n\nSculpts.\n"
    assert late["reason"] == "conflict"
    newest = memory.notes.log(limit=1)[0]
    assert (newest.actor, newest.origin, newest.reason) == ("agent", "claude-code", "news")


def test_a_personal_note_needs_a_grant_which_works_once(memory: Memory, tmp_path: Path) -> None:
    """The actor is always an agent, under the same write policy as elsewhere."""
    host = Host(memory)
    refused = host.error("note_write", path="Journal/Today.md", text="x\n")
    grant = memory.notes.grant("Journal/Today.md")
    host.ask("note_write", path="Journal/Today.md", text="x\n", grant=grant)
    again = host.error("note_write", path="Journal/Today.md", text="y\n", grant=grant)

    assert refused["reason"] == again["reason"] == "outside_allowlist"
    assert (tmp_path / "vault/Journal/Today.md").read_text() == "x\n"


def test_undo_reverts_only_the_callers_own_change(memory: Memory, tmp_path: Path) -> None:
    """Not what the person or another program wrote, however new."""
    host, other = Host(memory), Host(memory, name="codex")
    host.ask("note_write", path="Inbox/mine.md", text="mine\n")
    other.ask("note_write", path="Inbox/theirs.md", text="theirs\n")
    memory.notes.write("Inbox/person.md", "the person's\n")
    undone = host.ask("undo_last")
    nothing = host.error("undo_last")

    assert (undone["verb"], undone["path"]) == ("undo", "Inbox/mine.md")
    assert nothing["reason"] == "missing"
    assert sorted(each.name for each in (tmp_path / "vault/Inbox").iterdir()) == ["person.md", "theirs.md"]


def test_a_sensitive_note_is_kept_from_every_tool(memory: Memory) -> None:
    """Reading, its links, its resource, writing over it, search and recall."""
    host = Host(memory)
    reasons = [
        host.error("note_read", path="Private/Diary.md")["reason"],
        host.error("note_read", links=True, path="Private/Diary.md")["reason"],
        host.error("note_write", path="Private/Diary.md", text="x\n")["reason"],
    ]
    said = str(host.ask("memory_search", query="hidden words")) + str(host.ask("memory_recall", prompt="hidden words"))

    assert reasons[:2] == ["sensitive", "sensitive"]
    assert reasons[2] in ("sensitive", "outside_allowlist")
    assert "hidden words\n" not in said
    with pytest.raises(MCPError, match="sensitive: Private"):
        host.speak(lambda client: client.read_resource("vault://note/Private/Diary.md"))


def test_a_note_is_a_resource_under_its_path(memory: Memory) -> None:
    """The whole file, frontmatter included; the URI is percent-encoded."""
    memory.notes.write("Inbox/Über uns.md", "# Wir\n")
    host = Host(memory)
    (ada,) = host.speak(lambda client: client.read_resource("vault://note/People/Ada.md"))
    (about,) = host.speak(lambda client: client.read_resource("vault://note/Inbox/%C3%9Cber%20uns.md"))
    (template,) = host.speak(lambda client: client.list_resource_templates())

    assert getattr(ada, "text", "") == ADA
    assert getattr(about, "text", "") == "# Wir\n"
    assert (ada.mime_type, template.uri_template) == ("text/markdown", "vault://note/{path*}")


TRICKS = (
    "../outside.md",
    "People/../../outside.md",
    "..%2Foutside.md",
    "%2e%2e/outside.md",
    "..\\outside.md",
    "/etc/passwd",
    "%2Fetc%2Fpasswd",
    ".git/config",
    ".git/x.md",
    "People/Ada.md%00.txt",
    "file:///etc/passwd",
    "~/outside.md",
)


def test_tricks_with_paths_read_nothing(memory: Memory, tmp_path: Path) -> None:
    """Neither by the resource, read without a client that would normalise the URI, nor by the tool."""
    (tmp_path / "outside.md").write_text("outside words")
    host = Host(memory)

    for path in TRICKS:
        with pytest.raises(Exception, match=r"Unknown resource|refused|path_escape|not_markdown|missing"):
            asyncio.run(host.server.read_resource(f"vault://note/{path}"))
        reason = host.error("note_read", path=path)["reason"]
        assert reason in ("path_escape", "not_markdown", "refused", "missing"), path


def test_a_note_with_invisible_characters_says_that_its_text_is_not_to_be_written_back(memory: Memory) -> None:
    """A model that writes back what it read would remove them; some hosts show it the JSON, which is as clean."""
    text = "# Soft\n\nhy\u00adphen and \u202eturned\u202c.\r\nEnd.\r\n"
    memory.notes.write("Inbox/Soft.md", text)
    memory.notes.write("Inbox/Plain.md", "# Plain\r\n\r\n\u0646\u200c\u0647 \u00e9\r\n")
    host = Host(memory)
    first = host.read("note_read", path="Inbox/Soft.md").splitlines()[0]
    content = host.ask("note_read", path="Inbox/Soft.md")["content"]

    assert "3 hidden characters are left out here: do not write this text back, that would change the note." in first
    assert content == "\n# Soft\n\nhyphen and \ufffdturned\ufffd.\nEnd.\n".removeprefix("\n")
    assert "hidden" not in host.read("note_read", path="Inbox/Plain.md")
    assert "\u202e" in memory.notes.read("Inbox/Soft.md").text


def test_a_wrong_place_is_answered_with_the_right_one(memory: Memory) -> None:
    """A path without its ending, a note that is not there, a folder with a typo, a line after the end."""
    host = Host(memory)
    memory.notes.write("Projects/Heat pump.md", "# Heat pump\n\n## Noise\n\nQuiet.\n")
    without = host.error("note_read", path="projects/heat pump")
    searched = host.error("memory_search", query="noise", path="heat pump.md")
    listed = host.error("note_list", folder="Peple")
    beyond = host.error("note_read", path="Projects/Heat pump.md", first_line=10_000)
    section = host.error("note_read", path="Projects/Heat pump.md", section="Noise", first_line=9)

    assert without["reason"] == "not_markdown"
    assert {each["hint"] for each in (without, searched)} == {"Did you mean Projects/Heat pump.md?"}
    assert listed["hint"] == "Did you mean People?"
    assert beyond["message"] == "Projects/Heat pump.md ends at line 5"
    assert section["message"] == "the section 'Heat pump > Noise' of Projects/Heat pump.md ends at line 5"
    assert host.read("note_read", path="Projects/Heat pump.md", first_line=5).endswith("\n\nQuiet.\n")
    assert "Quiet" in host.read("memory_search", query="noise", path="Projects/Heat pump.md")
    assert "Paints" in host.read("memory_search", query="paints", path="People")


def test_the_ending_of_a_sensitive_note_is_suggested_to_no_agent(memory: Memory) -> None:
    """As for every other suggestion."""
    assert Host(memory).error("note_read", path="Private/Diary")["hint"] == "Notes end in .md."


def test_what_was_written_over_or_is_gone_is_said(memory: Memory) -> None:
    """A model that meant to create a note learns that it replaced one, and an undone creation that nothing is left."""
    host = Host(memory)
    first = host.read("note_write", path="Inbox/x.md", text="one\n")
    second = host.read("note_write", path="Inbox/x.md", text="two\n")
    back, gone = host.read("undo_last"), host.read("undo_last")

    assert first.startswith("Written: Inbox/x.md, version ")
    assert second.startswith("Replaced: Inbox/x.md, version ")
    assert back.startswith("Undone, as it was before: Inbox/x.md, version ")
    assert gone == "Undone: Inbox/x.md is gone, as before."
