"""The process of a hook: one event, from the host's JSON input to the daemon's context in its output.

It always exits with 0, in time, and with at most one line for a person to read. HTTP is written by hand: the library
takes three times as long to load. What a hook could not do is kept in a file for `commonplace doctor`, because no
daemon was there to log it.
"""

import _thread
import json
import os
import socket
import time
from collections.abc import Callable, Mapping

from commonplace.agent_hosts import AGENT_HOSTS, HOOK_EVENTS, find_agent_host, host_of_hook
from commonplace.client.paths import (
    NoAnswer,
    Unreachable,
    check_private,
    daemon_path,
    registry_path,
    socket_path,
    vault_header,
)
from commonplace.hooks.arguments import AUTO, HookArguments

HookInput = Mapping[str, object]
SKIPS_FILE = "hook_skips.tsv"
"""A file in the daemon's folder; each line is a time, a host, an event and a reason, separated by tabs."""

_SECONDS = {"session-start": 0.8, "prompt": 0.5}
_OTHER_SECONDS = 0.3
_STARTUP_SECONDS = 0.05  # what the interpreter may have taken until here
_WRITE_SECONDS = 0.05  # for the last output, or for output that is being written at that moment
_CHUNK = 1 << 16
_MOST_REPLY_BYTES = 1_000_000
_TIMED_OUT = "the daemon did not answer in time"
_REPLACED = "the daemon did not answer in time; if it hangs, it is replaced now"
_DISCONNECTED = "the daemon closed the connection before it answered"
_WITH_CONTEXT = ("session-start", "prompt")
_START = "session-start"
_RETURN_SECONDS = 0.06  # of what is left, kept back from the daemon for the way back
_REPLACE_SECONDS = 0.03  # of a session's start, to hand over a daemon that does not answer; a fork takes about one ms
_MOST_INPUT_BYTES = 2_000_000
_LONGEST_PROMPT = 100_000  # characters; of a longer one, which holds something pasted, the beginning and the end
_LONGEST_FIELD = 4096
_FIELDS = ("session_id", "transcript_path", "cwd", "source")
_TURN_FIELDS = tuple(host.turn_field for host in AGENT_HOSTS if host.turn_field)
_STDOUT, _STDERR = 1, 2
_MOST_SKIP_BYTES = 64_000  # of the file of skips; a larger one is truncated
_LONGEST_SKIP_FIELD = 300


class Skipped(Exception):
    """Nothing is done this time; the text is the reason, empty if a person need not know."""


class InvalidInput(Exception):
    """The host's input is not an event; the text is the reason."""


class NotRunning(Unreachable):
    """No daemon is running."""


class HookReply:
    """The daemon's response: the status, and the JSON object in its body."""

    __slots__ = ("body", "status")

    def __init__(self, status: int, body: Mapping[str, object]) -> None:
        self.status = status
        self.body = body


