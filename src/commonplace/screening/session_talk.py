"""Sentences that nobody needs after the session: what was said and done in it, statuses, one request, vague words.

Also common knowledge, which a model has without a memory: "A cube has six faces.", "Oslo is the capital of Norway.". A
sentence that gives a reason, a rule or a decision is none of these. `session_words` has the words.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening import session_words as words_of
from commonplace.screening.session_reports import is_known_report, is_waiting

_WORD: Final = LazyPattern(r"[^\W_]+(?:['-][^\W_]+)*")
_AI: Final = LazyPattern(r"\bai (?=assistant\b|chatbot\b|agent\b)|^(?:the |an )(?=ai (?!is\b))")
_KEPT: Final = LazyPattern(
    r"\b(?:because|since|always|never|every|each|whenever|from now on|in (?:the )?future|by default|must|should"
    r"|prefers?|preferred|instead|decided|chose|agreed (?:on|to|that)|not to|to be|before|after|no longer|unless"
    r"|at the (?:top|end|start|beginning|bottom)|rather than|so that|remember)\b|;"
    r"|, (?:and|but|so) (?:the user|they|he|she)\b"
    r"|, (?:he|she|they) \w|\b(?:discussed|asked about|talked about) [^:]{1,60}: "
)
"""A reason, a rule or a decision."""
_DETAILED: Final = LazyPattern(r"\b(?:by|with|to|using|when|if|only|into|via|on|now (?:uses?|has))\b|[:=`]|->|→")
"""How, where or for what a step of the work was done."""
_LABEL: Final = LazyPattern(
    r"^(?:summary|note|status|result|log)(?: of (?:the |this )?(?:session|chat|conversation))?\s?:\s+(?=\w)"
)
_TO_DO: Final = LazyPattern(r"\bto[ -]do\b(?=\W*$|:)")
_FEW: Final = 6
_NAME: Final = LazyPattern(r"(?<=\w )(?!AI\b|I(?:'(?:m|ve|ll|d))?\b|OK\b|API\b|User\b|Assistant\b)[A-Z]")
_LANGUAGE: Final = LazyPattern(
    r"\b(?:English|German|French|Spanish|Italian|Portuguese|Dutch|Danish|Swedish|Norwegian|Finnish|Polish|Czech|Greek"
    r"|Russian|Ukrainian|Turkish|Arabic|Hebrew|Hindi|Japanese|Chinese|Korean|Latin|CSV|JSON|YAML|Markdown|HTML|README)\b"
)
"""A language, or the form of a file: in a chore no name."""
_MOMENT: Final = LazyPattern(
    r"the weather is .{1,40}|(?:today|it)(?:'s| is| was)(?: currently| now| still)? (?:an? )?(?:\w+day|raining"
    r"|snowing|sunny|cloudy|morning|evening|\d\d?(?::\d\d)?(?: ?[ap]m)?)\b(?! before| after| if| for).{0,40}"
)
_ASKED_USER: Final = LazyPattern(
    r"(?:i )?(?:have |also |then |again |just )?(?:asked|checked with|inquired with|verified with|confirmed with)"
    r" (?:the )?(?:user|human|him|her|them) (?:again )?(?:whether|if|which|what|how|where|when|why|who|before)\b[^:;]*$"
    r"|(?:i )?asked (?:whether|if|which|what|how) (?:i|we|to)\b[^:;]*$"
)
"""A question that an agent asked, whatever it was about."""
_TOLD: Final = "it only tells what happened in the conversation"
_STATUS: Final = "it is a status of the moment"
_MANY: Final = 40  # words: a longer sentence is not judged
_ONE_REQUEST: Final = 6  # words between "wanted a" and what was wanted


def session_reason(sentence: str) -> str:
    """Why a sentence is of no use after the session, as the end of a sentence; empty if it may be of use."""
    lowered = sentence.casefold().replace("’", "'")
    plain = _AI.sub("", _TO_DO.sub("todo", _LABEL.sub("", lowered)))
    words = _WORD.findall(plain)[: _MANY + 1]
    if not 0 < len(words) <= _MANY:
        return ""
    if not _NAME.search(sentence) and (_says_nothing(words) or is_known_report(lowered)):
        return "it says nothing specific"
    if _ASKED_USER.match(plain):
        return _TOLD
    if _KEPT.search(plain):
        return ""
    if is_common_knowledge(sentence):
        return "it is common knowledge"
    if _MOMENT.fullmatch(plain) or (not _NAME.search(_LANGUAGE.sub("", sentence)) and _is_passing(plain, words)):
        return _STATUS
    return _told_reason(words, is_plain=not _DETAILED.search(plain))


def _is_passing(plain: str, words: Sequence[str]) -> bool:
    """True if somebody waits, or an agent tells of a chore that it has done."""
    return is_waiting(plain) or (":" not in plain and _is_own_chore(words))


def _is_own_chore(words: Sequence[str]) -> bool:
    """True for "I shortened the second paragraph": one piece of work, named by kind only, and no word on how or why."""
    subject, rest = _subject(words)
    verbs = [word for word in rest if word not in words_of.ADVERBS and not word.endswith("ly")]
    is_own = subject == "i" or (subject == "" and "user" in verbs[1:])
    if not is_own or len(verbs) < 3 or verbs[0] not in words_of.CHORED:
        return False
    at = 2 if verbs[1] == "up" else 1
    if verbs[at] not in words_of.ONE | words_of.THE | {"both"} and not verbs[at].isdigit():
        return False
    pieces = words_of.MADE_PIECES if verbs[0] in words_of.MADE else words_of.CHORE_PIECES
    place = next((at for at, word in enumerate(verbs[1:7], start=1) if word in pieces), 0)
    how = words_of.HOW - words_of.INTO if verbs[0] in words_of.CONVERTED else words_of.HOW
    if not place or not how.isdisjoint(verbs[1:]):
        return False
    tail = verbs[place + 1 :]
    if verbs[0] in words_of.CONVERTED or tail[:1] == ["about"]:
        return len(tail) <= _FEW
    return (words_of.GRAMMAR | pieces | words_of.TOPICS | words_of.CHORED | words_of.CHORE_ENDS).issuperset(tail)


def _says_nothing(words: Sequence[str]) -> bool:
    """True if no word has content; a short wish such as "No questions." has, and a to-do without an object has none."""
    if words_of.TO_DO.issuperset(words):
        return not words_of.TO_DO_VERBS.isdisjoint(words)
    if words_of.WISHES.isdisjoint(words):
        actors = words_of.MEMORY_TOPICS if words[0] in ("no", "without") else words_of.ACTORS
        return words_of.EMPTY.issuperset(words) and not actors.isdisjoint(words)
    return words_of.VAGUE.issuperset(words)


def _told_reason(words: Sequence[str], *, is_plain: bool) -> str:
    """Why a sentence tells only of the session, by its subject and its verb; `is_plain` if it gives no details."""
    subject, rest = _subject(words)
    verbs = [word for word in rest if word not in words_of.ADVERBS and not word.endswith("ly")]
    if not verbs:
        return ""
    if subject in ("user", "") and _is_errand(verbs, subject):
        return "it is about one request that is over"
    if subject in ("i", "we", "assistant", "") and _is_step(verbs, is_plain=is_plain):
        return _STATUS
    return _TOLD if _is_told(subject, verbs) else ""


def _subject(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Who the sentence is about (`user`, `assistant`, `i`, `we`, `conversation`, or empty), and the words after it."""
    start = 1 if words[0] in ("the", "this", "our", "that") and len(words) > 1 else 0
    first, rest = words[start], words[start + 1 :]
    if first in words_of.USER:
        return ("we", rest[2:]) if rest[:1] == ["and"] else ("user", rest)
    if first in words_of.ASSISTANT:
        return ("we", rest[2:]) if rest[:1] == ["and"] else ("assistant", rest)
    if first in words_of.CONVERSATION:
        return "conversation", rest
    if first in ("i've", "i'm", "i'll"):
        return "i", rest
    return (first, rest) if first in ("i", "we") else ("", words)


