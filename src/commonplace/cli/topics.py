"""`commonplace topics | topics infer | styles`: the topics of the memory and the writing styles."""

from typing import Annotated, Any

import typer

from commonplace.cli.fact_view import brief
from commonplace.cli.invocation import Invocation, invocation_of, print_line, print_table
from commonplace.model import InferredTopics, Style

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def topics(context: typer.Context) -> None:
    """List the topics of the memory, or infer the topics of a message.

    \b
    Examples:
      commonplace topics
      commonplace topics infer "the tests of the parser fail"
    """
    if context.invoked_subcommand:
        return
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        entries = memory.topics.list()

    def show() -> None:
        print_table(["topic", "notes"], [(each.name, str(each.documents)) for each in entries])
        if not entries:
            invocation.inform("no topics yet: `commonplace save TEXT --topic T` adds one")

    invocation.answer({"count": len(entries), "topics": entries}, show)


@app.command()
def infer(
    context: typer.Context,
    message: Annotated[list[str], typer.Argument(metavar="MESSAGE", help="The text of the message.")],
    conversation: Annotated[str, typer.Option(metavar="ID", help="The conversation it belongs to.")] = "",
) -> None:
    """Infer the topics of a message from its meaning.

    With a conversation, its topics stay locked until the messages drift to others.

    \b
    Examples:
      commonplace topics infer "the tests of the parser fail"
      commonplace topics infer "and the second one?" --conversation c-4f1d20b7a9e3
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        inferred = memory.topics.infer(" ".join(message), conversation=conversation)
    values = {
        "topics": [{"topic": name, "cosine": cosine} for name, cosine in inferred.topics],
        "locked": inferred.locked,
        "drifted": inferred.drifted,
    }
    invocation.answer(values, lambda: _show_inferred(inferred, invocation))


def _show_inferred(inferred: InferredTopics, invocation: Invocation) -> None:
    print_table(["topic", "cosine"], [(name, f"{cosine:.2f}") for name, cosine in inferred.topics])
    if not inferred.topics:
        invocation.inform("no topic matches")
    if inferred.locked:
        drifted = "; this message changed that" if inferred.drifted else ""
        invocation.inform(f"the conversation is about {', '.join(inferred.locked)}{drifted}")


def styles(
    context: typer.Context,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="[MESSAGE]", help="Print the style that fits this message.")
    ] = None,
) -> None:
    """List the writing styles in Agent/styles, or print the one that fits a message.

    \b
    Examples:
      commonplace styles
      commonplace styles "review my pull request"
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        if message:
            chosen = memory.topics.style(" ".join(message))
            invocation.answer({"style": chosen}, lambda: _show_style(chosen, invocation))
            return
        entries = memory.topics.styles()

    def show() -> None:
        print_table(["style", "for", "says"], [_row(each) for each in entries])
        if not entries:
            invocation.inform("no styles yet: add a note to Agent/styles")

    invocation.answer({"count": len(entries), "styles": entries}, show)


def _row(style: Style) -> tuple[str, ...]:
    contexts = ", ".join([*style.contexts, *(["everything else"] if style.is_default else [])])
    return style.name, contexts or "-", brief(style.text)


def _show_style(style: Style | None, invocation: Invocation) -> Any:
    if style is None:
        invocation.inform("no style fits, and there is no default style")
        return
    print_line(style.text)
    invocation.inform(f"{style.name}, {style.path}")
