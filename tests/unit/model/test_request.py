"""Requests, and methods that are called with the arguments of one."""

from dataclasses import fields
from inspect import signature

import pytest

from commonplace.model.request import NewEntry, NewFact, SearchRequest, few_unknown, takes


class Shop:
    """Something with a method that handles requests."""

    @takes(SearchRequest)
    def find(self, request: SearchRequest) -> tuple[str, int | None]:
        """What is searched for, and how much of it."""
        return request.question, request.k


def test_a_method_that_takes_a_request_is_called_with_its_arguments() -> None:
    """Positional and by keyword, with the defaults of the request."""
    shop = Shop()

    assert shop.find("oak", k=5) == ("oak", 5)
    assert shop.find(question="oak") == ("oak", None)


def test_an_argument_that_the_request_does_not_have_is_a_type_error() -> None:
    """As with any function."""
    with pytest.raises(TypeError, match="colour"):
        Shop().find("oak", colour="red")  # type: ignore[call-arg]


def test_the_signature_and_the_docstring_are_those_that_a_caller_needs() -> None:
    """`help` shows the arguments of the request."""
    parameters = signature(Shop().find).parameters

    assert [*parameters] == [each.name for each in fields(SearchRequest)]
    assert Shop.find.__doc__ == "What is searched for, and how much of it."


def test_a_fact_becomes_an_entry_with_all_it_says() -> None:
    """Nothing given for the fact is lost on the way."""
    given = {each.name: f"the {each.name}" for each in fields(NewFact)}
    entry = NewFact(**given).as_entry()  # type: ignore[arg-type]

    assert {name: getattr(entry, name) for name in given} == given
    assert NewFact("Ada", "works_at", "Acme").as_entry() == NewEntry(
        "", kind="fact", subject="Ada", predicate="works_at", object="Acme"
    )


def test_of_many_unknown_names_a_few_are_enough_for_an_error() -> None:
    """Each would become an error of its own, and hundreds of thousands of them take seconds."""
    values = {f"k{number}": number for number in range(1000)} | {"text": "x"}

    assert few_unknown(values, {"text"}) == {"text": "x", "k0": 0, "k1": 1, "k2": 2}
    assert few_unknown({"text": "x"}, {"text", "more"}) == {"text": "x"}
