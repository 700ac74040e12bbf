"""A program of one line: it hands its words, its folder, its variables and its three streams to the fork server.

It stands in for `commonplace` and for `python -m commonplace`, and imports almost nothing: it has to start at once.
"""

import marshal
import os
import socket
import sys


def main() -> None:
    """End as the program that the server forks for us ends."""
    place, *words = sys.argv[1:]
    if words[:2] == ["-m", "commonplace"]:
        words = words[2:]
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(place)
        socket.send_fds(server, [b"."], [0, 1, 2])
        server.sendall(marshal.dumps((words, os.getcwd(), dict(os.environ))))
        server.shutdown(socket.SHUT_WR)
        ended = server.recv(1)
    sys.exit(ended[0] if ended else "the fork server is gone")


main()
