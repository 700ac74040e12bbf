"""Two daemons of one team server: different folders, one PostgreSQL, behind a load balancer; the same answers."""

import json
import re
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
import pytest

from commonplace.database.postgresql import PostgresqlServer
from commonplace.identity.postgresql import PostgresqlIdentities
from tests.daemons import Daemon, program, register, start, surroundings
from tests.polling import wait_for
from tests.postgresql import WAIT, TestServer
from tests.round_robin import round_robin
from tests.team import (
    Browser,
    OAuthProgram,
    call_tool,
    code_in,
    done,
    hidden_fields,
    invite,
    person_token,
    tool_text,
    vaults_in,
)

pytestmark = pytest.mark.needs("postgres")
VAULT: Final = "postgresql:team"
QUESTIONS: Final = ("Where does the heron nest?", "What does Ada drink?", "Who measures the soil?")


class Cluster:
    """Two daemons and the address by which people reach both."""

    def __init__(self, first: Daemon, second: Daemon, address: str, chosen: list[int]) -> None:
        self.first, self.second, self.chosen = first, second, chosen
        self.front = replace(first, url=address, port=int(address.rpartition(":")[2]))

    @property
    def daemons(self) -> tuple[Daemon, Daemon]:
        """Both of them."""
        return self.first, self.second


@pytest.fixture(scope="module")
def database() -> Iterator[TestServer]:
    """A PostgreSQL of its own: people are those of the whole database, and one test stops it."""
    server = TestServer(Path(tempfile.mkdtemp(prefix="commonplace-pg-")))
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, database: TestServer) -> Iterator[Cluster]:
    """Two daemons that serve one vault; Ada owns it, and saved two things, which the first of them was told alone."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    settings = {
        "COMMONPLACE_POSTGRESQL__URL": database.url("commonplace", "commonplace"),
        "COMMONPLACE_POSTGRESQL__PARTITIONS": "2",
        "COMMONPLACE_INDEX__BACKEND": "postgresql",
        "COMMONPLACE_HISTORY__BACKEND": "postgresql",
        "COMMONPLACE_IDENTITY__BACKEND": "postgresql",
        "COMMONPLACE_SERVE__TEAM": "true",
        "COMMONPLACE_SERVE__PUBLIC_URL": address,
        "COMMONPLACE_SERVE__WORKERS": "0",
    }
    daemons = []
    for name in ("first", "second"):
        home = tmp_path_factory.mktemp(name)
        environ = surroundings(home, **settings)
        register(environ, Path(VAULT))
        daemons.append(start(home, environ))
    first, second = daemons
    try:
        done(first, "person", "add", "ada", "--role", "owner", "--vault", VAULT)
        token = person_token(first, "ada", client="cabin", scope="write")
        for text in ("The heron nests behind the boathouse.", "Ada drinks green tea in the morning."):
            call_tool(first, token, "memory_save", text=text)
        for each in daemons:  # an answer says that the first look at the vault is not over
            each.wait_synced()
            wait_for(partial(is_indexed, each, token))
        with round_robin(listener, [first.port, second.port]) as chosen:
            yield Cluster(first, second, address, chosen)
    finally:
        for daemon in daemons:
            daemon.stop()


def searches(daemon: Daemon, token: str) -> list[str]:
    """What is found for each question."""
    return [tool_text(daemon, token, "memory_search", query=question) for question in QUESTIONS]


def is_indexed(daemon: Daemon, token: str) -> bool:
    """True if a search there says nothing of the state of the index."""
    return "index:" not in tool_text(daemon, token, "memory_search", query="green tea")


def contexts(daemon: Daemon, token: str) -> list[str]:
    """The context of each question, without its random mark and without the night's news, which is told once."""
    texts = [tool_text(daemon, token, "memory_recall", prompt=question) for question in QUESTIONS]
    texts = [re.sub("memory-[0-9a-f]{8}", "memory", text) for text in texts]
    return [re.sub(r"<memory session>\n- Last night: .*\n</memory>\n?", "", text) for text in texts]


