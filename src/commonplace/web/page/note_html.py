"""The Markdown of a note as HTML that is safe to show: no script, no style, no form, nothing loaded from elsewhere."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

Resolve = Callable[[str], str | None]
"""The path of the note or file that a link names; None if there is none."""

_WIKILINK: Final = re.compile(r"(!?)\[\[([^\[\]\n|]{1,1000})(?:\|([^\[\]\n]{1,1000}))?\]\]")
_TASK: Final = re.compile(r"\[([ xX/-])\] ")
_BLOCK_MARK: Final = re.compile(r"\s\^[A-Za-z0-9-]+$")
_BOXES: Final = {" ": "☐ ", "x": "☑ ", "X": "☑ ", "/": "◪ ", "-": "☒ "}
_OUTSIDE: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#")
_TAGS: Final = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1"),
    *("h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small"),
    *(
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "u",
        "ul",
        "var",
    ),
}
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "a": {"href", "title"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "details": {"open"},
}
_CLASSES: Final = {"a": {"note-link"}, "span": {"missing-link", "image-name"}}
_SCHEMES: Final = {"http", "https", "mailto", "obsidian"}
_MARKS: Final = "\n[<>|*_`~#"  # what costs time to parse: up to 0.03 ms each
_MOST_MARKS: Final = 100_000
_MOST_HTML: Final = 100_000  # characters of a note's own HTML: 30,000 attributes of one tag take a second
_MOST_OPENINGS: Final = 10_000  # 20,000 open tags inside each other take a second, and the time grows by the square
_MOST_STYLES: Final = 20
"""Tags for text, such as <b title=x>, that differ in their attributes: what is left open is repeated in each paragraph
that follows, so a note of 20 KB could become a page of hundreds of megabytes. A link ends the one before."""
_STYLE: Final = re.compile(
    r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*", re.IGNORECASE | re.ASCII
)
_SENTENCE: Final = Markup("<p><em>{}</em></p>\n")
_AS_PLAIN: Final = _SENTENCE.format("This note is too long to be formatted here, so it is shown as plain text.")
_AS_TEXT: Final = _SENTENCE.format("This note has too much HTML to be shown here, so its tags are shown as text.")


def note_html(text: str, resolve: Resolve = lambda target: None) -> Markup:
    """The HTML of a note's body. `resolve` finds the path of what a link names; a link to nowhere is shown as text.

    Pictures are named and not shown: one on the web would tell its server that the note was read. A note that would
    take long is shown with less, and says so: without its own HTML, or as plain text.
    """
    if sum(map(text.count, _MARKS)) > _MOST_MARKS:
        return _AS_PLAIN + Markup("<pre>{}</pre>").format(text)
    tokens = _parser().parse(text, env := {"resolve": resolve})
    if _is_light(_own_html(tokens)):
        return _sanitise(_parser().renderer.render(tokens, _parser().options, env))
    return _AS_TEXT + _sanitise(_parser(with_html=False).render(text, {"resolve": resolve}))


def _own_html(tokens: Sequence[Token]) -> str:
    """The HTML that the note itself has, one piece per line."""
    inner = (child for token in tokens for child in (token, *(token.children or ())))
    return "\n".join(token.content for token in inner if token.type in ("html_block", "html_inline"))


def _is_light(html: str) -> bool:
    """True if the HTML of a note is sanitised in about a second at most, and becomes no much larger page."""
    if len(html) > _MOST_HTML or html.count("<") > _MOST_OPENINGS:
        return False
    # A quoted ">" ends what the pattern sees of a tag, so a tag with an open quote counts as one of its own.
    styles = {
        (style[0], style.start() if style[0].count('"') % 2 or style[0].count("'") % 2 else -1)
        for style in _STYLE.finditer(html)
    }
    return len(styles) <= _MOST_STYLES


def _sanitise(html: str) -> Markup:
    """The HTML without what is not safe to show."""
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
    )
    return Markup(clean)  # noqa: S704 (sanitised in the line above)


@lru_cache(maxsize=2)
def _parser(*, with_html: bool = True) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": with_html}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("link", "wikilink", _parse_wikilink)
    parser.add_render_rule("wikilink", _render_wikilink)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("link_open", _render_link)
    parser.add_render_rule("text", _render_text)
    parser.core.ruler.push("lower_headings", _lower_headings)
    return parser


def _parse_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (the parser calls it so)
    if not state.src.startswith(("[[", "![["), state.pos) or not (match := _WIKILINK.match(state.src, state.pos)):
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        target = match[2].strip()
        token.meta = {"target": target, "alias": (match[3] or target).strip(), "is_embed": bool(match[1])}
    state.pos = match.end()
    return True


def _lower_headings(state: StateCore) -> None:
    """The highest headings of the note stand right below that of the page, as h2; the others keep their distance."""
    headings = [token for token in state.tokens if token.type in ("heading_open", "heading_close")]
    step = 2 - min((int(token.tag[1:]) for token in headings), default=2)
    for token in headings:
        token.tag = f"h{min(6, int(token.tag[1:]) + step)}"


def _render_wikilink(renderer: Any, tokens: list[Token], at: int, options: Any, env: Mapping[str, Any]) -> str:
    meta = tokens[at].meta
    name = meta["target"].split("#")[0].strip()
    path = env["resolve"](name) if name else None
    if meta["is_embed"]:  # what follows the bar is the width of a picture
        return _link(name, path) if path and path.endswith(".md") else _picture(name)
    return _link(meta["alias"], path)


def _render_link(renderer: Any, tokens: list[Token], at: int, options: Any, env: Mapping[str, Any]) -> str:
    """The beginning of a link; one to another note leads to the page of that note."""
    href = str(tokens[at].attrGet("href") or "")
    if _OUTSIDE.match(href):
        return f'<a href="{Markup.escape(href)}">'
    path = env["resolve"](unquote(href.split("#")[0]))
    return f'<a class="note-link" href="{_address(path)}">' if path else "<a>"


def _render_image(renderer: Any, tokens: list[Token], at: int, options: Any, env: Mapping[str, Any]) -> str:
    return _picture(tokens[at].content or str(tokens[at].attrGet("src") or ""))


def _render_text(renderer: Any, tokens: list[Token], at: int, options: Any, env: Mapping[str, Any]) -> str:
    """Text without the mark of a block at its end; the box of a task, which begins a line, becomes a sign."""
    content = _BLOCK_MARK.sub("", tokens[at].content)
    if at == 0 and (task := _TASK.match(content)):
        content = _BOXES[task[1]] + content[task.end() :]
    return str(Markup.escape(content))


def _picture(name: str) -> str:
    return f'<span class="image-name">[picture: {Markup.escape(name)}]</span>'


def _link(text: str, path: str | None) -> str:
    if path is None:
        return f'<span class="missing-link">{Markup.escape(text)}</span>'
    return f'<a class="note-link" href="{_address(path)}">{Markup.escape(text)}</a>'


def _address(path: str) -> str:
    return f"/notes/{quote(path)}"
