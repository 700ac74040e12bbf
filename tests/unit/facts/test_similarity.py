"""How a new statement relates to a known one; the cosines are those of the encoder minilm-l6-v2."""

import time

import pytest

from commonplace.facts.similarity import Similarity, overlap_of, similarity
from commonplace.facts.statement_parts import parts_of


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("I work at Acme.", "I now work at Globex.", 0.47),
        ("Bakes rye bread every Saturday.", "Gave up baking bread.", 0.66),
        ("Rows on the lake with Pavel.", "Doesn't row any more.", 0.52),
        ("The shop runs on MySQL.", "We migrated from MySQL to MariaDB.", 0.43),
        ("The caretaker is Mr. Alvarsson.", "The new caretaker is Mrs. Thorn.", 0.55),
        ("The harbour project is approved.", "The harbour project is on hold.", 0.71),
        ("Lives in Ulm.", "Has moved to Graz.", 0.33),
        ("Is married to Tilda.", "Divorced from Tilda since May.", 0.80),
        ("Drinks cocoa at noon now, no more black tea.", "Drinks decaf at noon now, no more cocoa.", 0.80),
        ("The role is lead now, not clerk any more.", "The role is director now, not lead any more.", 0.80),
    ],
)
def test_a_word_of_change_about_something_known_is_a_change(old: str, new: str, cosine: float) -> None:
    """Even where the two mean little alike: a shared word, or a thing that one has once, is enough."""
    assert similarity(new, old, cosine=cosine) == "changed"


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Her aunt lives with a cousin in Brno.", "Her aunt lives in a care home in Tabor.", 0.71),
        ("The compiler is built with CMake.", "The compiler is built with Meson; make only calls it.", 0.62),
        ("Asks 40 francs an hour.", "Asks 45 francs an hour, 30 for pupils.", 0.80),
        ("Icons: Feather everywhere.", "Icons: Lucide in the app, Tabler in print.", 0.60),
        ("Prefers concise pull requests.", "Prefers detailed pull requests.", 0.95),
        ("My favourite colour is purple.", "My favourite colour is cyan.", 0.96),
        ("The choir sings on Mondays at 19:00.", "The choir sings on Thursdays at 20:00.", 0.93),
        ("Olga is the treasurer of the club.", "Imre is the treasurer of the club.", 0.60),
        ("The band has four members.", "The band consists of six members.", 0.85),
        ("pnpm, never npm.", "Uses npm, not pnpm.", 0.88),
        ("Is single.", "Is married.", 0.60),
        ("The rink closes at half past six in the evening.", "The rink closes at 8 pm.", 0.82),
        ("The board meets every three months.", "The board meets monthly.", 0.85),
        ("Olga is the treasurer of the club.", "The treasurer is Imre Nagy.", 0.56),
        ("The parcel is pending.", "The parcel is shipped.", 0.68),
        ("The bill of the roofer is open.", "The bill of the roofer is paid.", 0.82),
        ("The offer is paid.", "The offer is unpaid.", 0.84),
        ("Is based in Lyon.", "Lives in Nantes.", 0.69),
    ],
)
def test_another_value_of_the_same_thing_is_a_change_without_a_word_of_change(
    old: str, new: str, cosine: float
) -> None:
    """Numbers, days, names and opposites in the same place of the same statement."""
    assert similarity(new, old, cosine=cosine) == "changed"


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Sam works at Siemens.", "Sam's brother works at Siemens.", 0.88),
        ("Marek is allergic to nuts.", "Marel is allergic to nuts.", 0.83),
        ("The web server restarts at 03:00.", "The mail server restarts at 03:00.", 0.80),
        ("Likes short poems about the sea.", "Likes long novels about trains.", 0.50),
        ("Speaks Czech.", "Speaks Slovak.", 0.80),
        ("Plays chess on Mondays.", "Plays the harp in church.", 0.35),
        ("Lives in Ulm.", "My sister lives in Graz.", 0.60),
        ("Has a loan of 900 euros at the bank.", "Has a loan of 300 euros from her uncle.", 0.70),
        ("Anna reports to Pavel.", "Pavel reports to Anna.", 0.97),
        ("Cooks with red wine.", "Drinks red wine with fish.", 0.81),
        ("Is allergic to cats.", "Is allergic to penicillin.", 0.50),
        ("Has two cats.", "Now also has a dog.", 0.45),
        ("The staging index is wiped every week.", "The staging index is backed up every week.", 0.79),
        ("The lawyer is in Malmo.", "The lawyer is called Dr. Berg.", 0.65),
        ("The lawyer is called Dr. Berg.", "My lawyer is Dr. Aune in Bergen.", 0.72),
        ("My wife is a nurse.", "Sam's wife is a nurse.", 0.86),
        ("Is a vegetarian.", "The user's wife is a vegetarian.", 0.75),
        ("Works at Tatra.", "Jonas works at Tatra.", 0.85),
        ("My car is a Skoda.", "My father's car is a Skoda.", 0.89),
        ("In 2024 the harvest was 26 tonnes.", "In 2023 the harvest was 31 tonnes.", 0.91),
        ("For the Paris office the contact is Luc.", "For the Berlin office the contact is Anja.", 0.75),
        ("Doesn't eat meat or fish.", "Doesn't eat pork.", 0.70),
        ("Doesn't work on Sundays.", "Works from home on Fridays.", 0.60),
        ("Prefers large print in every reader.", "Wants large print in the terminal.", 0.72),
        ("When flying, prefers an aisle seat.", "Prefers window seats when flying.", 0.85),
        ("Charges 80 euros an hour.", "Charges 80 euros an hour for translations.", 0.72),
        ("The printer is broken.", "The printer works again.", 0.81),
        ("Owns a flat in Porto.", "Has moved to Porto.", 0.55),
        ("The baby is due in April.", "Is expecting a baby in March.", 0.76),
        ("Uses tabs in Go.", "Back to using tabs.", 0.68),
    ],
)
def test_what_stands_beside_the_known_is_no_change(old: str, new: str, cosine: float) -> None:
    """Another person, thing, scope, deed or aspect, and verbs that have several values."""
    assert similarity(new, old, cosine=cosine) in ("near", "apart")


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Is allergic to walnuts.", "Can't eat walnuts, it's an allergy.", 0.84),
        ("Prefers short answers.", "Prefers brief replies.", 0.80),
        ("The kiln is fired by Dunja.", "Dunja fires the kiln.", 0.93),
        ("Team lunch: Tuesdays, 12:00.", "The team has its lunch every Tuesday at twelve.", 0.80),
        ("No emojis in commit messages.", "User doesn't like it when commit messages contain emojis.", 0.78),
        ("Drives an electric Fiat.", "Their car is electric, a Fiat.", 0.83),
        ("Lives in Ulm, Germany.", "Lives in Ulm.", 0.94),
        ("Teaches chemistry to year 9.", "Teaches chemistry to year nine.", 0.93),
        ("The client pays within 60 days.", "The client pays within sixty days.", 0.95),
        ("Ferry window: Monday, 14:00-16:00.", "The ferry window is Monday from 2 pm to 4 pm.", 0.85),
        ("Starts work at seven.", "The user starts work at seven o'clock in the morning.", 0.66),
        ("The user's wife is called Eun-ji.", "My wife's name is Eun-ji.", 0.82),
        ("My mother's birthday is 12 August.", "Mum's birthday is on the twelfth of August.", 0.90),
        ("The board meets quarterly.", "The board meets four times a year.", 0.88),
        ("Pair sessions take place on Thursday afternoons.", "Sessions take place on Thursday afternoons.", 0.80),
        ("Never deploy on a Friday.", "Deployments on Fridays are forbidden.", 0.72),
        ("Lives in Lyon.", "User is based in Lyon.", 0.76),
    ],
)
def test_a_paraphrase_says_the_same(old: str, new: str, cosine: float) -> None:
    """Other words, another order, a negation of something else, less detail."""
    assert similarity(new, old, cosine=cosine) == "same"


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("Is an engineer.", "Is a senior engineer.", "more"),
        ("Trinkt Tee am Abend.", "Trinkt selten Tee am Abend.", "more"),
        ("Der Hund heißt Otto.", "Die Katze heißt Otto.", "near"),
    ],
)
def test_new_words_are_news_in_any_language(old: str, new: str, result: Similarity) -> None:
    """Where no verb is known, a word that the old statement lacks never says the same."""
    assert similarity(new, old, cosine=0.9) == result


