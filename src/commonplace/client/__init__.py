"""Talks to the daemon with the standard library alone, so that hosts and hooks start quickly.

paths     where the daemon's files are, names of clients, the header that names a vault; all that a hook loads
http      one HTTP request over the daemon's Unix socket
start     finds the running daemon, or starts it
stdio     the MCP server on standard input and output: a proxy to the daemon, and its JSON-RPC messages
"""