def _is_told(subject: str, verbs: Sequence[str]) -> bool:
    """True if the verb, with this subject, tells of the session."""
    verb, rest = verbs[0], verbs[1:]
    if subject in ("user", "", "i") and _is_question(verbs, subject):
        return True
    if subject == "user":
        is_sent = verb in words_of.SENT and len(rest) <= _FEW and not words_of.SENDINGS.isdisjoint(rest[:5])
        is_opened = verb in words_of.OPENED and not words_of.CONVERSATION.isdisjoint(rest[:4])
        is_opened = is_opened and {"group", "room", "rooms", "groups"}.isdisjoint(rest)
        return (verb in words_of.REACTED and not _is_to_others(rest)) or is_sent or is_opened
    if subject == "assistant":
        return verb in words_of.TALKED
    if subject == "i":
        is_lesson = verb in words_of.TAUGHT and "to" not in rest
        is_spoken = verb in words_of.TALKED | words_of.STEPS or verb == "requested"
        return is_lesson or (is_spoken and not words_of.ADDRESSED.isdisjoint(rest))
    if subject == "we":
        return not words_of.DISCUSSED.isdisjoint(verbs[:2])
    if subject == "conversation":
        return verb in words_of.WENT and (verb != "was" or rest[:1] == ["about"])
    if verb in words_of.TALKED | words_of.STEPS and ("user" in rest or (verb, *rest[:1]) == ("looked", "up")):
        return True
    if verb in words_of.HELPED:
        return bool(rest) and rest[0] in words_of.CHORES | words_of.USER | words_of.QUESTIONS | {"the", "with"}
    is_waiting_for = verb in ("waiting", "awaiting") and rest[:1] != ["list"] and "from" not in rest
    return is_waiting_for and not words_of.REPLIES.isdisjoint(rest)


