"""What may go into a context: thresholds for entries and passages, their titles, and the channel of a prompt."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Final

from commonplace.errors import UsageError
from commonplace.model import Hit
from commonplace.model.context import Need
from commonplace.model.conversation import CHANNEL_NAME

_CALIBRATED_FOR: Final = 35  # entries
_CONSTRAINT_BONUS: Final = 0.04
_TOPIC_BONUS: Final = 0.05


@dataclass(frozen=True, slots=True)
class EntryRule:
    """When an entry fits a prompt: the score it needs for each Need, the weight of words, and how many fit at most.

    An entry must also reach `beside_best` of the best score, or of `plainest` if that is less: a prompt in the very
    words of one entry says no more against the others than any prompt that is about it. With ten times as many entries
    the threshold is higher by `for_ten_times`, and one more may fit.

    Chosen by `bench/memory.py --only thresholds`, which prints the curves, on two people of `data/memory/context.jsonl`
    (35 entries each, 56 needed ones, 24 prompts that need nothing), and tried on four others written apart. Among ten
    times as many entries the nearest of those that do not matter is nearer by about 0.1, and so are some that do.

    A question needs `general_cued` or `personal_cued` more of an entry that says when it matters. These were chosen on
    four people and on 46 with 14 memories each (`data/judgement/needs_*.jsonl`), as was the better of two vectors
    instead of a mean. On the four, 106 instead of 89 of 120 needed entries come, 28 instead of 12 of 36 that share no
    word with the prompt, and 44 instead of 45 of 48 idle prompts stay silent; among 300 more entries 44 do.
    """

    idle: float = 0.85
    general: float = 0.55
    task: float = 0.33
    personal: float = 0.2
    words: float = 0.76
    most: int = 3
    beside_best: float = 0.5
    plainest: float = 1.2
    for_ten_times: float = 0.05
    general_cued: float = 0.2
    personal_cued: float = 0.1

    def threshold(self, need: Need, *, count: int, is_cued: bool = False) -> float:
        """The score that an entry must reach; of more entries, more are near by chance."""
        needs = {"idle": self.idle, "general": self.general, "task": self.task, "personal": self.personal}
        cued = {"general": self.general_cued, "personal": self.personal_cued} if is_cued else {}
        return needs[need] + cued.get(need, 0.0) + self.for_ten_times * _decades(count)

    def limit(self, *, count: int) -> int:
        """How many entries may fit."""
        return self.most + round(_decades(count))


def _decades(count: int) -> float:
    """How many times there are ten times as many entries as those that the rule was chosen on; 3 at most."""
    return min(log10(max(count, _CALIBRATED_FOR) / _CALIBRATED_FOR), 3.0)


ENTRY_RULE: Final = EntryRule()

PLAIN_ENTRY: Final = 0.55
"""The score from which an entry fits so plainly that no note is needed beside it, unless the prompt asks for notes."""


@dataclass(frozen=True, slots=True)
class PassageRule:
    """What the best passage needs for a prompt that does not ask for notes.

    `near` in any vault; `above_noise` more than unrelated passages of the vault have; `general` besides for a question
    that anybody could ask. `bench/memory.py --only thresholds` prints the curves, in a garden of 748 notes whose noise
    is 0.49; the noise of the sample vault is 0.21.
    """

    near: float = 0.33
    above_noise: float = 0.08
    general: float = 0.1

    def threshold(self, *, noise: float, need: Need) -> float:
        """The score that the best passage must reach for any to be shown; `noise` is that of unrelated ones."""
        least = max(self.near, noise + self.above_noise)
        return least + (self.general if need in ("idle", "general") else 0.0)


PASSAGE_RULE: Final = PassageRule()

_OFF_TOPIC: Final = 0.1
"""The cosine below which a passage shares only words with a prompt, as many do in a large vault."""

_PASSAGE_BESIDE_BEST: Final = 0.6
"""The share of the best score that other passages must reach: below it they have no more than a word in common."""

_MIN_LETTERS: Final = 20
"""Letters outside links below which a passage only points elsewhere: `Part of [[Plan]]. See [[Budget]].`"""

_FIRST_CJK: Final = "\u2e80"
_CJK_LETTERS: Final = 4  # letters that one character counts for in a script whose characters are words

# No part may contain what begins another link, so that each character is looked at once.
_EMPTY_SECTIONS: Final = frozenset({"nothing.", "nothing recorded.", "nothing waits.", "no meetings recorded."})
"""What our templates write where they have nothing to say, folded."""
_LINK: Final = re.compile(r"!?\[\[[^\[\]\n]*+\]\]|!?\[[^\[\]\n]*+\]\([^()\n]*+\)|<?https?://\S++|(?<!\S)#[\w/-]++")
_HEADING: Final = re.compile(r"\A#{1,6}[ \t]+([^\n]*?)[ \t#]*(?:\n|\Z)\s*")
_BLOCK_ID: Final = re.compile(r"(?<=\S)[ \t]+\^[a-z]-[0-9a-f-]+[ \t]*$", re.MULTILINE)
_ENTRY_BULLET: Final = re.compile(r"^- [^\n]*\S[ \t]+\^e-[0-9a-f-]+[ \t]*(?:\n|\Z)", re.MULTILINE)
_CHANNEL: Final = re.compile(CHANNEL_NAME)
_CHANNEL_PREFIX: Final = "channel:"


def parse_channel(scope: str) -> str:
    """The channel of a scope such as `channel:team` or `team`; empty for the person's own scope.

    Raises UsageError if it is not a valid name of a channel.
    """
    channel = scope.strip().removeprefix(_CHANNEL_PREFIX)
    if channel and not _CHANNEL.fullmatch(channel):
        hint = "Use letters, digits, dots, dashes and underscores, at most 64."
        raise UsageError(f"{channel[:60]!r} is not a valid channel name", hint=hint)
    return channel


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """How near an entry is to a prompt: the cosine of its nearest part, None without vectors, and its words.

    `own` is the cosine of the statement itself, and `is_cued` says that the entry says when it matters. `words` is from
    0 to about 0.5: what of the prompt's words, weighted by how rare they are, the entry has. An entry on the topics of
    the conversation (`is_on_topic`) comes first, but it is not nearer for that.
    """

    cosine: float | None
    words: float
    is_constraint: bool = False
    is_on_topic: bool = False
    own: float | None = None
    is_cued: bool = False

    @property
    def is_by_when(self) -> bool:
        """True if what it says of when it matters is nearer to the prompt than its statement."""
        return self.is_cued and (self.cosine or 0.0) > (self.own or 0.0)

    def score(self, rule: EntryRule = ENTRY_RULE) -> float:
        """Meaning and words together; a little more for what harms if it is missed."""
        near = max(self.cosine or 0.0, 0.0) + rule.words * self.words
        return near + (_CONSTRAINT_BONUS if self.is_constraint and near else 0.0)

    def rank(self, rule: EntryRule = ENTRY_RULE) -> float:
        """The score, with a little more for what is on topic."""
        return self.score(rule) + (_TOPIC_BONUS if self.is_on_topic else 0.0)

    def __str__(self) -> str:
        cosine = "" if self.cosine is None else f", cosine {self.cosine:.2f}"
        return f"score {self.score():.2f}{cosine}{', by when it matters' if self.is_by_when else ''}"


def fitting_entries(
    matches: Mapping[str, EntryMatch],
    *,
    need: Need,
    count: int,
    newest: Mapping[str, str] | None = None,
    giving_way: Collection[str] = (),
    rule: EntryRule = ENTRY_RULE,
) -> list[str]:
    """The keys of the entries that fit a prompt, the best first; `count` is how many entries there are in all.

    `newest` has for each older entry of a group the newest one, which comes whenever an older one does; the entries
    `giving_way` leave it their place.
    """
    scores = {key: match.score(rule) for key, match in matches.items()}
    best = min(max(scores.values(), default=0.0), rule.plainest)
    least = {cued: rule.threshold(need, count=count, is_cued=cued) for cued in (False, True)}
    ranked = sorted(scores, key=lambda key: (-matches[key].rank(rule), key))
    fitting = [key for key in ranked if scores[key] >= max(least[matches[key].is_cued], rule.beside_best * best)]
    return with_newest(fitting, newest or {}, giving_way, limit=rule.limit(count=count))


def with_newest(
    ranked: Sequence[str], newest: Mapping[str, str], giving_way: Collection[str], *, limit: int
) -> list[str]:
    """The first `limit` of these keys, with the newest of each group among them.

    It takes the place of one that gives way if it is ranked itself; else it stands beside the older one.
    """
    chosen = [*ranked[:limit]]
    for place, key in reversed([*enumerate(chosen)]):
        newer = newest.get(key, key)
        if newer in chosen:
            continue
        if newer in ranked and key in giving_way:
            chosen[place] = newer
        else:
            chosen.append(newer)
    return chosen


def passage_threshold(scores: Iterable[float], *, least: float) -> float:
    """The score that a passage must reach to be shown with the best of these; never below `least`."""
    return max([least, *(_PASSAGE_BESIDE_BEST * score for score in scores)])


def is_off_topic(hit: Hit) -> bool:
    """True if a hit is about something else, however many words match."""
    return hit.cosine is not None and hit.cosine < _OFF_TOPIC


def holds_only_links(text: str) -> bool:
    """True if a passage only points elsewhere: links, and hardly a word besides them."""
    rest, links = _LINK.subn(" ", text)
    letters = sum(_CJK_LETTERS if sign >= _FIRST_CJK else 1 for sign in rest if sign.isalpha())
    return letters < (_MIN_LETTERS if links else 1)


def holds_nothing(text: str) -> bool:
    """True if a passage only says that a section of a template is empty."""
    lines = (line.strip().casefold() for line in text.splitlines())
    said = [line for line in lines if line and not line.startswith(("#", "%%"))]
    return bool(said) and _EMPTY_SECTIONS.issuperset(said)


def passage_title(path: str, headings: Sequence[str]) -> str:
    """The headings above a passage, without those that repeat the name of its note."""
    name = _note_name(path)
    return " > ".join(heading for heading in headings if heading.strip().casefold() not in name)


def strip_own_heading(text: str, *, path: str) -> str:
    """The text of a note without a first heading that only repeats the name of the note."""
    heading = _HEADING.match(text)
    return text[heading.end() :] if heading and heading[1].casefold() == _note_name(path) else text


def strip_sources(text: str) -> str:
    """The text of a dated note without block ids, which say nothing to a model, and without bullets made from entries.

    An entry reaches a prompt as an entry: in the profile of its project, or when the prompt is about it.
    """
    return _BLOCK_ID.sub("", _ENTRY_BULLET.sub("", text)).strip()


def _note_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").casefold()
