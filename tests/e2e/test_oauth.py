"""OAuth for remote MCP clients: a real client signs in over HTTP against a real team server, and attackers do not."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from fastmcp import Client
from fastmcp.client.auth import OAuth
from key_value.aio.stores.memory import MemoryStore
from mcp.shared.auth import AuthorizationCodeResult

from tests.daemons import Daemon, running
from tests.team import (
    CALLBACK,
    Browser,
    OAuthProgram,
    answer_in,
    code_in,
    done,
    hidden_fields,
    invite,
    person_token,
    team_server,
    tool_text,
    vaults_in,
)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A team server of two people."""
    with team_server(tmp_path_factory.mktemp("team"), "ada", "ben") as daemon:
        daemon.wait_synced()
        yield daemon


@pytest.fixture
def ada(team: Daemon) -> Browser:
    """Ada's browser, in which she has signed in."""
    browser = Browser(team)
    assert browser.sign_in(invite(team, "ada")).status_code == 303
    return browser


@pytest.fixture
def program(team: Daemon) -> OAuthProgram:
    """A program that has registered."""
    client = OAuthProgram(team)
    assert client.register().status_code == 201
    return client


def opens(daemon: Daemon, token: str) -> int:
    """The status that a list of tools has with that token."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream"}
    return daemon.call("POST", "/mcp", token=token, body=body, headers=headers).status


class PersonsOAuth(OAuth):
    """The real client's OAuth, whose browser is driven by httpx: the person signs in and allows it."""

    def __init__(self, daemon: Daemon, code: str) -> None:
        super().__init__(client_name="Real Client", token_storage=MemoryStore(), callback_timeout=120)
        self._daemon, self._code, self._answer = daemon, code, ""

    async def redirect_handler(self, authorization_url: str) -> None:
        """What the person does in their browser, beginning without a session."""
        self._answer = await asyncio.to_thread(self._visit, authorization_url)

    async def callback_handler(self) -> AuthorizationCodeResult:
        """What the program's own server hears when the browser comes back."""
        waiting = asyncio.create_task(super().callback_handler())
        await asyncio.to_thread(self._come_back)
        return await waiting

    def _visit(self, address: str) -> str:
        browser = Browser(self._daemon)
        page = browser.http.get(address)
        signed_in = browser.sign_in(self._code, hidden_fields(page.text)["request"])
        return str(browser.consent(signed_in.headers["location"]).headers["location"])

    def _come_back(self) -> None:
        with httpx.Client(transport=httpx.HTTPTransport(retries=10)) as browser:
            browser.get(self._answer)


@pytest.mark.requirement("A-25")
@pytest.mark.filterwarnings("ignore:Using in-memory token storage")
def test_a_real_client_finds_its_way_from_a_401_to_the_persons_memory(team: Daemon) -> None:
    """FastMCP's client discovers, registers, lets the person consent, and then searches and saves as that person."""

    code = invite(team, "ada")

    async def connect() -> tuple[str, str]:
        async with Client(f"{team.url}/mcp", auth=PersonsOAuth(team, code)) as client:
            saved: Any = await client.call_tool("memory_save", {"text": "Ada feeds the heron on Mondays."})
            found: Any = await client.call_tool("memory_search", {"query": "heron garden secret"})
            return str(saved.content[0].text), str(found.content[0].text)

    saved, found = asyncio.run(connect())
    grants = done(team, "person", "show", "ada")["devices"]
    log = team.command("log", "--vault", str(team.home / "ada")).stdout

    assert "heron" in found
    assert "ada" in found
    assert saved
    assert "Real Client" in [each["client"] for each in grants]
    assert "for ada" in log


def test_a_401_says_where_the_metadata_is_and_the_metadata_where_the_tokens_are(team: Daemon) -> None:
    """A client without a token is led from the challenge to the endpoints, all on this origin."""
    challenge = team.call("POST", "/mcp", token="").headers["www-authenticate"]
    resource = team.call("GET", "/.well-known/oauth-protected-resource/mcp", token="").json
    server = team.call("GET", "/.well-known/oauth-authorization-server", token="").json

    assert challenge.startswith(f'Bearer resource_metadata="{team.url}/.well-known/oauth-protected-resource/mcp"')
    assert resource == team.call("GET", "/.well-known/oauth-protected-resource", token="").json
    assert (resource["resource"], resource["authorization_servers"]) == (f"{team.url}/mcp", [team.url])
    assert server["issuer"] == team.url
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert all(value.startswith(team.url) for name, value in server.items() if name.endswith("_endpoint"))


