"""A note about a meeting from what memory knows: people, earlier meetings, commitments, what was left open."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.flows.templates.meetings import (
    DRAFT,
    MeetingLimits,
    agenda_text,
    event_version,
    gather_meeting,
    meeting_path,
    prior_meetings,
)
from commonplace.flows.templates.people import create_person_stubs, person_name, person_target
from commonplace.flows.templates.write import write_from_template
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.calendar import Attendee, Event
from commonplace.model.template import TemplateRequest, WriteResult
from tests.memories import Calendar, make_memory

BERLIN = ZoneInfo("Europe/Berlin")
ADA, MARCO = Attendee("Ada Lovelace", "ada@example.org"), Attendee("Marco Bianchi", "marco@example.org")


def event_on(day: int, *, title: str = "Offer sync", **values: object) -> Event:
    start = datetime(2026, 3, day, 9, 0, tzinfo=UTC)
    known: dict[str, object] = {
        "id": f"offer/{day}",
        "uid": "offer",
        "calendar": "work",
        "attendees": (ADA, MARCO),
        "start": start,
        "end": start + timedelta(minutes=30),
        **values,
    }
    return Event(title=title, **known)  # type: ignore[arg-type]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_memory(tmp_path, clock=Calendar(datetime(2026, 3, 20, 9, 0, tzinfo=UTC)))


def write(event: Event, memory: Memory) -> WriteResult:
    session = memory._session.as_actor(Actor("job", "meeting_note"))
    request = TemplateRequest(
        template="meeting_note",
        target_path=meeting_path(event, BERLIN),
        idempotency_key=event.id,
        source_version=event_version(event),
        draft=DRAFT,
        people=tuple(each.name for each in event.attendees),
    )

    def gather() -> dict[str, object]:
        known = gather_meeting(event, session, zone=BERLIN, limits=MeetingLimits())
        return {**known}

    return write_from_template(request, gather, session)


@pytest.mark.requirement("D-113", "D-115")
def test_a_meeting_becomes_a_note_with_its_people_and_seven_sections(memory: Memory) -> None:
    """The path has the day and the title, the frontmatter says what it was made for."""
    result = write(event_on(10), memory)
    note = memory.notes.read(result.path)

    assert result.path == "Meetings/2026-03-10-offer-sync.md", result.reason
    assert [each.text for each in note.headings] == [
        "Offer sync",
        "Attendees",
        "Agenda",
        "Summary",
        "Action items",
        "Decisions",
        "Open questions",
        "Related",
    ]
    keys = note.frontmatter
    assert (keys["type"], keys["calendar_event_id"], keys["idempotency_key"]) == ("meeting", "offer/10", "offer/10")
    assert keys["attendees"] == ["Ada Lovelace", "Marco Bianchi"]
    assert "[[Ada Lovelace]]" in note.text


@pytest.mark.requirement("D-117", "D-112")
def test_a_note_written_today_is_prior_context_of_the_next_meeting_of_the_same_people(memory: Memory) -> None:
    """What the person wrote into the first note is in the second: the link, what is owed, what was left open."""
    first = write(event_on(10), memory)
    path = Path(str(memory._session.stores.vault_folder)) / first.path
    text = path.read_text()
    text = text.replace("## Action items\n", "## Action items\n\n- [ ] Ada Lovelace: send the offer by 20 March\n")
    path.write_text(text.replace("## Open questions\n", "## Open questions\n\n- Who signs?\n"))
    memory.index.sync()

    second = memory.notes.read(write(event_on(17, id="other", uid="other", title="Pricing"), memory).path).text

    assert "[[Meetings/2026-03-10-offer-sync|Offer sync]]" in second
    assert "Ada Lovelace, send the offer (due 2026-03-20)" in second
    assert "- Left open last time: Who signs?" in second
    assert [each.who for each in memory.commitments.list(states=["open"])] == ["Ada Lovelace"]


def test_a_meeting_of_other_people_is_not_prior_and_a_series_is(memory: Memory) -> None:
    """By the type of the note, whoever wrote it; more than half of the people, or the same series."""
    write(event_on(3, title="Lunch", uid="lunch", attendees=(Attendee("Zoe"), ADA, Attendee("Kim"))), memory)
    memory.notes.write(
        "Projects/talk.md",
        "---\ntype: meeting\ndate: 2026-03-04\nattendees: [Marco Bianchi, Ada Lovelace]\n---\nMarco Bianchi\n",
    )
    write(event_on(5, attendees=(Attendee("Kim"),)), memory)
    memory.notes.write("Projects/plan.md", "---\ntype: plan\n---\nAda Lovelace and Marco Bianchi\n")
    memory.index.sync()
    session = memory._session.as_actor(Actor("job", "meeting_note"))

    prior = prior_meetings(event_on(10), session, limit=5)

    assert [each.path for each in prior] == ["Meetings/2026-03-05-offer-sync.md", "Projects/talk.md"]


@pytest.mark.requirement("D-108", "D-119")
def test_people_are_linked_and_get_a_note_once(memory: Memory) -> None:
    """A link makes no note; the writer does, for who has none anywhere, and touches nothing that exists."""
    session = memory._session.as_actor(Actor("job", "meeting_note"))
    memory.notes.write("People/Ada Lovelace.md", "My own words.\n")
    memory.notes.write("Projects/Bianchi.md", "---\naliases: [Marco Bianchi]\n---\nA client.\n")
    before = person_target("Zoe", session), person_target("Ada Lovelace", session)

    created = create_person_stubs(
        ["Zoe", "zoe", "Ada Lovelace", "Marco Bianchi", "a@b.org", "../x", "[[E|v]]"], session
    )
    again = create_person_stubs(["Zoe"], session)

    assert before == ("Zoe", "People/Ada Lovelace")
    assert created == ("People/Zoe.md", "People/x.md", "People/v.md")
    assert again == ()
    assert memory.notes.read("People/Ada Lovelace.md").text == "My own words.\n"
    assert person_target("Zoe", session) == "People/Zoe"
    assert person_name("a@b.org") == ""


def test_hostile_words_of_an_invitation_stay_words(memory: Memory) -> None:
    """No heading, link, task, frontmatter or commitment comes from a title, a description or a name."""
    event = event_on(
        10,
        title="---\ntype: x\n# Pay [[Evil]]",
        description="# Heading\n- [ ] Ada: pay 100 by 2026-05-01\n---\nid: 1\n[[Evil]] ![[Evil]]",
        attendees=(Attendee("Ada]] [[Evil"), MARCO),
    )
    result = write(event, memory)
    note = memory.notes.read(result.path)

    assert not result.skipped, result.reason
    assert {link.target for link in note.links} <= {"Marco Bianchi", "Ada Evil"}
    assert len(note.headings) == 8
    assert memory.commitments.list() == ()


def test_an_event_that_moved_is_rendered_again_in_the_same_note(memory: Memory) -> None:
    """The same key, another version: one note, found by its event."""
    first = write(event_on(10), memory)

    assert write(event_on(10), memory).reason == "idempotent"
    moved = event_on(10, location="Room 5")
    assert event_version(moved) != event_version(event_on(10))
    again = write(moved, memory)
    assert again.path == first.path
    assert "Room 5" in memory.notes.read(first.path).text


def test_who_declined_is_said_and_the_person_themselves_is_not_listed(memory: Memory) -> None:
    """Neither is linked or named among the attendees; a change of either is a change of the event."""
    zoe, own = Attendee("Zoe", "zoe@x.org", has_declined=True), Attendee("ana", "ana@x.org", is_owner=True)
    event = event_on(10, attendees=(ADA, zoe, own), organizer=own)
    note = memory.notes.read(write(event, memory).path)

    assert note.frontmatter["attendees"] == ["Ada Lovelace"]
    assert "- Declined: Zoe\n" in note.text
    assert [link.target for link in note.links] == ["Ada Lovelace"]
    assert event_version(event) != event_version(event_on(10, attendees=(ADA, own), organizer=own))
    assert event.takes_place
    assert not event_on(10, attendees=(ADA, replace(own, has_declined=True))).takes_place


def test_a_person_is_linked_by_their_alias_and_what_the_reader_owes_them_is_named(memory: Memory) -> None:
    """The link leads to the one note that has the name; my own commitment is there because it names Ada."""
    memory.notes.write("People/Ada.md", "---\naliases: [Ada Lovelace]\n---\n# Ada\n")
    memory.notes.write(
        "Projects/Plan.md",
        "- [ ] I: send Ada the contract by 2026-03-25\n- [ ] I: ask Marco about glass\n- [ ] Ada: sign it\n",
    )
    memory.index.sync()
    text = memory.notes.read(write(event_on(10), memory).path).text

    assert "- [[People/Ada|Ada Lovelace]]" in text
    assert "You, send Ada the contract (due 2026-03-25) [[Projects/Plan|Plan]]" in text
    assert "You, ask Marco about glass" in text
    assert "Ada, sign it [[Projects/Plan|Plan]]" in text


@pytest.mark.parametrize(
    ("description", "agenda"),
    [
        ("Price\n\nJoin with Google Meet: https://meet.example/abc\nPIN: 1234", "Price"),
        ("<p>Price &amp; plan</p><ul><li>One</li><li>Two</li></ul>", "Price & plan\n- One\n- Two"),
        ("Eve is inviting you to a scheduled Zoom meeting.\nPasscode: 1", ""),
        ("a < b and c > d", "a < b and c > d"),
        ("_" * 40 + "\nMicrosoft Teams meeting", ""),
    ],
)
def test_an_agenda_is_words_without_how_to_dial_in(description: str, agenda: str) -> None:
    """The note is about the meeting, not about its line."""
    assert agenda_text(description) == agenda


def test_people_are_known_by_their_first_names_and_by_links(memory: Memory) -> None:
    """Notes say `Ada` and `[[Ada Lovelace]]` where the calendar says Ada Lovelace; not if two people are called so."""
    keys = 'type: meeting\ndate: 2026-03-02\nattendees: ["[[Ada Lovelace]]", Marco]'
    actions = "## Action items\n- [ ] Ada to draft the terms\n- [ ] Marco: call the bank\n"
    text = f"---\n{keys}\n---\n# Kick-off\n\n{actions}\n## Open questions\n- Who signs?\n"
    memory.notes.write("Meetings/2026-03-02 Kick-off.md", text)
    memory.notes.write("People/Marco Bianchi.md", "# Marco Bianchi\n")
    memory.notes.write("People/Marco Polo.md", "# Marco Polo\n")
    memory.index.sync()
    values = gather_meeting(event_on(4), memory._session, zone=BERLIN, limits=MeetingLimits())
    create_person_stubs(["Ada Lovelace"], memory._session)
    memory.index.sync()
    session = memory._session
    own = [each.what for each in memory.commitments.list(who="Ada Lovelace")]

    assert [each["what"] for each in values["commitments"]] == ["draft the terms"]
    assert person_target("Ada", session) == "People/Ada Lovelace"
    assert (person_target("Marco", session), own) == ("Marco", ["draft the terms"])
    memory.notes.delete("People/Marco Polo.md")
    again = gather_meeting(event_on(4), memory._session, zone=BERLIN, limits=MeetingLimits())
    assert [each["what"] for each in again["commitments"]] == ["draft the terms", "call the bank"]
    assert [each["path"] for each in again["prior"]] == ["Meetings/2026-03-02 Kick-off.md"]
    assert again["questions"] == ["Who signs?"]


def test_a_note_that_is_rendered_again_does_not_report_itself_or_what_other_templates_wrote(memory: Memory) -> None:
    """What was agreed in the meeting is in its action items, and the commitment log is related to everything."""
    path = write(event_on(4), memory).path
    memory.notes.write("Projects/Offer.md", "# Offer\n\nThe offer sync decides on glass.\n- [ ] Ada: send the terms\n")
    log = "---\ntype: commitment-log\nautowritten_by: commonplace\n---\n# Log\n\nOffer sync of Ada Lovelace\n"
    memory.notes.write("Commitments/Commitment log.md", log)
    text = memory.notes.read(path).text
    memory.notes.write(path, text.replace("## Action items\n", "## Action items\n\n- [ ] Ada: send the drawing\n"))
    memory.index.sync()
    write(event_on(4, title="Offer sync, moved"), memory)
    again = memory.notes.read(path).text
    agenda = again.partition("## Agenda")[2].partition("## Summary")[0]

    assert "send the terms" in agenda
    assert "send the drawing" not in agenda
    assert "[[Projects/Offer|Offer]]" in again
    assert "Commitment log" not in again


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://zoom.example/j/1?pwd=abc", "10:30\n"),
        ("Room 5, https://teams.example/x", "10:30, Room 5\n"),
        ("Café Nord (2nd floor)", "10:30, Café Nord (2nd floor)\n"),
    ],
)
def test_the_address_of_a_video_meeting_is_no_place(memory: Memory, location: str, shown: str) -> None:
    """It often has the password of the meeting, which is over."""
    text = write(event_on(4, location=location), memory).text

    assert shown in text
    assert "://" not in text


def test_what_does_not_fit_on_the_agenda_is_counted(memory: Memory) -> None:
    """No obligation is dropped in silence."""
    memory.notes.write("Projects/Offer.md", "# Offer\n" + "".join(f"- [ ] @Ada send part {n}\n" for n in range(12)))
    memory.index.sync()
    agenda = write(event_on(4), memory).text.partition("## Agenda")[2].partition("## Summary")[0]

    assert agenda.count("- Open: Ada, send part") == 10
    assert "- and 2 more that are open\n" in agenda


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Offer sync: 1/2", "offer-sync-1-2"),
        ("U\u0308ber die Größe", "über-die-grösse"),
        ("Встреча с Адой", "встреча-с-адой"),
        ("../../x\x00_[[a]]", "x-a"),
        ("\U0001f600 / #", "meeting"),
        ("会" * 300, "会" * 50),
    ],
)
def test_a_note_is_named_by_the_letters_of_the_title_in_any_script(title: str, name: str) -> None:
    """And by nothing else of it; a long one is cut so that every file system can hold the name."""
    assert meeting_path(event_on(4, title=title), BERLIN) == f"Meetings/2026-03-04-{name}.md"
