"""The command line: parses input, calls `Memory`, prints output. No logic.

main          the table of commands, the global options, errors as exit codes
invocation    what every command shares: global options, opening the memory, printing
row_copies    commands that copy rows from one database to the other
parameters    arguments and options that several commands share
fact_view     how facts and entries are printed

setup (init, settings, model), note, history (undo, log, grant), index (sync, watch, rebuild, stats, doctor), search,
context, entry (save, evolve, ...), fact, timeline, topics, lint, conversation, evaluate, serve, token, install, demo
"""
