"""Common knowledge, which a model has without a memory: "A cube has six faces.", "Oslo is the capital of Norway.".

A sentence counts by its structure. Its subject is a thing that textbooks speak of, in general and not one certain such
thing; a verb of definitions or of nature follows at once; and nothing else in the sentence belongs to somebody, has a
name or a time, or gives a rule. "Cats are not allowed in the flat." speaks of one flat, so it is not common knowledge.
"""

import re
from functools import cache
from typing import Final

from commonplace.model.text import LazyPattern

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
_NAME: Final = LazyPattern(r"(?<=\w )(?!(?:Earth|Sun|Moon|Celsius|Fahrenheit|Kelvin|DNA|[A-Z][a-z]?\d?)\b)[A-Z]")
_WORDS: Final = 30  # a longer sentence says more than a textbook


def is_common_knowledge(sentence: str) -> bool:
    """True if the sentence says what every textbook says, and speaks of nobody's own things, places or times."""
    plain = sentence.casefold().replace("’", "'")
    if len(plain.split(None, _WORDS)) > _WORDS:
        return False
    if _nobodys().fullmatch(plain):
        return not _OURS.search(plain)
    return _general().match(plain) is not None and not _NAME.search(sentence) and not _SPECIFIC.search(plain)


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
