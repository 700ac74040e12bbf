"""Who may write where: every cell of the policy table, the exceptions within cells, and the laws for all of them."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.errors import Refused
from commonplace.model import ActorKind, Verb
from commonplace.model.template import Autonomy
from commonplace.policy.options import SafetyOptions
from commonplace.policy.write_policy import SENSITIVE, TABLE, Decision, Space, decide, looks_trusted, space_of

OPTIONS = SafetyOptions()
PERSONAL, ALLOWED, AGENT, MEMORY = "Diary/x.md", "Projects/x.md", "Agent/feedback/x.md", "Agent/Memory/fix/2026-03/x.md"
VERBS: tuple[Verb, ...] = ("write", "delete", "move", "erase", "undo")
CHANGES: tuple[Verb, ...] = ("write", "delete", "move", "undo")
PROGRAMS: tuple[ActorKind, ...] = ("agent", "job")
OPERATED: tuple[Verb, ...] = ("curate", "undo")  # what programs may do to a profile
INBOX_NAME = "Inbox/Projects-x-33ffa9.md"  # printf Projects/x.md | sha256sum
STAGED_NAME = "Agent/Memory/_staging/Agent-Memory-fix-2026-03-x-"


def decision_on(actor: ActorKind, verb: Verb, path: str, **more: Any) -> Decision:
    return decide(actor=actor, verb=verb, path=path, options=OPTIONS, **more)


def outcome(decision: Decision) -> tuple[str, bool]:
    """The reason of a refusal or the kind of the decision, and whether it is in the digest."""
    return decision.reason or decision.kind, decision.in_digest


@pytest.mark.requirement("A-09", "D-35")
@pytest.mark.parametrize(
    ("path", "actor", "changing", "erasing", "in_digest"),
    [
        (PERSONAL, "person", "outside_allowlist", "outside_allowlist", False),
        (PERSONAL, "agent", "outside_allowlist", "outside_allowlist", False),
        (PERSONAL, "job", "outside_allowlist", "outside_allowlist", False),
        (ALLOWED, "person", "allow", "allow", False),
        (ALLOWED, "agent", "allow", "refused", True),
        (ALLOWED, "job", "allow", "refused", True),
        (AGENT, "person", "allow", "allow", False),
        (AGENT, "agent", "allow", "refused", True),
        (AGENT, "job", "allow", "refused", True),
        (MEMORY, "person", "allow", "allow", False),
        (MEMORY, "agent", "allow", "refused", False),
        (MEMORY, "job", "allow", "refused", False),
    ],
)
def test_every_cell_of_the_table(path: str, actor: ActorKind, changing: str, erasing: str, in_digest: bool) -> None:
    """Four spaces, three actors, every verb: programs never erase, and a person is never told of their own changes."""
    for verb in CHANGES:
        entry = {"id": "019cbb31-6d20-7a10-8f12-3f9a1c5e7b21"} if path == MEMORY and verb == "undo" else {}
        decision = decision_on(actor, verb, path, existing=entry)
        if path == MEMORY and verb == "write" and actor != "person":
            assert outcome(decision) == ("refused", False)
            continue

        assert outcome(decision) == (changing, in_digest), verb
        assert decision.path == path
    assert outcome(decision_on(actor, "erase", path)) == (erasing, False)


def test_the_table_has_every_cell() -> None:
    """Four spaces and the sensitive row, three actors."""
    actors = ["agent", "job", "person"]

    assert sorted(TABLE) == ["agent", "allowlisted", "memory", "personal"]
    assert [sorted(row) for row in (*TABLE.values(), SENSITIVE)] == [actors] * 5


@pytest.mark.requirement("D-31", "D-38")
def test_a_sensitive_note_is_for_persons_only() -> None:
    """The last row: the mark alone decides, on every verb, and neither a grant nor a high autonomy changes it."""
    for verb in CHANGES:
        assert outcome(decision_on("person", verb, ALLOWED, sensitive=True)) == ("allow", False)
        for actor in PROGRAMS:
            for path in (ALLOWED, AGENT, MEMORY):
                is_plain = path == MEMORY and verb == "write"  # refused whatever the note there says
                expected = "refused" if is_plain else "sensitive"
                assert outcome(decision_on(actor, verb, path, sensitive=True)) == (expected, False)
    assert outcome(decision_on("agent", "write", PERSONAL, granted=True, sensitive=True)) == ("sensitive", False)


def test_the_space_is_refused_before_the_mark_is_looked_at() -> None:
    """An actor who may not be there does not learn what is marked sensitive."""
    assert decision_on("agent", "write", PERSONAL, sensitive=True).reason == "outside_allowlist"


def test_a_program_may_mark_a_note_sensitive() -> None:
    """Only the mark of the existing note counts."""
    assert decision_on("agent", "write", ALLOWED, incoming={"sensitive": True}).kind == "allow"


# personal notes


@pytest.mark.requirement("A-09", "D-35")
def test_who_may_open_a_personal_note() -> None:
    """The person by saying so, an agent by a grant, a job by nothing; neither key opens the other lock."""
    for verb in CHANGES:
        assert outcome(decision_on("person", verb, PERSONAL, personal=True)) == ("allow", False)
        assert outcome(decision_on("person", verb, PERSONAL, granted=True)) == ("outside_allowlist", False)
        assert outcome(decision_on("agent", verb, PERSONAL, granted=True)) == ("allow", True)
        assert outcome(decision_on("agent", verb, PERSONAL, personal=True)) == ("outside_allowlist", False)
        both = decision_on("job", verb, PERSONAL, granted=True, personal=True)
        assert outcome(both) == ("outside_allowlist", False)


def test_no_grant_lets_a_program_erase() -> None:
    """What a program does can be reverted; erasing cannot."""
    assert decision_on("agent", "erase", PERSONAL, granted=True).kind == "refuse"
    assert decision_on("person", "erase", PERSONAL, personal=True).kind == "allow"


# allowlisted folders: autonomy


@pytest.mark.requirement("D-100")
@pytest.mark.parametrize("actor", PROGRAMS)
def test_with_low_autonomy_a_write_goes_to_the_inbox_and_the_rest_is_refused(actor: ActorKind) -> None:
    """Under a name made from the whole path, so that none collide; nothing else can be done elsewhere."""
    assert decision_on(actor, "write", ALLOWED, autonomy="low") == Decision("redirect", INBOX_NAME, in_digest=True)
    for verb in VERBS[1:]:
        assert outcome(decision_on(actor, verb, ALLOWED, autonomy="low")) == ("refused", False)
    assert decision_on(actor, "write", ALLOWED, autonomy="high").kind == "allow"


@pytest.mark.requirement("D-96")
def test_a_templates_own_autonomy_is_the_one_that_redirects() -> None:
    """It counts before the general one, in both directions; if a template has none, the general one counts."""
    careful = replace(OPTIONS, autonomy="low")

    assert decide(actor="job", verb="write", path=ALLOWED, options=careful, autonomy="high").kind == "allow"
    assert decide(actor="job", verb="write", path=ALLOWED, options=OPTIONS, autonomy="low").kind == "redirect"
    assert decide(actor="agent", verb="write", path=ALLOWED, options=careful).kind == "redirect"


@pytest.mark.parametrize("path", ["Inbox/x.md", "inbox/deep/x.md", "./Inbox//x.md"])
def test_a_note_of_the_inbox_stays_there(path: str) -> None:
    """Low autonomy has nowhere more careful to go."""
    for verb in CHANGES:
        assert decision_on("agent", verb, path, autonomy="low") == Decision("allow", path, in_digest=True)


def test_an_inbox_may_have_a_number() -> None:
    """As people who number their folders call it."""
    options = SafetyOptions(path_allowlist=("01 Inbox", "Projects"))
    decision = decide(actor="agent", verb="write", path=ALLOWED, options=options, autonomy="low")

    assert (decision.kind, decision.path.partition("/")[0]) == ("redirect", "01 Inbox")


def test_low_autonomy_without_an_inbox_is_refused() -> None:
    """A redirect never opens a folder that the person took off the allowlist."""
    options = SafetyOptions(path_allowlist=("Projects",))
    decision = decide(actor="agent", verb="write", path=ALLOWED, options=options, autonomy="low")

    assert outcome(decision) == ("outside_allowlist", False)
    assert "add Inbox to safety.path_allowlist" in (decision.hint or "")


# Agent/: what prompts show as the person's word


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("Agent/USER.md", "profile"),
        ("agent/user.MD", "profile"),
        ("Agent//./USER.md", "profile"),
        ("Agent/US\u200cER.md", "another one"),
        ("Agent/_always-load /a.md", "another one"),
        ("Agent/_always-load./a.md", "another one"),
        ("Agent/_always-load. . /a.md", "another one"),
        ("Agent/_always-load:x/a.md", "another one"),
        ("Agent/_always-load/a.md::$DATA", "another one"),
        ("Agent/_ALWAY~1/a.md", "another one"),
        ("Agent/st\u00adyles/a.md", "another one"),
        ("Agent/styl\u202ees/a.md", "another one"),
        ("Agent /styles/a.md", "another one"),
        ("Agent/USER.md.", "another one"),
        ("Agent/USER.md:stream.md", "another one"),
        ("Agent/channels/c1/CHANNEL.md", "profile"),
        ("Agent/Channels/c1/channel.md", "profile"),
        ("Agent/_always-load/a.md", "own word"),
        ("agent/_Always-Load/deep/a.md", "own word"),
        ("Agent/styles/Curt.md", "own word"),
    ],
)
def test_programs_do_not_touch_what_prompts_show_as_the_persons_word(path: str, why: str) -> None:
    """However the name is spelled: an agent that was talked into it must not reach every later prompt."""
    for verb in VERBS:
        for actor in PROGRAMS if why != "profile" or verb not in OPERATED else ():
            decision = decision_on(actor, verb, path)

            assert outcome(decision) == ("refused", False)
            assert why in decision.message
        assert decision_on("person", verb, path) == Decision("allow", path)


@pytest.mark.parametrize("actor", PROGRAMS)
@pytest.mark.parametrize("path", ["Agent/USER.md", "Agent/channels/c1/CHANNEL.md"])
def test_a_profile_changes_by_operations_and_the_person_is_told(actor: ActorKind, path: str) -> None:
    """Validated operations, and the undo of one's own; with low autonomy they wait; nothing else is curated."""
    decision = decision_on(actor, "curate", path)
    low = decide(actor=actor, verb="curate", path=path, options=SafetyOptions(), autonomy="low")

    assert (decision.kind, decision.in_digest) == ("allow", True)
    assert low.kind == "stage"
    assert decision_on(actor, "curate", "Agent/styles/Curt.md").kind == "refuse"
    assert decision_on(actor, "curate", "Notes/Mine.md").kind == "refuse"


