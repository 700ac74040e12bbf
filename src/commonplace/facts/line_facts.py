"""Facts from the text of a note: structured lines, commitments, and typed links.

A fact of a structured line exists exactly as long as its line does. Lists in notes look much the same without meaning a
fact (`- a [[person]]`, `- [Ellis] wrote that`), so a line must show that it is meant as one.

A typed link is the relation between two notes that the words right before a link state, by a table of phrases, without
a model. The phrases are English and German; a slash separates alternatives, and a question mark marks a word that may
be left out.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final
from unicodedata import normalize
from uuid import UUID, uuid5

from commonplace.facts.claims import FactRules
from commonplace.facts.commitments import COMMITTED, StatedCommitment, commitments_of
from commonplace.facts.entry_format import is_entry
from commonplace.facts.entry_paths import default_importance
from commonplace.facts.triples import Predicates, predicate_key, strip_links
from commonplace.model import KINDS, Fact, Link, Note, Observation, Origins, Place, Relation
from commonplace.model.moment import read_moment
from commonplace.model.text import fold_phrase

RELATION_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "works_at": ("work/works/working at/for", "employed at/by", "arbeite/arbeitet/arbeiten bei/für", "angestellt bei"),
    "worked_at": ("worked at/for", "used to work at/for", "arbeitete/arbeiteten bei/für", "gearbeitet bei/für"),
    "works_on": ("work/works/working/worked on", "arbeite/arbeitet/arbeiten an", "gearbeitet an"),
    "works_with": ("work/works/working/worked with", "arbeite/arbeitet/arbeiten mit", "zusammen mit"),
    "reports_to": ("report/reports/reporting/reported to", "berichtet/berichten an"),
    "leads": ("lead/leads/leading/led", "manage/manages/managing/managed", "leitet/leiten/leitete"),
    "led_by": ("led/managed/headed/run by", "geleitet/geführt von"),
    "lives_in": ("live/lives/living in", "based in", "moved to", "wohne/wohnt/wohnen/lebe/lebt/leben in"),
    "lived_in": ("lived in", "used to live in", "wohnte/wohnten/lebte/lebten in"),
    "located_in": ("located/situated in/at", "liegt/liegen in", "befindet/befinden sich in"),
    "born_in": ("born in", "geboren in"),
    "traveled_to": (
        "travel/travels/traveled/travelled to",
        "trip to",
        "flew to",
        "reist/reiste/flog nach",
        "reise nach",
    ),
    "visiting": ("visit/visits/visiting/visited", "besuche/besucht/besuchen/besuchte"),
    "knows": ("know/knows/knew", "kenne/kennt/kennen/kannte"),
    "met_with": (
        "met/meet/meets/meeting with?",
        "spoke/talked/talk/speak/call/lunch/dinner with",
        "treffe/trifft/treffen/traf/getroffen mit?",
        "gespräch/gesprochen/telefonat mit",
    ),
    "married_to": ("married to", "verheiratet mit"),
    "friend_of": ("friend/friends of", "friends with", "befreundet mit", "freund/freundin von"),
    "member_of": ("member/members of", "joined", "belong/belongs/belonged to", "mitglied/mitglieder von/bei/in"),
    "founded_by": ("founded/started by", "gegründet von"),
    "founded": ("founded", "gründete/gründeten"),
    "created_by": ("created/made/built/written/authored/drafted by", "erstellt/gemacht/gebaut/geschrieben von"),
    "owned_by": ("owned by", "gehört/gehören"),
    "owns": ("owns/owned", "besitzt/besitzen"),
    "part_of": ("part/parts/piece/subset of", "teil/teile/bestandteil von", "gehört/gehören zu"),
    "contains": ("contain/contains/containing/include/includes/including", "consist/consists of", "enthält/enthalten"),
    "depends_on": (
        "depend/depends/depending/depended on/upon",
        "dependent on/upon",
        "rely/relies/relying on",
        "hängt/hängen ab? von",
        "abhängig von",
    ),
    "requires": ("require/requires/requiring/need/needs", "benötigt/benötigen/braucht/brauchen/erfordert"),
    "required_by": ("required/needed by", "benötigt/gebraucht von"),
    "uses": ("use/uses/using", "nutzt/nutzen/verwendet/verwenden/benutzt"),
    "used_by": ("used by", "used in", "genutzt/verwendet/benutzt von/in"),
    "based_on": ("based on/upon", "build/builds/built on", "basiert/basieren/beruht/beruhen/basierend auf"),
    "derived_from": ("derived from", "follow/follows/followed from", "abgeleitet von/aus", "folgt aus"),
    "inspired_by": ("inspired by", "inspiriert von/durch"),
    "see_also": ("see also?", "cf", "compare", "siehe auch?", "vergleiche", "vgl"),
    "related_to": ("related/relates/connected/linked to", "verwandt/verbunden mit", "hängt mit"),
    "similar_to": ("similar to", "ähnlich wie?", "ähnelt"),
    "alternative_to": ("alternative/alternatives to", "instead of", "alternative/alternativen zu", "statt/anstatt"),
    "supersedes": ("supersede/supersedes/superseding/replace/replaces/replacing/replaced", "ersetzt/ersetzen"),
    "superseded_by": ("superseded/replaced by", "ersetzt/abgelöst durch/von"),
    "extends": ("extend/extends/extending", "build/builds upon", "erweitert/erweitern"),
    "implements": ("implement/implements/implementing", "implementiert/implementieren"),
    "contradicts": ("contradict/contradicts/contradicting", "conflicts with", "widerspricht/widersprechen"),
    "supports": ("support/supports/supporting", "evidence for", "stützt/stützen/unterstützt"),
    "answers": ("answer/answers/answering", "beantwortet/beantworten"),
    "caused_by": ("caused by", "because of", "due to", "verursacht durch/von", "wegen", "aufgrund"),
    "causes": ("cause/causes/causing/caused", "leads/led to", "verursacht/verursachte", "führt/führte zu"),
    "blocked_by": ("blocked by/on", "waiting for/on", "blockiert von/durch", "wartet/warte auf"),
    "blocks": ("block/blocks/blocking", "blockiert"),
    "fixes": ("fix/fixes/fixing/fixed/resolve/resolves/resolved", "behebt/behob", "löst"),
    "fixed_by": ("fixed/resolved/solved by/in", "behoben/gelöst durch/von/in"),
    "reported_by": ("reported/raised/filed by", "gemeldet von"),
    "assigned_to": ("assigned/delegated to", "zugewiesen an?"),
    "decided_in": ("decided/agreed in/at/on", "beschlossen/entschieden in/bei/am"),
    "discussed_in": ("discussed/discussing in/at", "besprochen in/bei"),
    "mentioned_in": ("mentioned in/by", "erwähnt in/von"),
    "described_in": ("described/documented/explained in/by", "beschrieben/dokumentiert/erklärt in/von"),
    "cites": ("cite/cites/citing/quote/quotes/quoting", "according to", "zitiert/zitieren", "laut"),
    "example_of": ("example/examples/instance of", "beispiel für"),
    "kind_of": ("kind/type/sort/form of", "art/form von"),
    "follows": ("follow/follows/following", "comes after", "folgt auf", "kommt nach"),
    "precedes": ("precede/precedes/preceding", "comes before", "kommt vor"),
}
"""The phrases for each relation; docs/formats/note.md lists them."""

_LISTS: Final = {
    "articles": """the a an my our your his her their its this that these those der die das den dem des ein eine einen
        einem einer mein meine meinen meinem meiner unser unsere unserem sein seine seinem ihr ihre ihrem""",
    "denials": """not no never cannot without neither nor hardly
        nicht nie niemals kein keine keinen keinem ohne kaum""",
    "fillers": """, who which that also now still currently then already is are was were be been being has have had
        will would can may der die das welche welcher auch jetzt nun noch derzeit schon ist sind war wird wurde hat""",
}
_ARTICLES, _DENIALS, _FILLERS = (frozenset(words.split()) for words in _LISTS.values())
"""Words that may stand between a phrase and its link; that deny it; that may stand between it and its subject."""

_CONTRACTIONS: Final[Mapping[str, str]] = {
    "am": "an",
    "beim": "bei",
    "im": "in",
    "vom": "von",
    "zum": "zu",
    "zur": "zu",
}
"""German contractions of a preposition and an article, as the preposition alone."""

_REACH: Final = 160  # characters before a link that are searched
_BREAK: Final = re.compile(r"[.!?;](?=\s)|\n\s*\n|\n[ \t]*(?:[-*+>#|]|\d+[.)])")
_LINK: Final = re.compile(r"\[\[[^\[\]\n]*\]\]")
_MARKUP: Final = " \t\r\n:*_~\"'“”„«»(=-–—"
_WORD: Final = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s*_~]")
_BETWEEN: Final = re.compile(r"(?:[ \t*_,;&/+]|\n(?![\s*+>-])|\b(?:and|or|und|oder|sowie)\b)*+")
_ABBREVIATION: Final = re.compile(r"\b(cf|vgl)\.", re.IGNORECASE)
_DENIAL_REACH: Final = 4  # words before a phrase in which a denial counts
_LINK_SIGN: Final = "\ufffc"  # stands for an earlier link


def typed_links(note: Note) -> tuple[Link, ...]:
    """The note's links in order; wikilinks in the body carry the relation that the words before them state.

    A structured line that is a fact states it by its predicate. In a list such as `met [[Ada]] and [[Bob]]`, the
    relation of the first link applies to all.
    """
    relations = (each for each in note.relations if states_relation(each, title=note.title))
    stated = {(each.line, each.object): predicate_key(each.predicate) for each in relations}
    typed: list[Link] = []
    before: Link | None = None
    for link in note.links:
        if link.form != "wikilink" or link.where != "body":
            typed.append(link)
            continue
        relation = stated.get((link.line, link.target)) or _relation_of(note.text, link, before)
        before = replace(link, relation=relation) if relation else link
        typed.append(before)
    return tuple(typed)


def relation_before(text: str) -> str:
    """The relation that the last words of a text state for a link right after it; empty if they state none.

    Only the sentence of the link counts. A denied relation does not count, nor one that belongs to an earlier link.
    """
    relations, longest = _relations()
    words = _last_words(text)
    if words and words[-1] in _ARTICLES:
        words = words[:-1]
    for count in range(min(longest, len(words)), 0, -1):
        relation = relations.get(tuple(words[-count:]))
        if relation:
            return "" if _is_denied_or_taken(words[:-count]) else relation
    return ""


@cache
def _relations() -> tuple[Mapping[tuple[str, ...], str], int]:
    """Every spelling of every phrase with its relation, and the number of words in the longest."""
    relations = {
        words: relation
        for relation, phrases in RELATION_PHRASES.items()
        for phrase in phrases
        for words in spellings(phrase)
    }
    return relations, max(map(len, relations))


def spellings(phrase: str) -> tuple[tuple[str, ...], ...]:
    """Every way to write the phrase, word by word."""
    choices = [(*word.removesuffix("?").split("/"), *([""] if word.endswith("?") else [])) for word in phrase.split()]
    return tuple(tuple(filter(None, words)) for words in product(*choices))


def _relation_of(text: str, link: Link, before: Link | None) -> str:
    if before and before.relation and _BETWEEN.fullmatch(text, before.end, link.start):
        return before.relation
    return relation_before(text[max(0, link.start - _REACH) : link.start])


def _last_words(text: str) -> Sequence[str]:
    """The words of the sentence that the text ends in, with one sign for each earlier link and punctuation mark."""
    text = _ABBREVIATION.sub(r"\1", _LINK.sub(f" {_LINK_SIGN} ", normalize("NFC", text)))
    start = max((match.end() for match in _BREAK.finditer(text)), default=0)
    words = _WORD.findall(text[start:].rstrip(_MARKUP).casefold())
    return [_CONTRACTIONS.get(word, word) for word in words]


def _is_denied_or_taken(words: Sequence[str]) -> bool:
    """True if the words before a phrase deny it, or name another link as its subject."""
    nearest = words[-_DENIAL_REACH:]
    if any(word in _DENIALS or word.endswith(("n't", "n’t")) for word in nearest):
        return True
    return _LINK_SIGN in [word for word in nearest if word not in _FILLERS][-1:]


_WORDS: Final = {
    "kinds": """skill role goal habit rule constraint requirement principle method technique tool tip lesson problem
        solution risk assumption plan question answer quote definition note todo status contact health diet hobby""",
    "predicates": """likes dislikes loves hates prefers avoids wants speaks plays drives teaches studies attends
        collects""",
}
_MORE_KINDS, _MORE_PREDICATES = (frozenset(words.split()) for words in _WORDS.values())
"""Common words for a kind of statement, besides the kinds of entries; for a predicate, besides the typed links'."""

