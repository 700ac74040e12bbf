"""A team server: people with vaults of their own, vaults that they share, and what each of them may do."""

import http.client
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import pytest

from commonplace.web.live_events import MOST_OF_PERSON
from tests.daemons import Daemon, program, surroundings
from tests.polling import wait_for
from tests.team import ACCEPT, Browser, done, invite, person_token, team_server, tool_text


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Ada, Ben and Cleo, each with a vault; Ada's garden is shared: Ben writes there, Cleo is not a member."""
    with team_server(tmp_path_factory.mktemp("team"), "ada", "ben", "cleo", "garden") as daemon:
        done(daemon, "person", "remove", "garden")
        garden = str(daemon.home / "garden")
        done(daemon, "person", "share", garden, "ada", "--role", "owner")
        done(daemon, "person", "share", garden, "ben", "--role", "writer")
        daemon.wait_synced()
        yield daemon


def status(daemon: Daemon, token: str, path: str, **headers: str) -> int:
    """The status of a request with that token."""
    return daemon.call("GET", path, token=token, headers=headers).status


def trailers(vault: Path) -> str:
    """The trailers of the newest commit."""
    shown = ["git", "-C", str(vault), "log", "-1", "--format=%(trailers)"]
    return subprocess.run(shown, check=True, capture_output=True, text=True).stdout


def test_a_person_has_a_vault_of_their_own_and_sees_no_other(team: Daemon) -> None:
    """Without a name the token opens the person's vault; the name of another one is refused like one that is not."""
    token = person_token(team, "ada")
    named = [status(team, token, "/api/v1/topics", **{"Commonplace-Vault": name}) for name in ("ben", "nowhere", "ada")]
    found = tool_text(team, token, "memory_search", query="whose secret is a heron")

    assert named == [403, 403, 200]
    assert "secret of ada" in found
    assert "ben" not in found


def test_every_write_names_the_person_in_the_commit_and_in_the_log(team: Daemon) -> None:
    """The trailer, the audit and `commonplace log` say for whom the program wrote."""
    tool_text(team, person_token(team, "ben", client="codex"), "memory_save", text="Ben's bicycle is green.")
    vault = team.home / "ben"
    log = done(team, "log", "-n", "1", "--vault", str(vault))
    shown = team.command("log", "-n", "1", "--vault", str(vault)).stdout

    assert "Commonplace-Person: ben" in trailers(vault)
    assert log["entries"][0]["person"] == "ben"
    assert "agent (codex, for ben)" in shown


def test_the_log_names_the_person_again_when_it_is_read_from_git(team: Daemon, tmp_path: Path) -> None:
    """Audit rows that were lost are restored from the commits, with the person."""
    tool_text(team, person_token(team, "ben", client="codex"), "memory_save", text="Ben's kettle is blue.")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(team.home / "ben"), str(clone)], check=True)
    environ = surroundings(tmp_path / "home")
    program(environ, "init", str(clone))
    log = json.loads(program(environ, "log", "-n", "1", "--json").stdout)

    assert log["entries"][0]["person"] == "ben"


@pytest.mark.requirement("X-22")
def test_a_shared_vault_says_who_said_what_to_its_members_alone(team: Daemon) -> None:
    """Entries and turns name their person; members find them with the name, and nobody else finds them."""
    garden = str(team.home / "garden")
    ada, ben = (person_token(team, each, vault=garden) for each in ("ada", "ben"))
    tool_text(team, ben, "memory_save", text="The greenhouse key hangs behind the shed.", subject="greenhouse key")
    said = [{"role": "user", "content": "I moved the wheelbarrow behind the quince tree.", "author": "ada"}]
    body = {"session_id": "c-1", "messages": said}
    recorded = team.call("POST", "/api/v1/conversations", token=ben, body=body)
    found = tool_text(team, ada, "memory_search", query="where is the greenhouse key")
    facts = tool_text(team, ada, "memory_facts", entity="greenhouse key")
    context = tool_text(team, ada, "memory_recall", prompt="Where does the greenhouse key hang?")
    turns = tool_text(team, ada, "memory_search", query="wheelbarrow quince tree")
    private = tool_text(team, person_token(team, "ben"), "memory_search", query="greenhouse key shed")

    assert recorded.status in (200, 201), recorded.body
    assert "said by ben" in found
    assert "said by ben" in facts
    assert "said by ben" in context
    assert "ben (the person" in turns
    assert "greenhouse" not in private
    assert team.command("token", "create", "x", "--person", "cleo", "--vault", garden).returncode == 2
    assert status(team, person_token(team, "cleo"), "/api/v1/topics", **{"Commonplace-Vault": garden}) == 403


