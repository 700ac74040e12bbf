"""The command line of a hook: `commonplace hook EVENT --host HOST [--phase PHASE] [--vault FOLDER]`."""

from collections.abc import Sequence

from commonplace.agent_hosts import HOOK_EVENTS
from commonplace.client.paths import is_client_name

EVENTS = (*HOOK_EVENTS.values(), "ping")
AUTO = "auto"
_OPTIONS = ("--host", "--phase", "--vault", "--data", "--user", "--set")
_FLAGS = ("-q", "--quiet", "-v", "--verbose", "--json")


class HookArguments:
    """The event and its options. `error` says what is wrong with the command line; empty if nothing is."""

    __slots__ = ("error", "event", "host", "phase", "vault")

    def __init__(self, event: str, *, host: str = AUTO, phase: str = "", vault: str = "", error: str = "") -> None:
        self.event = event
        self.host = host
        self.phase = phase
        self.vault = vault
        self.error = error or _error_in(event, host)


def parse_hook_arguments(words: Sequence[str]) -> HookArguments | None:
    """The arguments of a hook; None for every other command, and for one that asks for help.

    A wrong command line is still a hook's, because a host takes an exit code other than 0 as the wish to stop.
    """
    options: dict[str, str] = {}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _OPTIONS:
            options[name] = value if equals else next(rest, "")
        elif word not in _FLAGS:
            plain.append(word)
    if plain[:1] != ["hook"] or {"-h", "--help"} & {*plain}:
        return None
    event = plain[1] if len(plain) > 1 else ""
    error = f"unknown argument {plain[2]}" if len(plain) > 2 else ""
    host, phase, vault = (options.get(name, "") for name in ("--host", "--phase", "--vault"))
    return HookArguments(event, host=host or AUTO, phase=phase, vault=vault, error=error)


def _error_in(event: str, host: str) -> str:
    if event not in EVENTS:
        return f"no such event: {event!r}; events are {', '.join(EVENTS)}"
    if not is_client_name(host):
        return f"not a valid host name: {host!r}"
    return ""
