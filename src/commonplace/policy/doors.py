"""What a person may set about the daemon's doors, and which web pages may come in by them."""

import re
from dataclasses import dataclass
from typing import Final

from commonplace.model import option

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_HOST: Final = re.compile(r"(\[[0-9a-f:]+\]|[^:]+)(?::([0-9]{1,5}))?", re.ASCII)
_OF_THE_PERSON: Final = ("same-origin", "none")  # our own page, or a line typed by hand


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The block `serve`."""

    port: int = option(8377, "The port on 127.0.0.1; where it is taken, the next free one.", at_least=1, at_most=65000)
    allowed_origins: tuple[str, ...] = option(
        ("app://obsidian.md",), "Pages, beside those of this machine, that may call the daemon."
    )
    max_body_bytes: int = option(4_000_000, "The largest request that is read.", at_least=1000)
    requests_per_second: float = option(100.0, "Requests that one caller may make, on average.", at_least=0.1)
    burst: int = option(1000, "Requests that one caller may make at once.", at_least=1)
    body_seconds: float = option(15.0, "How long a caller may take to send a request.", at_least=0.1)
    log_bytes: int = option(5_000_000, "The size at which a new log file is begun.", at_least=10_000)
    log_files: int = option(3, "How many older log files are kept.", at_least=0)

    def admits_host(self, host: str, *, port: int) -> bool:
        """Whether a request for that Host, on that port of ours, was meant for this machine.

        A web page can point a name of its own at 127.0.0.1 and then speak to us as to its own server. The browser
        still sends the page's name as the Host, so only the names of this machine count.
        """
        parts = _HOST.fullmatch(host.lower())
        return bool(parts and parts[1] in _LOOPBACK and parts[2] in (None, str(port)))

    def admits_origin(self, origin: str, *, port: int | None) -> bool:
        """Whether a page of that origin may call: one that we serve on that port, or one that the person allowed."""
        ours = {f"http://{host}:{port}" for host in _LOOPBACK} if port else set()
        return origin != "null" and (origin in ours or origin in self.allowed_origins)

    def admits_fetch(self, site: str, *, origin: str | None, port: int | None) -> bool:
        """Whether a request may come in, by what the browser says of the page behind it.

        Programs say nothing of a page: they may. `site` is the browser's Sec-Fetch-Site, empty where it sent none. It
        tells of requests without an origin too, such as a picture or a link on a hostile page.
        """
        if origin is None:
            return site in ("", *_OF_THE_PERSON)
        return self.admits_origin(origin, port=port)
