"""The guard in front of an app that says what it saw."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.daemon.server.guard import guard_app
from commonplace.daemon.tokens import Tokens
from commonplace.identity.access import Identities
from commonplace.identity.schema import SqliteIdentities
from commonplace.model import Caller
from commonplace.model.change import CALLER, Via
from commonplace.policy.options import ServeOptions
from commonplace.web.page.sessions import PageSessions

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
OPTIONS = ServeOptions(max_body_bytes=1000, burst=5, requests_per_second=1.0, body_seconds=0.2)
HOST = ("Host", "127.0.0.1:8377")

Message = dict[str, Any]
Send = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, str]:
        shown: dict[str, str] = json.loads(self.body)["error"]
        return shown


class Inside:
    """The app behind the guard: it keeps what it sees, and answers with its body in two pieces."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, bytes]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await send({"type": "lifespan.startup.complete"})
            return
        message = await receive()
        self.seen.append((scope, message["body"]))
        headers = [(b"content-type", b"text/plain"), (b"Server", b"secret/1.0"), (b"cache-control", b"public")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"one ", "more_body": True})
        await send({"type": "http.response.body", "body": b"two"})

    @property
    def caller(self) -> Caller:
        found: Caller = self.seen[-1][0][CALLER]
        return found


class House:
    """A guard, the app behind it, its tokens and its clock."""

    def __init__(self, folder: Path, *, via: Via = "tcp", options: ServeOptions = OPTIONS) -> None:
        self.tokens, self.inside, self.now = Tokens(folder / "tokens.json"), Inside(), NOW
        self.sessions = PageSessions(lambda: self.now)
        self.identities = Identities(SqliteIdentities(folder / "identity.db"))
        self.guard = self.guarding(self.inside, via=via, options=options)
        self.port = 8377 if via == "tcp" else None

    def guarding(self, app: Any, *, via: Via, options: ServeOptions = OPTIONS) -> Any:
        """A guard in front of that app."""
        return guard_app(
            app,
            via=via,
            options=options,
            tokens=self.tokens,
            sessions=self.sessions,
            identities=self.identities,
            clock=lambda: self.now,
        )

    def token(self, *scopes: Any, vault: str = "") -> str:
        """A new secret."""
        return self.tokens.create("claude-code", scopes=scopes or ("read", "write"), vault=vault, now=NOW)[1]

    def ask(
        self, path: str = "/mcp", *headers: tuple[str, str], method: str = "GET", body: Sequence[bytes] = (b"",)
    ) -> Reply:
        """One request; a piece of None in its body never comes."""
        return asyncio.run(self._ask(path, headers, method, body))

    def meet(self, scope: Message, receive: Any, send: Any) -> None:
        """One connection of whatever kind."""

        async def run() -> None:
            await self.guard(scope, receive, send)

        asyncio.run(run())

    async def _ask(self, path: str, headers: Sequence[tuple[str, str]], method: str, body: Sequence[bytes]) -> Reply:
        pieces = [{"type": "http.request", "body": each, "more_body": True} for each in body]
        sent: list[Message] = []

        async def receive() -> Any:
            if not pieces:
                await asyncio.sleep(60)
            piece = pieces.pop(0)
            return piece if pieces or piece["body"] == b"..." else {**piece, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": raw}
        await self.guard({**scope, "server": ("127.0.0.1", self.port)}, receive, send)
        start, *rest = sent
        shown = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
        return Reply(start["status"], shown, b"".join(each["body"] for each in rest))


def bearer(secret: str) -> tuple[str, str]:
    return ("Authorization", f"Bearer {secret}")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def at_socket(tmp_path: Path) -> House:
    return House(tmp_path, via="socket")


def test_a_caller_with_a_token_is_let_in_and_the_answer_streams(house: House) -> None:
    """The door sees who it is, the body, and not the token."""
    secret = house.token("read")
    reply = house.ask("/mcp", HOST, bearer(secret), method="POST", body=[b"a", b"b"])

    assert (reply.status, reply.body) == (200, b"one two")
    assert house.inside.caller == Caller("claude-code", frozenset({"read"}), vault="", via="tcp")
    assert house.inside.seen[0][1] == b"ab"
    assert secret not in str(house.inside.seen)


def test_every_answer_has_our_headers_and_names_no_server(house: House) -> None:
    """Those that the app sets in their place are dropped. Refusals have them too."""
    good, bad = house.ask("/mcp", HOST, bearer(house.token())), house.ask("/mcp", HOST)

    for reply in (good, bad):
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "server" not in reply.headers
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_refusals_have_the_one_shape(house: House) -> None:
    """Type, reason, message and hint, as JSON."""
    reply = house.ask("/mcp", HOST)

    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["www-authenticate"] == "Bearer"
    assert json.loads(reply.body)["ok"] is False
    assert (reply.error["type"], reply.error["reason"]) == ("Refused", "refused")
    assert reply.error["hint"].endswith(".")


def test_health_wants_no_token_and_nothing_else_is_without(house: House) -> None:
    """By GET and HEAD alone, at exactly that path; the Host is checked there too."""
    assert house.ask("/health", HOST).status == 200
    assert house.ask("/health", HOST, method="HEAD").status == 200
    assert house.ask("/health", HOST, method="POST").status == 401
    assert house.ask("/health/", HOST).status == 401
    assert house.ask("/healthy", HOST).status == 401
    assert house.ask("/health", ("Host", "evil.example")).status == 421


def test_missing_wrong_and_revoked_tokens_get_the_same_answer(house: House) -> None:
    """Nothing tells a guess from a token that once was good."""
    revoked = house.token()
    house.tokens.revoke("claude-code", now=NOW)
    headers = [(), (bearer("cpl_wrong"),), (bearer(revoked),), (bearer(""),), (("Authorization", "Basic eDp5"),)]
    replies = [house.ask("/mcp", HOST, *each) for each in headers]

    assert {reply.status for reply in replies} == {401}
    assert len({(reply.body, str(reply.headers)) for reply in replies}) == 1
    assert house.inside.seen == []


def test_two_authorizations_are_none(house: House) -> None:
    """Otherwise a proxy and we might each read another one."""
    secret = house.token()

    assert house.ask("/mcp", HOST, bearer(secret), bearer(secret)).status == 401


def test_wrong_tokens_are_slowed_down_and_good_ones_are_not(house: House) -> None:
    """After fifty guesses a guesser has to wait; the client with a token does not notice."""
    secret = house.token()
    statuses = [house.ask("/mcp", HOST, bearer(f"cpl_{number}")).status for number in range(52)]
    slowed = house.ask("/mcp", HOST)
    good = house.ask("/mcp", HOST, bearer(secret))
    house.now += timedelta(seconds=10)
    later = house.ask("/mcp", HOST)

    assert statuses == [401] * 50 + [429] * 2
    assert (slowed.status, slowed.headers["retry-after"]) == (429, "1")
    assert (good.status, later.status) == (200, 401)


def test_a_damaged_list_of_tokens_lets_nobody_in(house: House, tmp_path: Path) -> None:
    """The caller does not learn where it lies; health and the next good list go on."""
    secret = house.token()
    kept = (tmp_path / "tokens.json").read_text()
    (tmp_path / "tokens.json").write_text("{")
    reply = house.ask("/mcp", HOST, bearer(secret))
    healthy = house.ask("/health", HOST)
    (tmp_path / "tokens.json").write_text(kept)

    assert reply.status == 503
    assert str(tmp_path) not in reply.body.decode()
    assert healthy.status == 200
    assert house.ask("/mcp", HOST, bearer(secret)).status == 200


@pytest.mark.parametrize("path", ["/daemon/status", "/daemon/stop", "/daemon", "/daemon/"])
def test_the_daemon_itself_is_for_admins(house: House, path: str) -> None:
    """A token that may write notes may not stop the daemon."""
    refused = house.ask(path, HOST, bearer(house.token("read", "write")))

    assert (refused.status, refused.error["message"]) == (403, "this token lacks the scope admin")
    assert house.ask(path, HOST, bearer(house.token("admin"))).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [("Host", "evil.example:8377")],
        [("Host", "127.0.0.1:9999")],
    ],
)
def test_a_host_that_is_not_ours_is_misdirected(house: House, headers: list[tuple[str, str]]) -> None:
    """Even with a good token: a page that has pointed its name at us gets nothing."""
    assert house.ask("/mcp", *headers, bearer(house.token())).status == 421
    assert house.inside.seen == []