class Deadline:
    """How long an event may take, counted from the start of the process."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._ending = _thread.allocate_lock()

    @property
    def left(self) -> float:
        """Seconds that are left; at least a millisecond, so that it is valid as a timeout."""
        return max(0.001, self._end - time.monotonic())

    def enforce(self, give_up: Callable[[], None]) -> None:
        """End the process at the deadline with exit code 0, after `give_up`, unless it is ending already."""
        _thread.start_new_thread(self._wait, (give_up,))

    def end(self, last_output: Callable[[], None]) -> None:
        """End the process now with exit code 0, after `last_output`."""
        with self._ending:
            try:
                last_output()
            finally:
                os._exit(0)  # Python's own shutdown would take longer than it is worth

    def _wait(self, give_up: Callable[[], None]) -> None:
        time.sleep(self.left)
        _thread.start_new_thread(_force_exit, ())
        self.end(give_up)


def run_hook(arguments: HookArguments) -> None:
    """Answer the host and end this process with exit code 0; a host takes any other as the wish to stop."""
    deadline = deadline_for(arguments.event)
    deadline.enforce(lambda: _skip(arguments, "it took too long"))
    try:
        output = handle_event(arguments, deadline)
        deadline.end(lambda: _write(_STDOUT, output))
    except Skipped as skipped:
        reason = str(skipped)
        deadline.end(lambda: _skip(arguments, reason))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the outermost door: the host always goes on)
        unexpected = f"unexpected {type(error).__name__}: {error}"
        deadline.end(lambda: _skip(arguments, unexpected))


def deadline_for(event: str) -> Deadline:
    """The deadline of an event whose process has just started."""
    return Deadline(_SECONDS.get(event, _OTHER_SECONDS) - _STARTUP_SECONDS)


def _force_exit() -> None:
    """The last resort, in case even the last output blocks on a disk."""
    time.sleep(_WRITE_SECONDS)
    os._exit(0)


def handle_event(arguments: HookArguments, deadline: Deadline) -> str:
    """The output for the host: one JSON object, or nothing. Sets the host in `arguments`. Raises Skipped."""
    if arguments.error:
        raise Skipped(arguments.error)
    try:
        fields = {} if arguments.event == "ping" else read_input()
        if fields.get("stop_hook_active") is True:  # a stop that another stop hook caused
            return ""
        if arguments.host == AUTO:
            arguments.host = host_of_hook(fields, os.environ)
        return _output(arguments, _request(arguments, fields, _reply_deadline(arguments.event, deadline)))
    except InvalidInput as error:
        raise Skipped(str(error)) from error
    except NotRunning as error:
        raise Skipped(_start_daemon()) from error
    except NoAnswer as error:
        raise Skipped(_replace_daemon() if arguments.event == _START else str(error)) from error
    except Unreachable as error:
        raise Skipped(str(error)) from error


def _reply_deadline(event: str, deadline: Deadline) -> Deadline:
    """How long the daemon is waited for."""
    return Deadline(deadline.left - _REPLACE_SECONDS) if event == _START else deadline


def read_input(descriptor: int = 0) -> HookInput:
    """The object that the host wrote, once it has closed the pipe; the caller limits the time. Raises InvalidInput."""
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(descriptor, _CHUNK):
            size += len(chunk)
            if size <= _MOST_INPUT_BYTES:
                chunks.append(chunk)  # the rest is read and dropped: a host may take a closed pipe for an error
    except OSError as error:
        raise InvalidInput(f"standard input cannot be read: {error.strerror}") from error
    if size > _MOST_INPUT_BYTES:
        raise InvalidInput(f"the host's input has {size} bytes; at most {_MOST_INPUT_BYTES} are accepted")
    return _parse(b"".join(chunks))


def _parse(content: bytes) -> HookInput:
    if not content.strip():
        return {}
    try:
        fields = json.loads(content.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the host's input is not JSON") from error
    if not isinstance(fields, dict):
        raise InvalidInput("the host's input is not a JSON object")
    return fields


def _text(value: object) -> str:
    """The text without lone surrogates, which JSON can hold and other programs cannot; empty for other values."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def request_fields(fields: HookInput) -> dict[str, str]:
    """The fields of the input that go to the daemon, as valid text."""
    texts = {name: text for name in _FIELDS if (text := _text(fields.get(name))) and len(text) <= _LONGEST_FIELD}
    turn = next((text for name in _TURN_FIELDS if (text := _text(fields.get(name)))), "")
    if 0 < len(turn) <= _LONGEST_FIELD:
        texts["turn"] = turn
    prompt = _text(fields.get("prompt"))
    if len(prompt) > _LONGEST_PROMPT:
        half = _LONGEST_PROMPT // 2
        prompt = f"{prompt[:half]}\n{prompt[-half:]}"
    return {**texts, "prompt": prompt}


def _request(arguments: HookArguments, fields: HookInput, deadline: Deadline) -> Mapping[str, object]:
    host = find_agent_host(arguments.host)
    body = {
        **request_fields(fields),
        "phase": arguments.phase,
        "tokens": host.context_tokens if host else 0,
        "within": round(max(0.0, deadline.left - _RETURN_SECONDS), 3),
    }
    headers = {"Commonplace-Client": arguments.host, **vault_header(arguments.vault)}
    reply = post(f"/hooks/v1/{arguments.event}", body, headers=headers, deadline=deadline)
    if reply.status not in (200, 202):
        raise Skipped(_error_message(reply))
    return reply.body


