"""The first visit of an empty vault, of a daemon without one, and of several vaults: the page without a daemon."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from starlette.testclient import TestClient

from commonplace.identity.access import Identities
from commonplace.identity.schema import SqliteIdentities
from commonplace.memory import Memory
from commonplace.model import SCOPES, Caller
from commonplace.model.change import CALLER
from commonplace.settings.harmless import SettingsEditor, SettingsWriter
from commonplace.web.job_queue import JobQueue
from commonplace.web.live_events import LiveEvents
from commonplace.web.page.app import make_page
from commonplace.web.page.sessions import PAGE_SESSION, PageSession, PageSessions
from commonplace.web.page.view import PageHost
from tests.memories import make_memory


class Browser:
    """A signed-in browser in front of the page."""

    def __init__(self, memory: Memory, vaults: Sequence[Path], *, hooks: Sequence[dict[str, str]] = ()) -> None:
        self.session = PageSession("", datetime.now(UTC) + timedelta(days=1))
        sessions = PageSessions(lambda: datetime.now(UTC))
        editor = SettingsEditor({}, SettingsWriter(save=print, remove=print))
        people = Identities(SqliteIdentities(Path(memory.conversations.vault_folder) / "no-people.db"))
        self._page = make_page(
            PageHost(
                lambda caller: memory,
                sessions,
                lambda: vaults,
                lambda: {"hooks": hooks},
                tuple,
                JobQueue(),
                LiveEvents(),
                editor,
                people,
            )
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request, as the guard passes it on."""
        caller = Caller("page", frozenset(SCOPES))
        await self._page({**scope, PAGE_SESSION: self.session, CALLER: caller}, receive, send)

    @property
    def client(self) -> TestClient:
        """What sends requests, and follows no redirect."""
        return TestClient(self, base_url="http://127.0.0.1", follow_redirects=False)

    def post(self, path: str, **fields: str) -> str:
        """Where the answer to a form leads."""
        return str(self.client.post(path, data={**fields, "csrf": self.session.csrf}).headers["location"])


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """The memory of an empty vault."""
    return make_memory(tmp_path)


def test_the_first_visit_of_an_empty_vault_is_the_welcome(memory: Memory, tmp_path: Path) -> None:
    """Every step says what it does; Today can be seen all the same."""
    browser = Browser(memory, [tmp_path / "vault"])
    start, page = browser.client.get("/"), browser.client.get("/welcome").text

    assert (start.status_code, start.headers["location"]) == (303, "/welcome")
    assert browser.client.get("/?all=1").status_code == 200
    assert [title for title in ("Your notes", "Search by meaning", "You", "Your agents") if title not in page] == []
    assert "commonplace install claude-code --dry-run" in page
    assert "commonplace import" in page
    assert f"There is no note in <code>{memory.conversations.vault_folder}</code> yet" in page
    assert 'class="live"' in page


def test_what_the_person_tells_is_saved_as_their_own_word(memory: Memory, tmp_path: Path) -> None:
    """And the notes are read when they press the button."""
    browser = Browser(memory, [tmp_path / "vault"])
    saved = browser.post("/welcome/you", name="Ada", language="English", use="", preferences="Be brief.\n\n")
    (tmp_path / "vault" / "Idea.md").write_text("# Idea\n\nWater at night.\n")
    browser.post("/welcome/sync")
    known, page = memory.welcome.known(), browser.client.get("/welcome").text

    assert saved == "/welcome"
    assert (known.name, known.language, known.preferences) == ("Ada", "English", ("Be brief.",))
    assert "Saved 3 answers as your own word." in page
    assert "Agents know you as Ada." in page
    assert browser.client.get("/").status_code == 200


def test_what_is_answered_again_is_not_said_to_be_saved_and_what_is_emptied_stays(
    memory: Memory, tmp_path: Path
) -> None:
    """What agents keep in mind is listed below the field, which takes what is new."""
    browser = Browser(memory, [tmp_path / "vault"])
    browser.post("/welcome/you", name="Ada", preferences="Be brief.")
    browser.client.get("/welcome")
    browser.post("/welcome/you", name="Ada", preferences="")
    page = browser.client.get("/welcome").text

    assert "Nothing new: what you answered is known." in page
    assert "<li>Be brief.</li>" in page
    assert "What you leave empty stays as it is." in page
    assert memory.welcome.known().preferences == ("Be brief.",)


def test_a_host_whose_hooks_have_called_is_connected(memory: Memory, tmp_path: Path) -> None:
    """Until then the step is to do, with the command that shows what it would change."""
    before = Browser(memory, [tmp_path / "vault"]).client.get("/welcome").text
    after = Browser(memory, [tmp_path / "vault"], hooks=[{"host": "codex"}]).client.get("/welcome").text

    assert "Connected:" not in before
    assert "Connected: codex." in after
    assert after.count(">done<") == before.count(">done<") + 1


def test_without_a_vault_every_page_leads_to_the_command_that_makes_one(memory: Memory) -> None:
    """The page cannot choose the folder of your notes, and listens to no vault."""
    browser = Browser(memory, [])
    page = browser.client.get("/welcome").text

    assert browser.client.get("/nowhere").headers["location"] == "/welcome"
    assert "commonplace init ~/Notes --dry-run" in page
    assert 'class="live"' not in page


def test_an_unexpected_error_is_a_page_that_says_so(memory: Memory, tmp_path: Path) -> None:
    """With a way on; the server logs it all the same."""
    browser = Browser(memory, [tmp_path / "vault"])
    with patch.object(type(memory), "digests", None):
        with pytest.raises(AttributeError):
            browser.client.get("/?all=1")
        reply = TestClient(browser, base_url="http://127.0.0.1", raise_server_exceptions=False).get("/?all=1")

    assert reply.status_code == 500
    assert "Something went wrong in Commonplace itself." in reply.text
    assert 'href="/"' in reply.text


def test_with_several_vaults_the_header_switches_to_another_registered_one(memory: Memory, tmp_path: Path) -> None:
    """With one there is nothing to choose, and no folder that is not registered can be."""
    first, second = tmp_path / "vault", tmp_path / "Garden"
    alone, browser = Browser(memory, [first]), Browser(memory, [first, second])
    shown = browser.client.get("/welcome").text
    refused = browser.client.post("/vault", data={"vault": "/etc", "csrf": browser.session.csrf})
    browser.post("/vault", vault=str(second))

    assert 'action="/vault"' not in alone.client.get("/welcome").text
    assert f'<option value="{second}">Garden</option>' in shown
    assert refused.status_code == 404
    assert browser.session.vault == str(second)