@pytest.mark.parametrize(
    "path", ["Agent/projects/USER.md", "Agent/USER.md.md", "Agent/channels/CHANNEL.md", "Agent/channels/a/b/CHANNEL.md"]
)
def test_other_notes_with_such_a_name_are_not_profiles(path: str) -> None:
    """Only the two places that the layout names."""
    assert decision_on("agent", "write", path).kind == "allow"


# Agent/Memory/: trust and caps


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
def test_an_entry_that_would_be_trusted_is_staged(frontmatter: dict[str, Any]) -> None:
    """An agent's `always_load` and `trust: told` wait for review, new or taken over from the existing note."""
    for side in ("incoming", "existing"):
        decision = decision_on("agent", "write", MEMORY, **{side: frontmatter})

        assert outcome(decision) == ("stage", False)
        assert decision.path.startswith(STAGED_NAME)
    assert decision_on("person", "write", MEMORY, incoming=frontmatter) == Decision("allow", MEMORY)


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
    assert decision_on("agent", "remember", MEMORY, incoming=frontmatter).kind == "allow"


@pytest.mark.parametrize("actor", PROGRAMS)
@pytest.mark.parametrize("path", [MEMORY, "Agent/Memory/workflow/2026-11/deploy.md", "agent/MEMORY/x.md"])
def test_a_program_writes_no_plain_note_among_the_entries(actor: ActorKind, path: str) -> None:
    """It would be recalled like an entry, and no gate has seen it: neither by a write nor by a move."""
    for decision in (
        decision_on(actor, "write", path),
        decision_on(actor, "write", path, incoming={"kind": "workflow"}, existing={"kind": "workflow"}),
        decision_on(actor, "move", path, moved_from=ALLOWED),
    ):
        assert outcome(decision) == ("refused", False)
        assert "only entries" in decision.message
    assert decision_on("person", "write", path).kind == "allow"


