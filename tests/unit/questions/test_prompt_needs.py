"""What a prompt needs from memory, by its wording alone."""

import pytest

from commonplace.questions.prompt_needs import (
    asks_for_commitments,
    asks_for_notes,
    asks_for_own_commitments,
    is_follow_up,
    need_of,
)


@pytest.mark.parametrize(
    "prompt",
    [
        "plan a week of dinners for us",
        "what should I wear to the interview?",
        "my back hurts again, which chair do I get?",
        "put together a packing list for our trip",
        "I'm looking for a present for Dad",
        "we're out of coffee, what now",
        "Can you book me a table for Friday?",
        "I’d like to sign up for a class",
    ],
)
def test_someone_who_speaks_of_themselves_is_personal(prompt: str) -> None:
    """My, us, I'm: their own things, whoever is asked to do it; also with a typographic apostrophe."""
    assert need_of(prompt) == "personal"


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the boiling point of ethanol?",
        "who wrote Middlemarch",
        "explain how a heat pump works",
        "How do I reverse a list in Python?",
        "can you explain recursion to me",
        "Is there a train from Graz to Linz?",
        "Compare the two world fairs of Paris.",
        "quick question: what does SIGPIPE mean",
        "what is a monad, I keep forgetting",
        "Good morning!",
        "thanks, that worked",
        "run the tests and fix what fails",
        "Rename this variable.",
    ],
)
def test_a_question_that_anybody_could_ask_is_general(prompt: str) -> None:
    """Ways to ask that name the asker say nothing about them; a greeting needs nothing."""
    assert need_of(prompt) == "general"


@pytest.mark.parametrize(
    "prompt",
    [
        "Install the dependencies.",
        "Why is this test flaky?",
        "add a changelog entry",
        "Deploy to staging",
        "what does this error mean",
        "Draft the letter to the landlord.",
    ],
)
def test_a_request_about_things_at_hand_is_a_task(prompt: str) -> None:
    """Neither about the person nor about the world."""
    assert need_of(prompt) == "task"


@pytest.mark.parametrize(
    "prompt",
    [
        "tell me a joke about owls",
        "how do you spell rhythm?",
        "what's 17 times 23",
        "convert 12 km to miles",
        "another word for tired",
        "affect or effect?",
        "translate 'where is my bag' into Greek",
    ],
)
def test_play_with_words_and_numbers_is_idle(prompt: str) -> None:
    """What someone remembers hardly ever helps, so a memory must match plainly."""
    assert need_of(prompt) == "idle"


@pytest.mark.parametrize(
    ("prompt", "need"),
    [
        ('What does "my heart is in the highlands" mean?', "general"),
        ("Why does `self.my_list = our_list` copy nothing?", "general"),
        ("What does it print?\n```\nprint('I am here, and my cat')\n```", "general"),
        ('Say hello to "our team" in my letter', "personal"),
        ("What is wrong?" + " x" * 800 + " my house", "general"),
    ],
)
def test_quotes_code_and_what_is_far_below_do_not_count(prompt: str, need: str) -> None:
    """They are pasted: others speak in them."""
    assert need_of(prompt) == need


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("what did I write about the roof?", True),
        ("look it up in my notes", True),
        ("what do my reading notes say on sleep", True),
        ("what did we decide about the broker?", True),
        ("have we discussed this already", True),
        ("you recommended a book last time", True),
        ("remember what the plumber said?", True),
        ("what did you suggest in the last session?", True),
        ("how do I mend a roof?", False),
        ("is there any note on the boiler", True),
        ("what was in that note of mine", True),
        ("search my digital garden for moss", True),
        ("write a note to the landlord", False),
        ("update the release notes", False),
        ("add a note to the README", False),
        ("water the garden tomorrow", False),
        ("rename the function `notes_of`", False),
        ("what's the weather like", False),
        ("install the dependencies", False),
    ],
)
def test_a_prompt_asks_for_what_was_written_or_said_only_if_it_says_so(prompt: str, *, asks: bool) -> None:
    """Notes, a vault or a journal, what I wrote, what we decided, an earlier conversation."""
    assert asks_for_notes(prompt) is asks


@pytest.mark.parametrize(
    ("prompt", "follows"),
    [
        ("ok, do it", True),
        ("yes", True),
        ("the second one, please", True),
        ("and then?", True),
        ("why not?", True),
        ("same for Thursday", True),
        ("", True),
        ("shorter", True),
        ("run the tests", False),
        ("Deploy to staging.", False),
        ("plan a week of dinners", False),
        ("install the dependencies and run the tests", False),
        ("no, no, no, not like that, not at all, and not now", False),
    ],
)
def test_what_says_too_little_alone_is_a_follow_up(prompt: str, *, follows: bool) -> None:
    """At most two words of content, in at most seven words, that point back or stand alone."""
    assert is_follow_up(prompt) is follows


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("What did Joan promise me?", True),
        ("any open points from the kickoff?", True),
        ("list everything that is overdue", True),
        ("Who still owes us a quote?", True),
        ("write a poem about promises", False),
        ("Fix the deadline parser.", False),
        ("What does `is_overdue` return?", False),
        ("Where does Joan live?", False),
    ],
)
def test_a_prompt_asks_for_commitments_by_a_question_about_what_is_to_be_done(prompt: str, asks: bool) -> None:
    """A word alone does not ask, nor does code."""
    assert asks_for_commitments(prompt) is asks


@pytest.mark.parametrize(
    ("prompt", "is_own"),
    [
        ("what did I promise Ada Lovelace?", True),
        ("Do I still owe Marco anything?", True),
        ("list my open tasks for the launch", True),
        ("what do I have to send Ada?", True),
        ("what does Ada still owe me?", False),
        ("which tasks of Ada's are overdue?", False),
        ("what did Ada promise?", False),
    ],
)
def test_a_prompt_asks_for_the_persons_own_commitments(prompt: str, is_own: bool) -> None:
    """What the person has to do, not what others owe the person."""
    assert asks_for_own_commitments(prompt) is is_own
