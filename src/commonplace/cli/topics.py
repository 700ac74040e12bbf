"""`commonplace topics | topics infer | styles`: what the memory is about, and how to speak of it."""

from typing import Annotated, Any

import typer

from commonplace.cli.door import Door, door_of, print_line, print_table
from commonplace.cli.fact_view import brief
from commonplace.model import Inferred, Style

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def topics(context: typer.Context) -> None:
    """List the topics of the memory, and how many notes are about each; or infer those of a message.

    \b
    Examples:
      commonplace topics
      commonplace topics infer "the tests of the parser fail"
    """
    if context.invoked_subcommand:
        return
    door = door_of(context)
    with door.opened() as memory:
        found = memory.topics.list()

    def show() -> None:
        print_table(["topic", "notes"], [(each.name, str(each.documents)) for each in found])
        if not found:
            door.aside("no topics yet: `commonplace save TEXT --topic T` makes one")

    door.answer({"count": len(found), "topics": found}, show)


@app.command()
def infer(
    context: typer.Context,
    message: Annotated[list[str], typer.Argument(metavar="MESSAGE", help="What someone says.")],
    conversation: Annotated[str, typer.Option(metavar="ID", help="The conversation of which it is a part.")] = "",
) -> None:
    """Tell what a message is about, by its meaning alone. With a conversation, keep its topics until it drifts.

    \b
    Examples:
      commonplace topics infer "the tests of the parser fail"
      commonplace topics infer "and the second one?" --conversation c-4f1d20b7a9e3
    """
    door = door_of(context)
    with door.opened() as memory:
        inferred = memory.topics.infer(" ".join(message), conversation=conversation)
    values = {
        "topics": [{"topic": name, "cosine": cosine} for name, cosine in inferred.topics],
        "locked": inferred.locked,
        "drifted": inferred.drifted,
    }
    door.answer(values, lambda: _show_inferred(inferred, door))


def _show_inferred(inferred: Inferred, door: Door) -> None:
    print_table(["topic", "cosine"], [(name, f"{cosine:.2f}") for name, cosine in inferred.topics])
    if not inferred.topics:
        door.aside("near none of the topics")
    if inferred.locked:
        drifted = ", which this message has moved" if inferred.drifted else ""
        door.aside(f"the conversation is about {', '.join(inferred.locked)}{drifted}")


def styles(
    context: typer.Context,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="[MESSAGE]", help="The one that fits this message.")
    ] = None,
) -> None:
    """List the ways to speak that are kept under Agent/styles, or print the one that fits a message.

    \b
    Examples:
      commonplace styles
      commonplace styles "review my pull request"
    """
    door = door_of(context)
    with door.opened() as memory:
        if message:
            chosen = memory.topics.style(" ".join(message))
            door.answer({"style": chosen}, lambda: _show_style(chosen, door))
            return
        found = memory.topics.styles()

    def show() -> None:
        print_table(["style", "for", "says"], [_row(each) for each in found])
        if not found:
            door.aside("no styles yet: a note under Agent/styles is one")

    door.answer({"count": len(found), "styles": found}, show)


def _row(style: Style) -> tuple[str, ...]:
    contexts = ", ".join([*style.contexts, *(["whatever no other is for"] if style.is_default else [])])
    return style.name, contexts or "-", brief(style.text)


def _show_style(style: Style | None, door: Door) -> Any:
    if style is None:
        door.aside("no style fits, and none is the default")
        return
    print_line(style.text)
    door.aside(f"{style.name}, {style.path}")
