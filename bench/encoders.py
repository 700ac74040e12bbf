"""Which encoder for what: the installed models side by side, each by its vectors alone, and two models together.

Four questions: how long a text takes, where the needed memory stands among a person's entries (`context.jsonl`), what
a prompt in another language finds (`multilingual.jsonl`, written for this), and nDCG@10 on a sample of SciFact.
Two models joined by a plus stand for a chunk with both vectors and the sum of their cosines.

Run it as `python bench/encoders.py`; a model that is not installed is left out: `commonplace model install NAME`.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.datasets import read_scifact
from bench.figures import say

from commonplace.app.encoders import make_encoder
from commonplace.encoders.models import MODELS
from commonplace.encoders.options import EmbeddingOptions
from commonplace.errors import ProviderFailed

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]

LANGUAGES: Final = ("de", "fr", "sv", "ja")
_SHORT: Final = "When does the train to the coast leave on Sundays?"
_LONG: Final = "The sensors drift by several degrees after a month, so they are read against the old one. " * 15
_REPEATS: Final = 10


def encoders_of(model: Path, names: Sequence[str]) -> dict[str, Encode]:
    """The encoders of these models that are installed."""
    encoders: dict[str, Encode] = {}
    for name in names:
        options = EmbeddingOptions(provider=name, model_folder=model)  # type: ignore[arg-type]
        try:
            encoder = make_encoder(options)
        except ProviderFailed as failure:
            say(f"{name} is left out: {failure.message}")
            continue
        if encoder:
            encoders[name] = encoder.encode
    return encoders


def joined(one: Encode, other: Encode) -> Encode:
    """An encoder whose cosine is the mean of the cosines of two."""

    def encode(texts: Sequence[str]) -> Vectors:
        both: Vectors = (np.concatenate([one(texts), other(texts)], axis=1) / np.sqrt(2)).astype(np.float32)
        return both

    return encode


def speed(encode: Encode) -> dict[str, float]:
    """Milliseconds of one core for a question and for a chunk of 256 tokens."""
    encode([_SHORT])
    return {name: round(_cpu_ms(encode, text), 1) for name, text in (("question", _SHORT), ("chunk", _LONG))}


def _cpu_ms(encode: Encode, text: str) -> float:
    start = time.process_time()
    for _ in range(_REPEATS):
        encode([text])
    return (time.process_time() - start) * 1000 / _REPEATS


def context(encode: Encode, data: Path) -> dict[str, Any]:
    """The share of needed entries among the first 1, 3, 6 and 10 of a person's entries; `unlike` shares no word."""
    ranks: dict[str, list[int]] = {"all": [], "unlike": []}
    for line in (data / "memory/context.jsonl").read_text(encoding="utf-8").splitlines():
        person = json.loads(line)
        ids = [each["id"] for each in person["entries"]]
        prompts = [each for each in person["prompts"] if each["gold"] and each["type"] != "followup"]
        entries = encode([each["text"] for each in person["entries"]])
        for prompt, cosines in zip(prompts, encode([each["prompt"] for each in prompts]) @ entries.T, strict=True):
            found = [int((cosines > cosines[ids.index(each)]).sum()) for each in prompt["gold"] if each in ids]
            ranks["all"] += found
            ranks["unlike"] += found if prompt["type"] == "unlike" else []
    return {name: _shares(each, (1, 3, 6, 10)) for name, each in ranks.items()}


def multilingual(encode: Encode, data: Path) -> dict[str, Any]:
    """By language: prompts whose memory is among the first 1, 3 and 6, of English memories and of ones in it.

    The entries of `context.jsonl` stand among them as distractors.
    """
    pairs = [json.loads(line) for line in (figures.HERE / "multilingual.jsonl").read_text("utf-8").splitlines()]
    people = [json.loads(line) for line in (data / "memory/context.jsonl").read_text("utf-8").splitlines()]
    others = [each["text"] for person in people for each in person["entries"]]
    english = encode([each["memory"] for each in pairs] + others)
    told = {}
    for language in LANGUAGES:
        prompts = encode([each[language]["prompt"] for each in pairs])
        own = encode([each[language]["memory"] for each in pairs] + others)
        told[language] = {"english": _found(prompts, english), "own": _found(prompts, own)}
    return told


def _found(prompts: Vectors, memories: Vectors) -> list[int]:
    cosines = prompts @ memories.T
    ranks = [int((row > row[at]).sum()) for at, row in enumerate(cosines)]
    return [sum(rank < most for rank in ranks) for most in (1, 3, 6)]


def _shares(ranks: Sequence[int], mosts: Sequence[int]) -> list[float]:
    return [round(sum(rank < most for rank in ranks) / max(1, len(ranks)), 2) for most in mosts]


def scifact(encode: Encode, data: Path, *, questions: int, documents: int) -> float:
    """nDCG@10 of questions of the train split among a sample of the abstracts, by one vector for each."""
    asked = read_scifact(data)
    chosen = random.Random(0).sample([each for each in asked.questions if each.type == "train"], questions)
    (store,) = asked.stores.values()
    gold = {each for question in chosen for each in question.gold}
    rest = random.Random(1).sample(sorted(set(store.notes) - gold), max(0, documents - len(gold)))
    ids = sorted({*gold, *rest})
    cosines = encode([each.text for each in chosen]) @ encode([store.notes[each] for each in ids]).T
    gains = []
    for question, row in zip(chosen, cosines, strict=True):
        best = [ids[at] in question.gold for at in np.argsort(-row, kind="stable")[:10]]
        ideal = sum(1 / np.log2(rank + 2) for rank in range(min(10, len(question.gold))))
        gains.append(sum(hit / np.log2(rank + 2) for rank, hit in enumerate(best)) / ideal)
    return round(float(np.mean(gains)), 3)


def main() -> None:
    """Measure every encoder and print one JSON object for each."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with memory/ and beir/")
    options.add_argument(
        "--model", type=Path, default=figures.MODEL, help="folder of a model; the others are beside it"
    )
    options.add_argument("--models", nargs="*", default=[*MODELS], help="the models to measure")
    options.add_argument("--questions", type=int, default=60, help="questions of SciFact")
    options.add_argument("--documents", type=int, default=500, help="abstracts of SciFact")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/encoders-<commit>.json")
    chosen = options.parse_args()
    encoders = encoders_of(chosen.model, chosen.models)
    if {"minilm-l6-v2", "gte-small"} <= {*encoders}:
        encoders["minilm-l6-v2+gte-small"] = joined(encoders["minilm-l6-v2"], encoders["gte-small"])
    told: dict[str, Any] = {}
    for name, encode in encoders.items():
        told[name] = {
            "ms": speed(encode),
            "context": context(encode, chosen.data),
            "multilingual": multilingual(encode, chosen.data),
            "scifact": scifact(encode, chosen.data, questions=chosen.questions, documents=chosen.documents),
        }
        print(json.dumps({name: told[name]}), flush=True)
    if chosen.save:
        print(f"saved in {figures.save('encoders', told)}")


if __name__ == "__main__":
    main()