_POINTERS: Final = frozenset({"see_also", "mentioned_in", "related_to"})
"""Relations that in plain words only point somewhere, and say nothing about the note's subject."""

_BUILT_IN: Final = Predicates()
_DAY: Final = re.compile(r"\d{4}[-_.]?\d{2}[-_.]?\d{2}")


def states_something(line: Observation) -> bool:
    """True if an observation is meant as a fact: its kind is known, or is in lower case and the line has a topic.

    In brackets at the start of a line stand also who spoke, and words that somebody added to a quotation.
    """
    kind = line.kind.casefold()
    return kind in KINDS or kind in _MORE_KINDS or bool(line.topics and line.kind == kind)


def states_relation(line: Relation, *, title: str, predicates: Predicates = _BUILT_IN) -> bool:
    """True if a relation is meant as a fact about `title`, the title of its note.

    It is if the predicate is written as one word with `_`, or the line has a topic. Plain words count if they are a
    known predicate and the note is not about a day: the lines of a diary have other subjects. `predicates` are those
    of the settings, which are known besides the common ones.
    """
    if line.topics or "_" in line.predicate:
        return True
    key = predicate_key(line.predicate)
    is_known = key in _MORE_PREDICATES or (key in RELATION_PHRASES and key not in _POINTERS)
    is_known = is_known or any(key in each for each in (predicates.single, predicates.temporary, predicates.expiring))
    return is_known and not _DAY.fullmatch(title.strip())


