"""Long texts are cut at a line, with a marker that says how to read on."""

from commonplace.mcp_server.note_tools import truncate

TEXT = "".join(f"line {number}\n" for number in range(10, 20))


def test_a_text_that_fits_is_given_as_it_is() -> None:
    """To the last character of the limit."""
    assert truncate(TEXT, line=10, limit=len(TEXT)) == (TEXT, None)


def test_a_long_text_is_cut_at_a_line_and_says_where_to_go_on() -> None:
    """Reading on from there, part by part, gives every line once."""
    seen, line, parts = "", 10, 0
    while True:
        text, following = truncate(TEXT, line=10, first_line=line, limit=20)
        seen += text.partition("[cut")[0]
        parts += 1
        if following is None:
            break
        assert f"first_line={following}" in text
        line = following

    assert seen == TEXT
    assert parts == 5


def test_a_line_that_never_fits_is_cut_within_and_reading_goes_on_behind_it() -> None:
    """It must not be read again and again."""
    text, following = truncate("x" * 50 + "\nshort\n", line=1, limit=20)

    assert text.startswith("x" * 20 + "\n[cut")
    assert following == 2
    assert truncate("x" * 50, line=1, limit=20) == ("x" * 20 + "\n[cut: the rest of this line is left out]", None)


def test_reading_on_behind_the_end_gives_nothing() -> None:
    """No line is made up."""
    assert truncate(TEXT, line=10, first_line=99) == ("", None)
