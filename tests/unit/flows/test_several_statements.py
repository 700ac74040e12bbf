"""An agent's text of several statements is refused with its parts."""

import pytest

from commonplace.errors import Refused, UsageError
from commonplace.flows.memory.new_entry import refuse_several
from commonplace.model.request import NewEntry


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("- Ada paints.\n- Bo sings.", "(1) Ada paints.; (2) Bo sings."),
        ("Ada paints.\nBo sings.", "(1) Ada paints.; (2) Bo sings."),
        ("Allergies of Ada:\n\n1. nuts\n2. penicillin", "(1) nuts; (2) penicillin"),
        ("Rule: squash.\n\nRule: never force-push.", "(1) Rule: squash.; (2) Rule: never force-push."),
        ("Ada paints.\n\nWhy: it calms her.\n\nBo sings.", "(1) Ada paints.; (2) Bo sings."),
    ],
)
def test_a_text_of_several_items_or_paragraphs_is_refused_with_its_parts(text: str, parts: str) -> None:
    """The hint says what to do; whoever means it says so."""
    with pytest.raises(UsageError) as refusal:
        refuse_several(NewEntry(text))

    assert refusal.value.message == f"this text says 2 things: {parts}"
    assert refusal.value.hint
    assert "`whole`" in refusal.value.hint


@pytest.mark.parametrize(
    "new",
    [
        NewEntry("Ada paints.\n\nIt calms her, so leave her the evenings."),
        NewEntry("Ada paints, and she sells some\nof it."),
        NewEntry(
            "Prefers small commits.\n\n**Why:** a review took days.\n\nHow to apply:\n\n- one thing\n- one commit"
        ),
        NewEntry("- Ada paints.\n\n  She sells some of it."),
        NewEntry("Run this:\n\n```\nmake\n\nmake test\n```"),
        NewEntry("Release:\n1. Test.\n2. Tag.", kind="Workflow"),
        NewEntry("Release:\n1. Test.\n2. Tag.", kind="workflow", when="release"),
    ],
)
def test_one_statement_with_its_reason_and_a_playbook_pass(new: NewEntry) -> None:
    """What a label such as "Why:" begins belongs to the statement before it, in any language, and so does the second
    of two paragraphs."""
    refuse_several(new)


def test_a_secret_in_one_part_is_not_quoted() -> None:
    """It is refused as a secret, before the parts are listed."""
    with pytest.raises(Refused) as refusal:
        refuse_several(NewEntry("- Ada paints.\n- The key is AKIAIOSFODNN7EXAMPLQ, keep it."))

    assert "AKIA" not in refusal.value.message
