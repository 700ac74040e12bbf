"""What of a prompt is looked for."""

from commonplace.recalling.gist import gist_of


def test_a_short_prompt_is_looked_for_as_it_is() -> None:
    """Nothing of it is lost, quotes and line ends included."""
    prompt = "Why?\n\n> it failed\n"

    assert gist_of(prompt) == prompt


def test_of_a_long_log_the_question_and_each_error_once_are_looked_for() -> None:
    """The first lines, the last ones, and what went wrong between them, however often it did."""
    log = [f"2026-10-20T04:{minute:02}:07 INFO reading {minute}" for minute in range(60)]
    log[30] = log[40] = "2026-10-20T04:30:00 WARN connect failed rc=-2"
    log[45] = "2026-10-20T04:45:00 ERROR no space left"

    gist = gist_of("\n".join(["Why are readings lost?", *log, "It began on Monday."])).splitlines()

    assert gist[0] == "Why are readings lost?"
    assert gist[-1] == "It began on Monday."
    assert [line for line in gist if "WARN" in line or "ERROR" in line] == [log[30], log[45]]
    assert len("\n".join(gist)) < 1000


def test_what_is_quoted_from_a_mail_is_not_looked_for_beside_a_question() -> None:
    """Unless there is nothing else."""
    mail = "\n".join(f"> Line {number} of a long answer, which goes on and on." for number in range(40))

    assert gist_of(f"Does this fit our budget?\n\n{mail}") == "Does this fit our budget?"
    assert "Line 0 of" in gist_of(mail)


def test_one_endless_line_is_cut_and_not_lost() -> None:
    """Its beginning and its end are looked for."""
    gist = gist_of("begin " + "x" * 100_000 + " end")

    assert gist.startswith("begin")
    assert len(gist) < 1000
