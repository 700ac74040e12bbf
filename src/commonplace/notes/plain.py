"""A heading's words without their markup."""

import re

_LINK = re.compile(r"!?\[\[([^\[\]|]*+)(?:\|([^\[\]]*+))?\]\]|!?\[([^\[\]]*+)\]\([^()\s]*+\)")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]++\s*\Z")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"\*+|~~|==|`+|(?<!\w)_+|_+(?!\w)")


def plain(text: str) -> str:
    """The text as a reader sees it: links by their words, no signs of emphasis or code, no block id."""
    shown = _LINK.sub(_words_of_link, _BLOCK_ID.sub("", text))
    kept = _EMPHASIS.sub("", _ESCAPE.sub(r"\1", shown))
    return " ".join((kept if kept.strip() else text).split())


def _words_of_link(match: re.Match[str]) -> str:
    target, alias, words = match.groups()
    return words if target is None else (alias or target)
