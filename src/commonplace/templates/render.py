"""A template and its values -> text. A template may come from a vault that somebody else wrote, so it can do little.

Language   values with dots (`event.title`), `if`, `for`, comparisons, `and`, `or`, `not`, `+` and `-` of numbers, and
           the filters below. There is no `set`, `macro`, `include`, `import`, `extends`, no call but `range`, and no
           attribute of anything but the keys of a mapping: data cannot grow in a template, and nothing else is reached.
Strict     a value that is missing is an error, and so is a list where a text is needed.
Bounded    by the size of the template, its nesting, the steps it takes and the text it makes; so also in time.
Escaped    whatever is written comes out as plain words on one line (`model/note_words.py`), so that no value makes a
           heading, a link, a tag, a task or frontmatter. Three filters write more, and are safe by construction:

    yaml    a value of the frontmatter, without links: `title: {{ event.title | yaml }}`
    link    a wikilink to a note: `{{ person.path | link(person.name) }}`
    quote   a text of several lines as a block quote
    words   plain words, at most so many characters: `{{ item.text | words(120) }}`
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from commonplace.errors import CommonplaceError, Reason, Refused, UsageError
from commonplace.model.note_words import plain_words
from commonplace.model.untrusted_text import clean_text

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

MOST_SOURCE: Final = 32_000
"""Characters of a template."""
MOST_TEXT: Final = 200_000
"""Characters of what it makes: the size of the largest note by default."""
MOST_STEPS: Final = 200_000
"""Parts of expressions that are evaluated in loops: some seconds at the very most."""
MOST_VALUES: Final = 20_000
"""Texts, numbers, lists and mappings among the values."""
MOST_DEPTH: Final = 40
"""How deep a template may be nested."""
MOST_RANGE: Final = 1000
LONGEST_WORDS: Final = 2000
"""Characters of one value that no filter cuts."""
LONGEST_QUOTE: Final = 40
"""Lines of a quoted text."""

_FORBIDDEN: Final = {
    "Include": "include other files",
    "Import": "import other files",
    "FromImport": "import other files",
    "Extends": "extend other files",
    "Block": "define blocks",
    "Macro": "define macros",
    "CallBlock": "call macros",
    "Assign": "set variables",
    "AssignBlock": "set variables",
    "With": "set variables",
    "FilterBlock": "filter blocks",
    "Slice": "cut lists",
    "Concat": "join texts with `~`",
    "Mul": "multiply",
    "Pow": "raise to a power",
    "Mod": "format with `%`",
    "Div": "divide",
    "FloorDiv": "divide",
}
_ALLOWED: Final = frozenset(
    (
        *("Template", "Output", "TemplateData", "If", "For", "Name", "Const", "Getattr", "Getitem", "Filter", "Test"),
        *("Compare", "Operand", "And", "Or", "Not", "CondExpr", "List", "Tuple", "Dict", "Pair", "Neg", "Pos"),
        *("Add", "Sub", "Call", "Keyword"),
    )
)
_COMPARISONS: Final = frozenset(("eq", "ne", "gt", "gteq", "lt", "lteq"))
_JINJA_FILTERS: Final = ("default", "d", "first", "last", "length", "count", "lower", "upper", "capitalize", "trim")
_TESTS: Final = ("defined", "undefined", "none", "true", "false", "mapping", "string", "number", "sequence")
_LOOP: Final = frozenset(("index", "index0", "first", "last", "length"))
_BULLET: Final = re.compile(r"\s*[-*•]\s")
_LINK_SIGNS: Final = str.maketrans(dict.fromkeys("[]|#^`\\<>", " "))
_HINT: Final = "docs/guide/templates.md says what a template may do."


class _Safe(str):
    """Text that a filter made safe for the place it stands in; it is written as it is."""

    __slots__ = ()


class _Steps:
    """Counts the work of one rendering. Raises Refused when it is too much."""

    def __init__(self, name: str) -> None:
        self._name, self._left = name, MOST_STEPS

    def charge(self, count: int) -> None:
        """Count so many steps."""
        self._left -= count
        if self._left < 0:
            raise _refusal(self._name, "it takes too many steps: its loops are too long", reason="too_large")


def render(source: str, values: Mapping[str, Any], *, name: str) -> str:
    """The text that the template makes of the values.

    Raises UsageError if the template is malformed or uses a value that is missing, and Refused if it does what no
    template may do, or too much of it.
    """
    from jinja2 import TemplateError, UndefinedError  # reading a note needs no templates
    from jinja2.exceptions import TemplateSyntaxError

    data = _plain_values(values, name=name)
    steps = _Steps(name)
    env = _environment(name, steps)
    try:
        tree = _checked_tree(source, env, name=name)
        template = env.from_string(tree)
        return _collect(template.generate(data), steps, name=name)
    except CommonplaceError:
        raise
    except UndefinedError as error:
        raise UsageError(
            f"the template {name} needs a value that is missing: {error}", path=name, hint=_HINT
        ) from error
    except TemplateSyntaxError as error:
        said = f"line {error.lineno} of the template {name} is malformed: {error.message}"
        raise UsageError(said, path=name, hint=_HINT) from error
    except (RecursionError, MemoryError) as error:
        raise _refusal(name, "it is nested too deeply", reason="too_large") from error
    except (TemplateError, TypeError, ValueError, ArithmeticError, SyntaxError, AttributeError, LookupError) as error:
        raise UsageError(f"the template {name} cannot be rendered: {error}", path=name, hint=_HINT) from error


def check(source: str, *, name: str) -> None:
    """Raise what `render` would raise for this template, whatever its values: UsageError and Refused."""
    from jinja2.exceptions import TemplateSyntaxError

    try:
        _checked_tree(source, _environment(name, _Steps(name)), name=name)
    except TemplateSyntaxError as error:
        said = f"line {error.lineno} of the template {name} is malformed: {error.message}"
        raise UsageError(said, path=name, hint=_HINT) from error
    except RecursionError as error:
        raise _refusal(name, "it is nested too deeply", reason="too_large") from error
    except ValueError as error:  # a number of too many digits
        raise UsageError(f"the template {name} is malformed: {error}", path=name, hint=_HINT) from error


def _collect(parts: Iterator[str], steps: _Steps, *, name: str) -> str:
    """The parts as one text. Raises Refused if it is too long."""
    text, size = list[str](), 0
    for part in parts:
        steps.charge(1)
        size += len(part)
        if size > MOST_TEXT:
            raise _refusal(name, f"it makes more than {MOST_TEXT:,} characters", reason="too_large")
        text.append(part)
    return "".join(text)


def _refusal(name: str, why: str, *, line: int = 0, reason: Reason = "refused") -> Refused:
    place = f"line {line} of the template {name}" if line else f"the template {name}"
    return Refused(f"{place} is refused: {why}", path=name, reason=reason, hint=_HINT)


# ---------------------------------------------------------------- values


def _plain_values(values: Mapping[str, Any], *, name: str) -> dict[str, Any]:
    """The values as texts, numbers, lists and mappings alone. Raises UsageError for others, Refused for too many."""
    count = 0

    def plain(value: object, depth: int) -> Any:
        nonlocal count
        count += 1
        if count > MOST_VALUES or depth > MOST_DEPTH:
            raise _refusal(name, "it was given too many values", reason="too_large")
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return str(value)[:MOST_TEXT]
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, Mapping):
            return {str(key): plain(each, depth + 1) for key, each in value.items()}
        if isinstance(value, Sequence | set | frozenset):
            return [plain(each, depth + 1) for each in value]
        raise UsageError(f"a {type(value).__name__} cannot be a value of the template {name}", path=name)

    return {str(key): plain(value, 1) for key, value in values.items()}


# ---------------------------------------------------------------- what a template may say


def _checked_tree(source: str, env: "Environment", *, name: str) -> "nodes.Template":
    """The parsed template, with its loops counted. Raises Refused, and what the parser raises."""
    if len(source) > MOST_SOURCE:
        raise _refusal(name, f"it has more than {MOST_SOURCE:,} characters", reason="too_large")
    tree = env.parse(source)
    pending: list[tuple[nodes.Node, int]] = [(tree, 0)]
    loops = list["nodes.For"]()
    while pending:
        node, depth = pending.pop()
        if depth > MOST_DEPTH:
            raise _refusal(name, "it is nested too deeply", line=node.lineno, reason="too_large")
        _check_node(node, name=name)
        if type(node).__name__ == "For":
            loops.append(node)  # type: ignore[arg-type]
        pending += ((child, depth + 1) for child in node.iter_child_nodes())
    _count_loops(loops)
    return tree


def _check_kind(node: Any, *, name: str) -> None:
    """Raises Refused for a statement or an expression that the language lacks."""
    kind = type(node).__name__
    if kind not in _ALLOWED:
        raise _refusal(name, f"a template may not {_FORBIDDEN.get(kind, f'use {kind}')}", line=node.lineno)


def _check_node(node: Any, *, name: str) -> None:
    """Raises Refused unless the language has this."""
    _check_kind(node, name=name)
    kind, line = type(node).__name__, node.lineno
    if kind == "Filter" and node.name not in _FILTER_NAMES:
        raise _refusal(name, f"there is no filter {node.name!r}", line=line)
    if kind == "Test" and node.name not in _TESTS:
        raise _refusal(name, f"there is no test {node.name!r}", line=line)
    if kind == "Operand" and node.op not in _COMPARISONS:
        raise _refusal(name, "a template may not search with `in`", line=line)
    if kind == "For" and node.recursive:
        raise _refusal(name, "a loop may not call itself", line=line)
    if kind == "Call" and not (type(node.node).__name__ == "Name" and node.node.name == "range"):
        raise _refusal(name, "a template may call nothing but `range`", line=line)
    if kind in ("Call", "Filter") and (node.dyn_args or node.dyn_kwargs):
        raise _refusal(name, "arguments must be written out", line=line)


def _count_loops(loops: "Sequence[nodes.For]") -> None:
    """Let every loop count what each of its turns costs: the parts of its body."""
    from jinja2 import nodes

    costs = [1 + sum(1 for _ in loop.find_all(nodes.Node)) for loop in loops]
    for loop, cost in zip(loops, costs, strict=True):
        loop.iter = nodes.Filter(loop.iter, "_each", [nodes.Const(cost)], [], None, None, lineno=loop.lineno)


# ---------------------------------------------------------------- the environment


def _environment(name: str, steps: _Steps) -> "Environment":
    """Jinja's sandbox with this language alone."""
    from jinja2 import StrictUndefined, Undefined
    from jinja2.runtime import LoopContext
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class DataEnvironment(ImmutableSandboxedEnvironment):
        """Reaches the keys of mappings, the items of lists and the place in a loop."""

        intercepted_binops = frozenset(("+", "-"))

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, Undefined):
                return str(obj)  # raises
            if isinstance(obj, Mapping):
                return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
            if isinstance(obj, LoopContext) and attribute in _LOOP:
                return getattr(obj, attribute)
            raise _refusal(name, f"a {_kind(obj)} has no {attribute!r}: only mappings have parts")

        def getitem(self, obj: Any, argument: Any) -> Any:
            if isinstance(obj, list) and isinstance(argument, int):
                inside = -len(obj) <= argument < len(obj)
                return obj[argument] if inside else self.undefined(obj=obj, name=str(argument))
            return self.getattr(obj, str(argument))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if not all(isinstance(each, int | float) for each in (left, right)):
                raise _refusal(name, f"`{operator}` is for numbers alone")
            return left + right if operator == "+" else left - right

    env = DataEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        optimized=False,
        finalize=_finalizer(name, steps),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=0,
    )
    ours = _own_filters(name, steps)
    theirs = {each: _charged(env.filters[each], steps) for each in _JINJA_FILTERS}
    env.filters = {**theirs, **ours}
    env.tests = {each: env.tests[each] for each in _TESTS}
    env.globals = {"range": _bounded_range(name, steps)}
    return env


