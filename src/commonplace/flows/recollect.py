"""Recollecting: a search among the entries alone."""

from commonplace.facts.routes import MEMORY
from commonplace.flows.keeper import Keeper
from commonplace.flows.look_up import Ask
from commonplace.flows.recall import recall
from commonplace.model import Answer, Filters
from commonplace.policy.sinks import Sink


def recollect(
    question: str,
    keeper: Keeper,
    *,
    k: int | None,
    kinds: tuple[str, ...],
    topics: tuple[str, ...],
    include_archive: bool,
) -> Answer:
    """What the entries say about the question, best first. Raises as `recall` does."""
    sink: Sink = "person" if keeper.tells_all else "prompt"
    filters = Filters(sources=("vault",), kinds=kinds, path=MEMORY, topics=topics, archived=include_archive)
    return recall(Ask(question, k=k, filters=filters, snippets=True), keeper.shelf(), sink=sink)
