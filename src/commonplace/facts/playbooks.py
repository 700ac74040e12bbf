"""Playbooks: procedures with their tasks; found in what a person explained, or in work that ended well.

A playbook is an entry of the kind `procedural` (or `workflow`): its first line is the task, the numbered lines below
are the steps, and `when` names the tasks for which it is recalled. No rule here invents a word: the task and the
steps are those of the conversation.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from commonplace.facts.words import bare_words, stem_of
from commonplace.model.conversation import Message
from commonplace.model.text import LazyPattern

KIND: Final = "procedural"
LEAST_STEPS: Final = 3
"""Fewer steps are no procedure worth keeping."""

_MOST_STEPS: Final = 15
_LONGEST_STEP: Final = 300
_LONGEST_TASK: Final = 100
_SHORT_REPLY: Final = 200  # characters of a message that only says that it worked

_ITEM: Final = re.compile(r"^[ \t]*(?P<number>\d{1,2})[.)][ \t]+(?P<text>[^\n]+)$", re.MULTILINE)
_EXPLAINS: Final = tuple(
    LazyPattern(pattern, re.IGNORECASE)
    for pattern in (
        r"\bhow (?:I|we) (?:usually |always |normally )?(?P<task>[^\n,:.?]{4,90}?)\s*[:.]?\s*\Z",
        r"\b(?:my|our|the) (?:process|procedure|workflow|steps|checklist|routine|playbook|way)"
        r" (?:for|to|of|when) (?P<task>[^\n,:.?]{4,90}?)(?: is| are| goes)?(?: this| as follows)?\s*[:.]?\s*\Z",
        r"(?:^|[.!]\s+)(?:to|when(?:ever)? (?:I|we)|before (?:I|we)|every time (?:I|we))"
        r" (?P<task>[^\n,:.?]{4,90}?)\s*[,:](?:[^\n:?]{0,60}:)?\s*\Z",
    )
)
_SEQUENCE: Final = LazyPattern(
    r"(?:^|[.!:]\s+)(?:to|when(?:ever)? (?:I|we)|every time (?:I|we)) (?P<task>[^\n,:.?]{4,90}?),"
    r" (?:I |we |you )?(?:always |usually )?first,? (?P<rest>[^\n?]{20,1500})",
    re.IGNORECASE,
)
_NEXT: Final = LazyPattern(r"[,;.]?\s+(?:and\s+)?(?:then|after that|next|finally|lastly),?\s+", re.IGNORECASE)
_HEDGE: Final = LazyPattern(r"\b(?:maybe|perhaps|might|would it|could we|what if|should we|I wonder)\b", re.IGNORECASE)
_WENT_WELL: Final = LazyPattern(
    r"\b(?:done|deployed|published|released|finished|completed|succeeded|successful(?:ly)?|works?|worked|passed|pass|"
    r"fixed|resolved|live)\b",
    re.IGNORECASE,
)
_WENT_WRONG: Final = LazyPattern(
    r"\b(?:fail(?:s|ed|ing|ure)?|error|could ?n[o']t|couldn.t|cannot|can.t|unable|blocked|"
    r"not (?:done|finished|work\w*)|"
    r"did ?n[o']t|didn.t|does ?n[o']t|doesn.t|still (?:missing|broken)|gave up|aborted|partly|partially|todo)\b",
    re.IGNORECASE,
)
_CONFIRMS: Final = LazyPattern(
    r"\b(?:(?:that|it|this) (?:worked|works|did it|fixed it)|works (?:now|perfectly|great)|"
    r"worked (?:perfectly|great|well)|"
    r"(?:all )?good now|perfect,? (?:thanks|thank you|that))\b",
    re.IGNORECASE,
)
_REQUEST: Final = LazyPattern(
    r"\A(?:(?:please|ok|okay|now|hi|hello|hey)[,!]? |(?:can|could|would|will) you (?:please )?|help me (?:to )?|"
    r"how (?:do|can|should) (?:I|we) |I (?:want|need|would like) (?:you )?to |let.s )+",
    re.IGNORECASE,
)
_SENTENCE: Final = LazyPattern(r"[^\n.!?]+")
_EMPTY_WORDS: Final = frozenset(
    {
        *("a", "an", "and", "as", "at", "by", "do", "for", "from", "i", "in", "into", "it", "its", "me", "my", "new"),
        *("now", "of", "on", "or", "our", "please", "some", "that", "the", "this", "to", "up", "us", "we", "with"),
        *("you", "your"),
    }
)
_EXACT: Final = LazyPattern(r"`[^`\n]+`|\S*[/\\=]\S*|--?[a-z][\w-]+|\S*\d\S*|https?://\S+")
"""What a rewording must keep letter by letter: code, paths, options, numbers, addresses."""
_LONGEST_TEXT: Final = 20_000  # characters of a message that are looked at


@dataclass(frozen=True, slots=True)
class Playbook:
    """A procedure: the task, its steps in order, and the number of the message that has it.

    `is_explained` says that the person explained it; otherwise it is what an agent did, and the work ended well.
    """

    task: str
    steps: tuple[str, ...]
    turn: int
    is_explained: bool

    @property
    def when(self) -> str:
        """The task for which it is recalled."""
        return self.task[:1].lower() + self.task[1:]

    @property
    def text(self) -> str:
        """The playbook as an entry has it."""
        return playbook_text(self.task, self.steps)


def playbook_text(task: str, steps: Sequence[str]) -> str:
    """The task on the first line, the steps numbered below."""
    return "\n".join((f"{task}:", *(f"{number}. {step}" for number, step in enumerate(steps, start=1))))


def find_playbooks(messages: Sequence[Message], *, is_task: bool = False) -> tuple[Playbook, ...]:
    """The procedures in a conversation, in order; in a task with its result if it `is_task`."""
    found: list[Playbook] = []
    for number, message in enumerate(messages, start=1):
        if message.role == "user" and not is_task:
            playbook = _explained(message.text, turn=number)
        elif message.role == "assistant":
            playbook = _worked(messages, number, is_task=is_task)
        else:
            playbook = None
        found += [playbook] if playbook else []
    return tuple(found)


def _explained(text: str, *, turn: int) -> Playbook | None:
    """The procedure that a person explains: steps below a line that says what they are for, or first, then, finally."""
    text = text[:_LONGEST_TEXT]
    if _HEDGE.search(text):
        return None
    steps, start = _numbered(text)
    if steps:
        before = text[:start].rstrip().rpartition("\n")[2].strip()
        match = next((match for each in _EXPLAINS if (match := each.search(before))), None)
        return _playbook(match["task"], steps, turn=turn, is_explained=True) if match else None
    if match := _SEQUENCE.search(text):
        parts = [part.strip(" ,;.") for part in _NEXT.split(match["rest"].partition("\n")[0])]
        return _playbook(match["task"], [part for part in parts if part], turn=turn, is_explained=True)
    return None


def _worked(messages: Sequence[Message], number: int, *, is_task: bool) -> Playbook | None:
    """What an agent did in several steps, if the result or the person's next words say that it went well."""
    text = messages[number - 1].text[:_LONGEST_TEXT]
    steps, _ = _numbered(text)
    request = next((each.text for each in reversed(messages[: number - 1]) if each.role == "user"), "")
    if not steps or not request.strip():
        return None
    if is_task:
        went_well = bool(_WENT_WELL.search(text)) and not _WENT_WRONG.search(text)
    else:
        reply = messages[number].text if number < len(messages) and messages[number].role == "user" else ""
        is_short = 0 < len(reply) <= _SHORT_REPLY and "?" not in reply
        went_well = is_short and bool(_CONFIRMS.search(reply)) and not _WENT_WRONG.search(reply)
    return _playbook(_task_of(request), steps, turn=number, is_explained=False) if went_well else None