def _is_to_others(rest: Sequence[str]) -> bool:
    """True if somebody outside the session is thanked, greeted or answered: "the jury", "his neighbours"."""
    if rest[:1] == [] or rest[0] not in {"the", "his", "her", "their", "a", "an"} or len(rest) < 2:
        return False
    known = words_of.TOPICS | words_of.PRODUCTS | words_of.PIECES | words_of.SENDINGS | words_of.WORKPIECES
    return known.isdisjoint(rest[1:4])


def _is_question(verbs: Sequence[str], subject: str) -> bool:
    """True for "asked about ...", "asked the user which ...", "had a question ...", "wanted to know ..."."""
    at = 1 if verbs[0] in ("is", "was") else 0
    if verbs[at : at + 1] and verbs[at] in words_of.ASKED:
        listeners = words_of.LISTENERS if subject == "user" else words_of.LISTENERS | words_of.ASKED_ONES
        is_asked = at == 1 or not words_of.ASKED_ONES.isdisjoint(verbs[1:3])
        verbs = [word for word in verbs[at + 1 :] if word not in listeners]
        if is_asked and verbs[:1] == ["to"] and not words_of.ANSWERING.isdisjoint(verbs[1:2]):
            return True
        is_for_help = verbs[:1] == ["help"] and subject != "i"
        if is_for_help or verbs[:2] == ["to", "know"] or not words_of.QUESTIONS.isdisjoint(verbs[:1]):
            return True
    if len(verbs) > 2 and verbs[0] in words_of.ONE:  # "had a question about": "had" counts as an adverb
        return verbs[1] in ("question", "questions") and verbs[2] in ("about", "on", "regarding")
    return verbs[:3] == ["wanted", "to", "know"]


def _is_errand(verbs: Sequence[str], subject: str) -> bool:
    """True if the user wanted one thing made, one chore done, or one piece of a text changed."""
    if subject and verbs[0] in ("is", "was"):
        verbs = verbs[1:]
    wanted = words_of.WANTED | words_of.WANTS if subject else words_of.WANTED
    if not verbs or verbs[0] not in wanted:
        return False
    asked = verbs[2:] if verbs[1:3] == ["the", "assistant"] else verbs[1:]
    rest = [word for word in asked if word not in words_of.FILLERS]
    if len(rest) < 2 or "from" in rest:
        return False
    if verbs[0] in words_of.WANTED and (_is_sum(rest) or _is_look_up(asked) or _is_done_for_once(asked)):
        return True
    if rest[0] in words_of.CHORES:
        return rest[1] in words_of.ONE | words_of.THE | words_of.QUESTIONS or rest[1].isdigit()
    if rest[0] in words_of.EDITS:
        return rest[1] in words_of.THE and not words_of.WORKPIECES.union(words_of.PIECES).isdisjoint(rest[2:7])
    products = words_of.PRODUCTS.intersection(rest[1 : 1 + _ONE_REQUEST])
    if rest[0] in words_of.ONE or rest[0].isdigit():
        return bool(products)
    return rest[0] in words_of.THE and verbs[0] in words_of.WANTED and bool(products & words_of.PIECES)


