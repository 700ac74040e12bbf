"""MCP on standard input and output, handed on to the daemon, which is started if it does not run.

One JSON-RPC message a line. Requests run beside each other, so that a slow tool holds up nothing else; a request whose
daemon goes away is answered with an error, and the next one starts it again.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, Final

from commonplace.client.calling import Exchange
from commonplace.client.envelope import (
    INTERNAL_ERROR,
    WENT_AWAY,
    BadMessage,
    Message,
    answers,
    failure,
    read_message,
    refusal,
    wants_answer,
)
from commonplace.client.handshake import Handshake
from commonplace.client.places import Unreachable, places
from commonplace.client.starting import ensure_running
from commonplace.client.vault_asked import vault_header

_AT_ONCE: Final = 32  # requests; more wait for their turn
_ENDLESS: Final = "subscriptions/listen"  # answered as long as the client listens
_UNSURE = "it may have been carried out all the same: look before you ask for it again"


def serve_stdio(*, vault: str | None = None, client: str | None = None) -> int:
    """Hand messages on until standard input ends; the exit code. Without a vault it is the daemon's default one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is to be tidied up: the daemon keeps what it was given
    Proxy(sys.stdout.buffer, headers=vault_header(vault or ""), client=client or "").run(sys.stdin.buffer)
    return 0


class Running:
    """A message on its way to the daemon; `cancel` may come from another thread at any moment."""

    def __init__(self, message: Message, line: bytes) -> None:
        self.message = message
        self.line = line
        self.cancelled = False
        self._exchange: Exchange | None = None

    def begin(self) -> Exchange:
        """A new exchange for this message, which is given up already when the message was cancelled."""
        exchange = self._exchange = Exchange(places().socket)
        if self.cancelled:
            exchange.abandon()
        return exchange

    def cancel(self) -> None:
        """Give it up: the daemon stops working on it, and it is not answered."""
        self.cancelled = True
        if self._exchange:
            self._exchange.abandon()


class Proxy:
    """Takes lines, hands each on to the daemon, and writes what it answers."""

    def __init__(self, out: BinaryIO, *, headers: Mapping[str, str], client: str = "") -> None:
        self._out = out
        self._handshake = Handshake(headers, client=client)
        self._running: dict[object, Running] = {}
        self._writing = threading.Lock()
        self._starting = threading.Lock()

    def run(self, lines: Iterable[bytes]) -> None:
        """Hand on every line, and return when the lines have ended and every request is answered."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            pool.submit(self._start_ahead)
            for line in lines:
                if line.strip():
                    self._take(line.strip(), pool)
            for running in list(self._running.values()):
                if running.message.get("method") == _ENDLESS:
                    running.cancel()

    def _take(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = read_message(line)
        except BadMessage as bad:
            self._write(failure(None, str(bad), code=bad.code))
            return
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
            return
        self._handshake.learn(message)
        running = Running(message, line)
        if wants_answer(message):
            self._running[message["id"]] = running
        pool.submit(self._carry, running)

    def _cancel(self, message: Message) -> None:
        """Stop what the message names; the daemon knows no session in which it could look for it itself."""
        params = message.get("params")
        named = params.get("requestId") if isinstance(params, dict) else None
        running = self._running.get(named) if isinstance(named, str | int | float) else None
        if running:
            running.cancel()

    def _carry(self, running: Running) -> None:
        try:
            self._hand_on(running)
        except Unreachable as error:
            why = f"{error}; {_UNSURE}" if error.sent else str(error)
            self._fail(running, why, code=WENT_AWAY)
        except Exception as error:  # noqa: BLE001 (the outermost door: whatever it is, the client gets an answer)
            traceback.print_exc()
            self._fail(running, f"unexpected {type(error).__name__}: {error}", code=INTERNAL_ERROR)
        finally:
            if self._running.get(running.message.get("id")) is running:
                del self._running[running.message["id"]]

    def _hand_on(self, running: Running) -> None:
        try:
            self._ask(running)
        except Unreachable as error:
            if error.sent or running.cancelled:
                raise
            self._start()
            self._ask(running)

    def _ask(self, running: Running) -> None:
        with running.begin() as exchange:
            exchange.ask("POST", "/mcp", body=running.line, headers=self._handshake.headers_for(running.message))
            self._handshake.learn_headers(exchange.headers)
            if exchange.headers.get("content-type", "").startswith("text/event-stream"):
                self._pass_on_events(running, exchange)
            else:
                self._pass_on(running, exchange)

    def _pass_on(self, running: Running, exchange: Exchange) -> None:
        body = exchange.whole()
        if not wants_answer(running.message):
            return
        if exchange.status != 200:
            body = refusal(running.message, status=exchange.status, body=body)
        self._answer(running, body)

    def _pass_on_events(self, running: Running, exchange: Exchange) -> None:
        answered = not wants_answer(running.message)
        for event in exchange.events():
            answered = answered or answers(event, running.message)
            self._answer(running, event)
        if not answered:
            raise Unreachable("the daemon ended its answer too early", sent=True)

    def _answer(self, running: Running, line: bytes) -> None:
        self._handshake.learn_answer(line, to=running.message)
        if not running.cancelled:
            self._write(line)

    def _fail(self, running: Running, why: str, *, code: int) -> None:
        if wants_answer(running.message) and not running.cancelled:
            self._write(failure(running.message, why, code=code))

    def _start(self) -> None:
        with self._starting:
            ensure_running()

    def _start_ahead(self) -> None:
        """Start the daemon while the client is still getting ready; trouble is told to whoever asks for something."""
        try:
            self._start()
        except Unreachable as error:
            print(f"commonplace: {error}", file=sys.stderr, flush=True)  # noqa: T201 (hosts keep it as the log)

    def _write(self, line: bytes) -> None:
        """One line on standard output; without a reader there is nothing left to do."""
        with self._writing:
            try:
                self._out.write(b" ".join(line.splitlines()) + b"\n")
                self._out.flush()
            except BrokenPipeError:
                os._exit(1)
