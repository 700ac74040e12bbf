"""A team server for tests: a real daemon with people and their vaults, and a browser and an OAuth client in httpx."""

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx

from tests.daemons import Daemon, free_port, running

CALLBACK: Final = "http://127.0.0.1:9/callback"
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}


@contextmanager
def team_server(home: Path, *people: str, **more: str) -> Iterator[Daemon]:
    """A team server on the loopback, whose people own a vault each, of their own name."""
    port = free_port()
    vaults = [_vault(home / person, person) for person in people]
    settings = {
        "COMMONPLACE_SERVE__TEAM": "true",
        "COMMONPLACE_SERVE__PORT": str(port),
        "COMMONPLACE_SERVE__PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    with running(home, vaults=vaults, **{**settings, **more}) as daemon:
        for person, vault in zip(people, vaults, strict=True):
            done(daemon, "person", "add", person, "--name", person.title(), "--vault", str(vault))
        yield daemon


def _vault(root: Path, person: str) -> Path:
    root.mkdir(parents=True)
    (root / "Diary.md").write_text(f"# Diary\n\nThe secret of {person} is a heron in the garden.\n")
    return root


def done(daemon: Daemon, *words: str) -> dict[str, Any]:
    """What a command answers in JSON."""
    result = daemon.command(*words, "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    return dict(json.loads(result.stdout))


def person_token(daemon: Daemon, person: str, *, client: str = "laptop", scope: str = "write", vault: str = "") -> str:
    """A token of a person's device."""
    options = ["--vault", vault] if vault else []
    return str(done(daemon, "token", "create", client, "--person", person, "--scope", scope, *options)["secret"])


def invite(daemon: Daemon, person: str) -> str:
    """A code by which the person signs in once."""
    return str(done(daemon, "person", "invite", person)["code"])


def call_tool(daemon: Daemon, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of one tool over MCP."""
    params = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = daemon.call("POST", "/mcp", token=token, body=body, headers=ACCEPT)
    assert reply.status == 200, reply.body
    return dict(reply.json["result"])


def tool_text(daemon: Daemon, token: str, tool: str, **arguments: Any) -> str:
    """What a tool says."""
    return "\n".join(each.get("text", "") for each in call_tool(daemon, token, tool, **arguments)["content"])


@dataclass
class Browser:
    """A person's browser: it keeps cookies, says where a form comes from, and follows no redirect by itself."""

    daemon: Daemon
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            base_url=self.daemon.url,
            headers={"Accept": "text/html"},
            follow_redirects=False,
            limits=httpx.Limits(max_keepalive_connections=0),  # nothing stays open after a request
        )

    def send(self, path: str, fields: Mapping[str, str], *, origin: str | None = None) -> httpx.Response:
        """Send a form from our own page, or from that of another origin."""
        return self.http.post(path, data=dict(fields), headers={"Origin": origin or self.daemon.url})

    def sign_in(self, code: str, query: str = "") -> httpx.Response:
        """Sign in at the page that asks for the code."""
        return self.send("/oauth/signin", {"code": code, "request": query})

    def consent(self, address: str, *, decision: str = "allow", **fields: str) -> httpx.Response:
        """Read the question at that address, and answer it as the person would."""
        page = self.http.get(address)
        assert page.status_code == 200, page.text
        chosen = {"write": "yes", "vault": vaults_in(page.text)[0], **hidden_fields(page.text), **fields}
        return self.send("/oauth/authorize", {**chosen, "decision": decision})


def hidden_fields(page: str) -> dict[str, str]:
    """The hidden fields of the form that answers the question."""
    import html

    form = page[page.index('action="/oauth/') :]
    return {
        name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    }


def vaults_in(page: str) -> list[str]:
    """The vaults that the question offers."""
    return re.findall(r'<option value="([^"]+)">', page)


@dataclass
class OAuthProgram:
    """A client of our own that can do wrong what a real one does right."""

    daemon: Daemon
    redirect: str = CALLBACK
    id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def register(self, *redirects: str, name: str = "Heron") -> httpx.Response:
        """Register, with its own redirect URI if no other is given."""
        body = {"client_name": name, "redirect_uris": [*(redirects or (self.redirect,))]}
        answer = httpx.post(f"{self.daemon.url}/oauth/register", json=body)
        self.id = answer.json().get("client_id", "") if answer.status_code == 201 else ""
        return answer

    @property
    def challenge(self) -> str:
        """The hash of the verifier."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def query(self, **changed: str | None) -> str:
        """The query of a request for consent; None leaves a parameter out."""
        values: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.redirect,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            "state": "st-1",
            "scope": "read write",
            "resource": f"{self.daemon.url}/mcp",
            **changed,
        }
        return str(httpx.QueryParams({name: value for name, value in values.items() if value is not None}))

    def address(self, **changed: str | None) -> str:
        """Where it sends the person's browser."""
        return f"/oauth/authorize?{self.query(**changed)}"

    def exchange(self, received: str, **changed: str) -> httpx.Response:
        """Ask for tokens with the code that it received."""
        fields = {
            "grant_type": "authorization_code",
            "code": received,
            "client_id": self.id,
            "redirect_uri": self.redirect,
            "code_verifier": self.verifier,
            "resource": f"{self.daemon.url}/mcp",
        }
        return httpx.post(f"{self.daemon.url}/oauth/token", data={**fields, **changed})

    def refresh(self, token: str, **changed: str) -> httpx.Response:
        """Ask for new tokens with a refresh token."""
        fields = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.id}
        return httpx.post(f"{self.daemon.url}/oauth/token", data={**fields, **changed})

    def connect(self, browser: Browser, **fields: str) -> dict[str, Any]:
        """The tokens that a signed-in person's consent gives."""
        return dict(self.exchange(code_in(browser.consent(self.address(), **fields))).json())


def answer_in(response: httpx.Response) -> dict[str, str]:
    """The parameters with which a response sends the browser back to the program."""
    assert response.status_code == 303, response.text
    return {name: values[0] for name, values in parse_qs(urlsplit(response.headers["location"]).query).items()}


def code_in(response: httpx.Response) -> str:
    """The code with which a response sends the browser back to the program."""
    return answer_in(response)["code"]
