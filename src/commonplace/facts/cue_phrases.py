"""The words before a link that say how its note stands to the one it is in, in English and in German.

In a phrase a slash stands between words that may take each other's place, and a question mark behind one that may be
left out.
"""

from collections.abc import Mapping
from itertools import product
from typing import Final

CUES: Final[Mapping[str, tuple[str, ...]]] = {
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
"""A relation -> the phrases that say it; docs/formats/note.md shows them."""


def _spelled(phrase: str) -> tuple[tuple[str, ...], ...]:
    """Every way to say the phrase, word by word."""
    choices = [(*word.removesuffix("?").split("/"), *([""] if word.endswith("?") else [])) for word in phrase.split()]
    return tuple(tuple(filter(None, words)) for words in product(*choices))


RELATIONS: Final[Mapping[tuple[str, ...], str]] = {
    words: relation for relation, phrases in CUES.items() for phrase in phrases for words in _spelled(phrase)
}
"""The words of a cue -> what they say of the two notes."""

_LISTED: Final = {
    "articles": """the a an my our your his her their its this that these those der die das den dem des ein eine einen
        einem einer mein meine meinen meinem meiner unser unsere unserem sein seine seinem ihr ihre ihrem""",
    "denials": """not no never cannot without neither nor hardly
        nicht nie niemals kein keine keinen keinem ohne kaum""",
    "beside": """, who which that also now still currently then already is are was were be been being has have had
        will would can may der die das welche welcher auch jetzt nun noch derzeit schon ist sind war wird wurde hat""",
}
ARTICLES, DENIALS, BESIDE = (frozenset(words.split()) for words in _LISTED.values())
"""Words that may stand between a cue and its link; that deny it; and that may stand between it and its subject."""

WHOLE: Final[Mapping[str, str]] = {
    "am": "an",
    "beim": "bei",
    "im": "in",
    "vom": "von",
    "zum": "zu",
    "zur": "zu",
}
"""German words that are two, without the article in them."""

LONGEST: Final = max(map(len, RELATIONS))
"""How many words the longest cue has."""