def test_without_a_cosine_the_common_words_stand_for_it() -> None:
    """An index without vectors still tells a repeat from something else."""
    assert similarity("Milan lives in Ulm Mitte.", "Milan lives in Ulm.", cosine=None) == "more"
    assert similarity("Milan moved away.", "The kiln is hot.", cosine=None) == "apart"


def test_the_overlap_counts_word_families() -> None:
    """Allergy and allergic are one word, walnuts and walnut as well."""
    overlap = overlap_of(parts_of("Has a walnut allergy."), parts_of("Is allergic to walnuts."))

    assert (overlap.share, overlap.novel, overlap.missing) == (1.0, frozenset(), frozenset())


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Takes the lift because of a bad knee.", "Owing to a bad knee he works on the ground floor.", 0.60),
        ("Sells honey at the market on Saturdays.", "Buys honey at the market on Saturdays.", 0.96),
        ("The cafe is closed on Mondays.", "The cafe is quiet on Mondays.", 0.82),
        ("Simon plays the cello in the orchestra.", "Simone plays the cello in the orchestra.", 0.93),
        ("Christian's flight lands at 14:20.", "Christiane's flight lands at 14:20.", 0.95),
        ("Marta takes care of the rabbits at the farm.", "Marta takes care of the invoices of the farm.", 0.75),
        ("The tests take two minutes.", "The tests of the parser take two minutes.", 0.71),
        ("Is expecting visitors from Riga.", "Was born in Riga.", 0.61),
    ],
)
def test_one_other_name_verb_or_state_stands_beside(old: str, new: str, cosine: float) -> None:
    """Though nearly all words are common: two people, selling and buying, one of several things."""
    assert similarity(new, old, cosine=cosine) in ("near", "apart")


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        (
            "Runs a photography workshop on Thursdays in the town hall.",
            "Gives a photography workshop in the town hall each Thursday.",
            0.90,
        ),
        ("Is in charge of the hives of the club.", "Looks after the hives of the club.", 0.80),
        ("The museum is closed on Tuesdays.", "The museum doesn't open on Tuesdays.", 0.74),
        ("The parking lot is private.", "The parking lot is not public.", 0.83),
        ("Is gluten intolerant.", "Can't tolerate gluten.", 0.70),
        ("No long introductions.", "Gets annoyed by long introductions.", 0.70),
        ("Is a native speaker of Hungarian.", "First language is Hungarian.", 0.77),
        ("Is teetotal.", "The user doesn't drink any alcohol.", 0.18),
        ("Is scared of geese.", "Is afraid of geese.", 0.90),
        ("Walks near the wind-driven mill at noon.", "At noon takes walks near the mill driven by wind.", 0.80),
    ],
)
def test_the_same_things_with_a_light_verb_or_a_double_denial_are_the_same(old: str, new: str, cosine: float) -> None:
    """What is common to both is all that matters."""
    assert similarity(new, old, cosine=cosine) == "same"


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Is expecting a baby in May.", "Had the baby, a boy.", 0.45),
        ("Has an old leather sofa.", "Gave the sofa away.", 0.60),
        ("The roof is being repaired.", "The roof repair is complete.", 0.90),
        ("Marta's landlord is Mrs. Kiss.", "Marta has a new landlord, Mr. Toth.", 0.70),
        ("Their car is a VW Golf.", "Their current car is a Skoda Octavia.", 0.66),
        ("Tasks are in Trello.", "The firm dropped Trello, tasks are in Linear.", 0.70),
        ("Works full time.", "Went back to part time after the summer.", 0.45),
        ("Has the flat cleaned weekly.", "Since autumn the cleaning is only every two weeks.", 0.60),
        ("Is 49 years old.", "Turned 50 in May.", 0.50),
        ("Tom Aas heads the parents' council.", "Selma Berg heads the parents' council.", 0.57),
        ("The course costs 80 euros.", "The price of the course is 95 euros.", 0.85),
        ("Is allergic to nuts.", "Is not allergic to nuts.", 0.90),
    ],
)
def test_other_shapes_of_change(old: str, new: str, cosine: float) -> None:
    """A new one that is named, what is complete, what was given away, who leads now."""
    assert similarity(new, old, cosine=cosine) == "changed"


