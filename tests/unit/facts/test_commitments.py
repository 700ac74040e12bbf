"""Commitments in the lines of notes: who, what, by when; and which of them are open, overdue or closed."""

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.commitments import closed_line, commitments_of, standing_commitments
from commonplace.facts.line_facts import fact_line_key, line_facts, line_keys
from commonplace.model import FactSnapshot, Note
from commonplace.notes import parse


def note_of(body: str, *, path: str = "Meetings/2026-04-20-standup.md") -> Note:
    return parse(body.encode(), path=path, mtime=0.0)


@pytest.mark.parametrize(
    ("line", "who", "what", "due"),
    [
        ("- [ ] Ada: send the offer by 3 May", "Ada", "send the offer", "2026-05-03"),
        ("- [ ] **Ada Lovelace**: send the offer by May 3rd.", "Ada Lovelace", "send the offer", "2026-05-03"),
        ("- [ ] [[People/Ada|A]] to write it by Friday", "Ada", "write it", "2026-04-24"),
        ("- [ ] @bob call Marco [due:: 2026-05-03]", "bob", "call Marco", "2026-05-03"),
        ("- [ ] pay the rent 📅 2026-05-01 ⏫ #home ^id1", "me", "pay the rent", "2026-05-01"),
        ("- [ ] I'll send Ada the slides by 2026-05-01", "me", "send Ada the slides", "2026-05-01"),
        ("- [ ] I send the slides to [[Ada]] 📅 2026-05-01", "me", "send the slides to [[Ada]]", "2026-05-01"),
        ("- [ ] Ask Ada if I will come by 2026-05-01", "me", "Ask Ada if I will come", "2026-05-01"),
        ("- [ ] plan Kitchen #2 📅 2026-05-01 #home", "me", "plan Kitchen #2", "2026-05-01"),
        ("* [ ] water plants 🔁 every week ⏳ 2026-04-22", "me", "water plants", "2026-04-22"),
        ("1. [ ] Grace: fix it bis 3. Mai 2027", "Grace", "fix it", "2027-05-03"),
        ("- [ ] Draft [owner:: [[Ada]]] (due:: 2026-06-01)", "Ada", "Draft", "2026-06-01"),
        ("- [ ] #task Ada: send it 📅 2026-05-03 #work", "Ada", "send it", "2026-05-03"),
        ("- [ ] send it [due:: [[2026-05-03]]]", "me", "send it", "2026-05-03"),
        ("- [ ] send it @due(2026-05-03)", "me", "send it", "2026-05-03"),
        ("- [ ] @bob send it @{2026-05-03} @@{12:30}", "bob", "send it", "2026-05-03"),
        ("- [ ] send it @[[2026-05-03]]", "me", "send it", "2026-05-03"),
        ("- [ ] Ada: report by 3 January", "Ada", "report", "2027-01-03"),
        ("> - [ ] Ada: quoted by tomorrow", "Ada", "quoted", "2026-04-21"),
    ],
)
def test_a_line_says_who_has_to_do_what_by_when(line: str, who: str, what: str, due: str) -> None:
    """Names before a colon, links, mentions and fields; signs of Tasks, fields of Dataview, and words."""
    (found,) = commitments_of(note_of(line))

    assert (found.who, found.what, found.due, found.is_closed) == (who, what, due, False)


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] buy milk",
        "- [ ] TODO: tidy up",
        "- [ ] API: rename it",
        "- Ada: said so",
        "- [ ]",
        "`- [ ] Ada: in code`",
    ],
)
def test_a_line_without_a_name_or_a_day_is_none(line: str) -> None:
    """A shopping list, a label before a colon, and a line without a box are no commitments."""
    assert commitments_of(note_of(line)) == ()


def test_code_and_comments_hold_no_commitment() -> None:
    """A fenced example of a task is text."""
    assert commitments_of(note_of("```\n- [ ] Ada: in code\n```\n%%\n- [ ] Ada: in a comment\n%%\n")) == ()


def test_a_list_of_action_items_needs_no_box_for_a_name() -> None:
    """Below such a heading a name suffices; a box without a name is the person's own."""
    items = "- Ada: slides\n- Marco will book it by May 9\n- Call (Ada B)\n- talk\n- [ ] mine\n"
    text = f"## Action items\n{items}## X\n- Ada: no"

    found = [(each.who, each.what, each.line) for each in commitments_of(note_of(text))]

    assert found == [("Ada", "slides", 2), ("Marco", "book it", 3), ("Ada B", "Call", 4), ("me", "mine", 6)]


def test_words_without_a_day_to_count_from_stay_in_the_text() -> None:
    """`by Friday` in a note without a day names no day."""
    (found,) = commitments_of(note_of("- [ ] Ada: send it by Friday", path="People/Ada.md"))

    assert (found.what, found.due) == ("send it by Friday", "")


def test_closing_a_line_keeps_its_id_and_ends_its_fact() -> None:
    """The same commitment before and after the box was ticked."""
    rules = FactRules()
    (before,) = line_facts(note_of("- [ ] Ada: send it 📅 2026-05-03"), place="", sensitive=False, rules=rules)
    done = note_of("- [x] Ada: send it 📅 2026-05-03 ✅ 2026-05-02")
    (after,) = line_facts(done, place="", sensitive=False, rules=rules)

    assert (before.id, before.status) == (after.id, "active")
    assert (after.status, after.valid_until[:10], after.due) == ("expired", "2026-05-02", "2026-05-03")
    assert line_keys(done) == {fact_line_key(after)}


def snapshots(*bodies: tuple[str, str]) -> list[FactSnapshot]:
    rules = FactRules()
    notes = [note_of(body, path=path) for path, body in bodies]
    facts = [fact for each in notes for fact in line_facts(each, place="", sensitive=False, rules=rules)]
    return [FactSnapshot(each, "current" if each.status == "active" else "expired", "", "", 0.5) for each in facts]


def test_a_later_note_closes_an_earlier_one_and_not_the_other_way_round() -> None:
    """What was done last week and is promised again today is open."""
    facts = snapshots(
        ("2026-04-01.md", "- [ ] Ada: send the report\n- [ ] Ada: call Bob"),
        ("2026-04-08.md", "- [x] Ada: send the report."),
        ("2026-04-15.md", "- [ ] Ada: send the report 📅 2026-04-20"),
    )

    standing = {(each.path, each.what): each for each in standing_commitments(facts, today="2026-04-21")}

    assert standing["2026-04-01.md", "send the report"].closed_by == "2026-04-08.md:1"
    assert standing["2026-04-15.md", "send the report"].state == "overdue"
    assert standing["2026-04-01.md", "call Bob"].state == "open"


@pytest.mark.parametrize(
    ("line", "closed"),
    [
        ("- [ ] Ada: x", "- [x] Ada: x"),
        ("  * Ada: x\r", "  * [x] Ada: x\r"),
        ("- [ ] x 📅 2026-05-01", "- [x] x 📅 2026-05-01 ✅ 2026-05-02"),
        ("1. [/] x [due:: 2026-05-01]", "1. [x] x [due:: 2026-05-01] [completion:: 2026-05-02]"),
    ],
)
def test_a_ticked_line_speaks_the_language_of_the_line(line: str, closed: str) -> None:
    """The day is added as Tasks or Dataview would, and not to plain lines."""
    cancelled = closed.replace("[x]", "[-]").replace("✅", "❌").replace("completion", "cancelled")

    assert closed_line(line, day="2026-05-02") == closed
    assert closed_line(line, day="2026-05-02", is_cancelled=True) == cancelled