def test_consent_names_the_program_the_address_the_scopes_and_the_persons_vaults(
    ada: Browser, program: OAuthProgram
) -> None:
    """The person reads who asks for what before they decide; what a program calls itself is escaped."""
    program.register("https://evil.example/cb", name="<b>Claude</b>")
    page = ada.http.get(program.address(redirect_uri="https://evil.example/cb"))

    assert "&lt;b&gt;Claude&lt;/b&gt;" in page.text
    assert "<b>Claude" not in page.text
    assert "evil.example" in page.text
    assert "add and change" in page.text
    assert vaults_in(page.text) == [str(program.daemon.home / "ada")]
    assert "form-action 'self' https://evil.example" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_a_code_is_exchanged_once_and_its_second_use_ends_the_grant(ada: Browser, program: OAuthProgram) -> None:
    """Who comes second with a code may have stolen it: neither has a token afterwards."""
    code = code_in(ada.consent(program.address()))
    first = program.exchange(code)
    before = opens(program.daemon, first.json()["access_token"])
    second = program.exchange(code)

    assert (first.status_code, before) == (200, 200)
    assert (second.status_code, second.json()["error"]) == (400, "invalid_grant")
    assert opens(program.daemon, first.json()["access_token"]) == 401


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_verifier": "w" * 50}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:9/other"}, "invalid_grant"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"client_id": "nobody"}, "invalid_client"),
        ({"code": "guess"}, "invalid_grant"),
    ],
)
def test_a_code_without_what_belongs_to_it_gives_no_token(
    ada: Browser, program: OAuthProgram, changed: dict[str, str], error: str
) -> None:
    """The verifier, the redirect URI, the resource and the client must be those of the request."""
    code = code_in(ada.consent(program.address()))
    answer = program.exchange(code, **changed)

    assert answer.status_code in (400, 401)
    assert answer.json()["error"] == error


def test_another_client_cannot_use_a_code(ada: Browser, program: OAuthProgram) -> None:
    """A code is for the client that asked, even if another one knows the verifier."""
    code = code_in(ada.consent(program.address()))
    thief = OAuthProgram(program.daemon, verifier=program.verifier)
    thief.register()

    assert thief.exchange(code).json()["error"] == "invalid_grant"
    assert program.exchange(code).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "read admin"}, "invalid_scope"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
    ],
)
def test_a_wrong_request_is_answered_at_the_programs_own_address(
    ada: Browser, program: OAuthProgram, changed: dict[str, str | None], error: str
) -> None:
    """No PKCE, plain PKCE, a token in the address, the scope admin and another resource are refused, with the state."""
    answer = answer_in(ada.http.get(program.address(**changed)))

    assert (answer["error"], answer["state"], answer["iss"]) == (error, "st-1", program.daemon.url)
    assert "code" not in answer


def test_a_wrong_request_is_no_open_redirect(ada: Browser, program: OAuthProgram) -> None:
    """Anybody can register an address on the web: the browser is not sent there before the person has decided."""
    program.redirect = "https://evil.example/cb"
    program.register()
    wrong = ada.http.get(program.address(scope="admin"))
    stranger = Browser(program.daemon).http.get(program.address(response_type="token"))

    assert (wrong.status_code, stranger.status_code) == (400, 400)
    assert "location" not in wrong.headers
    assert "location" not in stranger.headers


@pytest.mark.parametrize(
    "redirect",
    [
        "https://evil.example/cb",
        "http://127.0.0.1:9/callback/../evil",
        "http://127.0.0.1:9/callback#x",
        "http://127.0.0.1@evil.example:9/callback",
        "http://localhost:9/callback",
        "",
    ],
)
def test_a_redirect_that_is_not_the_clients_leads_nowhere(ada: Browser, program: OAuthProgram, redirect: str) -> None:
    """The page says so, and the browser is sent to no address, not even with an error."""
    answer = ada.http.get(program.address(redirect_uri=redirect))

    assert answer.status_code == 400
    assert "location" not in answer.headers


def test_on_the_persons_own_machine_the_port_of_the_redirect_may_vary(ada: Browser, program: OAuthProgram) -> None:
    """A program listens on whatever port is free; host and path must be its own."""
    program.redirect = CALLBACK.replace(":9/", ":54321/")

    assert code_in(ada.consent(program.address()))