def test_an_agent_that_takes_trust_away_is_staged() -> None:
    """Otherwise an undo would give it back to whatever the agent wrote there meanwhile."""
    demoted = decision_on("agent", "write", MEMORY, existing={"always_load": True}, incoming={"always_load": False})

    assert demoted.kind == "stage"


def test_the_folder_of_always_loaded_entries_is_staged_too() -> None:
    """Its place alone puts a note before every prompt."""
    assert decision_on("agent", "write", "Agent/Memory/_always-load/x.md").kind == "stage"


@pytest.mark.parametrize(
    ("path", "frontmatter"),
    [(MEMORY, {"always_load": True}), (MEMORY, {"source": {"trust": "told"}}), ("Agent/Memory/_always-load/x.md", {})],
)
def test_a_trusted_entry_stays_where_it_is(path: str, frontmatter: dict[str, Any]) -> None:
    """An undo would bring it back with other words in it; only a person takes it away."""
    verbs: tuple[Verb, ...] = ("delete", "move", "forget")
    for verb in verbs:
        for actor in PROGRAMS:
            decision = decision_on(actor, verb, path, existing=frontmatter)

            assert outcome(decision) == ("refused", False)
            assert "always loaded or the person's own word" in decision.message
            assert decision.hint
        assert decision_on("person", verb, path, existing=frontmatter).kind == "allow"


