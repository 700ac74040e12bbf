"""Errors: one tree, one table for every door."""

from commonplace import errors
from commonplace.errors import ERROR_CODES, CommonplaceError, Conflict, Refused, codes_for


def test_every_error_has_its_answer_at_every_door() -> None:
    """No error leaves without an exit code, an HTTP status and an MCP code of its own kind."""
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CommonplaceError)}

    assert kinds - {CommonplaceError} == set(ERROR_CODES)


def test_a_subclass_answers_as_its_nearest_ancestor() -> None:
    """A finer error keeps its parent's exit code."""

    class Stale(Conflict):
        pass

    assert codes_for(Stale("x")).exit_code == 4


def test_the_exit_codes_are_the_documented_ones() -> None:
    """2 usage or not found, 3 refused, 4 conflict, 5 vault, 6 index, 7 provider."""
    assert [answer.exit_code for answer in ERROR_CODES.values()] == [2, 2, 3, 4, 5, 6, 7]


def test_an_error_as_json_leaves_out_what_it_does_not_know() -> None:
    """`type`, `reason` and `message` always; the rest when there is something to say."""
    error = Refused("no", path="a.md", reason="sensitive")

    assert error.as_dict() == {"type": "Refused", "reason": "sensitive", "message": "no", "path": "a.md"}


def test_the_reasons_of_the_write_protocol_have_their_names() -> None:
    """Programs that know the published reasons find them: path_escape, not_markdown, outside_allowlist and the rest."""
    published = {"path_escape", "not_markdown", "outside_allowlist", "too_large", "conflict", "sensitive", "missing"}

    assert published <= set(errors.REASONS)
