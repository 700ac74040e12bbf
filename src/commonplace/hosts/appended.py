"""A block of lines at the end of a text, put there so that it can be taken away without a trace."""

from commonplace.hosts.jsonc import BOM
from commonplace.hosts.trace import Edited, Trace, is_blank, line_end_of


def append_block(text: str, block: str) -> Edited:
    """The text with this block behind it, an empty line between them; its last line ends as the text's did."""
    line_end = line_end_of(text)
    block = block.replace("\n", line_end)
    if is_blank(text):
        start = "" if text in ("", BOM) or text.endswith("\n") else line_end
        return Edited(f"{text}{start}{block}{line_end}", Trace(tail=line_end, blank=text))
    if not text.endswith("\n"):
        return Edited(f"{text}{line_end}{line_end}{block}", Trace(gap=line_end * 2))
    gap = "" if text.endswith(line_end * 2) else line_end
    return Edited(f"{text}{gap}{block}{line_end}", Trace(gap=gap, tail=line_end))


def cut_block(text: str, start: int, end: int, *, trace: Trace) -> str:
    """The text without the lines from `start` to `end`, and without the line ends that were put around them."""
    if trace.gap and text.endswith(trace.gap, 0, start):
        start -= len(trace.gap)
    if not trace.gap or trace.tail:  # else the block was put behind a line without an end
        for line_end in ("\r\n", "\n"):
            if text.startswith(line_end, end):
                end += len(line_end)
                break
    return text[:start] + text[end:]