def test_in_a_vault_of_ones_own_nothing_says_who_said_it(team: Daemon) -> None:
    """One person needs no attribution: it would cost every prompt its space."""
    token = person_token(team, "cleo")
    tool_text(team, token, "memory_save", text="Cleo's umbrella is red.", subject="umbrella")

    assert "said by" not in tool_text(team, token, "memory_facts", entity="umbrella")


def test_the_roles_of_a_person_and_of_a_vault_limit_a_token(team: Daemon) -> None:
    """A reader of the server or of a vault writes nothing, whatever the token says; only the owner reviews."""
    garden = str(team.home / "garden")
    done(team, "person", "share", garden, "cleo", "--role", "reader")
    reads = tool_text(team, person_token(team, "cleo", vault=garden), "memory_save", text="The hedge is cut.")
    done(team, "person", "unshare", garden, "cleo")
    reviews = [
        status(team, person_token(team, each, scope="admin", vault=garden), "/api/v1/review") for each in ("ada", "ben")
    ]
    done(team, "person", "set", "cleo", "--role", "reader")
    refused = tool_text(team, person_token(team, "cleo"), "memory_save", text="The hedge is cut.")
    done(team, "person", "set", "cleo", "--role", "member")

    assert "permission to write" in reads
    assert "`commonplace person show cleo` has their roles" in reads
    assert "permission to write" in refused
    assert reviews == [200, 403]


def test_a_vault_that_is_unshared_is_closed_at_once(team: Daemon) -> None:
    """Tokens for that vault are revoked, and a free token of the person does not open it any more."""
    garden = {"Commonplace-Vault": "garden"}
    done(team, "person", "share", "garden", "cleo")
    free, bound = person_token(team, "cleo"), person_token(team, "cleo", vault=str(team.home / "garden"))
    before = (status(team, free, "/api/v1/topics", **garden), status(team, bound, "/api/v1/topics"))
    done(team, "person", "unshare", "garden", "cleo")

    assert before == (200, 200)
    assert (status(team, free, "/api/v1/topics", **garden), status(team, bound, "/api/v1/topics")) == (403, 401)


def test_a_person_without_a_vault_is_told_what_they_lack(team: Daemon) -> None:
    """They have named no vault, so none is the wrong one: somebody has to share one with them."""
    done(team, "person", "add", "dora")
    token = person_token(team, "dora")
    plain = team.call("GET", "/api/v1/topics", token=token)
    named = team.call("GET", "/api/v1/topics", token=token, headers={"Commonplace-Vault": "garden"})

    assert (plain.status, named.status) == (403, 403)
    assert "none is shared with its person" in plain.json["error"]["message"]
    assert "commonplace person share" in plain.json["error"]["hint"]
    assert "another vault" in named.json["error"]["message"]


