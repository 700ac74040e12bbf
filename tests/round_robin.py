"""A load balancer for tests: it gives each new connection to the next of several ports that accepts it."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count

_BYTES = 65536


@contextmanager
def round_robin(listener: socket.socket, ports: Sequence[int]) -> Iterator[list[int]]:
    """Pass each connection to the listener on to the ports by turns; gives the ports that were chosen, so far."""
    chosen: list[int] = []
    acceptor = threading.Thread(target=_accept, args=(listener, ports, chosen), daemon=True)
    acceptor.start()
    try:
        yield chosen
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        acceptor.join(10)
        listener.close()


def _accept(listener: socket.socket, ports: Sequence[int], chosen: list[int]) -> None:
    for turn in count():
        try:
            caller, _ = listener.accept()
        except OSError:  # the test has ended
            return
        order = [ports[(turn + step) % len(ports)] for step in range(len(ports))]
        server = _connected(order, chosen)
        if server is None:
            caller.close()
            continue
        for source, target in ((caller, server), (server, caller)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _connected(order: Sequence[int], chosen: list[int]) -> socket.socket | None:
    """A connection to the first of the ports that accepts one."""
    for port in order:
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            chosen.append(port)
            return connection
    return None


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(_BYTES):
            target.sendall(piece)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
