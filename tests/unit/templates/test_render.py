"""Rendering: strict, escaped, and bounded whatever a template says."""

import re
import time
from typing import Any

import pytest

from commonplace.errors import CommonplaceError, Refused, UsageError
from commonplace.notes import parse
from commonplace.templates.render import MOST_SOURCE, render


def made(source: str, **values: Any) -> str:
    """What the template makes."""
    return render(source, values, name="Templates/t.md")


@pytest.mark.requirement("D-98", "D-99")
def test_values_with_dots_conditions_and_loops_are_rendered() -> None:
    """Dotted access reads mappings; `loop.index` counts."""
    source = (
        "{{ event.title }}{% for each in people %} {{ loop.index }}:{{ each.name }}{% endfor %}{% if no %}!{% endif %}"
    )
    text = made(source, event={"title": "Review"}, people=[{"name": "Ada"}, {"name": "Ben"}], no=False)

    assert text == "Review 1:Ada 2:Ben"


@pytest.mark.requirement("D-98")
@pytest.mark.parametrize("source", ["{{ missing }}", "{{ event.missing }}", "{% for a in missing %}{% endfor %}"])
def test_a_missing_value_is_an_error_that_names_it(source: str) -> None:
    """Nothing is left blank silently."""
    with pytest.raises(UsageError, match="missing"):
        made(source, event={"title": "Review"})


def test_html_is_not_escaped() -> None:
    """A note is Markdown: `&` stays `&`."""
    assert made("{{ text }}", text="R&D <3") == "R&D <3"


HOSTILE = [
    "{{ ''.__class__ }}",
    "{{ text.__class__.__mro__ }}",
    "{{ text['__class__'] }}",
    "{{ [].append(1) }}",
    "{{ text | attr('__class__') }}",
    "{{ self }}",
    "{{ range }}",
    "{{ self.__init__ }}",
    "{% for each in range(1000000000) %}x{% endfor %}",
    "{% for each in range(10**9) %}x{% endfor %}",
    "{% for each in range(1000) %}" * 3 + "{% endfor %}" * 3,
    "{% for each in range(1000) %}{{ long }}{{ long }}{% endfor %}",
    "{% for each in range(900) %}" + "{{ long | upper | lower | length }}" * 20 + "{% endfor %}",
    "{% include '/etc/passwd' %}",
    "{% include name ignore missing %}",
    "{% import 'other.md' as other %}",
    "{% from 'other.md' import x %}",
    "{% extends 'other.md' %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% for each in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "{% set x = 'a' %}",
    "{% set x %}{{ long }}{% endset %}",
    "{% with x = 1 %}{% endwith %}",
    "{% filter upper %}x{% endfilter %}",
    "{% call text() %}{% endcall %}",
    "{{ 'a' * 1000000000 }}",
    "{{ 'a' ~ 'b' }}",
    "{{ 'a' + 'b' }}",
    "{{ [1] + [1] }}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ 'x' in text }}",
    "{{ text[0:1] }}",
    "{{ text | center(1000000000) }}",
    "{{ text | map('upper') }}",
    "{{ range(*[1000000000]) }}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ " + "not " * 5000 + "1 }}",
    "{% if 1 %}" * 300 + "{% endif %}" * 300,
    "{{ text" + ".a" * 3000 + " }}",
    "{{ '{0.__class__}'.format(text) }}",
    "{{ text | format(1) }}",
    "{{ text | attr('format') }}",
    "{{ text['format'] }}",
    "{% for each in [1] %}{{ loop.previtem }}{% endfor %}",
    "{% for each in [1] %}{{ loop.__init__.__globals__ }}{% endfor %}",
    "{% for each in range(999) %}{{ long | join }}{% endfor %}",
    "{% for each in range(1000) %}{{ long | quote }}{{ long | words }}{{ long | yaml }}{% endfor %}",
    "{% for each in range(1000) %}{{ nested | yaml }}{% endfor %}",
    "{{ text is callable }}",
    "{{ text is in 'x' }}",
    "{{ joiner() }}",
    "{{ namespace(a=1) }}",
    "{{ cycler('a') }}",
    "{% raw %}{{ x }}{% endraw %}{{ self._TemplateReference__context }}",
    "{% autoescape true %}{% endautoescape %}",
    "{{ 1.real }}",
    "{{ (1).__class__ }}",
    "{{ text | default(text.__class__) }}",
    "{{ [text, text] | first | attr('upper') }}",
    "{{ text | sort | tojson }}",
    "{{ text | replace('w', long) }}",
    "{{ text | string | safe }}",
    "x" * (MOST_SOURCE + 1),
]