def _kind(value: object) -> str:
    names = {"str": "text", "int": "number", "float": "number", "list": "list", "bool": "truth value"}
    return names.get(type(value).__name__, "value")


def _finalizer(name: str, steps: _Steps) -> Callable[[Any], str]:
    """What every written value passes; what it costs to make it plain is counted."""

    def finalize(value: Any) -> str:
        from jinja2 import Undefined

        if isinstance(value, _Safe):
            return str(value)
        if value is None:
            return ""
        if isinstance(value, Undefined):
            return str(value)  # raises
        if isinstance(value, list | dict | range):
            raise UsageError(f"the template {name} writes a list or a mapping", path=name, hint="Use `join` or a loop.")
        if not isinstance(value, str | int | float):
            raise _refusal(name, "it writes something that is not a value")
        text = str(value)
        steps.charge(_cost_of(text))
        return plain_words(text, most=LONGEST_WORDS)

    return finalize


def _charged(function: Callable[..., Any], steps: _Steps) -> Callable[..., Any]:
    """A filter of Jinja whose work is counted."""
    from functools import wraps

    @wraps(function)
    def charged(*args: Any, **named: Any) -> Any:
        steps.charge(sum(map(_cost_of, (*args, *named.values()))))
        return function(*args, **named)

    return charged


