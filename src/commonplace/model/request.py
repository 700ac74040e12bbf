"""What a caller asks for, as given: a search, and a new entry or fact.

The CLI, the HTTP API, the MCP server and the library all build these values, so that an option is declared once.
`memory` checks and interprets them: it parses days, resolves ids and looks up names.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from datetime import UTC, datetime, tzinfo
from functools import wraps
from inspect import signature
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from commonplace.model.conversation import Trust

Params = ParamSpec("Params")
Request = TypeVar("Request")
Owner = TypeVar("Owner")
Result = TypeVar("Result")

LONGEST_CUE = 120
"""Characters of what an entry is about, and of when it matters."""

When = str | datetime | None
"""A moment, or text such as `2026-03-01`, `2026-03`, `yesterday` or `7d`; None for no limit."""

Day = str | datetime
"""A moment, or text such as `2026-03-01`; empty for none."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question, the filters on what may answer it, and how to search.

    `by` is what is ranked: passages (`chunk`), or whole notes and conversations (`document`), each with its best
    passage. `since` and `until` limit when a note was updated; `as_of` searches the vault as it was that day.
    Times are read in `zone`; `until` and `as_of` reach to the end of the day or month they name.
    Time phrases in the question, such as "last week", are relative to `now`; by default that is the day of `as_of`, or
    the present. `min_score` is the least cosine of a hit that shares no word with the question; by default such a
    question must also be nearer to a passage than unrelated questions are. At most `per_note` passages of one note are
    among the hits, 0 for all of them; by default as in the settings, and all if `path` names one note.
    `scope` is `channel:TOKEN` in a channel: an agent finds what that channel holds and no other channel's notes, a
    person finds everything. With `snippets`, each hit has the part of its text that matches the question best.
    """

    question: str
    _: KW_ONLY
    k: int | None = None
    mode: str = "hybrid"
    by: str = "chunk"
    sources: Sequence[str] = ()
    kinds: Sequence[str] = ()
    path: str = ""
    tags: Sequence[str] = ()
    topics: Sequence[str] = ()
    entities: Sequence[str] = ()
    since: When = None
    until: When = None
    as_of: When = None
    min_score: float | None = None
    per_note: int | None = None
    include_archive: bool = False
    scope: str = ""
    now: datetime | None = None
    zone: tzinfo = UTC
    snippets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDetails:
    """What may be said about any new entry or fact.

    `fact` is the class that decides how fast it ages. `about` is the question that it answers ("how she commutes"),
    `when` names situations in which it matters, in other words than its own, with commas between them: a prompt about
    them finds it. A playbook (kind `procedural` or `workflow`) is recalled for the tasks in its `when`. Days are read
    in UTC. `interface` and `conversation` say where it comes from, and `quote` are the words that say so; `trust` is
    how far that source is trusted: by default `told` for a person, `said` for an agent and `mined` for a job. It
    belongs to the `project` of that name; if None is given, to that of the repository that contains the `folder`; to
    none if the name is empty. A `dry_run` changes nothing and returns the difference it would make.
    """

    fact: str = ""
    topics: Sequence[str] = ()
    about: str = ""
    when: str = ""
    project: str | None = None
    folder: str = ""
    importance: float | None = None
    valid_from: Day = ""
    valid_until: Day = ""
    interface: str = ""
    conversation: str = ""
    quote: str = ""
    trust: Trust | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class NewEntry(EntryDetails):
    """One thing worth knowing.

    `kind` decides the folder and scopes recall. With a `predicate` it is a triple, and the text may be empty.
    `extends`, `derived_from` and `contradicts` name other entries by id, and so do `replaces`, `covers`, `same` and
    `both`, which settle how it relates to them (`Settlement`): of what is the `same`, the known wording stays, and the
    new one is archived. It ends on the day `until`; what it is said to replace or cover stays then, and holds alone
    again. An agent's text of several list items, sentences on lines of their own, or paragraphs (other than a statement
    and its reason) is refused with its parts unless it is to be saved `whole`.
    """

    text: str
    _: KW_ONLY
    kind: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    tags: Sequence[str] = ()
    always_load: bool = False
    extends: Sequence[str] = ()
    derived_from: Sequence[str] = ()
    contradicts: Sequence[str] = ()
    replaces: Sequence[str] = ()
    covers: Sequence[str] = ()
    same: Sequence[str] = ()
    both: Sequence[str] = ()
    until: Day = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class NewFact(EntryDetails):
    """A triple; `text` is its sentence, if the one made from the triple is not good enough.

    `both` are ids of facts that hold as well, though the predicate has one value at a time.
    """

    subject: str
    predicate: str
    object: str
    _: KW_ONLY
    text: str = ""
    kind: str = "fact"
    both: Sequence[str] = ()

    def as_entry(self) -> NewEntry:
        """The entry that states this fact."""
        return NewEntry(**{each.name: getattr(self, each.name) for each in fields(self)})


def takes(
    request: Callable[Params, Request],
) -> Callable[[Callable[[Owner, Request], Result]], Callable[Concatenate[Owner, Params], Result]]:
    """Let a method that handles a request be called with the arguments of the request itself.

    `memory.search("oak", k=5)` calls the method with `SearchRequest("oak", k=5)`.
    """

    def decorate(method: Callable[[Owner, Request], Result]) -> Callable[Concatenate[Owner, Params], Result]:
        @wraps(method)
        def call(owner: Owner, /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
            return method(owner, request(*args, **kwargs))

        shown = signature(method)
        owner, *_ = shown.parameters.values()
        shown = shown.replace(parameters=[owner, *signature(request).parameters.values()])
        call.__signature__ = shown  # type: ignore[attr-defined]  # what `help` and editors show
        return call

    return decorate


_FEW = 3  # names that an error lists anyway


def few_unknown(values: Mapping[str, Any], known: Container[str]) -> dict[str, Any]:
    """The values whose names are known, and at most three others: enough for an error, which may name each of them."""
    unknown = islice((name for name in values if name not in known), _FEW)
    return {name: value for name, value in values.items() if name in known} | {name: values[name] for name in unknown}