def test_what_the_person_said_to_an_agent_changes_their_own_word_and_nothing_that_is_loaded() -> None:
    """Only the verbs of entries pass words on, and only an agent does; a sensitive note stays the person's."""
    own, loaded = {"id": "x", "trust": "told"}, {"id": "x", "trust": "told", "always_load": True}
    verbs: tuple[Verb, ...] = ("remember", "forget")
    for verb in verbs:
        assert decision_on("agent", verb, MEMORY, existing=own, spoken=True) == Decision("allow", MEMORY)
        assert decision_on("agent", verb, MEMORY, existing=own).kind != "allow"
        assert decision_on("agent", verb, MEMORY, existing=loaded, spoken=True).kind != "allow"
        assert decision_on("agent", verb, "Agent/Memory/_always-load/x.md", existing=own, spoken=True).kind != "allow"
        assert decision_on("agent", verb, MEMORY, existing=own, spoken=True, sensitive=True).kind == "refuse"
    for verb in CHANGES:
        without = decision_on("agent", verb, MEMORY, existing=own)
        assert decision_on("agent", verb, MEMORY, existing=own, spoken=True) == without
    assert decision_on("agent", "write", PERSONAL, spoken=True).kind == "refuse"
    assert decision_on("job", "forget", MEMORY, existing=own, spoken=True).kind == "refuse"


def test_what_waits_for_review_may_be_taken_back() -> None:
    """It is not trusted yet."""
    staged = "Agent/Memory/_staging/x.md"

    assert decision_on("agent", "delete", staged, existing={"always_load": True}).kind == "allow"
    assert decision_on("agent", "move", staged, existing={"always_load": True}).kind == "allow"