@pytest.mark.parametrize(
    "redirect", ["javascript:alert(1)", "http://evil.example/cb", "data:text/html,x", "https://a@b/", "https://h/#f"]
)
def test_a_client_with_a_dangerous_redirect_is_not_registered(team: Daemon, redirect: str) -> None:
    """Codes go to https, to this machine, or to an app."""
    answer = OAuthProgram(team).register(redirect)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


def test_a_decision_from_another_page_counts_for_nothing(ada: Browser, program: OAuthProgram) -> None:
    """A foreign origin, a missing CSRF token and that of another session are refused."""
    fields = hidden_fields(ada.http.get(program.address()).text)
    chosen = {**fields, "vault": str(program.daemon.home / "ada"), "decision": "allow"}
    foreign = ada.send("/oauth/authorize", chosen, origin="https://evil.example")
    unsigned = ada.send("/oauth/authorize", {**chosen, "csrf": ""})
    other = ada.send("/oauth/authorize", {**chosen, "csrf": "x" * 43})
    sign_in = ada.http.post("/oauth/signin", data={"code": invite(program.daemon, "ada")})

    assert [each.status_code for each in (foreign, unsigned, other, sign_in)] == [403, 403, 403, 403]


def test_no_code_is_given_without_a_person_and_a_code_signs_in_once(team: Daemon, program: OAuthProgram) -> None:
    """A browser without a session gets the page that asks for the code; a used code opens nothing."""
    code, browser, late = invite(team, "ada"), Browser(team), Browser(team)
    asked = browser.http.get(program.address())
    signed_in = browser.sign_in(code, hidden_fields(asked.text)["request"])
    again = late.sign_in(code)

    assert "one-time code" in asked.text
    assert asked.status_code == 200
    assert signed_in.headers["location"].startswith("/oauth/authorize?")
    assert "used already" in again.text
    assert "set-cookie" not in again.headers
    assert late.send("/oauth/authorize", {"decision": "allow"}).status_code == 303  # to the start page


def test_a_person_can_say_no(ada: Browser, program: OAuthProgram) -> None:
    """The program is told, and gets no code."""
    answer = answer_in(ada.consent(program.address(), decision="deny"))

    assert answer["error"] == "access_denied"
    assert "code" not in answer


def test_a_grant_for_a_vault_of_another_person_is_refused(ada: Browser, program: OAuthProgram) -> None:
    """The form cannot name a vault that the page does not offer."""
    answer = ada.consent(program.address(), vault=str(program.daemon.home / "ben"))

    assert answer.status_code == 403


