"""Readers with fresh eyes: they see the tool's description and its answers, and settle in one more call, or do not.

`prepare` saves what is known of the deciding sets into one memory, then saves each new statement as an agent over MCP,
in this process, and forgets it again. It writes for readers the tools as a host lists them, the task, and a case for
each answer, without labels and in a random order. The labels go into a key that no reader may open. `score` reads what
readers answered, a JSON object a line, and counts.

    python bench/readers.py prepare trial --key trial-key.json
    python bench/readers.py prepare trial-b --key trial-b-key.json --wording bench/sets/changes/wording_b.json
    python bench/readers.py score trial-key.json reader-1.jsonl reader-2.jsonl

A wording is a JSON object of texts that stand in the place of the code's: {"answers.SETTLE": "...", ...}.
"""

import argparse
import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from fastmcp import Client
from fastmcp.client.transports import FastMCPTransport

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.changes_saves import PERSON, Saver
from bench.changes_sets import Chain, ChangeSet, Correction, Pair, deciding_set
from bench.memory_sets import NO_CUES
from bench.memory_vault import BenchClock, Opener, new_vault, settings_of
from bench.quality_tables import table

from commonplace.facts.entry_paths import id_digits
from commonplace.mcp_server.server import make_server
from commonplace.memory import Memory
from commonplace.model import SCOPES, Actor, Caller, Fact

CASES: Final = {"changed": 64, "opposite": 40, "same": 40, "restriction": 30, "independent": 60, "beside": 30}
"""Pairs of each kind in a trial, drawn by the seed; there are no more of the first three."""

SAVES_A_FILE: Final = 60
TOOLS: Final = {"saves": ("memory_save",), "corrections": ("memory_save", "memory_search", "memory_forget")}
_KNOWN_SINCE: Final = datetime(2024, 10, 1, 8, tzinfo=UTC)  # before the first day of a chain: a clock only goes on
_TODAY: Final = datetime(2026, 12, 15, 9, tzinfo=UTC)  # after the last one
_DIGITS: Final = 6

SAVES_TASK: Final = """\
You are an agent that works for a person. tools.json is the tool that you have, as your host lists it. Each case in \
saves-*.txt is a save of yours: the text that you have just given to memory_save, and what the tool answered. The \
cases have nothing to do with each other.

For each case decide whether you make one more call of memory_save, and with what. Write one JSON object a line, the \
case's number and the arguments of that call, and nothing else:

{"case": 7, "id": "...", "...": "..."}

Without arguments if you make no further call: {"case": 7}. Answer every case. Read each one; use no program to decide.
"""
CORRECTIONS_TASK: Final = """\
You are an agent that works for a person. tools.json are the tools that you have, as your host lists them. Each case \
in corrections.txt is something that the person has just said to you, and what memory_search answered when you asked \
it with their words. The cases have nothing to do with each other.

For each case write the calls that you make now, so that the memory is right afterwards: one JSON object a line, with \
the case's number and the calls in order, each with the tool's name and its arguments, and nothing else:

{"case": 7, "calls": [{"tool": "...", "...": "..."}]}

An empty list if you make none. Answer every case. Read each one; use no program to decide.
"""