def _is_sum(rest: Sequence[str]) -> bool:
    """True for "318 divided by 6", "add 14 and 27", "the square root of 1764": numbers, and what is done with them."""
    others = [word for word in rest if not word.isdigit()]
    return len(others) < len(rest) and words_of.SUMS.issuperset(others) and not words_of.SUM_VERBS.isdisjoint(others)


def _is_look_up(asked: Sequence[str]) -> bool:
    """True for "the plural of ...", "the current time in ...", "a shorter version of ...", "three names for ..."."""
    start = next((at for at, word in enumerate(asked) if word not in words_of.FILLERS), 0)
    rest = asked[start:]
    if rest[0] not in words_of.THE | words_of.ONE:
        return False
    place = next((at for at, word in enumerate(rest[1:4], start=1) if word in words_of.LOOKED_UP), 0)
    return place > 0 and (len(rest) == place + 1 or rest[place + 1] in words_of.JOINTS)


def _is_done_for_once(asked: Sequence[str]) -> bool:
    """True for "to have the list sorted": one piece of work, changed once, and no word on how to do it."""
    if asked[:1] not in (["to"], ["that"]):  # "have" counts as an adverb
        return False
    words = asked[1:]
    done = next((place for place, word in enumerate(words) if word in words_of.DONE), 0)
    if not done or not {"with", "using", "like", "as"}.isdisjoint(words):
        return False
    if words[0].isdigit():
        return True
    pieces = words_of.WORKPIECES | words_of.PIECES | words_of.PRODUCTS | {"text", "abstract", "table", "points"}
    return words[0] in words_of.THE | words_of.ONE and not pieces.isdisjoint(words[1:done])


def _is_step(verbs: Sequence[str], *, is_plain: bool) -> bool:
    """True if an agent tells of one step of its work without details, or of its outcome."""
    if verbs[0] in ("was", "wasn't", "could", "couldn't", "did", "didn't", "am", "is"):
        verbs = [word for word in verbs[1:] if word not in ("able", "unable", "to")]
    if words_of.PASSIVES.intersection(verbs[-1:]) and not {"was", "were"}.isdisjoint(verbs[-2:-1]):
        return not words_of.WORKPIECES.isdisjoint(verbs[:-2])
    if not verbs or verbs[0] not in words_of.STEPS:
        return False
    place = next((at for at, word in enumerate(verbs[1:6], start=1) if word in words_of.WORKPIECES), 0)
    rest = verbs[place + 1 :]
    return place > 0 and (
        (is_plain and len(rest) <= _FEW) or all(word in words_of.OUTCOMES or word.isdigit() for word in rest)
    )


