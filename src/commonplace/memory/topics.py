"""The verbs on topics and styles: what there is, and what fits a message."""

from commonplace.flows.about import infer_topics, style_for, styles_known, topics_known
from commonplace.flows.keeper import Keeper
from commonplace.model import Inferred, Style, Topic


class Topics:
    """What the memory is about, and the ways to speak that the vault describes."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def list(self) -> tuple[Topic, ...]:
        """Every topic, those with most notes first."""
        return topics_known(self._keeper)

    def infer(self, message: str, *, conversation: str = "") -> Inferred:
        """What a message is about, with no model but the encoder; for a conversation, what that is about is kept."""
        return infer_topics(message, self._keeper, conversation=conversation)

    def styles(self) -> tuple[Style, ...]:
        """The styles under `Agent/styles`."""
        return styles_known(self._keeper)

    def style(self, message: str) -> Style | None:
        """The style that fits a message best; None where there is none."""
        return style_for(message, self._keeper, topics=[name for name, _ in self.infer(message).topics])
