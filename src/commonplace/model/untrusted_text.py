"""Text of the vault, of conversations and of callers, made safe for a model or a terminal. Every door uses this module.

`clean_text` removes the characters that control a display or cannot be seen: a reader sees what a person sees.
`break_marks` also escapes the marks by which hosts and model templates tell instructions from data, and our own.
`break_sources` also escapes every bracket that looks like one of our sources, such as `[Agent/USER.md:1]`.
An escape is a backslash in plain sight: `<\\/system-reminder>`, `[\\Agent/USER.md:1]`. Each step is idempotent, and
links, code and plain Markdown stay as they are. `source_label` encodes the text of a source, which a file name may try
to end.

Data for programs is exact: the HTTP API, `--json`, and a note that `note read` writes to a file or a pipe.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from unicodedata import combining, normalize

from commonplace.model.text import LazyPattern

REPLACEMENT: Final = "\ufffd"
"""Replaces characters that control or hide text."""

# Controls, direction overrides and isolates, annotations, tags, surrogates, non-characters.
_CONTROLS: Final = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u206f\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
# Zero-width characters, which come along when text is copied from a page, fillers that show as nothing, and the
# variation selectors that change no picture: a row of them can hold a message.
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065\u2800\u3164\ufe00-\ufe0d"
    "\ufeff\uffa0\U00013430-\U0001345f\U000e0080-\U000e0fff"
)
_LINE_ENDS: Final = "\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029"
_JOINERS: Final = "\u200c\u200d"
_VARIANTS: Final = "\ufe0e\ufe0f"
# Scripts whose letters a joiner shapes (Arabic to Mongolian, and their later blocks), and pictures.
_JOINED: Final = "\u0600-\u1cff\u2190-\u2bff\ua800-\uabff\ufb50-\ufdcf\ufe0f\ufe70-\ufefc\U00010a00-\U0001faff"
_PICTURES: Final = "#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"  # what a variation selector may follow

_SUSPECT: Final = LazyPattern(f"[{_CONTROLS}{_INVISIBLE}{_LINE_ENDS}{_JOINERS}{_VARIANTS}]")
_CLEANING: Final = tuple(
    (LazyPattern(pattern), replacement)
    for pattern, replacement in (
        ("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]", ""),  # terminal colours
        (f"\r\n|[{_LINE_ENDS}]", "\n"),
        (f"[{_CONTROLS}]+", REPLACEMENT),
        (f"[{_INVISIBLE}]+", ""),
        (f"(?<![{_PICTURES}])[{_VARIANTS}]+|(?<=[{_VARIANTS}])[{_VARIANTS}]+", ""),
        (f"(?<=[{_JOINERS}])[{_JOINERS}]+", ""),
        (f"(?<![{_JOINED}])[{_JOINERS}]|[{_JOINERS}](?![{_JOINED}])", ""),
    )
)

_LESS_THAN_SIGNS: Final = r"<\uff1c\ufe64\u2039\u3008\u27e8\u2329\u276e\u300a\u02c2"
_LESS_THAN: Final = rf"(?:[{_LESS_THAN_SIGNS}]|&lt;?|&#0*60;?|&#x0*3c;?)"
_GREATER_THAN: Final = r"(?:[>\uff1e\ufe65\u203a\u3009\u27e9\u232a\u276f\u300b\u02c3]|&gt)"
_BAR: Final = r"[|\uff5c\u2223\u2502\u00a6\u01c0]"
_DASH: Final = r"[-_\u2010-\u2015\u2212\ufe58\ufe63\uff0d]"
_SLASH: Final = r"[/\u2044\u2215\uff0f]"
_BRACKETS: Final = r"\[\uff3b\u2045\u27e6\u3010\u3014\ufe5d\u3016\u301a\u2772\u298b"
_BRACKET: Final = rf"[{_BRACKETS}]"
_NOT_BRACKET: Final = r"[^\[\]\n\uff3b\uff3d\u2046\u27e7\u3011\u3015\ufe5e\u3017\u301b\u2773\u298c]"

# Claude Code, Codex, Cursor, Gemini, VS Code, Windsurf, Cline, and the tool formats of Anthropic, OpenAI, Qwen and
# Llama. Those of `agent_hosts` are all here: a test compares.
_HOST_MARKS: Final = """
    system assistant human developer sys inst instructions memory
    function-calls function-results function-call function-result functions invoke parameter
    tool-call tool-calls tool-use tool-use-error tool-result tool-results tool-response tool-output tool-code thinking
    user-instructions user-message user-query user-request userrequest user-info user-information user-rules user-input
    user-memory-input user-action user-shell-command environment-context environment-details environment-info
    session-context hook-context global-context project-context extension-context loaded-context editorcontext
    repocontext workspace-info project-layout additional-data attached-files attachments state-snapshot
    task-notification subagent-notification turn-aborted skill permissions collaboration-mode persisted-output
    new-diagnostics ephemeral-message cursor-rules-context always-applied-workspace-rules agent-transcripts
    additional-metadata conversation-summary explicit-instructions start-of-turn end-of-turn
    attempt-completion execute-command write-to-file apply-patch claude-background-info total-tokens
