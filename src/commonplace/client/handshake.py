"""What a proxy remembers of its client: the protocol they agreed on, and who the client says it is."""

from collections.abc import Mapping

from commonplace.client.envelope import Message, as_header, client_in, headers_of, version_agreed, version_in
from commonplace.client.names import as_client_name


class Handshake:
    """Learns from every message and every answer, and knows the headers that the next message needs.

    Old clients settle things once, with `initialize`; new ones repeat them in every message, and then those count.
    """

    def __init__(self, headers: Mapping[str, str], *, client: str = "") -> None:
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **headers,
        }
        self._named = client
        self._client = ""
        self._version = ""
        self._session = ""

    def learn(self, message: Message) -> None:
        """Remember what a message of the client tells of itself."""
        if message.get("method") == "initialize":  # a new handshake: what an earlier one settled is over
            self._version = self._session = ""
        self._version = version_in(message) or self._version
        self._client = client_in(message) or self._client

    def learn_answer(self, line: bytes, *, to: Message) -> None:
        """Remember what an answer settles, which is the protocol when it answers `initialize`."""
        if to.get("method") == "initialize":
            self._version = version_agreed(line) or self._version

    def learn_headers(self, headers: Mapping[str, str]) -> None:
        """Remember the session, should the daemon name one."""
        self._session = headers.get("mcp-session-id", self._session)

    def headers_for(self, message: Message) -> dict[str, str]:
        """All headers with which this message is sent."""
        headers = dict(self._headers)
        if client := as_client_name(self._named or client_in(message) or self._client):
            headers["Commonplace-Client"] = client
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        if self._version and message.get("method") != "initialize":
            headers["MCP-Protocol-Version"] = as_header(self._version)
        return headers | headers_of(message)