_NAMESPACE: Final = UUID("3d0c53d6-9f0f-5b6a-8a86-2f4d3f8a9c07")


def line_key(line: Observation | Relation) -> str:
    """A short hash of what a structured line says, whatever note it is in."""
    predicate, object, text = _triple_of(line)
    kind = line.kind.casefold() if isinstance(line, Observation) else ""
    return _key_of(predicate or kind, object or text)


def fact_line_key(fact: Fact) -> str:
    """The `line_key` of the line in which this fact stands."""
    return _key_of(fact.predicate or fact.kind, fact.object or fact.text)


def _key_of(*said: str) -> str:
    return hashlib.sha256(json.dumps(said).encode(errors="surrogatepass")).hexdigest()[:16]


def line_keys(note: Note) -> frozenset[str]:
    """The keys of the note's structured lines, whether they are meant as facts there or not."""
    lines: tuple[Observation | Relation, ...] = (*note.observations, *note.relations)
    stated = (_commitment_key(each) for each in commitments_of(note))
    return frozenset((*map(line_key, lines), *stated))


def _commitment_key(commitment: StatedCommitment) -> str:
    return _key_of(COMMITTED, commitment.what)


def line_facts(
    note: Note, *, place: Place, sensitive: bool, rules: FactRules, programs: Collection[str] = ()
) -> tuple[Fact, ...]:
    """The facts of the structured lines that are meant as facts, in line order; none for an entry, itself a fact.

    A fact keeps its id as long as its note keeps its path and its line keeps its words; equal lines are numbered in
    order. A line does not say when it was written, so `recorded` is empty. `programs` are the keys of lines that a
    program wrote into the note: they are trusted like its entries, and all other lines are the person's.
    """
    if is_entry(note):
        return ()
    seen: Counter[str] = Counter()
    facts = []
    updated = read_moment(note.frontmatter.get("updated"))
    for key, named, fact in sorted(
        (*_line_facts(note, rules), *_commitment_facts(note)), key=lambda each: each[2].line
    ):
        name = json.dumps([rules.user, note.path, *named])
        facts.append(
            replace(
                fact,
                id=str(uuid5(_NAMESPACE, f"{name} {seen[name]}")),
                place=place,
                sensitive=sensitive,
                importance=default_importance(fact.fact),
                updated=updated,
                origins=Origins(trust="said" if key in programs else "read"),
                fingerprint=rules.fingerprint(fact),
            )
        )
        seen[name] += 1
    return tuple(facts)


