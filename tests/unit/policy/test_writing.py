"""Who may write where: every cell of the table in ARCHITECTURE.md 3, and the laws that hold for all of them."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.errors import Refused
from commonplace.model import ActorKind, Verb
from commonplace.policy.options import Autonomy, SafetyOptions
from commonplace.policy.spaces import Space, flat_name
from commonplace.policy.trust import looks_trusted
from commonplace.policy.writing import SENSITIVE, TABLE, Decision, decide, space_of

OPTIONS = SafetyOptions()
PERSONAL, ALLOWED, AGENT, MEMORY = "Diary/x.md", "Projects/x.md", "Agent/feedback/x.md", "Agent/Memory/fix/2026-03/x.md"
VERBS: tuple[Verb, ...] = ("write", "delete", "move", "erase", "undo")
CHANGES: tuple[Verb, ...] = ("write", "delete", "move", "undo")
PROGRAMS: tuple[ActorKind, ...] = ("agent", "job")
INBOX_NAME = "Inbox/Projects-x-33ffa9.md"  # printf Projects/x.md | sha256sum
STAGED_NAME = "Agent/Memory/_staging/Agent-Memory-fix-2026-03-x-"


def asked(actor: ActorKind, verb: Verb, path: str, **more: Any) -> Decision:
    return decide(actor=actor, verb=verb, path=path, options=OPTIONS, **more)


def outcome(decision: Decision) -> tuple[str, bool]:
    """What became of it, in two words: the reason or the kind, and whether it is in the digest."""
    return decision.reason or decision.kind, decision.in_digest


# personal notes


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.requirement("A-08", "D-35")
def test_a_person_says_explicitly_that_a_personal_note_is_meant(verb: Verb) -> None:
    """T1, person: only with the personal verb; without it the top folder is `outside_allowlist`."""
    assert outcome(asked("person", verb, PERSONAL)) == ("outside_allowlist", False)
    assert outcome(asked("person", verb, PERSONAL, personal=True)) == ("allow", False)
    assert outcome(asked("person", verb, PERSONAL, granted=True)) == ("outside_allowlist", False)


@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.requirement("A-08", "A-09", "D-35")
def test_an_agent_needs_a_grant_for_a_personal_note(verb: Verb) -> None:
    """T1, agent: a separate, explicit, authorised call; the personal verb is not an agent's to say."""
    assert outcome(asked("agent", verb, PERSONAL)) == ("outside_allowlist", False)
    assert outcome(asked("agent", verb, PERSONAL, personal=True)) == ("outside_allowlist", False)
    assert outcome(asked("agent", verb, PERSONAL, granted=True)) == ("allow", True)


@pytest.mark.parametrize("verb", VERBS)
def test_a_job_never_touches_a_personal_note(verb: Verb) -> None:
    """T1, job and template: `outside_allowlist`, whatever is said beside it."""
    assert outcome(asked("job", verb, PERSONAL, granted=True, personal=True)) == ("outside_allowlist", False)


# allowlisted folders