def _output(arguments: HookArguments, body: Mapping[str, object]) -> str:
    """The injected text in the format that all hosts accept, and the line for the person's screen; empty if neither.

    At a stop, the reason to go on, if there is one.
    """
    if arguments.event not in _WITH_CONTEXT:
        reason = body.get("reflect")
        return json.dumps({"decision": "block", "reason": reason}) if reason else ""
    answer: dict[str, object] = {}
    if text := body.get("context"):
        host = find_agent_host(arguments.host)
        events = host.hook_events if host and host.hook_events else HOOK_EVENTS
        name = next(name for name, ours in events.items() if ours == arguments.event)
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": text}
    if line := body.get("screen"):
        answer["systemMessage"] = line
    return json.dumps(answer) if answer else ""


def _error_message(reply: HookReply) -> str:
    error = reply.body.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return str(message or f"the daemon answered with HTTP status {reply.status}")


def _start_daemon() -> str:
    """Start a daemon for the next event; the reason to show. Without a registered vault, nothing is done or shown."""
    try:
        if not os.path.exists(registry_path()):
            return ""
        from commonplace.client.start import start_without_waiting

        return (
            "the daemon was not running and has been started" if start_without_waiting() else "the daemon is starting"
        )
    except Unreachable as error:
        return str(error)


def _replace_daemon() -> str:
    """Leave it to a process of its own to replace the daemon if it hangs; the reason to show.

    `commonplace serve`, which that process runs, ends and replaces no daemon that is only busy.
    """
    if os.fork():
        return _REPLACED
    try:
        os.setsid()
        for descriptor in (0, _STDOUT, _STDERR):  # a host waits until nobody holds them any more
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        _start_daemon()
    finally:
        os._exit(0)


def post(path: str, body: Mapping[str, object], *, headers: Mapping[str, str], deadline: Deadline) -> HookReply:
    """The daemon's response to a POST. Raises NotRunning if there is no daemon, NoAnswer, Unreachable."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        _connect(connection, socket_path(), deadline)
        try:
            connection.sendall(_request_bytes(path, json.dumps(body).encode(), headers))
            return _read(connection, deadline)
        except TimeoutError as error:
            raise NoAnswer(_TIMED_OUT, sent=True) from error
        except OSError as error:
            raise Unreachable(_DISCONNECTED, sent=True) from error


def _connect(connection: socket.socket, file: str, deadline: Deadline) -> None:
    connection.settimeout(deadline.left)
    try:
        check_private(os.path.dirname(file))
        connection.connect(file)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise NotRunning("the daemon is not running") from error
    except (TimeoutError, BlockingIOError) as error:  # BlockingIOError: the backlog is full
        raise NoAnswer(_TIMED_OUT) from error
    except OSError as error:
        raise Unreachable(f"the daemon's socket cannot be used: {error.strerror}") from error


def _request_bytes(path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """A request of HTTP 1.0, whose response is never chunked and ends with the connection."""
    headers = {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.0\r\n{head}\r\n".encode("ascii") + body


def _read(connection: socket.socket, deadline: Deadline) -> HookReply:
    response = b""
    while len(response) < _MOST_REPLY_BYTES:
        connection.settimeout(deadline.left)
        chunk = connection.recv(_CHUNK)
        if not chunk:
            break
        response += chunk
    head, _, content = response.partition(b"\r\n\r\n")
    try:
        body = json.loads(content)
        return HookReply(int(head.split(maxsplit=2)[1]), body if isinstance(body, dict) else {})
    except (ValueError, IndexError, RecursionError) as error:
        raise Unreachable(_DISCONNECTED, sent=True) from error


def _skip(arguments: HookArguments, reason: str) -> None:
    if reason:
        seen = "".join(each if each.isprintable() else " " for each in reason)  # it may quote a path of the vault
        _write(_STDERR, f"commonplace: skipped ({' '.join(seen.split())})")
        record_skip(arguments.event, host=arguments.host, reason=reason)


def record_skip(event: str, *, host: str, reason: str) -> None:
    """Append a line to the file of skips. If that fails, the line on standard error is all there is."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = "\t".join(" ".join(part.split())[:_LONGEST_SKIP_FIELD] for part in (at, host, event, reason))
    try:
        file = os.open(os.path.join(daemon_path(), SKIPS_FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(file).st_size > _MOST_SKIP_BYTES:
                os.truncate(file, 0)
            os.write(file, f"{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(file)
    except (OSError, Unreachable):
        return  # standard error has the reason already


def _write(descriptor: int, text: str) -> None:
    """Write the text as one line, or nothing if it is empty; in one piece if the system can."""
    rest = f"{text}\n".encode("utf-8", "replace") if text else b""
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        return  # nobody reads it