def _line_facts(note: Note, rules: FactRules) -> Iterator[tuple[str, Sequence[str], Fact]]:
    """What each line meant as a fact says, without an id; with the line's key, and what names it in its note."""
    title, predicates = note.title, rules.predicates
    relations = (each for each in note.relations if states_relation(each, title=title, predicates=predicates))
    lines: list[Observation | Relation] = [*filter(states_something, note.observations), *relations]
    for line in lines:
        predicate, object, text = _triple_of(line)
        kind = line.kind.casefold() if isinstance(line, Observation) else ""
        fact = Fact(
            id="",
            path=note.path,
            line=line.line,
            origin="line",
            text=text,
            kind=kind,
            fact="fact",
            topics=tuple(dict.fromkeys(line.topics)),
            subject=note.title,
            predicate=predicate,
            object=object,
        )
        yield line_key(line), (predicate or kind, object or text), fact


def _commitment_facts(note: Note) -> Iterator[tuple[str, Sequence[str], Fact]]:
    """What each line that says who has to do what says; one that is closed has ended, on the day it names if any.

    A commitment keeps its name, and so its id, while it is closed and opened again.
    """
    for each in commitments_of(note):
        fact = Fact(
            id="",
            path=note.path,
            line=each.line,
            origin="line",
            text=each.text,
            kind=each.kind,
            fact="event",
            status="expired" if each.is_closed else "active",
            subject=each.who,
            predicate=COMMITTED,
            object=each.what,
            due=each.due,
            valid_from=read_moment(each.day),
            valid_until=read_moment(each.done) if each.is_closed else "",
        )
        yield _commitment_key(each), (COMMITTED, fold_phrase(each.who), each.what), fact


def _triple_of(line: Observation | Relation) -> tuple[str, str, str]:
    """The line's predicate and object, both empty for a statement, and its text as written.

    The object is the name of the note that the link names, without the folders before it.
    """
    if isinstance(line, Observation):
        return "", "", line.text
    link = f"[[{line.object}]]"
    return predicate_key(line.predicate), strip_links(link), f"{line.predicate} {link}"
