"""How long it takes to put memory before a prompt, at 1k, 10k and 100k chunks, with the encoding of the prompt.

The vault has a thousand entries, notes with facts in their lines, what is always loaded, dated notes and styles
(bench/context_vault.py). Each size is measured in a process of its own, warm: 200 real questions, a quarter of them
naming somebody; the same at the head of 4,000 pasted characters; the start of a session; and plain search beside them.
The parts of a context run side by side, so that their times together are more than the whole. With the deadlines as
they are unless somebody says otherwise it is counted how often something was not ready.

Run it as `python bench/context.py`; `--chunks 1000 10000` for the smaller sizes alone, `--save` to keep the figures.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import corpus, figures
from bench.context_tables import TARGETS, tables
from bench.context_vault import ENTRIES, built
from bench.entries_vault import subjects
from bench.figures import percentile, say
from bench.search import Place

from commonplace.app import open_memory
from commonplace.app.encoders import make_encoder
from commonplace.flows.context import build as flow
from commonplace.memory import Memory
from commonplace.model import Context
from commonplace.settings.load import load_settings

LONG: Final = 4000  # characters of a prompt with something pasted into it
PARTS: Final = {
    "notes": ("note_pieces", "marked_entry_pieces"),
    "profile": ("profile_pieces", "session_pieces"),
    "facts": ("fact_pieces",),
    "topics": ("match_topics", "style_for"),
    "entries": ("entry_pieces",),
    "passages": ("passage_pieces",),
    "compose": ("compose",),
}
Ask = Callable[[str], object]


def measure(chunks: int, place: Place, prompts: Sequence[str], pasted: Sequence[str]) -> dict[str, Any]:
    """All figures of one size; runs in a process of its own."""
    with open_memory(place.vault, actor="agent", settings=place.settings()) as memory:
        begun = time.perf_counter()
        memory.context(prompts[0], within=None)
        first = (time.perf_counter() - begun) * 1000
        ways: dict[str, Any] = {}
        for way, (ask, asked) in _ways(memory, prompts, pasted).items():
            say(f"{way}, {len(asked)} prompts at {chunks} chunks")
            ways[way] = _timed(ask, asked)
        late = {
            "short prompts": _late(memory.context, prompts),
            "long prompts": _late(memory.context, pasted),
            "start": _late(lambda _: memory.context.start(), prompts),
        }
    return {"chunks": chunks, "first_context_ms": round(first, 1), "ways": ways, "late": late}


def _ways(memory: Memory, prompts: Sequence[str], pasted: Sequence[str]) -> dict[str, tuple[Ask, Sequence[str]]]:
    context: Ask = partial(memory.context, within=None, profile=False)  # as in a session that has its profile
    return {
        "plain search": (memory.search, prompts),
        "context, short prompts": (context, prompts),
        "context, 4,000 characters": (context, pasted),
        "start of a session": (lambda _: memory.context.start(within=None), prompts),
    }


def _timed(ask: Ask, asked: Sequence[str]) -> dict[str, Any]:
    for prompt in asked:  # what lies on the disk is in memory afterwards
        ask(prompt)
    times, chars = [], []
    with _watched() as parts:
        for prompt in asked:
            begun = time.perf_counter()
            answer = ask(prompt)
            times.append((time.perf_counter() - begun) * 1000)
            chars.append(len(answer.text) if isinstance(answer, Context) else 0)
            if isinstance(answer, Context) and (answer.late or answer.degraded):
                sys.exit(f"the context had to do without: {answer.late or answer.degraded}")
    return {
        "p50": round(percentile(times, 0.5), 1),
        "p95": round(percentile(times, 0.95), 1),
        "max": round(max(times), 1),
        "chars_p50": percentile(chars, 0.5),
        "parts_mean": {part: round(sum(took) / len(asked), 2) for part, took in parts.items() if took},
    }


@contextmanager
def _watched() -> Iterator[dict[str, list[float]]]:
    """What each part of a context takes, in milliseconds, while this lasts."""
    took: dict[str, list[float]] = {part: [] for part in PARTS}
    own = {name: getattr(flow, name) for names in PARTS.values() for name in names}

    def timed(part: str, do: Callable[..., object]) -> Callable[..., object]:
        def done(*given: object, **named: object) -> object:
            begun = time.perf_counter()
            try:
                return do(*given, **named)
            finally:
                took[part].append((time.perf_counter() - begun) * 1000)

        return done

    for part, names in PARTS.items():
        for name in names:
            setattr(flow, name, timed(part, own[name]))
    try:
        yield took
    finally:
        for name, do in own.items():
            setattr(flow, name, do)


def _late(ask: Callable[[str], Context], prompts: Sequence[str]) -> dict[str, int]:
    """How many of the contexts, with their own deadline, had to do without something."""
    return {"of": len(prompts), "late": sum(bool(ask(prompt).late) for prompt in prompts)}


def prompts_of(questions: Sequence[str]) -> list[str]:
    """The questions, every fourth of them about somebody whom the vault knows."""
    people = subjects(ENTRIES)
    return [
        f"{question} And what about {people[number % len(people)]}?" if number % 4 == 0 else question
        for number, question in enumerate(questions)
    ]


def pasted_under(prompts: Sequence[str], real: corpus.Real) -> list[str]:
    """Each prompt with real text pasted under it, so many characters together."""
    texts = [f"{front.text} {back.text}" for front, back in real.halves]
    made = []
    for number, prompt in enumerate(prompts):
        more = "\n".join(texts[(number * 17 + place) % len(texts)] for place in range(40))
        made.append(f"{prompt}\n\n{more}"[:LONG])
    return made


def main() -> None:
    """Measures each size and prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with vaults/ and longmemeval_s/")
    options.add_argument("--chunks", type=int, nargs="+", default=list(TARGETS), help="sizes of the index")
    options.add_argument("--prompts", type=int, default=corpus.QUESTIONS, help="how many prompts of each sort")
    options.add_argument("--cache", type=Path, default=figures.CACHE, help="where made indexes are kept")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/context-<commit>.json")
    chosen = options.parse_args()
    if not figures.archives(chosen.data):
        return
    with figures.own_home():
        kept = [_measured(chosen, chunks) for chunks in chosen.chunks]
    told = {"prompts": chosen.prompts, "entries": ENTRIES, "sizes": kept}
    print("\n".join(tables(told)))
    if chosen.save:
        print(f"saved in {figures.save('context', told)}")


def _measured(chosen: argparse.Namespace, chunks: int) -> dict[str, Any]:
    encoder = make_encoder(load_settings(flags=figures.with_model(chosen.model)).settings.embedding)
    if encoder is None:
        sys.exit("the settings name no encoder")
    real = corpus.real_chunks(chosen.data, chosen.cache, encoder)
    prompts = prompts_of(corpus.questions(chosen.data, real)[:: max(1, corpus.QUESTIONS // chosen.prompts)])
    place, build = built(real, chunks, cache=chosen.cache, model=chosen.model)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        figure = pool.submit(measure, chunks, place, prompts, pasted_under(prompts, real)).result()
    return {**figure, "build": build}


if __name__ == "__main__":
    main()