@pytest.mark.parametrize("headers", [[], [HOST, HOST], [HOST, ("Host", "evil.example")]])
def test_one_host_is_wanted(house: House, headers: list[tuple[str, str]]) -> None:
    """None, or two of them, is no request that we understand."""
    assert house.ask("/mcp", *headers, bearer(house.token())).status == 400


@pytest.mark.parametrize(
    "headers",
    [
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
        [("Origin", "http://localhost:3000")],
        [("Sec-Fetch-Site", "cross-site")],
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-origin")],
    ],
)
def test_a_strange_page_may_not_call(house: House, headers: list[tuple[str, str]]) -> None:
    """Not with a token either, and it is told nothing that would let it read the answer."""
    reply = house.ask("/mcp", HOST, bearer(house.token()), *headers)
    preflight = house.ask("/mcp", HOST, ("Access-Control-Request-Method", "POST"), *headers, method="OPTIONS")

    assert (reply.status, preflight.status) == (403, 403)
    assert not [name for name in (*reply.headers, *preflight.headers) if name.startswith("access-control")]
    assert house.inside.seen == []


def test_two_origins_are_refused(house: House) -> None:
    """A good one first and a bad one second must not pass."""
    both = [("Origin", "app://obsidian.md"), ("Origin", "https://evil.example")]

    assert house.ask("/mcp", HOST, bearer(house.token()), *both).status == 400