_MEASURES: Final = """
    seconds? minutes? hours? days? weeks? months? years? decades? century centuries millennium
    (?:kilo|centi|milli)?met(?:re|er)s? miles? inch inches foot feet yards? (?:kilo)?grams? pounds? ounces? tons?
    tonnes? lit(?:re|er)s? gallons? dozen (?:kilo|mega|giga|tera)?bytes? bits? degrees? quarters? states planets
    continents letters
"""
_THINGS: Final = """
    triangle square rectangle circle cube sphere hexagon pentagon octagon polygon angle pyramid cylinder
    prime\\snumber integer atom molecule electron proton neutron magnet cell bacterium virus gene human mammal bird
    insect reptile amphibian spider octopus whale dolphin shark elephant giraffe camel penguin owl frog snake
    butterfly planet star comet galaxy rainbow volcano glacier noun verb adjective adverb pronoun sonnet haiku
    synonym
"""
_CONCEPTS: Final = """
    algorithm array stack queue variable loop boolean compiler linked list hash table democracy monarchy republic
    recession metaphor prime cat dog horse cow sheep bee fish tree fungus tomato potato
"""
_BEINGS: Final = """
    humans mammals birds insects reptiles amphibians spiders octopuses whales dolphins sharks elephants giraffes camels
    penguins owls bats frogs snakes butterflies atoms molecules electrons metals gases acids magnets bacteria viruses
    proteins muscles planets stars volcanoes glaciers nouns verbs adjectives triangles squares circles
"""
_KEPT_BEINGS: Final = "cats dogs horses cows sheep bees fish plants trees flowers animals chickens mushrooms"
_SUBSTANCES: Final = """
    oxygen hydrogen nitrogen carbon helium iron copper gold silver lead mercury aluminium aluminum ice steam salt water
    diamond sound light gravity electricity photosynthesis evaporation osmosis inflation deflation recursion
    (?:regular\\sphysical\\s|regular\\s|physical\\s)exercise vitamin\\s[a-e]\\d*
"""
_UNIQUE: Final = """
    earth sun moon universe sky atmosphere human\\s\\w+ heart brain liver stomach skin alphabet equator
    speed\\sof\\slight
"""
_PLANETS: Final = "(?:mars|venus|jupiter|saturn|uranus|neptune)"
_KINDS: Final = """
    mammals? animals? birds? fish insects? arachnids? reptiles? amphibians? carnivores? herbivores? omnivores?
    predators? plants? fungi fungus metals? elements? gas(?:es)? liquids? solids? minerals? compounds? molecules?
    particles? fruits? polygons? shapes? figures? numbers? units? planets? stars? satellites? organs? muscles?
    proteins? hormones? vitamins? words? structures? algorithms? protocols? process(?:es)? force systems? operation
    method form measures? quadrilaterals? vertebrates? invertebrates? marsupials? primates? rodents? crustaceans?
    vegetables? poem program
"""
_ACTS: Final = """
    boils? freezes? melts? evaporates? condenses? expands? contracts? travels? conducts? reflects? refracts? rusts?
    floats? sinks? dissolves? burns? attracts? repels? pumps? carry carries filters? digests? breathes? eats? lives?
    hibernates? migrates? fly flies swims? hatch(?:es)? orbits? revolves? rotates? spins? rises? sets? shines? erupts?
    divides? multiply multiplies regulates? pulls? lasts? measures? names? describes? refers?
"""
_OF_LIFE: Final = """
    makes? produces? absorbs? releases? collects? consumes? converts? breathes? lays? pollinates? loses? hibernates?
    hatch
"""
_HAS: Final = r"(?:has|have|consists? of|contains?|(?:is|are) (?:made|composed|built) (?:up )?(?:of|from))"
_QUALITY: Final = (
    r"(?:is|are)(?: only| always| about| much)? (?:divisible|found in|good for|bad for|essential|heavier|lighter|denser"
    r"|less dense|more dense|faster|slower|larger|smaller|warm-blooded|cold-blooded|nocturnal|magnetic|transparent"
    r"|round|blue)"
)
_NUMBER: Final = (
    r"(?:about |exactly |roughly |equal to )?(?:\d[\d.,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|twenty\S*|thirty|fifty\S*|sixty|(?:a|one) (?:hundred|thousand|million|billion))"
)
_NOBODYS: Final = (
    r"(?:[\w ]{1,30} (?:is|was) )?the (?:capital(?: city)?|official (?:language|currency)|currency|chemical symbol) of"
    r" (?!the (?!u|neth|phil|czech))[^\d]*"
    r"|(?:[\w ]{1,30} (?:is|was) )?the (?:world's )?(?:largest|biggest|smallest|highest|longest|deepest|tallest"
    r"|fastest)"
    r" (?:land )?(?:ocean|sea|lake|river|mountain|peak|desert|island|country|continent|city|animal|mammal|bird"
    r"|planet|organ"
    r"|(?:rain)?forest|waterfall|reef)\b.*"
    r"|(?:python|java|javascript|typescript|rust|ruby|php|kotlin|c\+\+|sql|html|css|json|yaml|xml|https?|graphql|git"
    r"|docker|kubernetes|linux|postgres(?:ql)?|sqlite|redis|react|node\.?js|tcp|dns|cpu|ram|usb|dna|nasa) (?:stands for"
    r"|(?:is|means) an? (?:[\w-]+ ){0,4}(?:language|database|system|framework|library|protocol|format|platform)\b) ?.*"
    r"|(?:the )?(?:(?:first|second) world war|world war (?:i|ii|one|two|1|2)|(?:french|russian|industrial|american)"
    r" revolution|cold war|(?:western )?roman empire|berlin wall|middle ages|renaissance)"
    r" (?:began|started|ended|fell|broke out|lasted|was|took place)\b.*"
    r"|the (?:nile|amazon|mississippi|danube|rhine|thames|volga|sahara|alps|himalayas|andes|pacific|atlantic"
    r"|mediterranean)(?: ocean| desert| river| sea)? (?:is|are|flows?|lies|covers?|separates?)\b.*"
)
"""Statements whose subject cannot be anybody's own."""

