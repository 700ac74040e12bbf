"""Conversations in files, and messages as other programs write them."""

from datetime import UTC, datetime

import pytest

from commonplace.errors import UsageError
from commonplace.model import Message
from commonplace.sources.transcripts import ImportedTranscript, parse_message, read_transcript

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
HELLO, HI = Message("user", "hello"), Message("assistant", "hi")


def read(text: str) -> ImportedTranscript:
    return read_transcript(text.encode(), name="talk")


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]',
        '{"messages": [{"role": "human", "text": "hello"}, {"role": "AI", "text": "hi"}]}',
        '{"turns": [{"role": "user", "content": [{"text": "hello"}, {}]}, {"role": "model", "content": ["hi"]}]}',
        '\ufeff{"role": "user", "content": "hello"}\n\n{"role": "assistant", "content": "hi"}\n',
        "User: hello\nAssistant: hi",
        "\r\nUser:\r\nhello\r\n\r\nAssistant:\r\n\r\nhi\r\n",
        "**User:** hello\n\n**Assistant**: hi\n",
        "**User**\n\nhello\n\n**Assistant**\n\nhi\n",
        "## User\n\nhello\n\n## Assistant\n\nhi\n",
        "You: hello\nChatGPT: hi",
        "User：hello\n**Assistant：** hi",
    ],
    ids=[
        "list",
        "object",
        "parts",
        "lines",
        "text",
        "own lines",
        "bold",
        "bold alone",
        "headings",
        "other names",
        "wide colons",
    ],
)
def test_a_conversation_is_read_in_every_form(text: str) -> None:
    """JSON, JSON Lines, plain text and Markdown say the same."""
    assert read(text).messages == (HELLO, HI)


def test_what_the_file_says_of_the_conversation_is_read() -> None:
    """Its id, its title and its program; in Markdown its first heading is its title."""
    found = read('{"id": 7, "title": "T", "interface": "chatgpt", "messages": [{"role": "user", "content": "a"}]}')

    assert (found.source_id, found.title, found.interface) == ("7", "T", "chatgpt")
    assert read("# The boat\n\nUser: a").title == "The boat"
    assert read('{"role": "user", "content": "a", "id": "m"}') == ImportedTranscript(
        (Message("user", "a", source_id="m"),)
    )


def test_people_are_known_by_their_names() -> None:
    """Whoever is not a role speaks as a person of that name."""
    assert read("Ada Lovelace: hello\nBen: well: yes\nAssistant: hi").messages == (
        Message("user", "hello", author="Ada Lovelace"),
        Message("user", "well: yes", author="Ben"),
        HI,
    )


