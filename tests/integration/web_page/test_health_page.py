"""The page of health: doctor's checks in the background, problems of notes, the index, spending, the daemon."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from commonplace.errors import VaultUnavailable
from commonplace.memory import Memory
from commonplace.model.diagnostics import Finding
from commonplace.web.page.health_page import Checkups
from tests.integration.web_page.conftest import Site, Visit
from tests.polling import wait_for


def checked(site: Site) -> str:
    """The page, once its checks have ended."""
    wait_for(lambda: "data-refresh" not in site.get("/doctor").body.decode())
    return site.get("/doctor").body.decode()


@pytest.mark.needs("chromium")
def test_the_checks_of_doctor_run_in_the_background_and_appear_by_themselves(visit: Visit, memory: Memory) -> None:
    """Each with its result; the page does not wait for them."""
    page = visit("/doctor")
    page.wait_for_selector("#health-now:not([data-refresh]) .checks")
    shown = page.inner_text(".checks")
    names = {each.what for each in memory.index.examine() if not each.path}
    page.get_by_role("button", name="Check again").click()
    page.wait_for_selector("#health-now:not([data-refresh]) .checks")

    assert [name for name in names if name not in shown] == []
    assert "no conversation is paused" in shown
    assert "just now" in page.inner_text("#health-now")


def test_a_problem_of_a_note_has_its_line_and_leads_to_the_note_and_to_obsidian(site: Site, memory: Memory) -> None:
    """It stands among the problems, and not among the checks as well."""
    text = checked(site)
    problem = next(each for each in memory.index.problems() if each.path == "Inbox/Broken import.md")
    checks, problems = text.split("Problems in notes")[:2]

    assert f"line {problem.line}" in problems
    assert 'href="/notes/Inbox/Broken%20import.md"' in problems
    assert 'href="obsidian://' in problems
    assert "Broken%20import" not in checks


def test_a_command_in_a_finding_is_shown_as_code(site: Site) -> None:
    """And a moment as how long ago it was."""
    text = checked(site)

    assert "<code>commonplace review</code>" in text
    assert re.search(r"last change <time [^>]+>[^<]+</time>", text)


def test_a_check_that_fails_or_breaks_is_a_finding_with_a_remedy(memory: Memory) -> None:
    """The other findings are there all the same if a check says what is wrong; if it breaks, that is said."""

    def refuse() -> tuple[Finding, ...]:
        raise VaultUnavailable("the file of tokens cannot be read", hint="Check its permissions.")

    def break_down() -> tuple[Finding, ...]:
        raise ZeroDivisionError

    found = {name: _findings(memory, check) for name, check in (("refused", refuse), ("broken", break_down))}

    assert found["refused"][-1] == Finding(
        "doctor", ok=False, said="the file of tokens cannot be read", remedy="Check its permissions."
    )
    assert "vault" in [each.what for each in found["refused"]]
    assert [each.ok for each in found["broken"]] == [False]


def _findings(memory: Memory, check: Callable[[], tuple[Finding, ...]]) -> tuple[Finding, ...]:
    checkups = Checkups(check)
    checkups.begin(memory, of_server=True)
    wait_for(lambda: not checkups.show(memory, of_server=True, now=datetime.now(UTC)).is_running)
    return checkups.show(memory, of_server=True, now=datetime.now(UTC)).findings or ()


def test_spending_is_drawn_by_day_and_by_task(site: Site, memory: Memory) -> None:
    """A bar for each of thirty days, a line of tokens, and each task with its amount, also as a table."""
    text = site.get("/doctor").body.decode()
    report = memory.learning.spending()

    assert text.count('class="chart-bar"') == 30 + len({row.task for row in report.rows})
    assert '<polyline class="chart-line"' in text
    assert f"{report.total.tokens:,} tokens" in text
    assert "<td>summarize</td>" in text


def test_the_index_the_models_and_the_daemon_say_how_they_are(site: Site, memory: Memory) -> None:
    """Numbers of notes and passages, how search works, since when the daemon runs."""

    def has_number() -> bool:
        """True unless a note was indexed between the two looks."""
        number = f"<dd>{memory.index.stats().documents['vault']:,}</dd>"
        return number in site.get("/doctor").body.decode()

    wait_for(has_number)
    text = site.get("/doctor").body.decode()

    assert "by rules, without a language model" in text
    assert site.origin in text
    assert str(site.daemon.state / "serve.log") in text


def test_the_index_is_brought_up_to_date_by_its_button(site: Site, memory: Memory) -> None:
    """The next page says what was new."""
    (site.vault / "Inbox" / "Quince.md").write_text("# Quince\n\nA tree for the north side.\n")
    reply = site.post("/doctor/sync", {})

    assert reply.headers["location"] == "/doctor"
    assert "The index is up to date" in site.get("/doctor").body.decode()
    assert [hit.path for hit in memory.search("quince tree").hits][:1] == ["Inbox/Quince.md"]