"""
_MARKS: Final = frozenset(_HOST_MARKS.split())
"""Names of the marks of hosts and of model templates, in lower case with dashes."""

_MARK_FAMILY: Final = LazyPattern(
    r"(?:antml|budget):.+|(?:system|local-command|command|bash|ide|memory)-.+|.+-(?:reminder|hook|caveat|instructions?)|"
    r"reminder(?:-?instructions)?"
)
_TAG: Final = LazyPattern(
    rf"({_LESS_THAN})(\s*+(?:{_SLASH}\s*+)?)([\w:.\u0300-\u036f\u200c\u200d\u2010-\u2015\u2212\ufe58\ufe63\uff0d-]{{1,64}}+)"
    rf"(?=(\s*+{_SLASH}?{_GREATER_THAN}|\s++[\w-]++\s*+=)?)",
    re.IGNORECASE,
)
_MEMORY_MARK: Final = LazyPattern(
    rf"({_LESS_THAN})(\s*+(?:{_SLASH}\s*+)?m[\u0300-\u036f]*emory\s*+{_DASH})", re.IGNORECASE
)
_TEMPLATE_MARK: Final = LazyPattern(
    rf"({_LESS_THAN})({_BAR}\s?+[\w\u2581./ -]{{2,40}}?{_BAR}{_GREATER_THAN})", re.IGNORECASE
)
_BRACKET_MARK: Final = LazyPattern(
    rf"({_BRACKET})(\s*+{_SLASH}?\s*+"
    r"(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS)\s*+[\]\uff3d\u3011])",
    re.IGNORECASE,
)
_TURN_MARK: Final = LazyPattern(r"(\n[ \t]*+\n[ \t]*+(?:Human|Assistant|System))(:)")
_MARK_BEGINNING: Final = LazyPattern(rf"[{_LESS_THAN_SIGNS}{_BRACKETS}\n]|&[#lL]")
"""What every mark begins with: a text without one of these has no mark, and most fields of an answer have none."""

_SOURCE: Final = LazyPattern(rf"({_BRACKET})(?!\\)(?=({_NOT_BRACKET}{{0,400}}))")
_SOURCE_TEXT: Final = LazyPattern(
    r"\.\s*+md\b|\w\w\w:\d|^\W*(?:(?:entry|memory|fact|conversation)\s+\S*\d|[0-9a-f]{6}\b)"
)
_SEEN_AS: Final = str.maketrans(
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043a\u043c\u043e\u0440\u051b\u0433\u0455\u0442\u0475\u051d\u0445\u0443"
    "\u03b1\u03b5\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131\u0261\u0251\u3002\u2024\u2027\u00b7\u2236\ua789"
    "\u02d0_\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2044\u2215",
    "acdehijlkmopqrstvwxyaeikmvoptuxiga....:::--------//",
)
_NUMBERS: Final = frozenset({int, float, bool, type(None)})
_ENCODED: Final = str.maketrans({"[": "%5B", "]": "%5D", "`": "%60", "\\": "%5C"})


def clean_text(text: str) -> str:
    """The text without characters that control a display or cannot be seen."""
    if (text.isascii() and text.isprintable()) or not _SUSPECT.search(text):
        return text
    for pattern, replacement in _CLEANING:
        text = pattern.sub(replacement, text)
    return text


def break_marks(text: str) -> str:
    """The clean text, in which no mark of a host, of a model's template or of a context can be read as one."""
    if text.isascii() and text.isprintable() and not ("<" in text or "[" in text or "&" in text):
        return text  # as most are: quicker than any expression
    text = clean_text(text)
    if not _MARK_BEGINNING.search(text):
        return text
    text = _MEMORY_MARK.sub(r"\1\\\2", text)
    text = _TAG.sub(_break_tag, text)
    text = _TEMPLATE_MARK.sub(r"\1\\\2", text)
    text = _BRACKET_MARK.sub(r"\1\\\2", text)
    return _TURN_MARK.sub(r"\1\\\2", text)