@pytest.mark.parametrize("blank", ["", " ", "...", "- -"])
def test_a_statement_without_words_is_about_nothing(blank: str) -> None:
    """Whichever of the two it is, and whoever the other one is about."""
    for text in ("The server's port is 8080", "Drinks tea", blank):
        assert similarity(text, blank, cosine=0.6) == "apart"
        assert similarity(blank, text, cosine=0.6) == "apart"


def test_a_number_of_any_length_is_compared() -> None:
    """Python refuses to read a number of more than 4,300 digits."""
    new, old = f"The seed is {'7' * 5000}.", f"The seed is {'8' * 5000}."

    assert similarity(new, old, cosine=0.9) == "changed"


def test_long_texts_are_compared_by_their_beginning() -> None:
    """In little time; and they are the same only if the rest of them is."""
    words = [f"word{number}x{number % 7}" for number in range(5000)]
    text, other = " ".join(words), " ".join(reversed(words))
    begins_alike = " ".join((*words[:200], "otherwise", *words[201:]))

    start = time.thread_time()
    results = [similarity(text, each, cosine=0.95) for each in (other, begins_alike, text)]

    assert time.thread_time() - start < 0.2
    assert results == [results[0], "near", "same"]
    assert results[0] in ("near", "apart")


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Has a garden shed from Lidl", "Switched to a walled garden", 0.45),
        ("Works at Bosch", "Stopped taking the ferry to work", 0.4),
        ("Lives in Oslo", "Dropped the Oslo trip", 0.4),
        ("Choir is on Friday", "Moved yoga from Friday to Sunday", 0.5),
        ("Lives in Graz", "Moved to the Vienna team", 0.5),
        ("I have a horse called Max", "I now have a goat called Ida", 0.6),
        ("Uses nano for YAML", "Now uses Helix for Haskell", 0.6),
        ("The new kiln uses propane", "The old kiln no longer uses propane", 0.85),
        ("Uses Podman on the desktop", "No longer uses Podman on the tablet", 0.8),
        ("Is allergic to peanuts", "From now on: Always give the user amounts in grams", 0.3),
    ],
)
def test_a_word_of_change_about_something_else_is_no_change(old: str, new: str, cosine: float) -> None:
    """A word that only describes the thing, a common day, another place, purpose or one of two opposite things."""
    assert similarity(new, old, cosine=cosine) in ("near", "apart")