def _cost_of(value: object) -> int:
    """The steps that a filter takes at most for a value, with all that is in it."""
    size, pending = 0, [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, list | dict):
            size += 10 * len(each)
            pending += each.values() if isinstance(each, dict) else each
    return 1 + size // 50


def _bounded_range(name: str, steps: _Steps) -> Callable[..., range]:
    def bounded(*bounds: int) -> range:
        numbers = range(*bounds)
        if len(numbers[: MOST_RANGE + 1]) > MOST_RANGE:
            raise _refusal(name, f"a range has at most {MOST_RANGE:,} numbers", reason="too_large")
        steps.charge(1)
        return numbers

    return bounded


_FILTER_NAMES: Final = frozenset((*_JINJA_FILTERS, "items", "join", "words", "link", "quote", "yaml"))


def _own_filters(name: str, steps: _Steps) -> dict[str, Callable[..., Any]]:
    """The filters that make values safe, and those that take lists."""
    finalize = _finalizer(name, steps)

    def each(value: Any, cost: int) -> Iterator[Any]:
        if not isinstance(_defined(value), list | dict | range):
            raise _refusal(name, f"a loop needs a list and has a {_kind(value)}")
        for item in value:
            steps.charge(cost)
            yield item

    def join(value: Any, separator: str = ", ") -> str:
        parts = [finalize(item) for item in each(value, 2)]
        return _Safe(" ".join(str(separator)[:20].splitlines()).join(parts))

    def items(value: Any) -> list[list[Any]]:
        if not isinstance(value, Mapping):
            raise _refusal(name, "`items` is for mappings")
        steps.charge(_cost_of(value))
        return [[key, item] for key, item in value.items()]

    plain = {"words": _words, "link": _link, "quote": _quote, "yaml": _yaml}
    charged = {filter_name: _charged(function, steps) for filter_name, function in plain.items()}
    return {"_each": each, "join": join, "items": items, **charged}


