"""An upgrade of the schema while an older daemon serves: it goes on, or says that it must be replaced."""

import itertools
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
import pytest

from commonplace.identity.postgresql import IDENTITY_AREA
from tests import newer_program
from tests.daemons import Daemon, launch_program, register, start, surroundings
from tests.polling import wait_for
from tests.postgresql import TestServer
from tests.team import call_tool, done, person_token, tool_text

pytestmark = pytest.mark.needs("postgres")
VAULT: Final = "postgresql:team"
_PAUSE: Final = 0.1  # seconds between two turns, in which the newer daemon starts
AREAS: Final = ("history", "identity", "index", "vault", "vectors")


@pytest.fixture
def database() -> Iterator[TestServer]:
    """A PostgreSQL of its own: its schema is changed."""
    server = TestServer(Path(tempfile.mkdtemp(prefix="commonplace-pg-")))
    server.start()
    yield server
    server.remove()


@contextmanager
def daemon_of(home: Path, database: TestServer, *, is_newer: bool = False, **more: str) -> Iterator[Daemon]:
    """A daemon of this version or of the later one, with everything in the database."""
    home.mkdir(exist_ok=True)
    settings = {
        "COMMONPLACE_POSTGRESQL__URL": database.url("commonplace", "commonplace"),
        "COMMONPLACE_POSTGRESQL__PARTITIONS": "2",
        "COMMONPLACE_INDEX__BACKEND": "postgresql",
        "COMMONPLACE_HISTORY__BACKEND": "postgresql",
        "COMMONPLACE_IDENTITY__BACKEND": "postgresql",
        "COMMONPLACE_SERVE__TEAM": "true",
        "COMMONPLACE_SERVE__PUBLIC_URL": "http://127.0.0.1:8377",
        "COMMONPLACE_SERVE__WORKERS": "0",
    }
    environ = surroundings(home, **settings, **more)
    environ["COMMONPLACE_SERVE__PUBLIC_URL"] = f"http://127.0.0.1:{environ['COMMONPLACE_SERVE__PORT']}"
    register(environ, Path(VAULT))
    daemon = start(home, environ, partial(launch_program, call=newer_program.NEWER) if is_newer else launch_program)
    try:
        yield daemon
    finally:
        daemon.stop()


class Caller:
    """A program that saves and searches through one daemon again and again, and notes what was not answered."""

    def __init__(self, daemon: Daemon, token: str) -> None:
        self._daemon, self._token = daemon, token
        self.saved: list[str] = []
        self.errors: list[str] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def calling(self) -> Iterator[None]:
        """It calls within this block."""
        self._thread.start()
        try:
            yield
        finally:
            self._ends.set()
            self._thread.join(60)

    def _run(self) -> None:
        for number in itertools.count():
            if self._ends.wait(_PAUSE):
                return
            try:
                self._turn(f"{number:03d}")
            except Exception as error:  # noqa: BLE001 (whatever went wrong is what the test looks for)
                self.errors.append(repr(error))

    def _turn(self, number: str) -> None:
        """Save, search and read, as agents and their programs do."""
        daemon, token = self._daemon, self._token
        text = f"Crate {number} stands on shelf {number} of the cellar."
        results = [
            call_tool(daemon, token, "memory_save", text=text),
            call_tool(daemon, token, "memory_search", query=f"crate {number}"),
            call_tool(daemon, token, "memory_recall", prompt="What stands in the cellar?"),
        ]
        self.errors += [str(each) for each in results if each.get("isError")]
        fact = {"subject": f"Crate {number}", "predicate": "holds", "object": f"{number} jars"}
        replies = [
            daemon.call("POST", "/api/v1/facts", token=token, body=fact),
            daemon.call("GET", "/api/v1/notes", token=token),
            daemon.call("GET", "/api/v1/topics", token=token),
        ]
        self.errors += [f"{each.status}: {each.body!r}" for each in replies if each.status >= 400]
        self.saved.append(number)


def versions(database: TestServer) -> dict[str, int]:
    """The version of each area's tables."""
    with psycopg.connect(database.url("commonplace", "commonplace")) as connection:
        return dict(connection.execute("SELECT area, version FROM commonplace_schema").fetchall())


def is_ready(daemon: Daemon) -> bool:
    """True if the daemon says that it can answer everything."""
    return daemon.call("GET", "/ready").status == 200


def test_a_daemon_goes_on_while_a_newer_one_changes_the_schema_and_both_serve(
    tmp_path: Path, database: TestServer
) -> None:
    """Every table gets a column and every area a table; nothing that the older daemon is asked for fails."""
    with daemon_of(tmp_path / "older", database) as older:
        done(older, "person", "add", "ada", "--role", "owner", "--vault", VAULT)
        token = person_token(older, "ada")
        caller = Caller(older, token)
        with caller.calling():
            wait_for(lambda: caller.saved or caller.errors)
            before = versions(database)
            with daemon_of(tmp_path / "newer", database, is_newer=True) as newer:
                wait_for(lambda: is_ready(newer))
                tool_text(newer, token, "memory_save", text="The newer daemon keeps the ledger.")
                after, turns = versions(database), len(caller.saved)
                wait_for(lambda: len(caller.saved) > turns + 2 or caller.errors)
                done(older, "person", "add", "ben")
                found = [tool_text(each, token, "memory_search", query="keeps the ledger") for each in (older, newer)]
                number = caller.saved[-1]
                last = tool_text(newer, token, "memory_search", query=f"crate {number}", k=20)
                people = [len(done(each, "person", "list")["people"]) for each in (older, newer)]

        assert caller.errors == []
        assert (sorted(before), [after[area] - before[area] for area in AREAS]) == ([*AREAS], [1] * len(AREAS))
        assert all("newer daemon keeps the ledger" in each for each in found)
        assert f"shelf {number} of" in last
        assert people == [2, 2]
    with daemon_of(tmp_path / "older", database) as restarted:  # a way back, if the newer version disappoints
        wait_for(lambda: is_ready(restarted))
        assert "ledger" in tool_text(restarted, token, "memory_search", query="ledger")


def test_a_daemon_that_a_change_ends_refuses_and_says_that_it_must_be_upgraded(
    tmp_path: Path, database: TestServer
) -> None:
    """It runs, and neither reads nor writes; the newer one serves. One that starts refuses as well."""
    with daemon_of(tmp_path / "older", database) as older:
        done(older, "person", "add", "ada", "--role", "owner", "--vault", VAULT)
        token = person_token(older, "ada")
        tool_text(older, token, "memory_save", text="The heron nests behind the boathouse.")
        with daemon_of(tmp_path / "newer", database, is_newer=True, **{newer_program.ENDS_OLDER: "yes"}) as newer:
            wait_for(lambda: is_ready(newer))
            refused = older.call("GET", "/api/v1/topics", token=token)
            wait_for(lambda: not is_ready(older))
            ready, health = older.call("GET", "/ready"), older.call("GET", "/health")
            said = older.command("person", "list")
            found = tool_text(newer, token, "memory_search", query="heron")

    assert (refused.status, ready.status, health.status) == (503, 503, 200)
    assert ready.json["reasons"] == ["the database has a newer schema: upgrade Commonplace on this machine"]
    assert said.returncode == 5
    number = len(IDENTITY_AREA.migrations) + 2
    refusal = f"the list of people in PostgreSQL has schema version {number}, which needs a program that knows version"
    assert f"{refusal} {number}; this one knows version {number - 2}" in said.stderr
    assert "Upgrade Commonplace on this machine and restart its daemon." in said.stderr
    assert "boathouse" in found