_OURS: Final = LazyPattern(
    r"\b(?:our|my|his|her|their|we|us|i|he|she|they|team|project|repo|company|client|customer|user|here)\b"
)
_SPECIFIC: Final = LazyPattern(
    r"\b(?:our|ours|my|me|his|him|her|hers|your|yours|we|us|i|he|she|you|team|project|repo|company|client|customer"
    r"|user|here"
    r"|this|these|those|today|tonight|now|currently|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|\b(?:must|should|needs?|allowed|permit\w*|forbidden|banned|wanted|welcome|please|favou?rite|hobby|instead"
    r"|no longer"
    r"|costs?|euros?|dollars?|cents?)\b|[€$£@`]|\d:\d\d|(?<!is )(?<!are )\bonly\b"
    r"|\bthe (?!(?:earth|sun|moon|sky|sea|oceans?|air|world|web|internet|east|west|north|south|body|blood|brain"
    r"|heart|skin"
    r"|lungs?|liver|stomach|eyes?|atmosphere|universe|ground|soil|surface|first|second|third|fourth|fifth|last|same"
    r"|other|most|more|right|speed"
    r"|largest|smallest|highest|force|process|rate|number|amount|length|square|sum|product|symbol|equator|night|day"
    r"|winter|spring|summer|autumn|fall|dark|wild|cent(?:re|er)|temperature|energy|nucleus|leaves|roots|cell|input"
    r"|elements?|top|value|human|planets?|solar|poles?|immune|nervous)\b)"
)
"""Somebody's own, one certain thing, a rule, a price, a time."""
_PROPER_NAME: Final = LazyPattern(r"(?<=\w )(?!(?:Earth|Sun|Moon|Celsius|Fahrenheit|Kelvin|DNA|[A-Z][a-z]?\d?)\b)[A-Z]")
_WORDS: Final = 30  # a longer sentence says more than a textbook


def is_common_knowledge(sentence: str) -> bool:
    """True if the sentence says what every textbook says, and speaks of nobody's own things, places or times.

    It counts by its structure. Its subject is a thing that textbooks speak of, in general and not one certain such
    thing; a verb of definitions or of nature follows at once; and nothing else in the sentence belongs to somebody, has
    a name or a time, or gives a rule. "Cats are not allowed in the flat." speaks of one flat, so it is not common
    knowledge.
    """
    plain = sentence.casefold().replace("’", "'")
    if len(plain.split(None, _WORDS)) > _WORDS:
        return False
    if _nobodys().fullmatch(plain):
        return not _OURS.search(plain)
    return _general().match(plain) is not None and not _PROPER_NAME.search(sentence) and not _SPECIFIC.search(plain)


@cache
def _nobodys() -> re.Pattern[str]:
    measures = _any(_MEASURES)
    amount = rf"{_NUMBER} (?:[a-z]+ )?{measures}"
    return re.compile(
        rf"{_NOBODYS}|(?:(?:an?|one) (?:leap |calendar )?{measures} (?:is|equals|{_HAS})"
        rf"|there are) {amount}(?: in an? .*)?"
        rf"|there are {amount} in .*"
    )


@cache
def _general() -> re.Pattern[str]:
    """A general subject and the verb of a definition or of nature, each with the verbs that fit it."""
    things, concepts, beings, kept = map(_any, (_THINGS, _CONCEPTS, _BEINGS, _KEPT_BEINGS))
    is_kind = rf"(?:is|are) (?:an? |the )?(?:[\w-]+ ){{0,3}}?{_any(_KINDS)}\b"
    nature = rf"(?:{_HAS}|{_any(_ACTS)}|{_any(_OF_LIFE)}|{_QUALITY}|{is_kind}|means that)\b"
    general = rf"(?:an?|one|every|each) (?:\w+ )?{things}|(?:all |most )?(?:adult |human )?{beings}"
    certain = rf"(?:{general}|the {_any(_UNIQUE)}|{_PLANETS}) {nature}"
    substances = rf"{_any(_SUBSTANCES)} (?:{_any(_ACTS)}|{_QUALITY}|{is_kind}|means that|consists? of|converts?)\b"
    loose = rf"(?:an? {concepts}|(?:all )?{kept}) {is_kind}|(?:all )?{kept} {_any(_OF_LIFE)}\b"
    return re.compile(f"{certain}|{substances}|{loose}")


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"
