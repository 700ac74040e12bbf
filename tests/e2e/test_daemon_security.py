"""The daemon as an attacker meets it: one real process, real sockets, and callers that mean no good."""

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from commonplace.client.paths import daemon_files
from commonplace.daemon.service.state_files import instance_lock
from commonplace.daemon.tokens import PROOF_FILE, DaemonProof, Tokens, holder_of
from commonplace.errors import VaultUnavailable
from commonplace.model import Scope
from tests.daemons import Daemon, Reply, running

ACCEPT = {"Accept": "application/json, text/event-stream"}
SECRET_LINE = "the combination of the shed is 4711"
_numbers = count()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all, which is impatient and counts requests strictly."""
    limits = {"BODY_SECONDS": "0.5", "BURST": "100", "REQUESTS_PER_SECOND": "20", "MAX_BODY_BYTES": "200000"}
    settings: dict[str, Any] = {f"COMMONPLACE_SERVE__{name}": value for name, value in limits.items()}
    with running(tmp_path_factory.mktemp("daemon"), **settings) as started:
        (started.home / "Notes" / "Shed.md").write_text(f"# Shed\n\n{SECRET_LINE}\n")
        started.wait_synced()
        yield started


def token_for(daemon: Daemon, *scopes: Scope, vault: str = "") -> str:
    """A token for a client that nobody else is, so that each test has the whole rate."""
    tokens = Tokens(daemon.state / "tokens.json")
    return tokens.create(f"client-{next(_numbers)}", scopes=scopes or ("read",), vault=vault, now=datetime.now(UTC))[1]


def rpc(daemon: Daemon, method: str, params: dict[str, Any], *, token: str) -> Reply:
    """One call of MCP over TCP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return daemon.call("POST", "/mcp", token=token, body=body, headers=ACCEPT)


def use_tool(daemon: Daemon, tool: str, *, token: str, **arguments: Any) -> Reply:
    """One call of a tool."""
    return rpc(daemon, "tools/call", {"name": tool, "arguments": arguments}, token=token)


def raw(daemon: Daemon, *pieces: bytes, pause: float = 0.0) -> bytes:
    """All that the daemon says to these bytes, until it closes the connection or has nothing more to say."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        heard = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
            while more := connection.recv(65536):
                heard += more
        except (ConnectionResetError, BrokenPipeError):
            pass
        return heard


def status_of(answer: bytes) -> int:
    """The status of the first answer."""
    return int(answer.split(b" ", 2)[1])


def head(daemon: Daemon, line: str, *headers: str, token: str = "") -> bytes:
    """A request's head in bytes; it asks for the connection to be closed."""
    own = [f"Host: 127.0.0.1:{daemon.port}", "Connection: close"]
    bearer = [f"Authorization: Bearer {token}"] if token else []
    return "\r\n".join([f"{line} HTTP/1.1", *own, *bearer, *headers, "", ""]).encode("latin-1")


def healthy(daemon: Daemon) -> bool:
    """Whether it runs and answers by both ways."""
    over_tcp, by_socket = daemon.call("GET", "/health", token=""), daemon.call("GET", "/health")
    return daemon.process.poll() is None and (over_tcp.status, by_socket.status) == (200, 200)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.nip.io:{port}"])
def test_a_page_that_points_its_name_at_us_gets_nothing(daemon: Daemon, host: str) -> None:
    """DNS rebinding: the browser sends the page's own name as Host. A token does not help, health is closed too."""
    headers = {"Host": host.format(port=daemon.port)}
    replies = [
        daemon.call("GET", path, token=token, headers=headers)
        for path, token in (("/health", ""), ("/mcp", ""), ("/api/v1/notes", token_for(daemon)))
    ]

    assert [reply.status for reply in replies] == [421] * 3
    assert {reply.json["error"]["type"] for reply in replies} == {"Refused"}