def rest_of(daemon: Daemon, path: str, headers: dict[str, str], then: Callable[[], object]) -> str:
    """What a stream of live events still says until it ends, once it has begun and that was done."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        while b"hello" not in (line := response.readline()):
            assert line, f"{response.status}: the stream has ended"
        then()
        return response.read().decode()
    finally:
        connection.close()


def test_live_events_end_for_whoever_was_shut_out_or_signed_out(team: Daemon) -> None:
    """A stream that was open before tells nothing that happens after: not for a token, and not on the page."""
    vault = team.home / "garden"
    token, browser = person_token(team, "ben"), Browser(team)
    bearer = {"Authorization": f"Bearer {token}", "Commonplace-Vault": "garden"}
    browser.sign_in(invite(team, "cleo"))
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())}

    def unshare() -> None:
        done(team, "person", "unshare", str(vault), "ben")
        (vault / "Unshared.md").write_text("# Unshared\n")

    def sign_out() -> None:
        browser.send("/logout", {"csrf": hidden_csrf(browser.http.get("/").text)})
        (team.home / "cleo" / "Signed out.md").write_text("# Signed out\n")

    by_token = rest_of(team, "/api/v1/events", bearer, unshare)
    done(team, "person", "share", str(vault), "ben", "--role", "writer")
    by_cookie = rest_of(team, "/live", cookie, sign_out)

    assert "Unshared" not in by_token
    assert "Signed out" not in by_cookie


def test_a_person_who_listens_everywhere_leaves_others_room_to_listen(team: Daemon) -> None:
    """The limit is each person's own: over tokens and the page together."""
    tokens = {person: person_token(team, person, client="listener", scope="read") for person in ("ada", "ben")}
    with ExitStack() as stack:

        def listen(person: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", team.port, timeout=60)
            stack.callback(connection.close)
            connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {tokens[person]}"})
            response = connection.getresponse()
            if response.status == 200:
                response.readline()  # it listens from the first line on
            return response.status

        of_ben = [listen("ben") for _ in range(MOST_OF_PERSON + 1)]
        of_ada = listen("ada")

    assert of_ben == [*[200] * MOST_OF_PERSON, 429]
    assert of_ada == 200


def hidden_csrf(page: str) -> str:
    """The token in the forms of a page."""
    return page.partition('name="csrf" value="')[2].partition('"')[0]


def test_an_agent_undoes_what_it_did_for_its_own_person_alone(team: Daemon) -> None:
    """In a shared vault, the program of the same name of another person cannot take a change back."""
    garden = str(team.home / "garden")
    ada, ben = (person_token(team, each, client="codex", vault=garden) for each in ("ada", "ben"))
    written = team.call("PUT", "/api/v1/notes/Inbox/Plan.md", token=ben, body={"text": "# Plan\n\nDig.\n"})
    commit = written.json["change"]["commit"]
    others = team.call("POST", "/api/v1/undo", token=ada, body={"commit": commit})
    own = team.call("POST", "/api/v1/undo", token=ben, body={"commit": commit})

    assert others.status == 403, others.body
    assert own.status == 200, own.body


def test_the_status_of_the_server_is_for_whoever_runs_it(team: Daemon) -> None:
    """A person's scope admin is about their own vault; owners and admins of the server see its status."""
    token = person_token(team, "ben", scope="admin")
    before = status(team, token, "/daemon/status")
    done(team, "person", "set", "ben", "--role", "admin")
    after = status(team, token, "/daemon/status")
    done(team, "person", "set", "ben", "--role", "member")

    assert (before, after) == (403, 200)


def test_the_metrics_are_for_whoever_runs_the_server(team: Daemon) -> None:
    """They count what everybody does; a token that may read is enough for an admin's scraper."""
    token = person_token(team, "ben", scope="read")
    before = team.call("GET", "/metrics", token=token)
    done(team, "person", "set", "ben", "--role", "admin")
    after = team.call("GET", "/metrics", token=token)
    done(team, "person", "set", "ben", "--role", "member")

    assert (before.status, after.status) == (403, 200)
    assert before.json["error"]["message"] == "the metrics are those of the whole server"
    assert b"commonplace_" not in before.body


def test_a_link_in_a_note_signs_nobody_in_as_its_writer(team: Daemon) -> None:
    """Ada would go on in Ben's vault; his code is not used up, and the one that she has from a message works."""
    ben, of_note, fresh = Browser(team), {"Sec-Fetch-Site": "same-origin"}, Browser(team)
    own, foreign = invite(team, "ada"), invite(team, "ben")
    fresh_note = fresh.http.get(f"/login?code={foreign}", headers=of_note)
    fresh.http.get(f"/login?code={own}", headers={"Sec-Fetch-Site": "none"})
    in_note = fresh.http.get(f"/login?code={foreign}", headers=of_note)
    outside = fresh.http.get(f"/login?code={foreign}", headers={"Sec-Fetch-Site": "none"})
    start = fresh.http.get("/notes")
    signed_in = ben.http.get(f"/login?code={foreign}", headers={"Sec-Fetch-Site": "none"})

    assert [each.status_code for each in (fresh_note, in_note, outside)] == [403, 403, 403]
    assert "signs nobody in" in in_note.text
    assert "You are signed in already." in outside.text
    assert "set-cookie" not in {*in_note.headers, *outside.headers, *fresh_note.headers}
    assert (start.status_code, "Diary.md" in start.text, signed_in.status_code) == (200, True, 303)


def test_a_team_server_accepts_no_token_without_a_person(team: Daemon) -> None:
    """A proxy may run as the user who runs the server: such a token would open every vault from everywhere."""
    assert status(team, team.token("old"), "/api/v1/topics") == 403
    assert team.call("GET", "/api/v1/topics").status == 200  # the socket is this machine's own


def test_a_persons_programs_share_one_rate(team: Daemon) -> None:
    """Two devices together make as many requests as the person may, and another person goes on."""
    garden = str(team.home / "garden")
    done(team, "person", "add", "rita")
    done(team, "person", "share", garden, "rita")
    done(team, "person", "set", "rita", "--requests-per-second", "0.5")
    tokens = [person_token(team, "rita", client=client, vault=garden) for client in ("laptop", "phone")]
    replies = [team.call("GET", "/api/v1/topics", token=tokens[number % 2]) for number in range(8)]
    late = next(each for each in replies if each.status == 429)

    assert [each.status for each in replies[:5]] == [200] * 5
    assert int(late.headers["retry-after"]) >= 1
    assert status(team, person_token(team, "ada"), "/api/v1/topics") == 200


def test_the_page_shows_a_person_their_own_vaults_and_nothing_of_the_server(team: Daemon) -> None:
    """After the link of an invitation: own notes, no other vault to choose, no settings of the server."""
    browser = Browser(team)
    link = done(team, "person", "invite", "ada")["url"]
    signed_in = browser.http.get(link)
    start = browser.http.get("/")
    settings, welcome = browser.http.get("/settings"), browser.http.get("/welcome")
    health = browser.http.get("/doctor")
    wait_for(lambda: "Checking" not in browser.http.get("/doctor").text)
    checked = browser.http.get("/doctor").text
    csrf = start.text.split('name="csrf" content="')[1].split('"')[0]
    chosen = browser.send("/vault", {"csrf": csrf, "vault": str(team.home / "ben")})

    assert signed_in.status_code == 303
    assert start.status_code == 200
    assert str(team.home / "ben") not in start.text
    assert (settings.status_code, welcome.status_code) == (403, 403)
    assert chosen.status_code == 404
    assert health.status_code == 200
    assert "<strong>index</strong>" in checked
    assert [each for each in ("serve.log", "<strong>recording</strong>", "Running since") if each in checked] == []


def test_the_page_is_no_way_into_a_vault_of_somebody_else(team: Daemon) -> None:
    """`commonplace open` makes no link on a team server, and a code of a person is good once."""
    opened = team.command("open", "--no-browser")
    code = invite(team, "ada")
    first, second = (httpx.get(f"{team.url}/login?code={code}", headers={"Accept": "text/html"}) for _ in range(2))

    assert opened.returncode != 0
    assert "person invite" in opened.stderr
    assert (first.status_code, second.status_code) == (303, 401)


def test_a_person_signs_in_at_the_page_with_a_code(team: Daemon) -> None:
    """The page asks for it, no program has to ask first; a wrong code can be corrected."""
    browser = Browser(team)
    start, wrong = browser.http.get("/"), browser.sign_in("guess")
    signed_in = browser.sign_in(invite(team, "ada"))

    assert (start.status_code, "Your one-time code" in start.text) == (401, True)
    assert "used already" in wrong.text
    assert "A program" not in wrong.text
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/")
    assert browser.http.get("/").status_code == 200


def test_a_browser_is_told_on_a_page_why_it_is_refused(team: Daemon) -> None:
    """A person without a vault of their own, and one who clicked the link in a mail: its code is still good."""
    done(team, "person", "add", "emil")
    browser, code = Browser(team), invite(team, "emil")
    clicked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    link = browser.http.get(f"/login?code={code}", headers=clicked)
    fetched = browser.http.get("/", headers={"Sec-Fetch-Site": "cross-site", "Accept": "*/*"})
    signed_in = browser.sign_in(code)
    start = browser.http.get("/")

    assert (link.status_code, link.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert "copy the link into the address bar" in link.text
    assert "frame-ancestors 'none'" in link.headers["content-security-policy"]
    assert (fetched.status_code, fetched.headers["content-type"]) == (403, "application/json")
    assert (signed_in.status_code, start.status_code) == (303, 403)
    assert "<p>This page shows the vaults that a person owns, and you own none.</p>" in start.text


def test_only_the_public_name_of_the_server_and_its_own_pages_count(tmp_path: Path) -> None:
    """The Host and the Origin are those of the public address; the 401 leads there."""
    public = {"COMMONPLACE_SERVE__PUBLIC_URL": "https://memory.example.org"}
    with team_server(tmp_path, "ada", **public) as daemon:
        token = person_token(daemon, "ada")
        hosts = ("memory.example.org", "memory.example.org:443", "evil.example", "memory.example.org:80")
        statuses = [status(daemon, token, "/api/v1/topics", Host=host) for host in hosts]
        by_name = daemon.call("GET", "/api/v1/topics", token=token, headers={"Host": "evil.example"})
        origins = ("https://memory.example.org", "https://evil.example", "http://memory.example.org")
        pages = [
            status(daemon, token, "/api/v1/topics", Host="memory.example.org", Origin=origin) for origin in origins
        ]
        challenge = daemon.call("POST", "/mcp", token="", headers={"Host": "memory.example.org", **ACCEPT})
        link = done(daemon, "person", "invite", "ada")["url"]
        cookie = daemon.call(
            "GET", link.removeprefix("https://memory.example.org"), token="", headers={"Host": "memory.example.org"}
        ).headers["set-cookie"]

    assert statuses == [200, 200, 421, 421]
    assert "serve.public_url" in by_name.json["error"]["hint"]
    assert pages == [200, 403, 403]
    assert 'resource_metadata="https://memory.example.org/.well-known/' in challenge.headers["www-authenticate"]
    assert "Secure" in cookie


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"HOST": "0.0.0.0"}, "open to other machines"),
        ({"HOST": "0.0.0.0", "TEAM": "true"}, "needs serve.public_url"),
        ({"TEAM": "true"}, "needs serve.public_url"),
        ({"HOST": "0.0.0.0", "TEAM": "true", "PUBLIC_URL": "http://memory.example.org"}, "must be https"),
        ({"TEAM": "true", "PUBLIC_URL": "https://memory.example.org/path"}, "not an address"),
    ],
)
def test_a_server_that_others_could_reach_unsafely_does_not_start(
    tmp_path: Path, settings: dict[str, str], reason: str
) -> None:
    """Listening beyond this machine takes team mode and a public https address, or named proxies."""
    environ = surroundings(tmp_path, **{f"COMMONPLACE_SERVE__{name}": value for name, value in settings.items()})
    result = program(environ, "serve")

    assert result.returncode == 2
    assert reason in result.stderr


def test_a_team_server_says_where_people_reach_it_and_how_they_get_a_token(team: Daemon) -> None:
    """A token without a person would be refused."""
    said = (team.home / "serve.err").read_text()

    assert f"serving at {team.url} for {team.url} (MCP: {team.url}/mcp)" in said
    assert "`commonplace token create NAME --person ID` creates a token" in said


def test_the_flag_team_is_the_setting(tmp_path: Path) -> None:
    """For one run; a service reads the setting."""
    started = program(surroundings(tmp_path), "serve", "--team")
    service = program(surroundings(tmp_path), "serve", "--team", "--install-service")

    assert (started.returncode, service.returncode) == (2, 2)
    assert "needs serve.public_url" in started.stderr
    assert "settings set serve.team true" in service.stderr
