"""Settings of safety and of the daemon's doors, and which web pages may call them. No vault may set them.

Also the ignore globs: the paths that no command lists.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network
from re import IGNORECASE, Pattern, compile
from typing import Final
from urllib.parse import SplitResult, urlsplit

from commonplace.errors import UsageError
from commonplace.model import option
from commonplace.model.template import Autonomy

Ignores = Callable[[str], bool]


def ignores(globs: Iterable[str]) -> Ignores:
    """A predicate that is True for ignored paths, relative to the vault; a folder's path ends in a slash.

    `*` and `?` match within one component, `**` matches any number of them, `Folder/**` covers the folder itself.
    Case does not count: on some file systems `.Obsidian` and `.obsidian` are one folder.
    """
    patterns = [tuple(glob.strip("/").split("/")) for glob in globs]
    return lambda path: any(_matches(pattern, path.rstrip("/").split("/")) for pattern in patterns)


def _matches(pattern: tuple[str, ...], names: list[str]) -> bool:
    """True if the components match, in one pass from the left that backtracks only to the last `**`.

    That is enough, because an earlier `**` could not match more than a later one, and it avoids exponential time: a
    vault's own settings may name globs, and must not be able to stall the program with one.
    """
    at = name = 0
    star, resume = -1, 0
    while name < len(names):
        if at < len(pattern) and pattern[at] == "**":
            star, resume = at, name
            at += 1
        elif at < len(pattern) and _component(pattern[at]).match(names[name]):
            at, name = at + 1, name + 1
        elif star >= 0:
            resume += 1
            at, name = star + 1, resume
        else:
            return False
    return all(part == "**" for part in pattern[at:])


@lru_cache(maxsize=1024)
def _component(glob: str) -> Pattern[str]:
    """One component as a regular expression; fnmatch uses atomic groups, so it cannot backtrack endlessly."""
    return compile(translate(glob), IGNORECASE)


_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_HOST: Final = re.compile(r"(\[[0-9a-f:]+\]|[^:]+)(?::([0-9]{1,5}))?", re.ASCII)
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}
_OF_THE_PERSON: Final = ("same-origin", "none")  # our own page, or an address typed by hand


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The settings block `serve`."""

    port: int = option(8377, "The port on 127.0.0.1; the next free one if it is taken.", at_least=1, at_most=65000)
    host: str = option("127.0.0.1", "The address to listen on; any other one needs `team` and `public_url`.")
    team: bool = option(False, "Whether people on other machines may connect, each with tokens of their own.")
    public_url: str | None = option(
        None, "The https address by which people reach a team server, such as https://memory.example.org."
    )
    trusted_proxies: tuple[str, ...] = option(
        (),
        "Addresses of the reverse proxies of a team server, or networks such as 10.0.0.0/24; with any, no other "
        "machine may connect.",
    )
    allowed_origins: tuple[str, ...] = option(
        ("app://obsidian.md",), "Web pages that may call the daemon, besides those of this machine."
    )
    max_body_bytes: int = option(4_000_000, "The largest request body, in bytes.", at_least=1000)
    requests_per_second: float = option(100.0, "Average requests per second of one caller.", at_least=0.1)
    burst: int = option(1000, "Requests that one caller may make at once.", at_least=1)
    workers: int | None = option(
        None,
        "Processes that answer reads when many callers ask at once; unset: one for each core, up to 4. 0: none.",
        at_least=0,
        at_most=64,
    )
    body_seconds: float = option(15.0, "How long a caller may take to send a request.", at_least=0.1)
    open_vaults: int = option(
        60,
        "How many vaults are open at once. If more are registered, each is opened when it is used, and in turn for its "
        "jobs. One with git takes 12 open files and some 2 MB.",
        at_least=1,
    )
    other_users: bool = option(False, "Whether other users of this machine may connect with a token.")
    metrics_open: bool = option(False, "Whether /metrics needs no token, for a Prometheus that runs as another user.")
    otel: str | None = option(None, "The OpenTelemetry collector that gets spans, such as http://127.0.0.1:4318.")
    log_bytes: int = option(5_000_000, "The size at which the log file is rotated.", at_least=10_000)
    log_files: int = option(3, "How many older log files are kept.", at_least=0)

    @property
    def address(self) -> str:
        """The public address of a team server, without a slash at its end; empty without one."""
        return (self.public_url or "").rstrip("/").lower() if self.team else ""

    def admits_host(self, host: str, *, port: int) -> bool:
        """True if a request with that Host header, on our port, was meant for this machine.

        A web page can point its own name at 127.0.0.1 and then talk to us as its own server (DNS rebinding). The
        browser still sends the page's name as the Host, so only the names of this machine count.
        """
        parts = _HOST.fullmatch(host.lower())
        if parts and self.address and self._is_public_host(parts[1], parts[2]):
            return True
        return bool(parts and parts[1] in _LOOPBACK and parts[2] in (None, str(port)))

    def _is_public_host(self, name: str, port: str | None) -> bool:
        """True for the name and port of the public address; its scheme's own port may be left out."""
        url = urlsplit(self.address)
        default = _DEFAULT_PORTS.get(url.scheme)
        return name.strip("[]") == url.hostname and int(port or default or 0) == (url.port or default)

    def base_url(self, host: str | None) -> str:
        """The address of the daemon as its callers know it: the public one, else by the Host that was admitted."""
        return self.address or f"http://{host or _LOOPBACK[0]}"

    def check_address(self) -> None:
        """Raise UsageError if the daemon may not listen where these settings say.

        Without `team` it listens on the loopback alone. A team server has a public address; it is https, which a
        reverse proxy provides, unless the proxies are named and nobody else can connect.
        """
        url = urlsplit(self.public_url or "")
        is_local = url.hostname in ("127.0.0.1", "localhost", "::1")
        if self.public_url and not _is_address(url):
            hint = "Such as https://memory.example.org, without a path."
            raise UsageError(f"serve.public_url is not an address: {self.public_url!r}", hint=hint)
        if self.public_url and url.scheme != "https" and not is_local and not self.trusted_proxies:
            hint = "Put a reverse proxy with a certificate in front, and set its https address."
            raise UsageError("serve.public_url must be https", hint=hint)
        for proxy in self.trusted_proxies:
            if _network(proxy) is None:
                hint = "Such as 10.0.0.2, or 10.0.0.0/24 for a network; a name of a machine is not enough."
                raise UsageError(f"serve.trusted_proxies is not a list of addresses: {proxy!r}", hint=hint)
        hint = "Set serve.team to true and serve.public_url to the https address by which people reach it."
        if self.team and not self.public_url:
            raise UsageError("a team server needs serve.public_url", hint=hint)
        if self.host not in (*_LOOPBACK, "::1") and not self.team:
            raise UsageError(f"serve.host {self.host} is open to other machines", hint=hint)

    def trusts_proxy(self, address: str) -> bool:
        """True if that is the address of a reverse proxy of this team server."""
        return self.team and _is_within(address, self.trusted_proxies)

    def admits_origin(self, origin: str, *, port: int | None) -> bool:
        """True if a page of that origin may call: one that we serve on that port, or one that the person allowed."""
        ours = {f"http://{host}:{port}" for host in _LOOPBACK} if port else set()
        ours |= {self.address} - {""}
        return origin != "null" and (origin in ours or origin in self.allowed_origins)

    def admits_fetch(self, site: str, *, origin: str | None, port: int | None) -> bool:
        """True if a request is allowed, by what the browser says about the page behind it.

        Programs name no page and are allowed. `site` is the browser's Sec-Fetch-Site, empty if it sent none; it also
        covers requests without an origin, such as an image or a link on a hostile page.
        """
        if origin is None:
            return site in ("", *_OF_THE_PERSON)
        return self.admits_origin(origin, port=port)