@pytest.mark.parametrize(
    "inside",
    [
        "Note: this stays",
        "```\nUser: not me\n```",
        "## Plan",
        "http://a.b: there",
        "**Bold** words: many",
        "lower: x",
    ],
)
def test_lines_that_look_like_speakers_stay_what_was_said(inside: str) -> None:
    """Where turns begin with roles, only roles begin turns; and none within code."""
    assert read(f"User: hello\n{inside}\nAssistant: hi").messages == (Message("user", f"hello\n{inside}"), HI)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "no conversation in it"),
        (b"[]", "no list of messages"),
        (b'{"messages": {}}', "no list of messages"),
        (b"\n\nhello there", "line 3: this line has no speaker"),
        (b'[\n{"role": "user",\n', "line 3: not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[" + b"1" * 5000 + b"]", "not valid JSON"),
        (b'{"role": "user", "content": "a"}\nhello', "line 2: not valid JSON"),
        (b'{"role": "user", "content": "a"}\n{"role": "robot", "content": "a"}', "line 2: unknown role 'robot'"),
        (b'[{"role": "user", "content": "a"}, 7]', "message 2: a message must be a mapping, not int"),
        (b'[{"content": "a"}]', "message 1: the message has no role"),
        (b'[{"role": "user"}]', "message 1: the message has no content"),
        (b'[{"role": "user", "content": {"a": 1}}]', "content of a message must be text"),
        (b'[{"role": "user", "content": "a", "at": "soon"}]', "'soon' is not a time"),
        (b'[{"role": "user", "content": "a", "at": NaN}]', "not a time"),
        (b'[{"role": "user", "content": "a", "at": 1e300}]', "not a time"),
        (b"User: a\n\xff", "line 2: not UTF-8"),
        (b'[{"role": "user", "content": "a", "author": ["Ada"]}]', "message 1: .* words, not list"),
        (b'[{"role": "user", "content": "a", "name": {"first": "Ada"}}]', "message 1: .* words, not dict"),
        (b'[{"role": "user", "content": "a", "id": []}]', "message 1: .* words, not list"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(content: bytes, wrong: str) -> None:
    """The file, the line or the message, and what would be right."""
    with pytest.raises(UsageError, match=wrong) as caught:
        read_transcript(content, name="talk.json")

    assert caught.value.path == "talk.json"
    assert caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_text_in_another_encoding_is_to_be_saved_anew(encoding: str) -> None:
    """The hint asks to save the file as UTF-8."""
    with pytest.raises(UsageError, match="line 1: not UTF-8 text") as caught:
        read_transcript("User: Grüße".encode(encoding), name="talk.txt")

    assert caught.value.hint == "Save it as UTF-8."


@pytest.mark.parametrize("fence", ["```", "~~~~", "```python"])
def test_code_that_is_never_closed_hides_no_turns(fence: str) -> None:
    """A reply was cut off within code: what others say after it is theirs; code that was closed before stays code."""
    closed = "```\nUser: not me\n```"
    found = read(f"User: hello\n{closed}\nAssistant: see\n{fence}\nx = 1\nUser: go on\nAssistant: hi")

    assert found.messages == (
        Message("user", f"hello\n{closed}"),
        Message("assistant", f"see\n{fence}\nx = 1"),
        Message("user", "go on"),
        HI,
    )


@pytest.mark.parametrize(
    ("first", "second"), [("田中", "鈴木"), ("محمد", "ليلى"), ("דנה", "יוסי"), ("नेहा", "रवि"), ("Юля", "Ёлка")]
)
@pytest.mark.parametrize("colon", [": ", "："])
def test_names_of_every_script_begin_turns(first: str, second: str, colon: str) -> None:
    """Also of those that have no capitals, and with the colon of those that have a wide one."""
    assert read(f"{first}{colon}hello\n{second}{colon}hi").messages == (
        Message("user", "hello", author=first),
        Message("user", "hi", author=second),
    )


@pytest.mark.parametrize(
    ("at", "moment"),
    [
        ("2026-03-01T09:00:00Z", NINE),
        ("2026-03-01T10:00:00+01:00", NINE),
        ("2026-03-01T09:00:00", NINE),
        (NINE.timestamp(), NINE),
        (int(NINE.timestamp() * 1000), NINE),
        (NINE, NINE),
        ("", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("key", ["at", "timestamp", "created_at"])
def test_a_time_is_read_as_programs_write_it(key: str, at: object, moment: datetime | None) -> None:
    """ISO 8601, seconds or milliseconds since 1970; in files one without a zone is UTC."""
    assert parse_message({"role": "user", "content": "a", key: at}, zone=UTC).at == moment


def test_a_time_without_a_zone_is_no_moment_in_a_program() -> None:
    """A program can give the zone."""
    with pytest.raises(UsageError, match="has no zone"):
        parse_message({"role": "user", "content": "a", "at": "2026-03-01T09:00:00"})


def test_a_message_is_itself() -> None:
    """What is one already is not read again; what is silent says nothing."""
    assert parse_message(HELLO) is HELLO
    assert parse_message({"role": "assistant", "content": None, "name": "Bo"}) == Message("assistant", "", author="Bo")