def test_an_allowed_page_may_ask_first_and_then_read(house: House) -> None:
    """The question wants no token, since a browser sends none; it grants what we read and no cookies."""
    origin = ("Origin", "app://obsidian.md")
    asked = [
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization, Content-Type, mcp-protocol-version, x-evil"),
    ]
    preflight = house.ask("/mcp", HOST, origin, *asked, method="OPTIONS")
    read = house.ask("/mcp", HOST, origin, bearer(house.token()))
    refused = house.ask("/mcp", HOST, origin)

    assert (preflight.status, preflight.body) == (204, b"")
    assert preflight.headers["access-control-allow-headers"] == "authorization, content-type, mcp-protocol-version"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    for reply in (preflight, read, refused):
        assert reply.headers["access-control-allow-origin"] == "app://obsidian.md"
        assert reply.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in reply.headers
    assert (read.status, refused.status) == (200, 401)


def test_an_options_that_is_no_question_of_a_browser_wants_a_token(house: House) -> None:
    """Without an origin, or without the method it asks for."""
    assert house.ask("/mcp", HOST, method="OPTIONS").status == 401
    assert house.ask("/mcp", HOST, ("Origin", "app://obsidian.md"), method="OPTIONS").status == 401


def test_a_caller_with_too_many_requests_waits(house: House) -> None:
    """It is told how long; after that it may go on. Another caller is not held up."""
    secret, other = house.token(), house.tokens.create("other", scopes=["read"], vault="", now=NOW)[1]
    replies = [house.ask("/mcp", HOST, bearer(secret)) for _ in range(6)]
    meanwhile = house.ask("/mcp", HOST, bearer(other))
    house.now += timedelta(seconds=1)
    later = house.ask("/mcp", HOST, bearer(secret))

    assert [reply.status for reply in replies] == [200] * 5 + [429]
    assert replies[-1].headers["retry-after"] == "1"
    assert (meanwhile.status, later.status) == (200, 200)


def test_on_the_socket_too_there_is_a_rate(at_socket: House) -> None:
    """By the name that a caller gives."""
    statuses = [at_socket.ask("/mcp").status for _ in range(6)]

    assert statuses == [200] * 5 + [429]
    assert at_socket.ask("/mcp", ("Commonplace-Client", "other")).status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (json.dumps({f"k{number}": 1 for number in range(50_001)}), 413),
        (json.dumps([{"a": {"b\\": 1}}] * 25_001, indent=1), 413),
        (json.dumps({"tags": [[]] * 60_000}), 413),
        (json.dumps({"a": {f"k{number}": 1 for number in range(49_000)}}), 200),
        (json.dumps({"text": '{"a": 1, "b\\": 2}' * 60_000}), 200),
        ('"' + '\\"' * 300_000, 200),
    ],
)
def test_a_body_with_more_fields_than_any_request_is_refused_before_it_is_parsed(
    tmp_path: Path, body: str, status: int
) -> None:
    """Each unknown field may become an error, for which all callers wait; JSON in a text is no field."""
    house = House(tmp_path, options=replace(OPTIONS, max_body_bytes=4_000_000))
    reply = house.ask("/mcp", HOST, bearer(house.token()), method="POST", body=[body.encode()])

    assert reply.status == status
    assert bool(house.inside.seen) == (status == 200)


def test_a_body_that_says_it_is_too_large_is_not_read(house: House) -> None:
    """The answer comes at once, and the connection ends."""
    length = ("Content-Length", "1001")
    reply = house.ask("/mcp", HOST, bearer(house.token()), length, method="POST", body=[b"x" * 1001])

    assert (reply.status, reply.headers["connection"]) == (413, "close")
    assert (reply.error["reason"], house.inside.seen) == ("too_large", [])