def _is_address(url: SplitResult) -> bool:
    """True for a scheme, a host and perhaps a port, and nothing else."""
    try:
        _ = url.port
    except ValueError:
        return False
    more = url.path.strip("/") or url.query or url.fragment or "@" in url.netloc
    return url.scheme in _DEFAULT_PORTS and bool(url.hostname) and not more


@lru_cache(maxsize=1024)
def _is_within(address: str, networks: tuple[str, ...]) -> bool:
    found = _network(address)
    if found is None:
        return False
    ip = found.network_address
    ip = (ip.ipv4_mapped or ip) if isinstance(ip, IPv6Address) else ip  # a socket for both has IPv4 peers like that
    return any(ip in network for each in networks if (network := _network(each)))


def _network(text: str) -> IPv4Network | IPv6Network | None:
    """The address or network that the text is; None if it is neither."""
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class SafetyOptions:
    """The settings block `safety`."""

    max_note_bytes: int = option(200_000, "Largest note that may be written, in bytes of UTF-8.", at_least=1)
    path_allowlist: tuple[str, ...] = option(
        ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews", "WeeklyReview", "Reflections", "Commitments"),
        "Top-level folders that programs may write to.",
    )
    sensitive_frontmatter_key: str = option("sensitive", "A note whose frontmatter has this key set is sensitive.")
    local_only_frontmatter_key: str = option("memory", "A note with this key set to `local-only` is sensitive too.")
    autonomy: Autonomy = option("medium", "How freely agents write: `low` only to the Inbox, else where it belongs.")
