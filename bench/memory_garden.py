"""The same people among the notes of a real garden; and questions to the garden itself.

The garden's 748 notes have nothing to do with the people: what comes from them before a prompt is noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from bench.memory_context import figures_of, judge
from bench.memory_sets import GENERIC_CODING, GardenQuestion, Person, coding_prompt, read_coding
from bench.memory_vault import Opener, new_vault, save_entries
from bench.sessions_days import own_day

from commonplace.model import Hit

FIRST: Final = 5
MORE: Final = 10


def coding_set(sets: Path) -> tuple[str, Person]:
    """The coding prompts of the data folder, or else our own among the memories of our own working day."""
    source, coding = read_coding(sets)
    if coding is None:
        prompts = tuple(coding_prompt(f"c{number:02}", text) for number, text in enumerate(GENERIC_CODING, 1))
        return "bench/memory_sets.py", replace(own_day(), name="coding", prompts=prompts)
    return source, coding


def measure_garden(
    people: Sequence[Person], sets: Path, opener: Opener, garden: Path, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """The figures of the people and of the coding prompts, each in a vault with the notes of the garden."""
    source, coding = coding_set(sets)
    told: dict[str, Any] = {"coding_from": source}
    for name, asked in (("people", people), ("coding", [coding])):
        judged = []
        for person in asked:
            say(f"{person.name} among the garden")
            place = folder / f"garden-{person.name}"
            new_vault(place, person.notes, garden=garden)
            with opener.on_disk(place) as (memory, clock):
                memory.index.sync()
                judged += judge(memory, person, save_entries(memory, clock, person))
        told[name] = {**figures_of(judged), "prompts": [asdict(each) for each in judged]}
    return told


def measure_queries(questions: Sequence[GardenQuestion], opener: Opener, garden: Path, folder: Path) -> dict[str, Any]:
    """How many questions find their note, their section, or both of their notes among the first hits."""
    place = folder / "garden"
    new_vault(place, garden=garden)
    counts: dict[str, list[int]] = {}
    missed: list[dict[str, Any]] = []
    with opener.on_disk(place) as (memory, _):
        memory.index.sync()
        for question in questions:
            hits = memory.search(question.query, k=MORE).hits
            count = counts.setdefault(question.type, [0, 0])
            count[1] += 1
            if _answers(question, hits):
                count[0] += 1
            else:
                missed.append({"id": question.id, "type": question.type, "ranks": _ranks(question, hits)})
    return {"types": counts, "missed": missed}


def _answers(question: GardenQuestion, hits: Sequence[Hit]) -> bool:
    first = hits[: MORE if question.type == "two" else FIRST]
    return all(any(_is_at(hit, path, heading) for hit in first) for path, heading in question.gold)


def _ranks(question: GardenQuestion, hits: Sequence[Hit]) -> list[int]:
    """The place of each gold note or section among the hits, 0 where it is not among them."""
    return [
        next((place for place, hit in enumerate(hits, 1) if _is_at(hit, path, heading)), 0)
        for path, heading in question.gold
    ]


def _is_at(hit: Hit, path: str, heading: str) -> bool:
    return hit.path == path and (not heading or heading in hit.heading_path)
