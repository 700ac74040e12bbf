"""Texts that only programs print: progress, installs, listings, traces, logs, results of tools and tests."""

import re
from typing import Final

from commonplace.policy.printed_lines import MAYBE, SURE

_LONGEST_LINE: Final = 300  # characters: enough to know what prints such a line
_MOST_LINES: Final = 120
_FEW_PATHS: Final = 2
_FEW_WORDS: Final = 4  # in colour: what a terminal shows of a state


def _any_of(lines: str) -> re.Pattern[str]:
    """One expression for all lines."""
    return re.compile("|".join(f"(?:{line})" for line in lines.strip().splitlines()), re.IGNORECASE)


_SURE: Final = _any_of(SURE)
_MAYBE: Final = _any_of(MAYBE)
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]|\x1b\][^\x07\n]{0,200}\x07|\r|\x08")
_TRACE: Final = re.compile(
    r"(?im)^(?:traceback \(most|exception in|\s+at \S|panic:|thread '|goroutine \d|diff --git|@@ -|\s+raise \w)"
)
_ERROR_ALONE: Final = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z][a-z]\w*(?:Error|Exception)(?::.{0,100})?"
    r"|(?:[Ee]rror|ERROR|[Ff]atal|FATAL|warning|panic)(?:\[\w+\]| \d+ \(\w+\))?: .{0,140}"
)
_PATH: Final = re.compile(r"(?:[A-Za-z]:)?[\w.@~+-]*[/\\][\w.@~+/\\-]*|[\w@~+-]+(?:\.[\w-]+)*\.[a-z]\w{0,4}|[\w.-]+/")
_EXPLAINED: Final = re.compile(
    r"(?i)^\W*(?:fix(?:ed)?|solution|cause|because|reason|workaround|lesson|root cause|lösung|ursache"
    r"|grund|solución|causa|remède|conclusion|learned|merke|tip)\b"
    r"|\b(?:fix(?:ed)? (?:by|with)|use|upgrade|happens|because|means|caused by|comes from|run|instead|solved|weil)\b"
)
_SAID: Final = re.compile(r"(?:[^\W\d_]{2,}[,;:]?\s+){3}[^\W\d_]{2,}")
_RECORD_KEY: Final = re.compile(
    r"""["'](?:status|ok|success|results?|data|errors?|code|content|type|tool_use_id|tool_call_id|id|items|total|count|took|took_ms
    |exit_?code|stdout|stderr|output|response|request_id|timestamp|duration_ms|usage|role|choices|hits|rows|cursor|has_more|event
    |level|jsonrpc|method|params|finish_reason|is_?error|arguments|truncated|matches|files|message)["']\s?:""",
    re.VERBOSE | re.IGNORECASE,
)
_HOLLOW: Final = re.compile(r"[\[{\s\]},:\"]{2,}")
_PRINTED: Final = "it is only what a program prints"


def noise_reason(text: str) -> str:
    """Why the text is only what programs print, as the end of a sentence; empty when somebody says something in it."""
    clean = _ANSI.sub("", text)
    lines = [line.rstrip()[:_LONGEST_LINE] for line in clean.split("\n", _MOST_LINES * 2) if line.strip()][:_MOST_LINES]
    if not lines or (clean != text and "\x1b" in text and len(clean.split()) <= _FEW_WORDS):
        return _PRINTED
    if _is_record(clean.strip()):
        return "it is the result of a tool"
    if len(lines) >= _FEW_PATHS and all(_PATH.fullmatch(line.strip()) for line in lines):
        return "it is a listing"
    return _PRINTED if _is_printed(lines, in_trace=_TRACE.search(clean) is not None) else ""


def _is_printed(lines: list[str], *, in_trace: bool) -> bool:
    """Whether the lines are surely a program's, but for a few that nobody needs to have said."""
    sure = [line for line in lines if _is_sure(line, in_trace=in_trace)]
    if not sure or len(lines) == 1:
        return bool(sure)
    rest = [line for line in lines if not _is_sure(line, in_trace=in_trace)]
    open_ = [line for line in rest if _EXPLAINED.search(line) or not _MAYBE.fullmatch(line.strip())]
    few = len(sure) >= 2 and len(open_) <= max(1, len(lines) // 3)
    return not open_ or (few and not any(_EXPLAINED.search(line) or _SAID.search(line) for line in open_))


def _is_sure(line: str, *, in_trace: bool) -> bool:
    bare = line.strip()
    if _SURE.fullmatch(bare) or (in_trace and line[:1] in " \t+-"):
        return True
    return _ERROR_ALONE.fullmatch(bare) is not None and not _EXPLAINED.search(bare)


def _is_record(text: str) -> bool:
    """Whether the whole text is one JSON value, or lines of them, as tools answer with."""
    if len(text) < 2 or text[0] not in "{[" or text[-1] not in "}]" or text.startswith("[["):
        return False
    return _RECORD_KEY.search(text) is not None or _HOLLOW.fullmatch(text[:400]) is not None
