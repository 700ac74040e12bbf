"""What metrics, live events and spans cost a search: its p50 without observers and with them, in turns, in one run.

    python -m bench.metrics_cost [ROUNDS]

Prints the two medians and their ratio, for a search of the sample vault by words and by meaning.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from commonplace import events
from commonplace.app import copy_sample, open_memory
from commonplace.daemon.live_feed import LiveFeed
from commonplace.daemon.metrics import Metrics
from commonplace.web.live_events import LiveEvents

QUESTIONS = ("greenhouse heating", "who builds sensors", "what did we decide about the launch", "Ada", "open tasks")


def main(rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        copy_sample(Path(folder) / "vault")
        settings = {"embedding.provider": "hashing", "data": f"{folder}/data"}
        with open_memory(Path(folder) / "vault", settings=settings) as memory:
            memory.index.sync()
            feed = LiveFeed(LiveEvents(), dict)
            times: dict[bool, list[float]] = {False: [], True: []}
            for number in range(rounds * len(QUESTIONS) * 2):
                observed = bool(number % 2)
                ends = [events.observe(each) for each in (Metrics().notice, feed.notice)] if observed else []
                start = time.perf_counter()
                memory.search(QUESTIONS[number // 2 % len(QUESTIONS)])
                times[observed].append((time.perf_counter() - start) * 1000)
                for end in ends:
                    end()
    without, observed_ms = median(times[False]), median(times[True])
    print(f"search p50: {without:.3f} ms without, {observed_ms:.3f} ms with metrics and live events")
    print(f"ratio {observed_ms / without:.3f} over {len(times[True])} searches each")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
