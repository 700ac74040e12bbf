"""What an entry is about and when it matters brings it before a prompt, into a search and beside a new statement."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor
from tests.memories import Calendar, make_memory

SHELLFISH, TRAIN = "Is allergic to shellfish.", "Prefers the train for anything under six hours."
AGENT = Actor("agent", "mcp:scribe")
PROMPT = "we are invited for paella on saturday, what do I tell the host?"
WHEN = "restaurants, menus, invited for dinner, paella, telling a host"


@pytest.fixture
def memory(tmp_path: Path, real_model: None) -> Iterator[Memory]:
    """A vault with a dozen statements of one person, and the encoder that comes with the program."""
    clock = Calendar()
    with make_memory(tmp_path, clock=clock, settings={"embedding.provider": "minilm-l6-v2"}) as opened:
        for number in range(12):
            clock.pass_(days=1)
            opened.entries.save(f"Shelf {number} of the garage holds {number + 3} jars of nails.", kind="fact")
        yield opened


def brought(memory: Memory, prompt: str) -> dict[str, str]:
    """The statements that a prompt brings by itself, and why."""
    context = memory.context(prompt, within=None, profile=False, peek=True)
    return {each.piece.text: each.piece.why for each in context.included}


@pytest.mark.requirement("X-26")
def test_a_prompt_that_shares_no_word_with_a_statement_meets_it_by_when_it_matters(memory: Memory) -> None:
    """Without that it does not come; the reason says by what it came."""
    saved = memory.entries.save(SHELLFISH, kind="constraint").fact
    assert brought(memory, PROMPT) == {}

    memory.entries.describe(saved.id, about="food allergies", when=WHEN)
    reasons = brought(memory, PROMPT)

    assert list(reasons) == [SHELLFISH]
    assert "by when it matters" in reasons[SHELLFISH]


def test_a_statement_that_is_near_by_its_own_words_says_so(memory: Memory) -> None:
    """The better of the two vectors counts, and the reason names the other one only where it is better."""
    memory.entries.save(SHELLFISH, kind="constraint", about="food allergies", when=WHEN)

    (reason,) = brought(memory, "which shellfish am I allergic to?").values()

    assert "by when it matters" not in reason


def test_a_search_finds_an_entry_by_its_cues(memory: Memory) -> None:
    """By their words, and by their meaning; the hit shows the statement."""
    memory.entries.save(SHELLFISH, kind="constraint", about="food allergies", when=WHEN)

    by_words, by_meaning = memory.search("paella", k=1), memory.search("Essen gehen, Speisekarte, dining out", k=1)

    assert by_words.hits[0].text.strip() == SHELLFISH
    assert by_meaning.hits[0].text.strip() == SHELLFISH
    assert by_meaning.hits[0].why["sense"]["part"] == 1


@pytest.mark.requirement("X-26")
def test_a_new_statement_meets_the_known_one_that_answers_the_same_question(memory: Memory) -> None:
    """Where the words are others, what both are about finds it; it ends nothing."""
    known = memory.entries.save("Ada plays the violin on Tuesdays.", about="Ada's weekly music lesson").fact
    for place in ("pool", "library", "dentist", "market", "bakery", "laundry", "harbour", "museum"):
        memory.entries.save(f"The {place} has no free slot in the afternoon before the weekend.")
    new = "Mrs. Abel has no other free slot than the afternoon before the weekend."

    plain = memory.entries.save(new, dry_run=True)
    told = memory.entries.save(new, about="Ada's weekly music lesson")

    assert known.id not in [each.fact.id for each in plain.neighbours]
    assert told.neighbours[0].fact.id == known.id
    assert told.ended == ()


def test_a_when_that_would_fit_any_prompt_brings_nothing(memory: Memory) -> None:
    """Neither by its words nor by its meaning."""
    memory.entries.save(TRAIN, when="always, everything, any question")

    assert brought(memory, "any question about everything, always") == {}


def test_cues_are_not_shown_to_the_model(memory: Memory) -> None:
    """The line of an entry is its statement: whoever writes a cue buys no place in the prompt."""
    memory.entries.save(SHELLFISH, kind="constraint", about="food allergies", when=WHEN)

    text = memory.context(PROMPT, within=None).text

    assert SHELLFISH in text
    assert "paella" not in text
    assert "food allergies" not in text


def test_a_changed_cue_is_found_and_the_old_one_is_not(memory: Memory) -> None:
    """Also where the person edits the note by hand, as a list."""
    saved = memory.entries.save(SHELLFISH, when="paella, menus").fact
    memory.entries.describe(saved.id, when="scampi")
    assert memory.search("paella", k=1, mode="words").hits == ()
    assert memory.search("scampi", k=1, mode="words").hits[0].path == saved.path

    note = Path(memory.entries._session.stores.vault_folder or "") / saved.path
    note.write_text(note.read_text().replace("when: scampi", "when: [bouillabaisse, sushi bar]"))
    memory.index.sync()

    assert memory.entries.show(saved.id).fact.when == "bouillabaisse, sushi bar"
    assert memory.search("sushi", k=1, mode="words").hits[0].path == saved.path


def test_the_triggers_of_an_old_note_are_read_as_when_it_matters(memory: Memory) -> None:
    """A list, with commas in a phrase or without; what is written anew has the new key."""
    saved = memory.entries.save("Release:\n1. Tag main.\n2. Publish.", kind="workflow", when="release").fact
    note = Path(memory.entries._session.stores.vault_folder or "") / saved.path
    note.write_text(note.read_text().replace("when: release", 'triggers: ["ship it, now", release the tool]'))
    memory.index.sync()

    assert memory.entries.show(saved.id).fact.when == "ship it, now; release the tool"
    assert "Tag main." in memory.context("please release the tool", within=None, profile=False).text


def test_without_an_encoder_the_words_of_cues_find_an_entry(tmp_path: Path) -> None:
    """As the words of every note do."""
    with make_memory(tmp_path, settings={"embedding.provider": "none"}) as memory:
        memory.entries.save(SHELLFISH, when=WHEN)

        assert memory.search("paella", k=1).hits[0].text.strip() == SHELLFISH
