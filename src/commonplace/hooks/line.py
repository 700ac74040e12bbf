"""The line that a host was told to run: `commonplace hook EVENT --host HOST [--phase PHASE] [--vault FOLDER]`."""

from collections.abc import Sequence

from commonplace.client.names import is_client_name

EVENTS = ("session-start", "prompt", "stop", "pre-compact", "session-end", "ping")
AUTO = "auto"
_WITH_VALUE = ("--host", "--phase", "--vault", "--data", "--user", "--set")
_SWITCHES = ("-q", "--quiet", "-v", "--verbose", "--json")


class Line:
    """The event and its options. `wrong` says what is not understood of it; empty where all is."""

    __slots__ = ("event", "host", "phase", "vault", "wrong")

    def __init__(self, event: str, *, host: str = AUTO, phase: str = "", vault: str = "", wrong: str = "") -> None:
        self.event = event
        self.host = host
        self.phase = phase
        self.vault = vault
        self.wrong = wrong or _wrong_in(event, host)


def hook_line(words: Sequence[str]) -> Line | None:
    """A line for a hook; None for every other, and for one that asks for help.

    One that is not understood is a line for a hook all the same: a host takes an error of its hook for a wish to stop.
    """
    options: dict[str, str] = {}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _WITH_VALUE:
            options[name] = value if equals else next(rest, "")
        elif word not in _SWITCHES:
            plain.append(word)
    if plain[:1] != ["hook"] or {"-h", "--help"} & {*plain}:
        return None
    event = plain[1] if len(plain) > 1 else ""
    wrong = f"{plain[2]} is not understood" if len(plain) > 2 else ""
    host, phase, vault = (options.get(name, "") for name in ("--host", "--phase", "--vault"))
    return Line(event, host=host or AUTO, phase=phase, vault=vault, wrong=wrong)


def _wrong_in(event: str, host: str) -> str:
    if event not in EVENTS:
        return f"no event is called {event!r}: {', '.join(EVENTS)}"
    if not is_client_name(host):
        return f"no host is called {host!r}"
    return ""