def test_a_body_in_pieces_is_counted_as_it_comes(house: House) -> None:
    """It is refused at the first byte too many, though more would come."""
    chunked = ("Transfer-Encoding", "chunked")
    token = bearer(house.token())
    fits = house.ask("/mcp", HOST, token, chunked, method="POST", body=[b"x" * 500] * 2)
    refused = house.ask("/mcp", HOST, token, chunked, method="POST", body=[b"x" * 500, b"x" * 501, b""])

    assert (fits.status, refused.status) == (200, 413)
    assert len(house.inside.seen) == 1


def test_a_body_that_does_not_come_is_not_waited_for(house: House) -> None:
    """The last piece says that more follows, and nothing does."""
    length = ("Content-Length", "100")
    reply = house.ask("/mcp", HOST, bearer(house.token()), length, method="POST", body=[b"..."])

    assert (reply.status, reply.headers["connection"]) == (408, "close")
    assert house.inside.seen == []


@pytest.mark.parametrize(
    "headers",
    [
        [("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
        [("Content-Length", "5"), ("Content-Length", "6")],
        [("Content-Length", "5"), ("Content-Length", "5")],
        [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "identity")],
    ],
)
def test_a_length_that_is_given_twice_is_refused(house: House, headers: list[tuple[str, str]]) -> None:
    """Two readers could see two bodies in it."""
    reply = house.ask("/mcp", HOST, bearer(house.token()), *headers, method="POST", body=[b"x", b""])

    assert (reply.status, reply.headers["connection"]) == (400, "close")


def test_a_head_has_its_bounds(house: House) -> None:
    """A target or headers of more than 16 kB are not looked at."""
    token = bearer(house.token())
    fits = house.ask("/mcp", HOST, token, ("X-Long", "x" * 10_000))

    assert fits.status == 200
    assert house.ask("/mcp", HOST, token, ("X-Long", "x" * 17_000)).status == 431
    assert house.ask("/mcp" + "x" * 17_000, HOST, token).status == 431


@pytest.mark.parametrize("path", ["http://evil.example/mcp", "*", ""])
def test_a_target_that_is_no_path_is_refused(house: House, path: str) -> None:
    """We are nobody's proxy."""
    assert house.ask(path, HOST, bearer(house.token())).status == 400


def test_the_socket_lets_its_owner_do_everything(at_socket: House) -> None:
    """Whatever the Host; the caller gives its own name, or is called by the way it came."""
    at_socket.ask("/daemon/status", ("Host", "anything"))
    unnamed = at_socket.inside.caller
    at_socket.ask("/mcp", ("Commonplace-Client", "codex 1.2"), ("Commonplace-Vault", "/home/me/Notes"))
    named = at_socket.inside.caller

    assert unnamed == Caller("socket", frozenset({"read", "write", "admin"}), vault="", via="socket")
    assert (named.name, named.vault) == ("codex 1.2", "/home/me/Notes")


def test_a_program_on_the_socket_may_name_its_folder(house: House, at_socket: House) -> None:
    """A folder that cannot be read is no obstacle; over TCP the folder is on another machine and means nothing."""
    folders = []
    for value in ("/home/me/M%C3%A9moire%20%E8%AE%B0", "/a%00b", "/a%ff", "/" + "a" * 5000):
        assert at_socket.ask("/mcp", ("Commonplace-Folder", value)).status == 200
        folders.append(at_socket.inside.caller.folder)
    house.ask("/mcp", HOST, bearer(house.token()), ("Commonplace-Folder", "/home/me"))

    assert folders == ["/home/me/Mémoire 记", "", "", ""]
    assert house.inside.caller.folder == ""


def test_a_token_gives_the_name_and_the_header_does_not(house: House) -> None:
    """Otherwise a client could write in another's name."""
    house.ask("/mcp", HOST, bearer(house.token()), ("Commonplace-Client", "someone-else"))

    assert house.inside.caller.name == "claude-code"


@pytest.mark.parametrize(("asked", "status"), [("", 200), ("/home/me/Notes", 200), ("Notes", 200), ("/home/me/B", 403)])
def test_a_token_for_one_vault_is_for_no_other(house: House, asked: str, status: int) -> None:
    """It may be named by its path, by its folder, or not at all."""
    headers = [("Commonplace-Vault", asked)] if asked else []
    reply = house.ask("/mcp", HOST, bearer(house.token("read", vault="/home/me/Notes")), *headers)

    assert reply.status == status
    assert [each[0][CALLER].vault for each in house.inside.seen] == ["/home/me/Notes"] * (status == 200)


def test_a_free_token_may_ask_for_a_vault_in_any_script(house: House) -> None:
    """As percent-encoded UTF-8, which every client can send."""
    house.ask("/mcp", HOST, bearer(house.token()), ("Commonplace-Vault", "/home/me/M%C3%A9moire%20%E8%AE%B0"))

    assert house.inside.caller.vault == "/home/me/Mémoire 记"


@pytest.mark.parametrize(
    "header",
    [
        ("Commonplace-Vault", "/a%0d%0aX-Evil: 1"),
        ("Commonplace-Vault", "/a%00b"),
        ("Commonplace-Vault", "/a%ff"),
        ("Commonplace-Vault", "/a\xff"),
        ("Commonplace-Vault", "/" + "a" * 5000),
        ("Commonplace-Vault", "/a%e2%80%aeb"),
        ("Commonplace-Client", "a" * 65),
        ("Commonplace-Client", ""),
        ("Commonplace-Client", "<script>"),
        ("Commonplace-Client", "a\tb"),
    ],
)
def test_headers_of_ours_hold_nothing_strange(house: House, at_socket: House, header: tuple[str, str]) -> None:
    """No line ends, no nulls, no marks that turn the text, no bytes that are no UTF-8, nothing too long."""
    assert house.ask("/mcp", HOST, bearer(house.token()), header).status == 400
    assert at_socket.ask("/mcp", header).status == 400


def test_a_header_of_ours_comes_once(at_socket: House) -> None:
    """Which of two would be meant?"""
    assert at_socket.ask("/mcp", ("Commonplace-Vault", "a"), ("Commonplace-Vault", "b")).status == 400


def test_a_refusal_is_logged_without_what_it_must_not_hold(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """No token, be it in a header or in the path, no body."""
    house.ask("/mcp/cpl_inthepath", HOST, bearer("cpl_intheheader"), method="POST", body=[b"the note's text"])
    line = json.loads(capsys.readouterr().err)

    assert (line["event"], line["status"], line["path"], line["via"]) == (
        "request_refused",
        401,
        "/mcp/cpl_...",
        "tcp",
    )
    assert not any(word in str(line) for word in ("intheheader", "inthepath", "note's text"))


def test_the_log_says_whose_request_was_refused(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """Where that is known: a token that does not reach so far."""
    house.ask("/daemon/stop", HOST, bearer(house.token("read")), method="POST")
    line = json.loads(capsys.readouterr().err)

    assert (line["status"], line["caller"], line["path"]) == (403, "claude-code", "/daemon/stop")


def test_a_fault_behind_the_door_is_an_answer_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the one shape, without the words of the fault."""

    class Broken(Inside):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            raise ValueError("a note says: hunter2")

    house = House(tmp_path, via="socket")
    house.guard = house.guarding(Broken(), via="socket")
    reply = house.ask("/mcp")

    assert (reply.status, reply.error["reason"]) == (500, "unexpected")
    assert b"hunter2" not in reply.body
    assert "unexpected_error" in capsys.readouterr().err


def test_a_caller_that_goes_away_reaches_no_door(at_socket: House) -> None:
    """Half a body is not acted upon."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"content-length", b"9")], "server": None}
    at_socket.meet(scope, receive, send)

    assert (sent, at_socket.inside.seen) == ([], [])


def test_the_servers_own_start_passes_and_websockets_do_not(house: House) -> None:
    """No door of ours speaks the second."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    house.meet({"type": "lifespan"}, receive, send)
    house.meet({"type": "websocket"}, receive, send)

    assert sent == [{"type": "lifespan.startup.complete"}, {"type": "websocket.close", "code": 1008}]


def test_a_use_of_a_token_is_remembered(house: House) -> None:
    """With the time of the guard's clock."""
    house.ask("/mcp", HOST, bearer(house.token()))

    assert house.tokens.list()[0].last_used == "2026-03-01T09:12:44Z"


def test_the_limits_are_those_that_a_person_set(tmp_path: Path) -> None:
    """A larger body passes where the setting allows it."""
    house = House(tmp_path, via="socket", options=replace(OPTIONS, max_body_bytes=5000))

    assert house.ask("/mcp", ("Content-Length", "4000"), method="POST", body=[b"x" * 4000]).status == 200