class Agent:
    """An agent that calls the tools of a memory over MCP, in this process."""

    def __init__(self, memory: Memory, clock: BenchClock) -> None:
        self._person, self._clock = memory.acting(PERSON), clock
        caller = Caller("claude-code", frozenset(SCOPES))
        server = make_server(lambda one: memory.acting(Actor("agent", one.name)), caller_of=lambda: caller)
        self.client: Client[FastMCPTransport] = Client(server)

    async def call(self, tool: str, **arguments: Any) -> tuple[str, Mapping[str, Any]]:
        """What the model reads, and the same as values."""
        result = await self.client.call_tool(tool, {**arguments, "verbose": True}, raise_on_error=False)
        return "\n".join(getattr(each, "text", "") for each in result.content), result.structured_content or {}

    async def tools(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """These tools as a host lists them."""
        listed = {each.name: each for each in await self.client.list_tools()}
        return [listed[name].model_dump(include={"name", "description", "input_schema"}) for name in names]

    def forget(self, *ids: str) -> None:
        """Let the next case be as if this one had not been."""
        self._clock.set_to = _TODAY
        for id in ids:
            self._person.entries.forget(id)


class Case(dict[str, Any]):
    """What a reader sees (`text`, `answer`), and what only the key has."""


async def save_cases(told: ChangeSet, agent: Agent, clock: BenchClock, known: Mapping[str, Fact]) -> list[Case]:
    """The answers to the saves of each chain and pair; each is forgotten before the next one."""
    cases = []
    for number, chain in enumerate(told.chains):
        cases += await _chain_cases(number, chain, told, agent, clock)
    for pair in told.pairs:
        clock.set_to = _TODAY
        answer, saved = await agent.call("memory_save", text=pair.new, **told.cues.get(pair.new, NO_CUES)._asdict())
        fact = known.get(pair.known)
        if not fact or saved.get("action") in (None, "confirm") or saved["staged"]:
            figures.say(f"left out, {pair.kind}: {pair.new!r}: {answer}")
            continue
        cases.append(_case(pair.kind, pair.new, answer, saved, known=[fact.id]))
        agent.forget(saved["id"])
    return cases


async def _chain_cases(number: int, chain: Chain, told: ChangeSet, agent: Agent, clock: BenchClock) -> list[Case]:
    """The saves of the second and the third value, where nothing is settled."""
    cases, ids = [], list[str]()
    for value, day in zip(chain.values, chain.days, strict=True):
        clock.set_to = datetime.fromisoformat(f"{day}T12:00:00+00:00")
        answer, saved = await agent.call("memory_save", text=value, **told.cues.get(value, NO_CUES)._asdict())
        if saved.get("action") in (None, "confirm"):
            figures.say(f"left out, a chain's value: {value!r}: {answer}")
            break
        if ids:
            cases.append(_case("chain", value, answer, saved, known=ids) | {"chain": number})
        ids.append(saved["id"])
    agent.forget(*ids)
    return [Case(each) for each in cases]


def _case(kind: str, text: str, answer: str, saved: Mapping[str, Any], *, known: Sequence[str]) -> Case:
    near = [id_digits(each["id"]) for each in saved["neighbours"]]
    olds = [id_digits(each) for each in known]
    return Case(kind=kind, text=text, answer=answer, known=olds, near=near, own=id_digits(saved["id"]))


async def correction_cases(corrections: Sequence[Correction], agent: Agent, saver: Saver) -> list[Case]:
    """What the person says of facts that are known, and what a search with their words finds."""
    known = saver.save_all([fact for each in corrections for fact in each.facts], begins=_KNOWN_SINCE)
    saver.clock.set_to = _TODAY
    cases = []
    for each in corrections:
        answer, _ = await agent.call("memory_search", query=each.said, source="memories")
        ids = [id_digits(known[fact].id) for fact in each.facts if fact in known]
        ends = [id_digits(known[each.facts[place]].id) for place in each.ends if each.facts[place] in known]
        near = [id for id in ids if id in answer]
        cases.append(Case(kind="correction", text=each.said, answer=answer, known=ends, near=near, new=each.new))
    return cases


def drawn(told: ChangeSet, *, seed: int) -> ChangeSet:
    """The pairs of a trial."""
    pairs: list[Pair] = []
    for kind, count in CASES.items():
        every = told.of(kind)
        pairs += random.Random(f"{seed} {kind}").sample(every, min(count, len(every)))
    return ChangeSet(told.name, tuple(pairs), told.chains, told.corrections, told.others, told.cues)


async def prepare(chosen: argparse.Namespace, folder: Path) -> None:
    """Write what readers see, and the key."""
    told = deciding_set(chosen.authors, cues=chosen.cues)
    new_vault(folder)
    with Opener(settings_of(figures.with_model(chosen.model), [])).on_disk(folder) as (memory, clock):
        agent = Agent(memory, clock)
        author = Saver(memory, clock, step=timedelta(hours=2), cues=told.cues)
        known = author.save_all(told.known, begins=_KNOWN_SINCE)
        figures.say(f"{len(known)} statements known")
        async with agent.client:
            saves = await save_cases(drawn(told, seed=chosen.seed), agent, clock, known)
            corrections = await correction_cases(told.corrections, agent, author)
            for name, names in TOOLS.items():
                place = chosen.folder / name
                place.mkdir(parents=True)
                (place / "tools.json").write_text(json.dumps(await agent.tools(names), indent=1, ensure_ascii=False))
    key = [
        *_written(saves, chosen, "saves", SAVES_TASK),
        *_written(corrections, chosen, "corrections", CORRECTIONS_TASK),
    ]
    chosen.key.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in key))