def test_a_daemon_answers_while_a_sign_in_waits_for_the_database(cluster: Cluster, database: TestServer) -> None:
    """Anybody may send a code: the wait for its row stops nobody else."""
    server = PostgresqlServer(database.url("commonplace", "commonplace"), connections=1, partitions=2, wait=WAIT)
    browser = Browser(cluster.first)
    with ThreadPoolExecutor(1) as pool:
        with PostgresqlIdentities(server).write_transaction():
            answer = pool.submit(browser.http.post, "/oauth/signin", data={"code": "x"}, headers=own_page(cluster))
            wait_for(lambda: is_waiting(database))
            health = cluster.first.call("GET", "/health", token="", timeout=WAIT / 2)
            was_waiting = not answer.done()
        page = answer.result(timeout=60)
    server.close()

    assert (health.status, was_waiting) == (200, True)
    assert "used already" in page.text


def own_page(cluster: Cluster) -> dict[str, str]:
    """The header of a form on the page of these daemons."""
    return {"Origin": cluster.front.url}


def is_waiting(database: TestServer) -> bool:
    """True if somebody waits for a lock in the database."""
    with psycopg.connect(database.url("commonplace", "commonplace")) as connection:
        row = connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row is not None and row[0] > 0


def test_what_one_daemon_saves_the_other_finds_at_once(cluster: Cluster) -> None:
    """One token for both; no time passes in between, and the answers are the same."""
    token = person_token(cluster.first, "ada", scope="write")
    tool_text(cluster.first, token, "memory_save", text="The otter sleeps under the jetty.")
    found = tool_text(cluster.second, token, "memory_search", query="otter jetty")
    tool_text(cluster.second, token, "memory_save", text="Ada eats rye bread in the evening.")
    back = tool_text(cluster.first, token, "memory_search", query="rye bread")

    assert "under the jetty" in found
    assert "rye bread" in back
    for each in (searches, contexts):  # the jobs of the daemons write notes meanwhile
        wait_for(lambda each=each: each(cluster.first, token) == each(cluster.second, token))  # type: ignore[misc]


def test_a_revocation_counts_on_both_with_the_next_request(cluster: Cluster) -> None:
    """A token, a grant, and a person who is removed."""
    token = person_token(cluster.first, "ada", client="phone")
    before = [each.call("GET", "/api/v1/topics", token=token).status for each in cluster.daemons]
    done(cluster.second, "token", "revoke", "phone")
    after = [each.call("GET", "/api/v1/topics", token=token).status for each in cluster.daemons]
    done(cluster.first, "person", "add", "ben")
    done(cluster.second, "person", "share", VAULT, "ben", "--role", "reader")
    of_ben = person_token(cluster.second, "ben", scope="read")
    seen = [each.call("GET", "/api/v1/topics", token=of_ben).status for each in cluster.daemons]
    done(cluster.second, "person", "remove", "ben")
    gone = [each.call("GET", "/api/v1/topics", token=of_ben).status for each in cluster.daemons]

    assert (before, after) == ([200, 200], [401, 401])
    assert (seen, gone) == ([200, 200], [401, 401])


def test_oauth_works_whichever_daemon_answers(cluster: Cluster) -> None:
    """The client registers at one, the person consents at the other, the tokens count at both."""
    asking, browser = OAuthProgram(cluster.first), Browser(cluster.second)
    assert asking.register().status_code == 201
    signed_in = browser.send(
        "/oauth/signin", {"code": invite(cluster.first, "ada"), "request": ""}, origin=cluster.front.url
    )
    resource = f"{cluster.front.url}/mcp"
    page = browser.http.get(asking.address(resource=resource))
    chosen = {"write": "yes", "vault": vaults_in(page.text)[0], **hidden_fields(page.text), "decision": "allow"}
    code = code_in(browser.send("/oauth/authorize", chosen, origin=cluster.front.url))
    pair = asking.exchange(code, resource=resource).json()
    found = [tool_text(each, pair["access_token"], "memory_search", query="green tea") for each in cluster.daemons]

    assert signed_in.status_code == 303
    assert found[0] == found[1]
    assert "green tea" in found[0]


