"""What hooks could not do, kept for `commonplace doctor`: the daemon was not there to be told of it."""

import os
import time

from commonplace.client.paths import Unreachable, daemon_path

SKIPS = "hook_skips.tsv"
"""A file of the daemon's folder; its lines are a moment, a host, an event and a reason, with tabs between them."""

_MOST_BYTES = 64_000  # then it is begun anew
_LONGEST = 300


def note_skip(event: str, *, host: str, reason: str) -> None:
    """Add a line to the file of skips. Where that cannot be, the line on standard error is all there is."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = "\t".join(" ".join(part.split())[:_LONGEST] for part in (at, host, event, reason))
    try:
        file = os.open(os.path.join(daemon_path(), SKIPS), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(file).st_size > _MOST_BYTES:
                os.truncate(file, 0)
            os.write(file, f"{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(file)
    except (OSError, Unreachable):
        return  # that nothing could be done is told already