@pytest.mark.parametrize("autonomy", ["low", "medium", "high"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_person_writes_in_the_allowlisted_folders(verb: Verb, autonomy: Autonomy) -> None:
    """Allowlisted, person: allow; autonomy is for programs."""
    assert asked("person", verb, ALLOWED, autonomy=autonomy) == Decision("allow", ALLOWED)


@pytest.mark.parametrize("autonomy", ["medium", "high"])
@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.parametrize("actor", PROGRAMS)
def test_programs_write_in_the_allowlisted_folders_and_it_is_in_the_digest(
    actor: ActorKind, verb: Verb, autonomy: Autonomy
) -> None:
    """Allowlisted, agent and job, medium and high: allow, in the digest."""
    assert asked(actor, verb, ALLOWED, autonomy=autonomy) == Decision("allow", ALLOWED, in_digest=True)


@pytest.mark.parametrize("actor", PROGRAMS)
@pytest.mark.requirement("D-100")
def test_with_low_autonomy_a_write_goes_to_the_inbox(actor: ActorKind) -> None:
    """Allowlisted, agent and job, low: `Inbox/` under a name made from the whole path, so that none collide."""
    assert asked(actor, "write", ALLOWED, autonomy="low") == Decision("redirect", INBOX_NAME, in_digest=True)


@pytest.mark.requirement("D-96")
def test_a_templates_own_autonomy_is_the_one_that_redirects() -> None:
    """It counts before the general one, in both directions; where a template has none, the general one counts."""
    careful = replace(OPTIONS, autonomy="low")

    assert decide(actor="job", verb="write", path=ALLOWED, options=careful, autonomy="high").kind == "allow"
    assert decide(actor="job", verb="write", path=ALLOWED, options=OPTIONS, autonomy="low").kind == "redirect"
    assert decide(actor="agent", verb="write", path=ALLOWED, options=careful).kind == "redirect"


@pytest.mark.parametrize("verb", ["delete", "move", "undo", "erase"])
@pytest.mark.parametrize("actor", PROGRAMS)
def test_with_low_autonomy_what_cannot_be_redirected_is_refused(actor: ActorKind, verb: Verb) -> None:
    """There is no other place in which to delete or move."""
    assert outcome(asked(actor, verb, ALLOWED, autonomy="low")) == ("refused", False)


@pytest.mark.parametrize("path", ["Inbox/x.md", "inbox/deep/x.md", "./Inbox//x.md"])
@pytest.mark.parametrize("verb", CHANGES)
def test_a_note_of_the_inbox_stays_there(verb: Verb, path: str) -> None:
    """Low autonomy has nowhere more careful to go."""
    assert asked("agent", verb, path, autonomy="low") == Decision("allow", path, in_digest=True)


def test_low_autonomy_without_an_inbox_is_refused() -> None:
    """A redirect never opens a folder that the person took off the allowlist."""
    options = SafetyOptions(path_allowlist=("Projects",))
    decision = decide(actor="agent", verb="write", path=ALLOWED, options=options, autonomy="low")

    assert outcome(decision) == ("outside_allowlist", False)
    assert "add Inbox to safety.path_allowlist" in (decision.hint or "")


# Agent/


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("path", [AGENT, "Agent/USER.md", "Agent/channels/c1/CHANNEL.md"])
def test_a_person_writes_in_the_shared_space(verb: Verb, path: str) -> None:
    """Agent/, person: allow, profiles too."""
    assert asked("person", verb, path) == Decision("allow", path)


@pytest.mark.parametrize("autonomy", ["low", "medium", "high"])
@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.parametrize("actor", PROGRAMS)
@pytest.mark.requirement("A-08")
def test_programs_write_in_the_shared_space_and_it_is_in_the_digest(
    actor: ActorKind, verb: Verb, autonomy: Autonomy
) -> None:
    """T2, agent and job: write and report in the digest, at any autonomy."""
    assert asked(actor, verb, AGENT, autonomy=autonomy) == Decision("allow", AGENT, in_digest=True)


@pytest.mark.parametrize(
    "path",
    [
        "Agent/USER.md",
        "agent/user.MD",
        "Agent//./USER.md",
        "Agent/US\u200cER.md",
        "Agent/channels/c1/CHANNEL.md",
        "Agent/Channels/c1/channel.md",
    ],
)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("actor", PROGRAMS)
def test_programs_change_a_profile_by_operations_only(actor: ActorKind, verb: Verb, path: str) -> None:
    """Agent/USER.md and CHANNEL.md, agent and job: refused, however the name is spelled."""
    decision = asked(actor, verb, path)

    assert outcome(decision) == ("refused", False)
    assert "operations only" in decision.message


@pytest.mark.parametrize("path", ["Agent/_always-load/a.md", "agent/_Always-Load/deep/a.md", "Agent/styles/Curt.md"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("actor", PROGRAMS)
def test_programs_do_not_touch_what_stands_before_prompts_as_the_persons_word(
    actor: ActorKind, verb: Verb, path: str
) -> None:
    """What is always loaded, and ways to speak: an agent that was talked into it must not reach every later prompt."""
    decision = asked(actor, verb, path)

    assert outcome(decision) == ("refused", False)
    assert "own word" in decision.message


@pytest.mark.parametrize(
    "path", ["Agent/projects/USER.md", "Agent/USER.md.md", "Agent/channels/CHANNEL.md", "Agent/channels/a/b/CHANNEL.md"]
)
def test_other_notes_with_such_a_name_are_no_profiles(path: str) -> None:
    """Only the two places that the layout names."""
    assert asked("agent", "write", path).kind == "allow"


# Agent/Memory/


@pytest.mark.parametrize("verb", VERBS)
def test_a_person_writes_in_the_agents_own_space(verb: Verb) -> None:
    """Agent/Memory, person: allow, also what is always loaded."""
    assert asked("person", verb, MEMORY, incoming={"always_load": True}) == Decision("allow", MEMORY)


@pytest.mark.parametrize("autonomy", ["low", "medium", "high"])
@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.parametrize("actor", PROGRAMS)
@pytest.mark.requirement("A-08")
def test_programs_write_freely_in_the_agents_own_space(actor: ActorKind, verb: Verb, autonomy: Autonomy) -> None:
    """T3, agent and job: free, and not in the digest."""
    assert asked(actor, verb, MEMORY, autonomy=autonomy) == Decision("allow", MEMORY)


@pytest.mark.parametrize(
    "frontmatter",
    [
        {"always_load": True},
        {"always_load": "yes"},
        {"source": {"trust": "told"}},
        {"source": {"trust": " Told"}},
        {"trust": "told"},
        {"Always_Load": "on"},
        {"always_load ": 1},
        {"ALWAYS_LOAD": "true"},
        {"memory": {"always_load": True}},
        {"Trust": "TOLD"},
        {"trust": ["told"]},
        {"trust": {"level": "Told"}},
        {"source": [{"trust": "told"}]},
        {"a": {"b": [{" trust": "told "}]}},
    ],
)
def test_what_an_agent_would_have_loaded_or_believed_always_is_staged(frontmatter: dict[str, Any]) -> None:
    """Agent/Memory, agent: `always_load` and `trust: told` wait for review, new or taken over from what is there."""
    for given_as in ("incoming", "existing"):
        decision = asked("agent", "write", MEMORY, **{given_as: frontmatter})

        assert outcome(decision) == ("stage", False)
        assert decision.path.startswith(STAGED_NAME)


@pytest.mark.parametrize(
    "frontmatter",
    [
        {"always_load": False},
        {"Always_Load": "no"},
        {"source": {"trust": "said"}},
        {"source": "told"},
        {"told": True},
        {"trust": ["said", None]},
        {"tags": ["always_load", "trust"]},
    ],
)
def test_other_entries_of_an_agent_are_not_staged(frontmatter: dict[str, Any]) -> None:
    """A key set to no is not set."""
    assert asked("agent", "write", MEMORY, incoming=frontmatter).kind == "allow"


def test_an_agent_that_takes_trust_away_is_staged() -> None:
    """Else an undo would give it back to whatever the agent wrote there meanwhile."""
    demoted = asked("agent", "write", MEMORY, existing={"always_load": True}, incoming={"always_load": False})

    assert demoted.kind == "stage"


def test_the_folder_of_always_loaded_entries_is_staged_too() -> None:
    """Its place alone puts a note before every prompt."""
    assert asked("agent", "write", "Agent/Memory/_always-load/x.md").kind == "stage"


@pytest.mark.parametrize("actor", PROGRAMS)
@pytest.mark.parametrize("verb", ["delete", "move"])
@pytest.mark.parametrize(
    ("path", "frontmatter"),
    [(MEMORY, {"always_load": True}), (MEMORY, {"source": {"trust": "told"}}), ("Agent/Memory/_always-load/x.md", {})],
)
def test_a_trusted_entry_stays_where_it_is(
    actor: ActorKind, verb: Verb, path: str, frontmatter: dict[str, Any]
) -> None:
    """An undo would bring it back with other words in it; only a person takes it away."""
    decision = asked(actor, verb, path, existing=frontmatter)

    assert outcome(decision) == ("refused", False)
    assert "always loaded or the person's own word" in decision.message
    assert decision.hint
    assert asked("person", verb, path, existing=frontmatter).kind == "allow"


@pytest.mark.parametrize("verb", ["delete", "move"])
def test_what_waits_for_review_may_be_taken_back(verb: Verb) -> None:
    """It is not trusted yet."""
    assert asked("agent", verb, "Agent/Memory/_staging/x.md", existing={"always_load": True}).kind == "allow"


@pytest.mark.parametrize(
    ("source", "destination", "frontmatter", "kind"),
    [
        (AGENT, MEMORY, {"always_load": True}, "refuse"),
        (ALLOWED, MEMORY, {"source": {"trust": "told"}}, "refuse"),
        ("Agent/Memory/_staging/x.md", MEMORY, {"trust": "told"}, "refuse"),
        (MEMORY, "Agent/Memory/_always-load/x.md", {}, "refuse"),
        (AGENT, MEMORY, {}, "allow"),
        (AGENT, "Agent/Memory/_staging/x.md", {"trust": "told"}, "allow"),
    ],
)
def test_no_move_of_an_agent_makes_a_note_trusted(
    source: str, destination: str, frontmatter: dict[str, Any], kind: str
) -> None:
    """A note that was not loaded or believed before is not after."""
    leaving = asked("agent", "move", source, existing=frontmatter)
    coming = asked("agent", "move", destination, existing=frontmatter, moved_from=source)

    assert (leaving.kind, coming.kind) == ("allow", kind)


@pytest.mark.parametrize(
    "text",
    [
        "---\nalways_load: true\na: [\n---\n",
        "---\r\n  'Always_Load ' : yes\r\n",
        '---\n"TRUST": "Told"\n',
        "---\nsource:\n  - trust: told\n",
        "---\nsource: [{trust: told}\n",
        "---\ntrust:\n  - told\n",
        "---\n? always_load\n: true\n",
    ],
)
def test_a_broken_note_that_looks_trusted_is_taken_for_it(text: str) -> None:
    """What cannot be read as keys is read as lines."""
    assert looks_trusted(text)


@pytest.mark.parametrize(
    "text", ["", "---\ntrust: said\n", "we never always_load it", "told: trust", "x" * 5000 + "\nalways_load: true"]
)
def test_a_broken_note_that_does_not_is_not(text: str) -> None:
    """Words in a sentence, and lines far below, are no marks."""
    assert not looks_trusted(text)


def test_a_job_writes_within_its_caps_else_it_is_staged() -> None:
    """Agent/Memory, job: allow within caps, else staged; what is staged already stays."""
    beyond = asked("job", "write", MEMORY, within_caps=False)

    assert outcome(asked("job", "write", MEMORY, incoming={"always_load": True})) == ("allow", False)
    assert outcome(beyond) == ("stage", False)
    assert asked("job", "write", beyond.path, within_caps=False).kind == "allow"


# sensitive notes, and erasing


@pytest.mark.parametrize("path", [ALLOWED, AGENT, MEMORY])
@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.requirement("D-31", "D-38")
def test_a_sensitive_note_is_for_persons_only(verb: Verb, path: str) -> None:
    """Any note marked sensitive: person allow, agent and job `sensitive`; the mark alone decides, on every verb."""
    assert outcome(asked("person", verb, path, sensitive=True)) == ("allow", False)
    for actor in PROGRAMS:
        assert outcome(asked(actor, verb, path, sensitive=True)) == ("sensitive", False)


def test_a_grant_does_not_open_a_sensitive_note() -> None:
    """Leave to write is not leave to touch what the owner marked."""
    decision = asked("agent", "write", PERSONAL, granted=True, sensitive=True)

    assert outcome(decision) == ("sensitive", False)


def test_the_space_is_refused_before_the_mark_is_looked_at() -> None:
    """The order of the flow: who may not be there does not learn what is marked."""
    assert asked("agent", "write", PERSONAL, sensitive=True).reason == "outside_allowlist"


def test_a_program_may_mark_a_note_sensitive() -> None:
    """Only the mark of the note that is there counts."""
    assert asked("agent", "write", ALLOWED, incoming={"sensitive": True}).kind == "allow"


@pytest.mark.parametrize("path", [PERSONAL, ALLOWED, AGENT, MEMORY])
@pytest.mark.parametrize("actor", PROGRAMS)
def test_only_a_person_erases(actor: ActorKind, path: str) -> None:
    """What a program does can be reverted; erasing cannot, and no grant changes that."""
    assert asked(actor, "erase", path, granted=True).kind == "refuse"
    assert asked("person", "erase", path, personal=True).kind == "allow"


# the table, the spaces and the refusal themselves


def test_the_table_has_every_cell() -> None:
    """Four spaces and the sensitive row, three actors."""
    actors = ["agent", "job", "person"]

    assert sorted(TABLE) == ["agent", "allowlisted", "memory", "personal"]
    assert [sorted(row) for row in (*TABLE.values(), SENSITIVE)] == [actors] * 5


@pytest.mark.parametrize(
    ("path", "space"),
    [
        ("Inbox/x.md", "allowlisted"),
        ("inbox/x.md", "allowlisted"),
        ("INBOX/deep/er/x.md", "allowlisted"),
        ("Inbox", "personal"),
        ("Inbox.md", "personal"),
        ("Inbox2/x.md", "personal"),
        ("Inbox /x.md", "personal"),
        ("In\u200cbox/x.md", "personal"),
        ("README.md", "personal"),
        ("Diary/Inbox/x.md", "personal"),
        ("Inbox/../Diary/x.md", "personal"),
        ("Diary/../Inbox/x.md", "personal"),
        ("/Inbox/x.md", "personal"),
        ("Inbox\\..\\x.md", "personal"),
        ("", "personal"),
        (".obsidian/app.md", "personal"),
        ("Agent/x.md", "agent"),
        ("agent/X.md", "agent"),
        ("Agent", "personal"),
        ("Agent/Memory", "agent"),
        ("Agent/Memory.md", "agent"),
        ("Agent/Memory/x.md", "memory"),
        ("AGENT/memory/x.md", "memory"),
        ("Agent/Memory/../USER.md", "personal"),
    ],
)
def test_a_path_is_in_the_space_that_any_disk_would_put_it_in(path: str, space: Space) -> None:
    """Case and Unicode form do not count; what could lead elsewhere, and what no rule knows, is personal."""
    assert space_of(path, OPTIONS) == space


def test_the_allowlist_is_a_setting() -> None:
    """Accents in either form, a slash too many and nested folders are understood; an empty name opens nothing."""
    options = SafetyOptions(path_allowlist=("Ka\u0308se/", "Work/Open", "", "/"))

    assert space_of("K\u00e4se/x.md", options) == "allowlisted"
    assert space_of("Work/Open/x.md", options) == "allowlisted"
    assert space_of("Work/x.md", options) == "personal"
    assert space_of("Inbox/x.md", options) == "personal"


def test_the_allowlist_does_not_open_what_the_agents_rules_close() -> None:
    """`Agent` on the allowlist changes nothing for profiles and staging."""
    options = SafetyOptions(path_allowlist=("Agent", "Agent/Memory"))

    assert space_of("Agent/USER.md", options) == "agent"
    assert space_of(MEMORY, options) == "memory"


def test_a_refusal_is_raised_with_all_it_knows() -> None:
    """Reason, path and hint, in one line."""
    with pytest.raises(Refused) as refused:
        asked("agent", "delete", PERSONAL).raise_if_refused()

    assert (refused.value.reason, refused.value.path) == ("outside_allowlist", PERSONAL)
    assert refused.value.message == "may not delete Diary/x.md: outside the folders that programs write to"
    assert "\n" not in str(refused.value)
    asked("person", "write", ALLOWED).raise_if_refused()


# laws

NAMES = st.sampled_from(
    ["Inbox", "inbox", "INBOX", "Projects", "Agent", "agent", "Memory", "_staging", "Diary", "..", ".", "", "x.md", "-"]
) | st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), max_size=8)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
OPEN = st.sampled_from(
    ["Projects", "inbox", "Agent", "Agent/Memory", "agent/memory/_always-load", "Agent/Memory/_staging"]
)
AUTONOMIES: st.SearchStrategy[Autonomy] = st.sampled_from(["low", "medium", "high"])
FRONTMATTER = st.dictionaries(
    st.sampled_from(["sensitive", "always_load", "trust", "x"]), st.sampled_from([True, "told"])
)


@given(
    path=PATHS | st.tuples(OPEN, PATHS).map("/".join),
    actor=st.sampled_from(PROGRAMS),
    verb=st.sampled_from(VERBS),
    autonomy=AUTONOMIES,
    personal=st.booleans(),
    incoming=FRONTMATTER,
)
def test_no_program_touches_a_personal_note_whatever_its_path_is_called(
    path: str, actor: ActorKind, verb: Verb, autonomy: Autonomy, personal: bool, incoming: dict[str, Any]
) -> None:
    """Without a grant, what goes on does so below a folder that is open to programs."""
    decision = asked(actor, verb, path, autonomy=autonomy, personal=personal, incoming=incoming)
    assume(decision.kind != "refuse")
    first = next(part for part in decision.path.split("/") if part not in ("", "."))

    assert ".." not in decision.path.split("/")
    assert not decision.path.startswith("/")
    assert "\\" not in decision.path
    assert unicodedata.normalize("NFC", first).casefold() in {
        folder.casefold() for folder in (*OPTIONS.path_allowlist, "Agent")
    }


@given(one=PATHS, other=PATHS)
def test_two_targets_never_share_a_redirect(one: str, other: str) -> None:
    """Nor does one target have two; two Unicode forms of a path are one target."""
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)

    assert (flat_name(one) == flat_name(other)) is same


@given(parts=st.lists(st.text("ab-", min_size=1, max_size=4), min_size=2, max_size=6), data=st.data())
def test_slashes_and_dashes_are_told_apart(parts: list[str], data: st.DataObject) -> None:
    """`a/b-c` and `a-b/c` flatten to the same words; their digits differ."""
    joints = st.lists(st.sampled_from("/-"), min_size=len(parts), max_size=len(parts))
    one, other = ("".join(map("".join, zip(parts, data.draw(joints), strict=True))) + "x.md" for _ in range(2))

    assert (flat_name(one) == flat_name(other)) is (one == other)


@given(path=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400))
def test_a_redirect_is_one_name_that_a_disk_can_hold(path: str) -> None:
    """No slash, at most 255 bytes, whatever the length of the path."""
    name = flat_name(f"Projects/{path}.md")

    assert "/" not in name
    assert name.endswith(".md")
    assert len(name.encode()) <= 255


def test_long_paths_that_begin_alike_are_told_apart() -> None:
    """What is cut off counts in the digits, of which there are more then."""
    one, other = (flat_name(f"Projects/{'long/' * 100}{name}.md") for name in ("a", "b"))

    assert one != other
    assert len(one.rpartition("-")[2]) == len("0123456789abcdef.md")


@given(
    path=st.tuples(OPEN, PATHS).map("/".join),
    actor=st.sampled_from(PROGRAMS),
    autonomy=AUTONOMIES,
    within_caps=st.booleans(),
    granted=st.booleans(),
    existing=FRONTMATTER,
    incoming=FRONTMATTER,
)
def test_a_decision_is_the_same_each_time_and_where_it_leads_is_open(path: str, actor: ActorKind, **more: Any) -> None:
    """The same question has the same answer; asked again at the path it named, the answer is to go on there."""
    decision = asked(actor, "write", path, **more)
    again = asked(actor, "write", decision.path, **more)

    assert decision == asked(actor, "write", path, **more)
    assert (again.kind, again.path) == ("refuse" if decision.kind == "refuse" else "allow", decision.path)