@pytest.mark.parametrize(
    ("source", "destination", "frontmatter", "kind"),
    [
        (AGENT, MEMORY, {"always_load": True}, "refuse"),
        (ALLOWED, MEMORY, {"source": {"trust": "told"}}, "refuse"),
        ("Agent/Memory/_staging/x.md", MEMORY, {"trust": "told"}, "refuse"),
        (MEMORY, "Agent/Memory/_always-load/x.md", {}, "refuse"),
        (AGENT, MEMORY, {}, "refuse"),
        (AGENT, "Agent/Memory/_staging/x.md", {"trust": "told"}, "allow"),
    ],
)
def test_no_move_of_an_agent_makes_a_note_trusted(
    source: str, destination: str, frontmatter: dict[str, Any], kind: str
) -> None:
    """A note that was not loaded or believed before is not after."""
    leaving = decision_on("agent", "move", source, existing=frontmatter)
    coming = decision_on("agent", "move", destination, existing=frontmatter, moved_from=source)

    assert (leaving.kind, coming.kind) == ("allow", kind)


def test_a_job_writes_within_its_caps_and_beyond_them_to_staging() -> None:
    """What is staged already stays where it is."""
    beyond = decision_on("job", "write", MEMORY, within_caps=False)

    assert outcome(decision_on("job", "remember", MEMORY, incoming={"always_load": True})) == ("allow", False)
    assert outcome(beyond) == ("stage", False)
    assert decision_on("job", "write", beyond.path, within_caps=False).kind == "allow"


# spaces and refusals


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
        decision_on("agent", "delete", PERSONAL).raise_if_refused()

    assert (refused.value.reason, refused.value.path) == ("outside_allowlist", PERSONAL)
    assert refused.value.message == "may not delete Diary/x.md: outside the folders that programs may write to"
    assert "\n" not in str(refused.value)
    decision_on("person", "write", ALLOWED).raise_if_refused()


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
    decision = decision_on(actor, verb, path, autonomy=autonomy, personal=personal, incoming=incoming)
    assume(decision.kind != "refuse")
    first = next(part for part in decision.path.split("/") if part not in ("", "."))

    assert ".." not in decision.path.split("/")
    assert not decision.path.startswith("/")
    assert "\\" not in decision.path
    assert unicodedata.normalize("NFC", first).casefold() in {
        folder.casefold() for folder in (*OPTIONS.path_allowlist, "Agent")
    }


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
    decision = decision_on(actor, "write", path, **more)
    again = decision_on(actor, "write", decision.path, **more)

    assert decision == decision_on(actor, "write", path, **more)
    assert (again.kind, again.path) == ("refuse" if decision.kind == "refuse" else "allow", decision.path)


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
    """Frontmatter that cannot be parsed is searched line by line."""
    assert looks_trusted(text)


@pytest.mark.parametrize(
    "text", ["", "---\ntrust: said\n", "we never always_load it", "told: trust", "x" * 5000 + "\nalways_load: true"]
)
def test_other_broken_notes_do_not_look_trusted(text: str) -> None:
    """Words in a sentence, and lines far below, are not marks."""
    assert not looks_trusted(text)


@pytest.mark.parametrize("path", ["Agent/digests/2026-03-01.md", "agent/Digests/forged.md"])
def test_a_digest_is_written_by_its_job_and_by_the_person_alone(path: str) -> None:
    """An agent may not forge a report about itself, nor remove one, nor move a note there or away."""
    options = SafetyOptions()
    for verb in ("write", "delete", "move", "undo"):
        assert decide(actor="agent", verb=verb, path=path, options=options).kind == "refuse"
    moved = decide(actor="agent", verb="move", path="Agent/projects/x.md", moved_from=path, options=options)
    assert moved.kind == "refuse"
    assert decide(actor="job", verb="write", path=path, options=options).kind == "allow"
    assert decide(actor="person", verb="delete", path=path, options=options).kind == "allow"
