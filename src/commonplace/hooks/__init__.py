"""What hosts run at each event of a session: a thin client of the daemon, of the standard library alone.

It is started anew for every prompt, so that whatever it loads is paid for by somebody who waits. Therefore it goes
without dataclasses, typing, pathlib and http, which take longer to load than all of it takes to run.
"""
