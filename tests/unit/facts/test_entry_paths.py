"""Kinds, paths and slugs of entries."""

import pytest

from commonplace.errors import UsageError
from commonplace.facts.entry_paths import (
    LONGEST_SLUG,
    archive_path,
    checked_kind,
    default_importance,
    entry_path,
    fact_class_of,
    note_kind,
    slug_of,
)
from commonplace.model import KINDS
from commonplace.model.layout import is_entry_path

ID = "0199f3c2-7c1e-7d3a-9d55-6a2f0c1b8e11"


def path_of(kind: str, *, always_load: bool = False) -> str:
    return entry_path(kind, id=ID, slug="tabs", recorded="2026-03-01T09:12:44Z", always_load=always_load)


@pytest.mark.requirement("A-06", "A-11")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "idea"] + ["my-own-kind"])
def test_a_kind_has_a_folder_with_one_for_each_month(kind: str) -> None:
    """The set of kinds is open: any word that can name a folder picks one, and the id's last digits end the name."""
    assert path_of(kind) == f"Agent/Memory/{kind}/2026-03/tabs-1b8e11.md"


@pytest.mark.requirement("A-11")
def test_folders_of_ours_hold_what_belongs_there() -> None:
    """No kind: the inbox. An idea: the incubator. Always loaded: a folder of its own, whatever the kind."""
    assert path_of("") == "Agent/Memory/_inbox/2026-03/tabs-1b8e11.md"
    assert path_of("idea") == "Agent/Memory/_idea-incubator/2026-03/tabs-1b8e11.md"
    assert path_of("preference", always_load=True) == "Agent/Memory/_always-load/tabs-1b8e11.md"


@pytest.mark.parametrize("kind", ["Fix", "_archive", "a/b", "..", "two words", "x" * 41, "1st", "größe"])
def test_a_kind_that_cannot_name_a_folder_is_refused(kind: str) -> None:
    """The error says how a kind is written, even if the settings name that kind."""
    with pytest.raises(UsageError) as raised:
        checked_kind(kind, known=(kind,))

    assert "lower-case letters" in (raised.value.hint or "")


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    """A slip of the pen must not open a new folder; a person's own kinds are known from the settings."""
    with pytest.raises(UsageError) as raised:
        checked_kind("preferrence", known=("recipe",))

    assert raised.value.hint == (
        f"Use one of: {', '.join(KINDS)}, recipe. Your own kinds go into the setting facts.kinds."
    )
    assert checked_kind("recipe", known=("recipe",)) == "recipe"


def test_a_constraint_counts_as_much_as_a_preference() -> None:
    """An allergy is not less important than a taste."""
    assert default_importance(fact_class_of("constraint")) >= default_importance(fact_class_of("preference"))


def test_a_path_is_not_made_for_a_kind_that_leads_elsewhere() -> None:
    """A kind comes from outside: it is checked where the path is made."""
    with pytest.raises(UsageError):
        path_of("../../People")


@pytest.mark.requirement("A-11")
def test_the_archive_keeps_the_rest_of_the_path() -> None:
    """What is there already stays where it is."""
    put_away = archive_path(path_of("fix"))

    assert put_away == "Agent/Memory/_archive/fix/2026-03/tabs-1b8e11.md"
    assert archive_path(put_away) == put_away
    assert archive_path("Agent/Memory/loose.md") == "Agent/Memory/_archive/loose.md"


def test_only_entries_go_to_their_archive() -> None:
    """A note elsewhere is not moved by accident."""
    with pytest.raises(UsageError):
        archive_path("People/Ada.md")


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("Agent/Memory/fix/2026-03/a-000000.md", True),
        ("agent/memory/_inbox/a.md", True),
        ("Agent/Memory/loose.md", True),
        ("Agent/Memory/_index.md", False),
        ("Agent/Memory/fix/_index.md", False),
        ("Agent/Memory/_meta/rules.md", False),
        ("Agent/Memory/fix/picture.png", False),
        ("Agent/Memories/a.md", False),
        ("Agent/USER.md", False),
        ("People/Agent/Memory/a.md", False),
    ],
)
def test_entries_stand_below_one_folder(path: str, *, is_one: bool) -> None:
    """Generated notes and our own papers there are none."""
    assert is_entry_path(path) == is_one


@pytest.mark.parametrize(
    ("kind", "fact", "importance"),
    [
        ("identity", "identity", 0.8),
        ("preference", "preference", 0.7),
        ("decision", "fact", 0.5),
        ("event", "event", 0.4),
        ("workflow", "", 0.5),
        ("", "", 0.5),
    ],
)
def test_a_kind_has_a_class_and_a_class_an_importance(kind: str, fact: str, importance: float) -> None:
    """Kinds of long notes have no class, and count as facts do."""
    assert fact_class_of(kind) == fact
    assert default_importance(fact_class_of(kind)) == importance


@pytest.mark.requirement("A-56")
@pytest.mark.parametrize(
    ("told", "path", "tags", "kind"),
    [
        ("fix", "Agent/Memory/preference/Roof.md", ["insight"], "fix"),
        ("", "Agent/Memory/preference/Roof.md", ["insight"], "preference"),
        ("", "agent/memory/Fix/2026-03/Roof.md", [], "fix"),
        ("", "Agent/Memory/_inbox/Roof.md", ["roof", "Insight"], "insight"),
        ("", "Agent/Memory/Roof.md", ["roof"], ""),
        ("", "Projects/fix/Roof.md", ["insight"], ""),
    ],
)
def test_a_kind_is_told_by_properties_then_the_folder_then_a_tag(
    told: str, path: str, tags: list[str], kind: str
) -> None:
    """Three places in this order, so that a note made by hand counts where its kind is asked for."""
    assert note_kind(told, path=path, tags=tags) == kind


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Prefers TypeScript over JavaScript", "prefers-typescript-over-javascript"),
        ("\n\n# **Größe** der Straße\n\nmore", "grosse-der-strasse"),
        ("Don't push on Fridays", "dont-push-on-fridays"),
        ("Łukasz knows Øystein", "lukasz-knows-oystein"),
        ("../../etc/passwd", "etc-passwd"),
        ("ﬁne ½", "fine-1-2"),
    ],
)
def test_a_slug_is_the_first_line_in_plain_letters(text: str, slug: str) -> None:
    """Accents, signs and further lines are dropped."""
    assert slug_of(text) == slug


def test_a_slug_ends_at_the_end_of_a_word() -> None:
    """It is as long as it may be, and no word is cut."""
    slug = slug_of("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda")

    assert slug == "alpha-beta-gamma-delta-epsilon-zeta-eta-theta"
    assert len(slug) <= LONGEST_SLUG


def test_a_first_word_that_is_too_long_is_cut() -> None:
    """A slug is never longer than it may be."""
    assert slug_of("x" * 300) == "x" * LONGEST_SLUG


@pytest.mark.parametrize("text", ["", "  \n", "...", "日本語", "🎉"])
def test_a_text_without_letters_of_ours_still_has_a_slug(text: str) -> None:
    """A slug is never empty."""
    assert slug_of(text) == "entry"