@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: source[:40])
def test_a_hostile_template_is_refused_at_once_with_the_reason(source: str) -> None:
    """Whatever it tries, the answer is an error in words, within a moment."""
    start = time.process_time()
    with pytest.raises(Refused, match="is refused: ") as caught:
        made(source, text="words", long="word " * 400, name="x", nested=[["word " * 20] * 50] * 20)

    assert caught.value.hint
    assert time.process_time() - start < 5


LOOPS = "{% for a in range(1000) %}{% for b in range(1000) %}", "{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    "inner",
    [
        "{{ signs }}",
        "{% if signs | words | length %}{% endif %}",
        "{% if [signs, signs] | join | length %}{% endif %}",
        "{% if '' | link(signs) | length %}{% endif %}",
        "{% if signs | quote | length %}{% endif %}",
        "{% if nested | yaml | length %}{% endif %}",
        "{% if nested | length == nested %}{% endif %}",
        "{% if keys | items | length %}{% endif %}",
        "{% if signs | upper | lower | trim | capitalize == signs %}{% endif %}",
        "{{ missing | default(signs) }}",
        "",
    ],
)
def test_work_that_writes_nothing_ends_soon_too(inner: str) -> None:
    """Neither the template nor its values make it take long: texts that are all signs, lists in lists, many keys."""
    values = {
        "signs": "#" * 200_000,
        "nested": [["word " * 20] * 100] * 100,
        "keys": {str(number): "x" for number in range(5000)},
    }
    start = time.process_time()
    with pytest.raises(Refused, match="too many steps"):
        made(inner.join(LOOPS), **values)

    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "source",
    [
        *("{{ lipsum() }}", "{{ cycler }}", "{{ x", "{% nope %}", "{{ [1] }}", "{{ " + "9" * 5000 + " }}"),
        *("{{ loop.__class__ }}", "{% do text %}", "{% trans %}x{% endtrans %}", "{% set %}", "{{ __import__('os') }}"),
    ],
)
def test_a_malformed_template_is_an_error_of_ours(source: str) -> None:
    """No error of the template language reaches a caller."""
    with pytest.raises(CommonplaceError):
        made(source)


VALUES = [
    "# heading",
    "a\n## heading",
    "---\nsensitive: false\n---",
    "- [ ] a task",
    "[[Secret note]] and ![[embed]]",
    "[]][[Secret]][[]",
    "text [link](https://example.com)",
    "status:: done",
    "#tag",
    "```\ncode",
    "~~~",
    "===",
    "%% hidden",
    "<!-- hidden",
    "x ^block",
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_plain_words_wherever_it_stands(value: str) -> None:
    """No heading, link, tag, task, field, block id, fence or frontmatter comes from a value."""
    text = made(
        "---\nkind: x\ntitle: {{ v | yaml }}\n---\n# T\n\n{{ v }}\n\n- {{ v }}\n\n{{ v | quote }}\n\nend #end\n",
        v=value,
    )
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert [each.text for each in note.headings] == ["T"]
    assert list(note.frontmatter) == ["kind", "title"]
    assert str(note.frontmatter["title"]).split() == re.sub(r"\[\[|\]\]", " ", value).replace("](", "] (").split()
    assert note.links == ()
    assert note.tags == ("end",)
    assert "```" not in text.partition("# T")[2]


@pytest.mark.parametrize("target", ["People/Ada.md", "People/Ada]] [[Secret", "People/Ada|x", "a\nb"])
def test_a_link_has_one_target(target: str) -> None:
    """A name cannot end the link and begin another."""
    text = made("{{ target | link('Ada ]] [[x') }}", target=target)
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert len(note.links) == 1
    assert text.count("[[") == text.count("]]") == 1


def test_no_link_reaches_a_property_in_a_list_or_a_mapping() -> None:
    """A link in a property is a link; three brackets leave one."""
    text = made("---\na: {{ v | yaml }}\n---\nx\n", v=["[[[Evil]]]", {"[[Key]]": "![[Evil]] [x](Evil.md)"}])
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert note.links == ()
    assert note.problems == ()
    assert note.frontmatter["a"] == ["[Evil ]", {"Key": "! Evil [x] (Evil.md)"}]


def test_only_data_may_be_a_value() -> None:
    """An object would bring its methods along."""
    with pytest.raises(UsageError, match="cannot be a value"):
        made("{{ x }}", x=object())