@pytest.mark.parametrize(
    ("old", "new", "cosine"),
    [
        ("Stores backups on the NAS", "Now stores backups on tape", 0.6),
        ("Uses nano for YAML", "Now uses Helix for YAML", 0.6),
        ("Uses Podman on the desktop", "No longer uses Podman on the desktop", 0.8),
        ("Yoga is on Friday", "Moved yoga from Friday to Sunday", 0.5),
        ("Works at Bosch", "Left Bosch, no longer works there", 0.5),
        ("Has a sailing boat", "Sold the sailing boat", 0.3),
    ],
)
def test_a_word_of_change_about_the_same_place_purpose_or_thing_is_a_change(old: str, new: str, cosine: float) -> None:
    """The value that is exchanged may be the place itself."""
    assert similarity(new, old, cosine=cosine) == "changed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("No longer works at ASML.", "Works at ASML."),
        ("Is no longer vegetarian.", "Is vegetarian."),
        ("Does not drink coffee any more.", "Drinks coffee."),
    ],
)
def test_what_was_over_and_is_said_again_has_changed(old: str, new: str) -> None:
    """It does not confirm that it is over."""
    assert similarity(new, old, cosine=0.85) == "changed"


def test_one_is_a_number_beside_another_number_of_the_same_thing() -> None:
    """One approval instead of two is a change; one sister is a sister."""
    assert similarity("A merge needs one approval now.", "A merge needs two approvals.", cosine=0.9) == "changed"
    assert similarity("Has two cats.", "Has one cat.", cosine=0.9) == "changed"
    assert similarity("Has one sister.", "Has a sister.", cosine=0.9) == "same"
