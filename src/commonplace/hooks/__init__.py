"""What hosts run at each event of a session: a thin client of the daemon, using only the standard library.

A new process runs for every prompt, so a person waits for everything that it loads. Therefore it goes without
dataclasses, typing, pathlib and http, which take longer to load than the whole hook takes to run.

    arguments   the command line of a hook
    main        the process: the host's input, the request to the daemon, the output, the deadline
"""