def break_sources(text: str) -> str:
    """The text without marks, in which no bracket can be read as the source of what stands before or after it."""
    return _SOURCE.sub(_break_source, break_marks(text))


def line_of(text: str) -> str:
    """The text on one line, without marks and false sources."""
    return break_sources(" ".join(clean_text(text).split()))


def source_label(text: str) -> str:
    """A path, a heading or a name for use between the brackets of a source, which it cannot end or imitate."""
    return break_marks(" ".join(clean_text(text).split()).translate(_ENCODED))


def path_of_label(label: str) -> str:
    """The path that `source_label` has encoded."""
    for code, encoded in _ENCODED.items():
        label = label.replace(encoded, chr(code))
    return label


def break_values(value: Any) -> Any:
    """A JSON value with all its texts and keys broken as `break_marks` does; fields keep sources apart already."""
    if isinstance(value, str):
        return break_marks(value)
    if isinstance(value, Mapping):
        return {
            _broken_key(name): each if type(each) in _NUMBERS else break_values(each) for name, each in value.items()
        }
    return [break_values(each) for each in value] if isinstance(value, list | tuple) else value


@lru_cache(maxsize=1024, typed=True)
def _broken_key(name: object) -> str:
    """Cached because all answers have the same keys."""
    return break_marks(str(name))


def described_changes(before: str, after: str) -> str:
    """What breaking has changed in a text, such as `2 hidden characters are left out`; empty if nothing."""
    removed = (Counter(before.replace("\r\n", "\n")) - Counter(after)).total()
    escaped = after.count("\\") - before.count("\\")
    parts = (
        f"{removed} hidden {'character is' if removed == 1 else 'characters are'} left out" if removed else "",
        f"{escaped} {'mark is' if escaped == 1 else 'marks are'} escaped with a backslash" if escaped > 0 else "",
    )
    return " and ".join(filter(None, parts))


def _break_tag(tag: re.Match[str]) -> str:
    """The beginning of a tag, escaped if its name is that of a mark; a comparison such as `a < system` stays."""
    name = seen_as(tag[3])
    is_tag = tag[4] is not None or bool(tag[2].strip())
    is_broken = name in _MARKS and (is_tag or ("-" in name and not tag[2]))
    is_broken = is_broken or (bool(_MARK_FAMILY.fullmatch(name)) and (is_tag or not tag[2]))
    return f"{tag[1]}\\{tag[2]}{tag[3]}" if is_broken else tag[0]


def _break_source(bracket: re.Match[str]) -> str:
    return f"{bracket[1]}\\" if _SOURCE_TEXT.search(seen_as(bracket[2])) else bracket[0]


def seen_as(text: str) -> str:
    """The text in the plain letters that it looks like: without case, accents, joiners, full-width or foreign forms."""
    if text.isascii():
        return text.lower().replace("_", "-")
    plain = "".join(each for each in normalize("NFKD", text) if not combining(each) and each not in _JOINERS)
    return plain.casefold().translate(_SEEN_AS)
