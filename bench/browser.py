"""How long a person waits for the page: the first paint of each page, the answers of a search while they type, and
the frames of a graph of 10,000 points while one zooms into it.

In Chromium, on the sample vault with the real encoder, after one visit of each page. A search is measured as the page
does it: from the request to the whole answer, over HTTP and with the daemon's other work beside it.

Run it as `python bench/browser.py`; `--save` keeps the figures.
"""

import argparse
import json
import random
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.figures import own_home, save, say

from tests.daemons import Daemon
from tools.pictures import addresses, serve

PAINT_MS: Final = 300.0
SEARCH_MS: Final = 100.0
RUNS: Final = 5
TYPED: Final = "how do we water the beds in summer"
_PAINT: Final = """() => new Promise(done => new PerformanceObserver(list => {
  const paint = list.getEntriesByName('first-contentful-paint')[0];
  if (paint) done(paint.startTime);
}).observe({type: 'paint', buffered: true}))"""
_SEARCH: Final = """async q => {
  const begun = performance.now();
  const reply = await fetch('/search?q=' + encodeURIComponent(q), {headers: {'X-Part': 'results'}});
  await reply.text();
  return performance.now() - begun;
}"""

POINTS: Final = 10_000
LINES: Final = 20_000
FRAME_MS: Final = 50.0  # 20 pictures a second look smooth enough to follow; Chromium here has no graphics card
_ZOOM: Final = """async () => {
  const canvas = document.querySelector('canvas');
  const frames = [];
  let last = performance.now();
  for (let i = 0; i < 60; i++) {
    canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: i % 2 ? 40 : -40, clientX: 400, clientY: 400}));
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""


def paints(page: Page, origin: str) -> dict[str, float]:
    """The median of the first contentful paint of each page, in milliseconds."""
    figures = {}
    for name, path in addresses().items():
        times = []
        for _ in range(RUNS + 1):
            page.goto(f"{origin}{path}")
            times.append(float(page.evaluate(_PAINT)))
        figures[name] = round(statistics.median(times[1:]), 1)
    return figures


def searches(page: Page, origin: str) -> list[float]:
    """How long each answer takes while the question is typed, in milliseconds."""
    page.goto(f"{origin}/search")
    page.evaluate(_SEARCH, "warm")
    return [float(page.evaluate(_SEARCH, TYPED[:end])) for end in range(3, len(TYPED) + 1)]


def graph(page: Page, origin: str) -> dict[str, float]:
    """How long a large graph takes to come to rest, and the time between two frames while one zooms."""
    source = random.Random(21)
    nodes = [[f"Notes/{i}.md", "note", f"Note {i}", 4] for i in range(POINTS)]
    edges = [
        [source.randrange(POINTS), min(source.randrange(POINTS), source.randrange(POINTS)), "link"]
        for _ in range(LINES)
    ]
    page.route("**/graph/data*", lambda route: route.fulfill(json={"nodes": nodes, "edges": edges}))
    begun = time.perf_counter()
    page.goto(f"{origin}/graph")
    page.wait_for_selector("[data-rest]", timeout=120_000)
    rest = time.perf_counter() - begun
    frames = page.evaluate(_ZOOM)
    return {
        "rest_s": round(rest, 1),
        "frame_ms": round(statistics.median(frames), 1),
        "worst_ms": round(max(frames), 1),
    }


def measure(daemon: Daemon) -> dict[str, Any]:
    """Every figure."""
    link = json.loads(daemon.command("open", "--no-browser", "--json").stdout)["url"]
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(link)
        painted, answered = paints(page, daemon.url), searches(page, daemon.url)
        drawn = graph(page, daemon.url)
        browser.close()
    return {
        "first_paint_ms": painted,
        "graph": drawn,
        "search_ms": {
            "median": round(statistics.median(answered), 1),
            "p95": round(statistics.quantiles(answered, n=20)[-1], 1),
            "answers": len(answered),
        },
    }


def main() -> None:
    """Measure, print and judge."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results")
    chosen = options.parse_args()
    with own_home() as home:
        daemon = serve(home)
        try:
            daemon.wait_synced()
            time.sleep(1.0)  # the watcher measures what it has indexed
            figures = measure(daemon)
        finally:
            daemon.stop()
    for name, paint in figures["first_paint_ms"].items():
        say(f"{name:20} first paint {paint:7.1f} ms{'' if paint < PAINT_MS else '  OVER THE TARGET'}")
    search = figures["search_ms"]
    say(f"search: median {search['median']} ms, p95 {search['p95']} ms (target {SEARCH_MS:g} ms)")
    drawn = figures["graph"]
    say(f"graph of {POINTS:,} points: at rest after {drawn['rest_s']} s, {drawn['frame_ms']} ms a frame ({FRAME_MS:g})")
    if chosen.save:
        save("browser", figures)


if __name__ == "__main__":
    main()
