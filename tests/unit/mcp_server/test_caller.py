"""The name of the program that a call comes from."""

import pytest

from commonplace.mcp_server.caller import interface_of


@pytest.mark.requirement("V-36")
@pytest.mark.parametrize(
    ("names", "word"),
    [
        (("claude-code",), "claude-code"),
        (("socket", "claude-code/2.1"), "claude-code"),
        (("Claude Desktop",), "claude-desktop"),
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
def test_a_program_has_one_name_whatever_its_client_calls_itself(names: tuple[str, ...], word: str) -> None:
    """Known hosts have one name, others keep theirs; a generic name is `unknown`."""
    assert interface_of(*names) == word


def test_a_word_is_short_and_plain_however_long_the_name_is() -> None:
    """It is written to the frontmatter of entries and to conversation ids."""
    word = interface_of("Weird\nName: " * 50)

    assert len(word) <= 40
    assert set(word) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
