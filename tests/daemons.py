"""Real daemons for tests: each with a home, a state folder and a port of its own, on a small vault or a given one.

with running(home, vaults=[vault]) as daemon:
    daemon.call("GET", "/health")                       # over the socket
    daemon.call("GET", "/health", token=daemon.token("codex"))       # over TCP
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from unittest.mock import patch

from tests import components, patience
from tests.command_line import run_commonplace
from tests.warm import warm, warm_program

STARTS_WITHIN: Final = 60.0  # seconds; two, on a machine that does nothing else
NOTES: Final = {
    "Projects/Greenhouse.md": "# Greenhouse\n\nThe greenhouse is heated by compost. [[Jonas]] measures the soil.\n",
    "People/Jonas.md": "# Jonas\n\nJonas builds sensors in Leipzig.\n",
    "Daily/2026-03-01.md": "# 2026-03-01\n\nPlanted tomatoes and wrote to Jonas about the new sensor.\n",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the daemon."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """What it says."""
        return json.loads(self.body)


class Process(Protocol):
    """What a daemon runs in: a program that was started, or a fork of one that has loaded everything."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...
    def terminate(self) -> None: ...
    def send_signal(self, sig: int, /) -> None: ...


Launch = Callable[[Mapping[str, str], Path], Process]
"""Starts a daemon in these surroundings, which writes its errors to that file."""


@dataclass(slots=True)
class Daemon:
    """A daemon that runs: how it is reached, and the surroundings that its client programs need."""

    home: Path
    environ: dict[str, str]
    process: Process
    url: str
    port: int
    socket: Path

    @property
    def state(self) -> Path:
        """The folder with its lock, log and tokens."""
        return Path(self.environ["COMMONPLACE_STATE"]) / "daemon"

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What `commonplace ...` prints in the surroundings of this daemon."""
        return command(self.environ, *words)

    def token(self, client: str = "test", *, scopes: Sequence[str] = ("write",), vault: str = "") -> str:
        """The secret of a new token."""
        options = [word for scope in scopes for word in ("--scope", scope)] + (["--vault", vault] if vault else [])
        made = self.command("token", "create", client, *options, "--json")
        assert made.returncode == 0, made.stdout + made.stderr
        return str(json.loads(made.stdout)["secret"])

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> Reply:
        """One request: over TCP with a token ("" for none), else over the socket. A body is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        try:
            if token is None:
                connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.sock.settimeout(timeout)
                connection.sock.connect(str(self.socket))
            text = None if body is None else json.dumps(body).encode()
            connection.request(method, path, text, {**sent, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def wait_synced(self, *, within: float = 60.0) -> None:
        """Wait until every vault's watcher has looked at everything once."""
        deadline = time.monotonic() + within
        while not all(vault.get("heard") for vault in self.call("GET", "/daemon/status").json["vaults"]):
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)

    def log(self) -> str:
        """What it has logged."""
        file = self.state / "serve.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def kill(self) -> None:
        """Kill it as hard as can be."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Ask it to stop, and give its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def surroundings(home: Path, *, provider: str = "hashing", **more: str) -> dict[str, str]:
    """The environment of a person whose home is that folder, and who has no other settings."""
    ours = components.variables_of_ours()
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "COMMONPLACE_STATE": str(home / "state" / "commonplace"),
        "COMMONPLACE_EMBEDDING__PROVIDER": provider,
        "COMMONPLACE_EMBEDDING__MODEL_FOLDER": str(components.MODEL_FOLDER),
        "COMMONPLACE_SERVE__PORT": str(free_port()),
        **more,
    }


def small_vault(root: Path) -> Path:
    """A vault of three notes."""
    for path, text in NOTES.items():
        note = root / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text)
    return root


def register(environ: Mapping[str, str], *vaults: Path) -> None:
    """What `commonplace init` does in these surroundings for each of the vaults, without a process for each."""
    from commonplace.app.registration import carry_out_init, plan_init
    from tests.vaults import make_vault

    with patch.dict(os.environ, environ, clear=True):
        for vault in vaults:
            is_in_database = str(vault).startswith("postgresql:")
            carry_out_init(plan_init(vault if is_in_database else make_vault(vault), flags={}), then=lambda: None)


def command(environ: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """What `commonplace ...` prints there, called in this process."""
    return run_commonplace(*words, env=environ)


def program(environ: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """The same by a process of its own, forked by the warm one."""
    return subprocess.run([warm_program(), *words], capture_output=True, text=True, check=False, env=dict(environ))


def launch_program(environ: Mapping[str, str], errors: Path, *, call: str = patience.DAEMON) -> Process:
    """A daemon in a fork of the warm process; it gives recall time, so that a busy machine makes no difference."""
    errors.write_bytes(b"")
    return warm().fork(call, "serve", output=Path(os.devnull), errors=errors, environ=environ)


def launch_interpreter(environ: Mapping[str, str], errors: Path) -> Process:
    """A daemon as people start it: a program with an interpreter of its own."""
    with errors.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "commonplace", "serve"],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )


def start(home: Path, environ: Mapping[str, str], launch: Launch = launch_program) -> Daemon:
    """Start a daemon in these surroundings, and wait until it answers. Whoever starts it ends it."""
    said_on_the_way = home / "serve.err"
    process = launch(environ, said_on_the_way)
    file = Path(environ["COMMONPLACE_STATE"]) / "daemon" / "serve.json"
    deadline = time.monotonic() + STARTS_WITHIN
    while not (said := _said(file)) or said["pid"] != process.pid:
        assert process.poll() is None, said_on_the_way.read_text()
        assert time.monotonic() < deadline, "the daemon does not start"
        time.sleep(0.01)
    daemon = Daemon(home, dict(environ), process, said["url"], said["port"], Path(said["socket"]))
    assert daemon.call("GET", "/health", timeout=STARTS_WITHIN).status == 200
    return daemon


@contextmanager
def running(
    home: Path, *, vaults: Sequence[Path] | None = None, provider: str = "hashing", **more: str
) -> Iterator[Daemon]:
    """A daemon for this block, which serves these vaults, the first being the default; else a small one of its own.

    `provider` is the encoder: "hashing", or "minilm-l6-v2" for the real model. `more` are variables for it.
    """
    environ = surroundings(home, provider=provider, **more)
    register(environ, *([small_vault(home / "Notes")] if vaults is None else vaults))
    daemon = start(home, environ)
    try:
        yield daemon
    finally:
        daemon.stop()


def free_port() -> int:
    """A port of the loopback that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def _said(file: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(file.read_bytes()))
    except (FileNotFoundError, ValueError):
        return None
