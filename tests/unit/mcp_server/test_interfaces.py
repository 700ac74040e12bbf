"""The word for the program in which something was said."""

import pytest

from commonplace.mcp_server.interfaces import interface_of


@pytest.mark.requirement("V-36")
@pytest.mark.parametrize(
    ("names", "word"),
    [
        (("claude-code",), "claude-code"),
        (("socket", "claude-code/2.1"), "claude-code"),
        (("Claude Desktop",), "claude-ai"),
        (("claude-ai",), "claude-ai"),
        (("laptop", "openai-mcp"), "chatgpt"),
        (("ChatGPT",), "chatgpt"),
        (("", "codex-mcp-client"), "codex"),
        (("Cursor",), "cursor"),
        (("perplexity-mac",), "perplexity"),
        (("Visual Studio Code",), "vscode"),
        (("My own agent!", "mcp"), "my-own-agent"),
        (("socket", ""), "unknown"),
        (("stdio", "mcp"), "unknown"),
        ((), "unknown"),
        (("日本",), "unknown"),
    ],
)
def test_a_program_has_one_word_whatever_it_calls_itself(names: tuple[str, ...], word: str) -> None:
    """Hosts are known by their names, others keep theirs; a name that says nothing is `unknown`."""
    assert interface_of(*names) == word


def test_a_word_is_short_and_plain_however_long_the_name_is() -> None:
    """It stands in the frontmatter of entries, and in the names of conversations."""
    word = interface_of("Weird\nName: " * 50)

    assert len(word) <= 40
    assert set(word) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
