"""The daemon: one process per user, which serves every registered vault to programs on this machine.

serve            the process: instance lock, log, sockets, signals, start and stop
vaults           which vault a name or a path means, the open vaults and their watchers
tokens           who may connect over TCP
jobs             what runs at intervals
workers          processes that answer reads when callers crowd; worker_process is what runs in one
server/          HTTP: the guard, the routes of MCP, the API and the hooks
capture/         transcripts of agents, from a hook's call to the recorded conversation
service/         files in the state folder, the log, and the unit with which the system starts the daemon
"""