def _written(cases: list[Case], chosen: argparse.Namespace, name: str, task: str) -> Iterator[Case]:
    """Write the cases in a random order, and give back each with its number."""
    place, did = chosen.folder / name, "You saved" if name == "saves" else "The person said"
    random.Random(f"{chosen.seed} order").shuffle(cases)
    (place / "task.txt").write_text(task)
    for start in range(0, len(cases), SAVES_A_FILE):
        some = list(enumerate(cases, start=1))[start : start + SAVES_A_FILE]
        blocks = [f"=== case {number}\n{did}: {each['text']}\n\n{each['answer']}\n" for number, each in some]
        part = f"-{start // SAVES_A_FILE + 1}" if name == "saves" else ""
        (place / f"{name}{part}.txt").write_text("\n".join(blocks))
    for number, each in enumerate(cases, start=1):
        yield Case(case=number, **{name: value for name, value in each.items() if name != "answer"})


# ---------------------------------------------------------------- counting


def score(key: Sequence[Mapping[str, Any]], answers: Mapping[int, Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """By kind, how many are settled rightly; answers are those of one reader, by the number of the case."""
    counts: dict[str, Counter[str]] = {}
    for case in key:
        is_shown = {*case["known"]} <= {*case["near"]}
        kind = (
            case["kind"]
            if is_shown or case["kind"] in ("chain", "independent", "beside")
            else f"{case['kind']}, not shown"
        )
        counts.setdefault(kind, Counter())["cases"] += 1
        if case["case"] in answers:
            counts[kind]["answered"] += 1
            counts[kind].update(_verdict(case, answers[case["case"]]))
    if chains := _chains(key, answers):
        counts["whole chains"] = chains
    return counts


def _verdict(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """What is to be counted of one answer: `right`, the verb, and `touched` if something else was ended."""
    ended, same, known = _ended(answer), _ids(answer, "same"), {*case["known"]}
    if case["kind"] == "correction":
        saves = [each for each in answer["calls"] if each.get("tool") == "memory_save" and each.get("text")]
        ended = {id for each in answer["calls"] for id in (*_ended(each), *_ids(each, "same"), *_forgotten(each))}
        is_right = ended == known and bool(saves) == bool(case["new"])
        yield from (name for name, is_so in (("right", is_right), ("touched", bool(ended - known))) if is_so)
        return
    touched = (ended | same) - known
    if case["kind"] in ("independent", "beside"):
        touched |= (ended | same) & known
        is_right = not touched and not answer.get("until")
    elif case["kind"] == "same":
        is_right = bool((same | ended) & known)
    elif case["kind"] == "restriction":
        is_right = not same and not _ids(answer, "replaces")
    else:
        is_right = known <= ended
    if is_right and not touched:
        yield "right"
    if touched or (answer.get("until") and case["kind"] in ("independent", "beside")):
        yield "touched"
    yield from (verb for verb in ("replaces", "covers", "same", "both", "until") if answer.get(verb))


def _ended(call: Mapping[str, Any]) -> set[str]:
    return _ids(call, "replaces") | _ids(call, "covers")


def _forgotten(call: Mapping[str, Any]) -> set[str]:
    return _ids(call, "id") if call.get("tool") == "memory_forget" else set()


def _ids(call: Mapping[str, Any], name: str) -> set[str]:
    """The last six digits of the ids, without the digits of the words."""
    value = call.get(name) or []
    values = value if isinstance(value, list) else [value]
    return {str(each).strip().partition(".")[0].lower()[-_DIGITS:] for each in values}


def _chains(key: Sequence[Mapping[str, Any]], answers: Mapping[int, Mapping[str, Any]]) -> Counter[str]:
    """Chains of which no old value is left as current after both of the reader's calls."""
    cases: dict[int, list[Mapping[str, Any]]] = {}
    for case in key:
        if case["kind"] == "chain":
            cases.setdefault(case["chain"], []).append(case)
    counts: Counter[str] = Counter(cases=len(cases))
    for both in cases.values():
        olds = {id for case in both for id in case["known"]}
        ended = {id for case in both for id in _ended(answers.get(case["case"], {}))}
        same = {id for case in both for id in _ids(answers.get(case["case"], {}), "same")}
        counts["answered"] += all(case["case"] in answers for case in both)
        counts["right"] += olds <= ended and not same
        counts["touched"] += bool((ended | same) - olds)
    return counts if cases else Counter()


def scores_table(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """One reader's counts in Markdown."""
    columns = ("cases", "answered", "right", "touched", "replaces", "covers", "same", "both", "until")
    rows = [[kind, *(each.get(name, 0) for name in columns)] for kind, each in counts.items()]
    yield from table(["kind", *columns], rows)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip().startswith("{")]


def main() -> None:
    """Prepare a trial, or count what readers answered."""
    chosen = _options().parse_args()
    if chosen.verb == "prepare":
        with figures.own_home() as folder, _worded(chosen.wording):
            asyncio.run(prepare(chosen, folder))
        return
    key, told = _lines(chosen.key), {}
    for file in chosen.answers:
        answers = {each["case"]: each for each in _lines(file)}
        is_corrections = any("calls" in each for each in answers.values())
        asked = [case for case in key if (case["kind"] == "correction") == is_corrections]
        told[file.stem] = score(asked, answers)
        print("\n".join([f"### {file.name}", "", *scores_table(told[file.stem]), ""]))
    if chosen.save:
        figures.say(f"saved in {figures.save('readers', {'of': chosen.save, 'readers': told})}")


def _worded(file: Path | None) -> ExitStack:
    """The texts of the wording in the place of the code's."""
    stack = ExitStack()
    for name, text in (json.loads(file.read_text(encoding="utf-8")) if file else {}).items():
        module, _, constant = name.partition(".")
        stack.enter_context(patch.object(import_module(f"commonplace.mcp_server.{module}"), constant, text))
    return stack


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(dest="verb", required=True)
    preparing = verbs.add_parser("prepare", help="write what readers see, and the key")
    preparing.add_argument("folder", type=Path, help="a new folder for what readers see")
    preparing.add_argument("--key", type=Path, required=True, help="file for the labels, outside of that folder")
    preparing.add_argument("--wording", type=Path, help="a JSON object of texts to try")
    preparing.add_argument("--authors", default="ab", help="whose sets: letters of the files in bench/sets/changes")
    preparing.add_argument("--cues", action="store_true", help="saves have what the statements are about, too")
    preparing.add_argument("--seed", type=int, default=1, help="which pairs, and their order")
    preparing.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    scoring = verbs.add_parser("score", help="count what readers answered")
    scoring.add_argument("key", type=Path)
    scoring.add_argument("--save", metavar="WHAT", help="keep the figures in bench/results, said to be of this")
    scoring.add_argument("answers", type=Path, nargs="+", help="a file for each reader")
    return options


if __name__ == "__main__":
    main()