def _words(value: Any, most: int = LONGEST_WORDS) -> str:
    return _Safe(plain_words(_text(value), most=max(10, min(int(most), LONGEST_WORDS))))


def _link(value: Any, shown: Any = "") -> str:
    target = " ".join(clean_text(_text(value)).translate(_LINK_SIGNS).split()).removesuffix(".md")
    label = plain_words(" ".join(_text(shown).translate(_LINK_SIGNS).split()), most=200)
    return _Safe(f"[[{target}|{label}]]" if label and label != target else f"[[{target}]]")


def _quote(value: Any, most: int = LONGEST_QUOTE) -> str:
    lines = [line for line in clean_text(_text(value)).splitlines() if line.strip()]
    count = max(1, min(int(most), LONGEST_QUOTE))
    shown = [f"> {'- ' if _BULLET.match(line) else ''}{plain_words(line, most=500)}" for line in lines[:count]]
    return _Safe("\n".join([*shown, *(["> ..."] if len(lines) > count else [])]))


def _yaml(value: Any) -> str:
    return _Safe(json.dumps(_clean(_defined(value)), ensure_ascii=False))


def _without_links(text: str) -> str:
    """The text without brackets that make a link or an embed of a part of it."""
    return text.replace("[[", " ").replace("]]", " ").replace("](", "] (")


def _text(value: Any) -> str:
    """The value as text. Raises UsageError for a list, and what Jinja raises if it is missing."""
    if isinstance(value, list | dict | range):
        raise UsageError("a template needs a text and has a list", hint="Use `join` or a loop.")
    return "" if value is None else str(_defined(value))


def _defined(value: Any) -> Any:
    from jinja2 import Undefined

    return str(value) if isinstance(value, Undefined) else value  # raises if it is missing


def _clean(value: Any) -> Any:
    """The value without characters that control a display and without links, which count in a property, too.

    All texts are on one line.
    """
    if isinstance(value, str):
        return " ".join(_without_links(clean_text(value)).split())
    if isinstance(value, Mapping):
        return {_clean(str(key)): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list | range) else value