def test_the_balancer_may_choose_either_for_each_request(cluster: Cluster) -> None:
    """Tools over MCP keep nothing between requests."""
    token, begun = person_token(cluster.first, "ada", client="tablet"), len(cluster.chosen)
    said = [tool_text(cluster.front, token, "memory_search", query="heron boathouse") for _ in range(6)]

    assert len({*said}) == 1
    assert {*cluster.chosen[begun:]} == {each.port for each in cluster.daemons}


def test_a_due_job_is_run_by_one_machine(cluster: Cluster, database: TestServer) -> None:
    """Both look for due jobs at the same moment; each job is run once."""
    done(cluster.first, "jobs", "run", "--due", "--vault", VAULT)
    with psycopg.connect(database.url("commonplace", "commonplace")) as connection:
        connection.execute("SET commonplace.tenant = 'team'")
        connection.execute("UPDATE history_job_states SET since = '2026-01-01T00:00:00Z'")
    with ThreadPoolExecutor(2) as pool:
        ran = [
            *pool.map(
                lambda each: program(each.environ, "jobs", "run", "--due", "--vault", VAULT, "--json"), cluster.daemons
            )
        ]
    log = done(cluster.second, "jobs", "log", "-n", "100", "--vault", VAULT)
    names = [run["job"] for run in log["runs"]]

    assert [each.returncode for each in ran] == [0, 0], [each.stderr for each in ran]
    assert names
    assert len(names) == len({*names})


def test_ready_says_whether_the_database_can_be_used(cluster: Cluster, database: TestServer) -> None:
    """Not ready without it, alive all the same, and ready again by itself."""
    wait_for(lambda: all(each.call("GET", "/ready").status == 200 for each in cluster.daemons))
    token = person_token(cluster.first, "ada", client="watch")
    database.stop()
    wait_for(lambda: cluster.second.call("GET", "/ready", token="").status == 503)
    unready = cluster.second.call("GET", "/ready", token="")
    alive, refused = cluster.second.call("GET", "/health"), cluster.second.call("GET", "/api/v1/topics", token=token)
    metadata = cluster.second.call("GET", "/.well-known/oauth-authorization-server", token="")
    page = Browser(cluster.second).http.get("/oauth/authorize", params={"client_id": "0" * 32})
    database.resume()

    assert (unready.status, alive.status, refused.status) == (503, 200, 503)
    assert "the list of people cannot be read" in json.loads(unready.body)["reasons"]
    for status, text in ((metadata.status, metadata.body.decode()), (page.status_code, page.text)):
        assert (status, "the server cannot answer now" in text.lower()) == (503, True)
        assert str(database.folder) not in text  # where the database is, is nothing for strangers
    wait_for(lambda: cluster.second.call("GET", "/ready").status == 200)
    assert cluster.second.call("GET", "/api/v1/topics", token=token).status == 200


def test_when_one_daemon_is_killed_the_other_goes_on(cluster: Cluster) -> None:
    """Nothing that was acknowledged is lost, and the balancer's callers notice nothing."""
    token = person_token(cluster.first, "ada", client="desk")
    call_tool(cluster.first, token, "memory_save", text="The spare key hangs in the tool shed.")
    before = searches(cluster.first, token)
    cluster.first.kill()
    after = searches(cluster.second, token)
    said = [tool_text(cluster.front, token, "memory_search", query="spare key") for _ in range(4)]
    call_tool(cluster.front, token, "memory_save", text="The ladder leans against the barn.")
    cluster.first.process = start(cluster.first.home, cluster.first.environ).process

    assert all("tool shed" in each for each in said)
    assert before == after
    assert "barn" in tool_text(cluster.second, token, "memory_search", query="ladder barn")