def _numbered(text: str) -> tuple[list[str], int]:
    """The first list that is numbered from 1 without a gap, and where it begins; empty if it is too short."""
    steps: list[str] = []
    start = 0
    for match in _ITEM.finditer(text):
        if int(match["number"]) == len(steps) + 1:
            start = start if steps else match.start()
            steps.append(match["text"].strip())
        elif len(steps) >= LEAST_STEPS:
            break
        elif int(match["number"]) == 1:
            steps, start = [match["text"].strip()], match.start()
        else:
            steps = []
    return (steps, start) if len(steps) >= LEAST_STEPS else ([], 0)


def _task_of(request: str) -> str:
    """The task in a request: its first sentence, without the courtesies around it."""
    first = _SENTENCE.search(request.strip())
    return _REQUEST.sub("", first[0].strip()).strip() if first else ""


def _playbook(task: str, steps: Sequence[str], *, turn: int, is_explained: bool) -> Playbook | None:
    """The playbook; None if its task has no content or is too long, or it has too few or too many steps."""
    name = " ".join(task.split()).strip(" ,;:.-")
    clean = tuple(" ".join(step.split())[:_LONGEST_STEP] for step in steps)
    is_sized = LEAST_STEPS <= len(clean) <= _MOST_STEPS and len(name) <= _LONGEST_TASK
    if not is_sized or not content_stems(name) or not all(any(sign.isalpha() for sign in step) for step in clean):
        return None
    return Playbook(name[:1].upper() + name[1:], clean, turn, is_explained)


def fitting_task(prompt: str, tasks: Iterable[str], *, is_task: bool) -> str:
    """The first task whose words are all in the prompt; empty if none is.

    A task of one word fits only a prompt that is a task: what a word means is another question.
    """
    stems = content_stems(prompt)
    for task in tasks:
        wanted = content_stems(task)
        if wanted and wanted <= stems and (is_task or len(wanted) > 1):
            return task
    return ""


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that say what something is about."""
    return frozenset(stem_of(word) for word in bare_words(text) if word not in _EMPTY_WORDS)


def rewording(playbook: Playbook, answer: Mapping[str, Any]) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """A model's task, steps and further phrases for it; None unless each step is still the same step in other words.

    A step is the same if it keeps every command, path and number, adds none, and shares words with the old one.
    """
    steps = tuple(" ".join(str(step).split()).strip() for step in answer.get("steps") or ())
    task = " ".join(str(answer.get("task") or "").split()).strip(" :.")
    if len(steps) != len(playbook.steps) or not content_stems(task) & content_stems(playbook.task):
        return None
    if len(task) > _LONGEST_TASK or not all(map(_is_same_step, playbook.steps, steps)):
        return None
    own = content_stems(f"{playbook.task} {' '.join(playbook.steps)}")
    phrases = [" ".join(str(each).split()) for each in answer.get("when") or ()]
    return task, steps, tuple(each for each in phrases if len(content_stems(each)) > 1 and content_stems(each) & own)


def _is_same_step(old: str, new: str) -> bool:
    exact, added = ({each.rstrip(".,;:") for each in _EXACT.findall(text)} for text in (old, new))
    before, after = content_stems(old), content_stems(new)
    return bool(new) and len(new) <= _LONGEST_STEP and exact == added and len(before & after) * 2 >= min(len(before), 4)