def test_a_token_opens_its_persons_vault_and_no_other(ada: Browser, program: OAuthProgram) -> None:
    """Whatever vault the request names, nothing of another person comes out."""
    token = program.connect(ada)["access_token"]
    headers = {"Commonplace-Vault": str(program.daemon.home / "ben"), "Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    other = program.daemon.call("POST", "/mcp", token=token, body=body, headers=headers)
    found = tool_text(program.daemon, token, "memory_search", query="secret heron")

    assert other.status == 403
    assert "secret of ada" in found
    assert "ben" not in found


def test_a_token_is_for_mcp_alone(ada: Browser, program: OAuthProgram) -> None:
    """The resource is the MCP server: the API, the metrics and the daemon's own routes refuse the token."""
    token = program.connect(ada)["access_token"]
    paths = ("/api/v1/topics", "/metrics", "/daemon/status")

    assert [program.daemon.call("GET", path, token=token).status for path in paths] == [401, 401, 401]


def test_a_person_may_give_less_than_was_asked_for(ada: Browser, program: OAuthProgram) -> None:
    """Without the tick for writing, the token reads only."""
    tokens = program.connect(ada, write="")
    refused = tool_text(program.daemon, tokens["access_token"], "memory_save", text="The heron is grey.")

    assert tokens["scope"] == "read"
    assert "permission to write" in refused


def test_a_refresh_token_is_good_once_and_its_reuse_ends_everything(ada: Browser, program: OAuthProgram) -> None:
    """Each refresh gives new tokens and ends the old access token; an old refresh token that comes again is a theft."""
    first = program.connect(ada)
    second = program.refresh(first["refresh_token"]).json()
    old, new = (opens(program.daemon, each["access_token"]) for each in (first, second))
    stolen = program.refresh(first["refresh_token"])

    assert (old, new) == (401, 200)
    challenge = program.daemon.call("POST", "/mcp", token=first["access_token"]).headers["www-authenticate"]
    assert challenge.startswith('Bearer error="invalid_token", resource_metadata=')
    assert stolen.json()["error"] == "invalid_grant"
    assert opens(program.daemon, second["access_token"]) == 401
    assert program.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_refresh_for_another_client_or_resource_is_refused(ada: Browser, program: OAuthProgram) -> None:
    """A refresh token belongs to its client and to its resource."""
    token, thief = program.connect(ada)["refresh_token"], OAuthProgram(program.daemon)
    thief.register()

    assert thief.refresh(token).json()["error"] == "invalid_grant"
    assert program.refresh(token, resource="https://elsewhere.example/mcp").json()["error"] == "invalid_target"
    assert program.refresh(program.connect(ada)["access_token"]).json()["error"] == "invalid_grant"


def test_a_program_that_signs_out_and_a_grant_that_is_revoked_have_no_token(
    ada: Browser, program: OAuthProgram
) -> None:
    """Both take effect with the next request; revoking an unknown token says nothing."""
    program.register(name="Egret")
    first, second = program.connect(ada), program.connect(ada)
    url = f"{program.daemon.url}/oauth/revoke"
    ended = httpx.post(url, data={"token": first["refresh_token"], "client_id": program.id})
    unknown = httpx.post(url, data={"token": "cpr_guess", "client_id": program.id})
    grants = done(program.daemon, "person", "show", "ada")["devices"]
    done(program.daemon, "token", "revoke", next(each["id"] for each in grants if each["client"] == "Egret"))

    assert (ended.status_code, unknown.status_code) == (200, 200)
    assert opens(program.daemon, first["access_token"]) == 401
    assert opens(program.daemon, second["access_token"]) == 401


def test_a_person_who_is_removed_is_out_at_once(tmp_path: Path) -> None:
    """Tokens, grants, sessions and codes of a removed person open nothing, and the id is not given again."""
    with team_server(tmp_path, "ada", "cleo") as daemon:
        browser, program, code = Browser(daemon), OAuthProgram(daemon), invite(daemon, "cleo")
        program.register()
        browser.sign_in(invite(daemon, "cleo"))
        granted, token = program.connect(browser)["access_token"], person_token(daemon, "cleo")
        before = (opens(daemon, granted), opens(daemon, token))
        done(daemon, "person", "remove", "cleo")
        again = daemon.command("person", "add", "cleo")

        assert before == (200, 200)
        assert (opens(daemon, granted), opens(daemon, token)) == (401, 401)
        assert "one-time code" in browser.http.get(program.address()).text
        assert "used already" in Browser(daemon).sign_in(code).text
        assert again.returncode == 2
        assert "was removed" in again.stderr


def test_no_secret_is_stored_or_logged(ada: Browser, program: OAuthProgram) -> None:
    """Codes, access and refresh tokens are on disk as hashes alone, and in no line of the log."""
    code = code_in(ada.consent(program.address()))
    tokens = program.exchange(code).json()
    opens(program.daemon, tokens["access_token"])
    files = [path.read_bytes() for path in program.daemon.state.iterdir() if path.is_file()]
    secrets = [code, tokens["access_token"], tokens["refresh_token"]]

    assert files
    assert not any(secret.encode() in content for secret in secrets for content in files)


def test_without_a_team_the_person_at_this_machine_consents_by_the_page(tmp_path: Path) -> None:
    """A local daemon offers OAuth once somebody is its owner; the browser of `commonplace open` is theirs."""
    with running(tmp_path) as daemon:
        daemon.wait_synced()
        before = daemon.call("GET", "/.well-known/oauth-authorization-server", token="")
        plain = daemon.call("POST", "/mcp", token="").headers["www-authenticate"]
        done(daemon, "person", "add", "ada", "--role", "owner", "--vault", str(tmp_path / "Notes"))
        browser, program = Browser(daemon), OAuthProgram(daemon)
        program.register()
        browser.http.get(str(done(daemon, "open", "--no-browser")["url"]))
        token = program.connect(browser)["access_token"]

        assert (before.status, plain) == (404, "Bearer")
        assert "compost" in tool_text(daemon, token, "memory_search", query="greenhouse compost")
        assert opens(daemon, daemon.token("codex")) == 200