def test_every_name_of_this_machine_is_ours(daemon: Daemon) -> None:
    """With and without the port; on the socket any name is."""
    hosts = ["localhost", f"localhost:{daemon.port}", "127.0.0.1", "[::1]", f"[::1]:{daemon.port}"]

    assert {daemon.call("GET", "/health", token="", headers={"Host": host}).status for host in hosts} == {200}
    assert daemon.call("GET", "/health", headers={"Host": "whatever"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_a_hostile_page_may_neither_call_nor_ask_if_it_may(daemon: Daemon, headers: dict[str, str]) -> None:
    """Not with a token, and not for health; nothing in the answer lets it read that."""
    preflight = {**headers, "Access-Control-Request-Method": "POST"}
    replies = [
        daemon.call("GET", "/api/v1/notes", token=token_for(daemon), headers=headers),
        daemon.call("GET", "/health", token="", headers=headers),
        daemon.call("OPTIONS", "/mcp", token="", headers=preflight),
    ]

    assert [reply.status for reply in replies] == [403] * 3
    assert not [name for reply in replies for name in reply.headers if name.startswith("access-control")]


def test_an_allowed_page_can_call(daemon: Daemon) -> None:
    """Obsidian's own page asks first, and then reads with its token."""
    origin = {"Origin": "app://obsidian.md", "Sec-Fetch-Site": "cross-site"}
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    preflight = daemon.call("OPTIONS", "/api/v1/notes", token="", headers={**origin, **asked})
    read = daemon.call("GET", "/api/v1/notes", token=token_for(daemon), headers=origin)
    without = daemon.call("GET", "/api/v1/notes", token="", headers=origin)

    assert (preflight.status, read.status, without.status) == (204, 200, 401)
    assert {each.headers["access-control-allow-origin"] for each in (preflight, read)} == {"app://obsidian.md"}


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/notes", "/api/v1/openapi.json", "/daemon/status", "/", "/nothing"])
def test_without_a_good_token_there_is_nothing_to_see(daemon: Daemon, path: str) -> None:
    """Missing, wrong, half, of another kind: the same answer, also where there is nothing."""
    good = token_for(daemon)
    headers: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer cpl_wrong"},
        {"Authorization": f"Bearer {good[:-1]}"},
        {"Authorization": f"Basic {good}"},
        {"Authorization": good},
        {"Cookie": f"token={good}"},
    ]
    replies = [daemon.call("GET", path, token="", headers=each) for each in headers]

    assert {reply.status for reply in replies} <= {401, 429}
    assert replies[0].headers.get("www-authenticate", "Bearer") == "Bearer"
    assert {reply.json["ok"] for reply in replies} == {False}


def test_a_token_in_the_address_is_not_read(daemon: Daemon) -> None:
    """It would land in histories and logs."""
    token = token_for(daemon)
    names = ("token", "access_token", "authorization", "bearer")
    statuses = {daemon.call("GET", f"/api/v1/notes?{name}={token}", token="").status for name in names}

    assert statuses <= {401, 429}
    assert token not in daemon.log()


def test_tokens_made_and_revoked_while_it_runs_count_at_once(daemon: Daemon) -> None:
    """By the command, in another process: made, used, revoked, refused."""
    made = daemon.command("token", "create", "by hand", "--scope", "read")
    token = made.stdout.strip()
    before = daemon.call("GET", "/api/v1/notes", token=token)
    revoked = daemon.command("token", "revoke", "by hand")
    after = daemon.call("GET", "/api/v1/notes", token=token)

    assert (made.returncode, revoked.returncode) == (0, 0)
    assert (before.status, after.status) == (200, 401)


def test_a_token_that_may_read_cannot_write_by_any_door(daemon: Daemon) -> None:
    """MCP says so as a tool's error, the API by its status; no note is there afterwards."""
    token = token_for(daemon, "read")
    by_tool = use_tool(daemon, "note_write", token=token, path="Evil.md", content="x")
    saved = use_tool(daemon, "memory_save", token=token, text="The sky is green on Tuesdays in Leipzig.")
    by_api = daemon.call("PUT", "/api/v1/notes/Evil.md", token=token, body={"content": "x"})
    may = rpc(daemon, "tools/list", {}, token=token).json["result"]["tools"]

    assert by_tool.json["result"]["isError"] is True
    assert saved.json["result"]["isError"] is True
    assert (by_api.status, by_api.json["error"]["type"]) == (403, "Refused")
    assert not {"note_write", "memory_save", "memory_forget", "undo_last"} & {tool["name"] for tool in may}
    assert not (daemon.home / "Notes" / "Evil.md").exists()


def test_a_token_that_may_write_cannot_stop_the_daemon(daemon: Daemon) -> None:
    """Not by another spelling of the path either. One with the scope admin sees the status."""
    token = token_for(daemon, "write")
    paths = ["/daemon/stop", "/daemon%2Fstop", "//daemon/stop", "/daemon/./stop", "/mcp/../daemon/stop", "/DAEMON/stop"]
    statuses = [daemon.call("POST", path, token=token).status for path in paths]

    assert set(statuses) <= {403, 404, 405}
    assert daemon.call("GET", "/daemon/status", token=token).status == 403
    assert daemon.call("GET", "/daemon/status", token=token_for(daemon, "admin")).status == 200
    assert healthy(daemon)


def test_a_token_for_one_vault_opens_no_other(daemon: Daemon) -> None:
    """By no spelling of its path; a vault that is not registered is not there for anyone."""
    ours = str(daemon.home / "Notes")
    bound, free = token_for(daemon, vault=ours), token_for(daemon)

    def asks(token: str, vault: str) -> int:
        return daemon.call("GET", "/api/v1/notes", token=token, headers={"Commonplace-Vault": vault}).status

    assert [asks(bound, ours), asks(bound, "Notes"), asks(free, ours)] == [200] * 3
    assert {asks(bound, vault) for vault in ("/etc", f"{ours}/../Other", "Other", f"{ours}/People", "/")} == {403}
    assert {asks(free, vault) for vault in ("/etc", "/", "..", f"{ours}/People", "~root")} == {404}


@pytest.mark.parametrize(
    "path",
    [
        "../../../../../../etc/passwd",
        "..%2F..%2F..%2F..%2F..%2F..%2Fetc/passwd",
        "%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "..%252F..%252Fetc%252Fpasswd",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "file:///etc/passwd",
        "People/../../../../../../etc/passwd",
        "..\\..\\etc\\passwd",
        "Jonas.md%00.md",
        ".git/config",
        "%2egit/config",
        "A/" * 300 + "a.md",
    ],
)
def test_no_path_leads_out_of_the_vault(daemon: Daemon, path: str) -> None:
    """By a resource, by a tool and by the API: an error of the caller's, and not a byte of the file."""
    token = token_for(daemon)
    replies = [
        rpc(daemon, "resources/read", {"uri": f"vault://note/{path}"}, token=token),
        use_tool(daemon, "note_read", token=token, path=path),
        daemon.call("GET", f"/api/v1/notes/{path}", token=token),
    ]

    assert all(reply.status < 500 for reply in replies)
    assert "error" in replies[0].json
    assert replies[1].json["result"]["isError"] is True
    assert replies[2].status in (400, 403, 404, 422)
    assert not any(word in reply.body for reply in replies for word in (b"root:", b"repositoryformatversion"))


def test_a_body_that_is_too_large_is_refused_at_once(daemon: Daemon) -> None:
    """By what it says of its length, before a byte of it was sent; in pieces, as soon as it is too much."""
    token = token_for(daemon, "write")
    post = head(daemon, "POST /mcp", "Content-Length: 99999999999", token=token)
    said = raw(daemon, post)
    pieces = [b"8000\r\n" + b"x" * 0x8000 + b"\r\n"] * 12
    chunked = raw(daemon, head(daemon, "POST /mcp", "Transfer-Encoding: chunked", token=token), *pieces)
    whole = daemon.call("POST", "/mcp", token=token, body="x" * 250_000)

    assert (status_of(said), status_of(chunked), whole.status) == (413, 413, 413)
    assert whole.json["error"]["reason"] == "too_large"
    assert b"connection: close" in said.lower()
    assert healthy(daemon)


def test_a_body_that_comes_slowly_is_not_waited_for(daemon: Daemon) -> None:
    """Half a second here: then 408, and the connection is closed."""
    start = time.monotonic()
    post = head(daemon, "POST /mcp", "Content-Length: 100", token=token_for(daemon))
    answer = raw(daemon, post, b"{")

    assert status_of(answer) == 408
    assert 0.4 < time.monotonic() - start < 12  # the default is 15 seconds


def test_heads_that_come_slowly_hold_nobody_up(daemon: Daemon) -> None:
    """Two hundred callers that send half a head: others are answered meanwhile, and all of them are closed."""
    slow = []
    for _ in range(200):
        slow.append(socket.create_connection(("127.0.0.1", daemon.port), timeout=60))
        slow[-1].sendall(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    served = daemon.call("GET", "/api/v1/notes", token=token_for(daemon)).status
    ends = [_end_of(connection) for connection in slow]
    for connection in slow:
        connection.close()

    assert served == 200
    assert ends == [b""] * 200


def _end_of(connection: socket.socket) -> bytes:
    """What comes before the connection is closed; a closing that drops what we sent counts."""
    try:
        return connection.recv(100)
    except ConnectionResetError:
        return b""


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that refuses a caller after a hundred requests, and then allows one in a second."""
    limits: dict[str, Any] = {"COMMONPLACE_SERVE__BURST": "100", "COMMONPLACE_SERVE__REQUESTS_PER_SECOND": "1"}
    with running(tmp_path, **limits) as started:
        started.wait_synced()
        yield started


def test_a_flood_of_tool_calls_is_answered_and_survived(strict: Daemon) -> None:
    """Four hundred calls by eight threads: each is done or told to wait; the others are served while it lasts."""
    daemon = strict
    token, other = token_for(daemon), token_for(daemon)
    statuses: list[int] = []
    waits: set[str] = set()

    def flood() -> None:
        for _ in range(50):
            reply = use_tool(daemon, "note_read", token=token, path="People/Jonas.md")
            statuses.append(reply.status)
            waits.add(reply.headers.get("retry-after", "none"))

    threads = [threading.Thread(target=flood) for _ in range(8)]
    for thread in threads:
        thread.start()
    meanwhile = use_tool(daemon, "note_read", token=other, path="People/Jonas.md")
    for thread in threads:
        thread.join()

    assert len(statuses) == 400
    assert set(statuses) == {200, 429}
    assert waits == {"none", "1"}
    assert statuses.count(200) >= 100
    assert meanwhile.json["result"]["isError"] is False
    assert healthy(daemon)


@pytest.mark.parametrize(
    "headers",
    [
        ("Content-Length: 4", "Content-Length: 40"),
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 4"),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding : chunked",),
        ("Content-Length: +4",),
        ("Content-Length: 4, 40",),
    ],
)
def test_a_request_within_a_request_is_never_answered(daemon: Daemon, headers: tuple[str, ...]) -> None:
    """Smuggling: where lengths contradict each other there is one refusal, and the connection is closed."""
    token = token_for(daemon, "admin")
    hidden = head(daemon, "GET /daemon/status", token=token)
    text = head(daemon, "POST /mcp", *headers, token=token).replace(b"Connection: close\r\n", b"")
    answer = raw(daemon, text + b"0\r\n\r\n" + hidden)

    assert status_of(answer) in (400, 413)
    assert len(re.findall(rb"HTTP/1.1 \d", answer)) == 1
    assert b'"vaults"' not in answer


@pytest.mark.parametrize("value", ["/a%0d%0aSet-Cookie: x=1", "/a%00", "%ff%fe", "/" + "a" * 5000, "/a\x7fb"])
def test_nothing_can_be_slipped_in_by_the_header_for_the_vault(daemon: Daemon, value: str) -> None:
    """Line ends, nulls, what is no text, and what is too long are refused, on the socket too."""
    replies = [
        daemon.call("GET", "/api/v1/notes", token=token_for(daemon), headers={"Commonplace-Vault": value}),
        daemon.call("GET", "/api/v1/notes", headers={"Commonplace-Vault": value}),
    ]

    assert [reply.status for reply in replies] == [400, 400]
    assert not any("set-cookie" in reply.headers for reply in replies)


def test_long_addresses_and_headers_are_refused(daemon: Daemon) -> None:
    """As a request that we do not understand, with the connection closed; the next caller is served."""
    long = "x" * 100_000
    token = token_for(daemon)
    requests = [
        head(daemon, f"GET /{long}", token=token),
        head(daemon, f"GET /mcp?{long}", token=token),
        head(daemon, "GET /mcp", f"X-Long: {long}", token=token),
        head(daemon, "GET /mcp", *(f"X-{number}: x" for number in range(5000)), token=token),
        head(daemon, "GET /mcp", f"Authorization: Bearer cpl_{long}"),
    ]
    answers = [raw(daemon, request) for request in requests]

    assert all(answer == b"" or status_of(answer) in (400, 431) for answer in answers)
    assert healthy(daemon)


def test_what_is_no_http_is_survived(daemon: Daemon) -> None:
    """A greeting of TLS, one of HTTP/2, nonsense, and a websocket."""
    token = token_for(daemon)
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
    answers = [
        raw(daemon, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200),
        raw(daemon, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        raw(daemon, b"\x00\xff" * 500 + b"\r\n\r\n"),
        raw(daemon, head(daemon, "GET /mcp", *upgrade, token=token)),
    ]

    assert not any(b" 101 " in answer or b" 200 " in answer for answer in answers)
    assert healthy(daemon)


def test_the_log_holds_no_token_and_no_notes_text(daemon: Daemon) -> None:
    """Whatever was asked: a good call, a wrong one, a token in the address, a search, and a write that is refused."""
    good, wrong = token_for(daemon, "write"), "cpl_wrongbutlookslikeone"
    use_tool(daemon, "note_read", token=good, path="Shed.md")
    use_tool(daemon, "memory_search", token=good, query="combination of the shed")
    use_tool(daemon, "note_write", token=good, path="../Shed.md", content=SECRET_LINE)
    daemon.call("GET", f"/api/v1/notes/{good}?token={good}", token=wrong)
    daemon.call("POST", f"/nothing/{good}", token=good, body={"text": SECRET_LINE})
    log = daemon.log()
    secrets = (good, wrong, "4711", "combination")

    assert '"event": "request_refused"' in log
    assert [word for word in secrets if word in log] == []


def test_answers_carry_no_servers_name_and_are_not_kept(daemon: Daemon) -> None:
    """By every door, and for refusals."""
    token = token_for(daemon)
    replies = [
        daemon.call("GET", "/health", token=""),
        daemon.call("GET", "/api/v1/notes", token=token),
        rpc(daemon, "tools/list", {}, token=token),
        daemon.call("GET", "/daemon/nothing", token=token),
    ]

    assert {reply.headers["cache-control"] for reply in replies} == {"no-store"}
    assert {reply.headers["x-content-type-options"] for reply in replies} == {"nosniff"}
    assert {reply.headers["referrer-policy"] for reply in replies} == {"no-referrer"}
    assert not [reply for reply in replies if "server" in reply.headers]


def test_nobody_else_can_reach_the_socket_or_read_what_lies_beside_it(daemon: Daemon) -> None:
    """The folder lets its owner alone in, and so does each file."""
    modes = {path.name: path.stat().st_mode & 0o777 for path in daemon.state.iterdir() if path.exists()}

    assert daemon.state.stat().st_mode & 0o777 == 0o700
    assert {"serve.sock", "serve.json", "serve.log", "serve.lock", "tokens.json"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_it_listens_on_this_machine_alone(daemon: Daemon) -> None:
    """The port is open at 127.0.0.1; a server for every address would answer at the one beside it too."""
    with pytest.raises(OSError):  # noqa: PT011 (each system has words of its own for it)
        socket.create_connection(("127.0.0.2", daemon.port), timeout=2)
    assert healthy(daemon)


def test_a_damaged_list_of_tokens_lets_nobody_in(daemon: Daemon) -> None:
    """Not even with a good one; the socket goes on, and a mended list is believed again."""
    token, path = token_for(daemon), daemon.state / "tokens.json"
    kept = path.read_bytes()
    path.write_bytes(kept[:-20])
    refused = daemon.call("GET", "/api/v1/notes", token=token)
    by_socket = daemon.call("GET", "/api/v1/notes")
    path.write_bytes(kept)

    assert (refused.status, by_socket.status) == (503, 200)
    assert str(path) not in refused.body.decode()
    assert daemon.call("GET", "/api/v1/notes", token=token).status == 200


@pytest.mark.parametrize("how", ["open to others", "of another user", "a link"])
def test_a_folder_that_is_not_ours_alone_is_not_served_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Whoever else may enter it could put a socket of his own there."""
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    folder = daemon_files().folder
    folder.parent.mkdir()
    if how == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir(mode=0o700)
    if how == "open to others":
        folder.chmod(0o755)
    elif how == "of another user":
        if os.getuid():
            pytest.skip("only root can give a folder away")
        os.chown(folder, 65534, 65534)

    with pytest.raises(VaultUnavailable, match=str(folder)), instance_lock(daemon_files()):
        pass
    assert list(folder.iterdir()) == []


def test_the_daemon_proves_who_it_is_before_anybody_sends_a_token(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a nonce, a key that only its user can read, and its own port; what the proof is made of is not told."""
    nonce = "0f" * 16
    proof = daemon.call("GET", f"/proof?nonce={nonce}", token="").json["proof"]
    for name, value in daemon.environ.items():
        monkeypatch.setenv(name, value)
    key = DaemonProof(daemon.state / PROOF_FILE)

    assert key.fits(proof, nonce, port=daemon.port)
    assert not key.fits(proof, nonce, port=daemon.port + 1)
    assert not key.fits(proof, "1f" * 16, port=daemon.port)
    assert holder_of(daemon.port) == "daemon"
    assert (daemon.state / PROOF_FILE).stat().st_mode & 0o777 == 0o600
    assert daemon.call("GET", "/proof?nonce=short", token="").status == 400
    assert daemon.call("POST", f"/proof?nonce={nonce}", token="").status == 401


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/net/tcp").exists(), reason="needs another user on Linux")
def test_a_token_that_another_user_has_got_hold_of_is_of_no_use(daemon: Daemon) -> None:
    """A host sends it to whoever holds the port while the daemon is down; replayed, it opens nothing."""
    secret = daemon.token("cursor", scopes=["read"])
    reply = as_another_user(daemon, "/api/v1/topics", f"Authorization: Bearer {secret}")

    assert reply.startswith("HTTP/1.1 403 "), reply
    assert "this token is used by another user of this machine" in reply
    assert daemon.call("GET", "/api/v1/topics", token=secret).status == 200


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/net/tcp").exists(), reason="needs another user on Linux")
def test_a_link_or_a_cookie_of_the_page_is_of_no_use_to_another_user(daemon: Daemon) -> None:
    """A browser sends the cookie to every port of this machine; the link still works for its own user afterwards."""
    link = str(daemon.call("POST", "/daemon/page-link").json["url"]).removeprefix(daemon.url)
    stolen_link = as_another_user(daemon, link, "Accept: text/html")
    cookie = daemon.call("GET", link, token="").headers["set-cookie"].split(";")[0]
    stolen_cookie = as_another_user(daemon, "/notes", f"Cookie: {cookie}")

    assert stolen_link.startswith("HTTP/1.1 403 "), stolen_link
    assert stolen_cookie.startswith("HTTP/1.1 403 "), stolen_cookie
    assert daemon.call("GET", "/notes", token="", headers={"Cookie": cookie}).status == 200


def as_another_user(daemon: Daemon, path: str, header: str) -> str:
    """The answer to a request that another user of this machine makes."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n{header}\r\nConnection: close\r\n\r\n"
    os.seteuid(65534)  # a socket belongs to whoever makes it
    try:
        connection = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
    finally:
        os.seteuid(0)
    with connection:
        connection.sendall(request.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
