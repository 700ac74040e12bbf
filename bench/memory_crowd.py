"""Entries of other subjects, generated, among which a person's own have to be found: always the same for a number.

They read as what an agent saves in years of work: colleagues, clients, tools, decisions, ways of working, journeys, and
now and then a habit of the person. They are written as notes, in the form in which the library writes entries, and
indexed together: saving ten thousand one by one would take an hour and leave the same files.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final
from uuid import UUID

from bench.memory_sets import CUES, NO_CUES, Cues, read_cues

from commonplace.facts.cues import counted_cue
from commonplace.facts.entry_paths import default_importance, entry_path, fact_class_of, slug_of
from commonplace.flows.memory.new_entry import new_entry_note
from commonplace.model import Fact, Origins
from commonplace.model.moment import moment_text

SPAN: Final = timedelta(days=730)
BY: Final = Origins(interface="bench", trust="said")

_WORDS: Final = """
first: Anders, Beatriz, Caspar, Dilek, Edoardo, Fiona, Goran, Hanneke, Ilse, Jarmo, Katya, Lorenzo, Mette, Nikos,
  Oluwaseun, Petra, Quentin, Rasmus, Sunniva, Tomasz, Ulrike, Valeria, Wim, Xenia, Yusuf, Zofia, Akira, Brigid,
  Cosmin, Delphine, Emeka, Farah, Gerd, Hye-jin, Ivana, Jacinta, Kofi, Ludmila, Matteo, Ngozi
last: Aalto, Brankov, Castellan, Drummond, Eriksen, Fontaine, Gruber, Halloran, Ivarsson, Jelinek, Kowalczyk,
  Lindqvist, Moretti, Nakagawa, Okafor, Papadakis, Quiroga, Rahimi, Santoro, Tanaka, Ullmann, Vasquez, Whitlock,
  Yilmaz, Zimmer, Abara, Blomberg, Cisneros, Dvorak, Estrada
firm: Altamar, Brightwell, Cordoba Tiles, Dunmore Press, Eastgate Clinic, Ferrum Works, Glasshouse Media, Halden
  Ferries, Icarus Drones, Juniper Foods, Kelvin Optics, Larkspur Homes, Mistral Wines, Northlight Studios, Orchard
  Bank, Pelican Freightways, Quarry Hill School, Redfern Paints, Solano Solar, Tidewater Labs, Umbra Textiles,
  Vesper Hotels, Westbrook Council, Xylo Instruments, Yarrow Pharmacy, Zenith Bikes
project: Albatross, Basalt, Cinder, Delta-Nine, Ember, Foxglove, Gannet, Hazel, Indigo, Juno, Kestral, Lantern,
  Marigold, Nimbus, Onyx, Puffin, Quill, Rowan, Saffron, Thistle, Umber, Vireo, Willow, Yarn, Zephyr
system: the ledger service, the label printer, the search cluster, the mail relay, the booking calendar, the image
  resizer, the audit log, the badge reader, the warehouse scanner, the survey tool, the payroll export, the ticket
  queue, the map tiles, the feature flags, the backup job, the translation memory, the door display, the print
  shop's portal, the stock sheet, the photo archive, the telemetry bus, the coupon engine, the room planner, the
  newsletter
tool: Ansible, Blender, Caddy, Dagster, Elixir, Figma, Grafana, Hugo, InfluxDB, Jenkins, Kubernetes, Looker,
  Meilisearch, Nomad, OpenSCAD, Prometheus, QGIS, RabbitMQ, Svelte, Terraform, Unity, Vagrant, Webpack, Xcode, Yarn
  workspaces, Zig, Airtable, ClickHouse, Drone CI, Envoy, Flyway, Ghidra
place: Aarhus, Bilbao, Cluj, Dresden, Edinburgh, Faro, Ghent, Helsinki, Innsbruck, Jaén, Kaunas, Linz, Malmö,
  Nantes, Oulu, Parma, Quimper, Riga, Split, Turku, Uppsala, Verona, Wrocław, Ystad, Zadar, Odense, Ljubljana,
  Tartu, Braga, Trieste
