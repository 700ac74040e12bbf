"""The page of the graph: notes, entries and people as points, links and facts as lines between them."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from commonplace.memory.facts import GraphNode
from commonplace.web.page.view import NavigationEntry, PageMemory, note_title, render

ENTRY: Final = NavigationEntry("Graph", "/graph", group="know", key="v")
_LISTED: Final = 25
_KINDS: Final = ("note", "entry", "entity")
router = APIRouter()

Hops = Annotated[int, Query(ge=1, le=6)]
Kinds = Annotated[tuple[str, ...], Query()]


@router.get("/graph")
def show_graph(
    request: Request,
    memory: PageMemory,
    folder: str = "",
    around: str = "",
    hops: Hops = 2,
    kind: Kinds = (),
) -> Response:
    """The graph as a picture, and as a list of what is linked most."""
    graph = memory.facts.graph(folder=folder.strip("/ "), around=around.strip(), hops=hops, kinds=_kinds(kind))
    return render(
        request,
        "graph.html",
        title="Graph",
        graph=graph,
        listed=[(each, node_label(each)) for each in graph.nodes[:_LISTED]],
        chosen={"folder": folder, "around": around, "hops": hops},
        kinds=_kinds(kind) or _KINDS,
    )


@router.get("/graph/data")
def graph_data(
    memory: PageMemory,
    folder: str = "",
    around: str = "",
    hops: Hops = 2,
    kind: Kinds = (),
) -> Response:
    """The same graph for the picture: lines name points by their place in the list."""
    graph = memory.facts.graph(folder=folder.strip("/ "), around=around.strip(), hops=hops, kinds=_kinds(kind))
    places = {node.id: place for place, node in enumerate(graph.nodes)}
    return JSONResponse(
        {
            "nodes": [[node.id, node.kind, node_label(node), node.links] for node in graph.nodes],
            "edges": [[places[edge.source], places[edge.target], edge.kind] for edge in graph.edges],
        }
    )


def node_label(node: GraphNode) -> str:
    """The name of a point; for an entry its words."""
    return note_title(node.id) if node.kind == "entry" else node.label


def _kinds(chosen: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in _KINDS if each in chosen)
