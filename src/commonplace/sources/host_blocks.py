"""Blocks that programs put around what a person says: the host's own, and what our memory put before a prompt.

What memory gave must not come back as something said: it would be remembered again, as new.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from typing import Final

_OF_HOSTS: Final = """
    system-reminder environment_context user_instructions INSTRUCTIONS turn_aborted skill permissions collaboration_mode
    user_shell_command subagent_notification command-name command-message command-args local-command-stdout
    local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr user-prompt-submit-hook
    user-memory-input task-notification ide_opened_file ide_selection ide_diagnostics
"""
_NAMES: Final = "|".join(map(re.escape, _OF_HOSTS.split()))
_HOST_OPENING: Final = re.compile(rf"^[ \t]*<(?P<name>{_NAMES})(?=[\s>])[^>\n]{{0,200}}>", re.MULTILINE)
_HOST_CLOSING: Final = re.compile(rf"</(?P<name>{_NAMES})>")
_OUR_OPENING: Final = re.compile(r"<(?P<name>memory-[0-9a-f]{8}) [a-z]{2,20}>")
_OUR_CLOSING: Final = re.compile(r"</(?P<name>memory-[0-9a-f]{8})>")
_OUR_INTRO: Final = re.compile(r"^[ \t>]*Between memory-[0-9a-f]{8} marks:[^\n]*\n?", re.MULTILINE)
_HEADING: Final = re.compile(r"^# AGENTS\.md instructions(?: for)?\b[^\n]*\n?", re.MULTILINE)
_INTERRUPTED: Final = re.compile(r"^\[Request interrupted by user[^\]\n]{0,40}\]$", re.MULTILINE)


def said_by_person(text: str) -> str:
    """What is left of a person's message without what programs put into it; empty where nothing is."""
    text = _without(said_by_assistant(text), _HOST_OPENING, _HOST_CLOSING)
    return _INTERRUPTED.sub("", _HEADING.sub("", text)).strip()


def said_by_assistant(text: str) -> str:
    """A message without the memory that stands in it. An assistant may speak of a host's blocks: they stay."""
    if "memory-" in text:
        text = _OUR_INTRO.sub("", _without(text, _OUR_OPENING, _OUR_CLOSING, cut_off=True))
    return text.strip()


def _without(text: str, opening: re.Pattern[str], closing: re.Pattern[str], *, cut_off: bool = False) -> str:
    """The text without the blocks. One that is never closed goes up to the end where it is `cut_off`, else it stays."""
    ends = defaultdict[str, list[tuple[int, int]]](list)
    for found in closing.finditer(text):
        ends[found["name"]].append(found.span())
    kept, at = list[str](), 0
    for found in opening.finditer(text):
        if found.start() < at:
            continue
        closings = ends[found["name"]]
        number = bisect_left(closings, (found.end(), 0))
        if number < len(closings) or cut_off:
            kept.append(text[at : found.start()])
            at = closings[number][1] if number < len(closings) else len(text)
    return "".join([*kept, text[at:]])