thing: blackout curtains, a standing desk, a torque wrench, loose-leaf tea, a label maker, rye bread, a folding
  bike, fountain pens, a rowing machine, hazelnut spread, a film camera, a camping stove, wool socks, a chess clock,
  sourdough, a bass guitar, a soldering iron, a terrarium, goat cheese, a cast-iron pan, a kayak, a sewing machine,
  peppermint oil, a telescope, noise-cancelling headphones, a bread knife, board games, a drawing tablet, olive oil,
  a rain jacket
day: Monday, Tuesday, Wednesday, Thursday, Friday
month: January, February, March, April, May, June, July, August, September, October, November, December
action: restart the worker, clear the cache, rotate the log, rebuild the index, tell the front desk, reload the
  fixtures, wait for the lock, drain the queue, check the certificate, pin the version, re-run the import, open the
  valve
reason: the licence was too dear, nobody could maintain it, the client insisted, it was twice as slow, of the new
  regulation, the vendor was bought, the old one lost data, it needs no server, the team knows it already, the
  deadline was near
part: invoice, report, contract, drawing, manual, poster, schema, script, catalogue, leaflet, plan, survey
"""
"""Names and words that fill the templates: a name, and what it may stand for; a line may run on."""

TEMPLATES: Final = (
    ("fact", "{first} {last} runs {system} at {firm} and answers on {day}s."),
    ("fact", "{firm} moved its head office to {place} in {month} {year}."),
    ("fact", "{System} at {firm} holds {number} records and is cleaned every {month}."),
    ("fact", "{first} {last} of {firm} speaks for the client in project {project}."),
    ("fact", "Project {project} has a budget of {number} euros until {month}."),
    ("fact", "{firm} pays after {small} days and wants each {part} in duplicate."),
    ("fact", "{first}'s desk is on floor {small} of the {firm} building in {place}."),
    ("fact", "{System} listens on port {number} and speaks only {tool}'s format."),
    ("fact", "{first} {last} left {firm} in {month}; {first2} {last2} follows."),
    ("fact", "The {part} for {firm} is kept in the folder {project}/{number}."),
    ("fact", "{firm} has {small} branches, the largest in {place}."),
    ("fact", "{first} {last} collects {thing2} and talks about it gladly."),
    ("fact", "The contract with {firm} ends on {small} {month} {year}."),
    ("fact", "{first} {last} and {first2} {last2} share the care of {system}."),
    ("preference", "{first} {last} wants every {part} from {tool} as a PDF."),
    ("preference", "{first} {last} prefers {tool} to {tool2} for project {project}."),
    ("preference", "{firm} likes its {part} with {small} pages at most."),
    ("preference", "Likes {thing} as a present for {first}."),
    ("preference", "Reads the {part} of {firm} on paper."),
    ("preference", "Keeps the notes about {project} in {tool}."),
    ("preference", "Would sooner take the train to {place} than drive."),
    ("preference", "Enjoys {thing} at the weekend in {place}."),
    ("decision", "{project} uses {tool} instead of {tool2}, because {reason}."),
    ("decision", "{firm} keeps {system} for another {small} months, because {reason}."),
    ("decision", "The {part} of {project} is written by {first} {last}, because {reason}."),
    ("decision", "Nobody touches {system} before {month}, because {reason}."),
    ("workflow", "When {system} at {firm} hangs: {action}, then {action2}."),
    ("workflow", "A {part} for {firm}: draft in {tool}, {first} reads it, sent on {day}."),
    ("workflow", "Before a visit to {place}: ask {first} {last}, {action}, take {thing}."),
    ("workflow", "Each {month} {action} on {system}, and tell {first} {last}."),
    ("fix", "{System} failed with code {number} after the update of {tool}; to {action} helped."),
    ("fix", "{tool} lost its connection to {system} in {place}; the cure was to {action}."),
    ("event", "{first} {last} visits {place} on {small} {month} {year}."),
    ("event", "The fair in {place} is on {small} {month} {year}; {firm} has a stand."),
    ("event", "{firm} celebrates {small} years in {month} {year}."),
    ("event", "Project {project} was handed over in {place} in {month} {year}."),
    ("constraint", "{firm} forbids {tool} on its machines."),
    ("constraint", "The {part} of {project} must not leave {place}."),
    ("constraint", "{System} must not be restarted on a {day}."),
    ("insight", "{project} went faster once {first} {last} did the {part} alone."),
    ("insight", "With {firm}, a call on {day} settles more than ten letters."),
    ("feedback", "{first} {last} found the {part} for {project} too long."),
    ("feedback", "{firm} praised the {part} from {month} and asked for the same again."),
    ("idea", "{tool} could replace {system} at {firm} one day."),
    ("idea", "A shared {part} with {first} {last} on {thing2} might be fun."),
    ("domain-reference", "At {firm} a '{project}' is a {part} that waits for {first}."),
    ("domain-reference", "In {place} they call {system} 'the {project}'."),
    ("skill-pointer", "tools/{project}_{number}.py checks the {part} of {firm}."),
    ("identity", "{first} {last} is a cousin from {place}, with {small} cats."),
    ("identity", "{first} {last} was the neighbour in {place} until {year}."),
)


def crowd(count: int, *, seed: int = 15) -> list[tuple[str, str, Cues]]:
    """So many distinct statements with their kinds and cues, always the same; fewer are the beginning of more."""
    cues = read_cues(CUES / "crowd.jsonl", key="n")
    source, made = random.Random(seed), dict[str, tuple[str, Cues]]()
    while len(made) < count:
        number = source.randrange(len(TEMPLATES))
        (kind, template), words = TEMPLATES[number], _words(source)
        made.setdefault(template.format(**words), (kind, Cues(*(each.format(**words) for each in cues[number]))))
    return [(kind, text, own) for text, (kind, own) in made.items()]


def write_crowd(vault: Path, count: int, *, cues: bool = False) -> None:
    """Write so many entries into the vault, with cues or without, said by an agent over the last two years."""
    begins = datetime.now(UTC) - SPAN
    for path, content in _notes(count, begins, cues=cues):
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _notes(count: int, begins: datetime, *, cues: bool) -> Iterator[tuple[str, bytes]]:
    source = random.Random(16)
    for number, (kind, text, own) in enumerate(crowd(count)):
        at = begins + (SPAN - timedelta(days=1)) * source.random()
        fact = _entry(text, kind, own if cues else NO_CUES, id=_id(number, at), at=moment_text(at))
        yield fact.path, new_entry_note(fact, tags=())


def _entry(text: str, kind: str, cues: Cues, *, id: str, at: str) -> Fact:
    class_ = fact_class_of(kind)
    return Fact(
        id=id,
        path=entry_path(kind, id=id, slug=slug_of(text), recorded=at, always_load=False),
        line=0,
        origin="entry",
        text=text,
        kind=kind,
        fact=class_,
        about=counted_cue(cues.about),
        when=counted_cue(cues.when),
        importance=default_importance(class_),
        recorded=at,
        updated=at,
        origins=BY,
    )


def _id(number: int, at: datetime) -> str:
    bits = random.Random(number).getrandbits(74)
    value = int(at.timestamp() * 1000) << 80 | 0x7 << 76 | (bits >> 62) << 64 | 0b10 << 62 | bits & (1 << 62) - 1
    return str(UUID(int=value))


def _words(source: random.Random) -> dict[str, str]:
    """One word for each name in the templates; a name with a 2 stands for another word of the same sort."""
    chosen: dict[str, str] = {}
    for name, words in _choices().items():
        chosen[name], chosen[f"{name}2"] = source.sample(words, 2)
    return chosen | {
        "thing2": chosen["thing2"].removeprefix("a "),
        "System": chosen["system"][0].upper() + chosen["system"][1:],
        "year": str(source.randrange(2019, 2029)),
        "number": str(source.randrange(100, 9900)),
        "small": str(source.randrange(2, 28)),
    }


@cache
def _choices() -> dict[str, list[str]]:
    lines = (line.split(": ", 1) for line in _WORDS.replace("\n  ", " ").strip().splitlines())
    return {name: words.split(", ") for name, words in lines}
