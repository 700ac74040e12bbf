"""HTTP servers of tests that print nothing about a client that has gone."""

import sys
from http.server import ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any


class ForgivesLostClients(BaseServer):
    """A server whose clients may give up waiting, or be killed by a test."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error unless it is that of a lost connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class TestHTTPServer(ForgivesLostClients, ThreadingHTTPServer):
    """An HTTP server with a thread for each connection."""

    __test__ = False
