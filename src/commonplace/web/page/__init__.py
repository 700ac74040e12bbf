'''The page: what a person sees of their memory in a browser. HTML from the server, no build step, no code of others.

sessions      one-time links, and who is signed in; the daemon's guard asks it
app           `make_page`: the application, the list of pages, signing in and out, undo, errors
view          what a page is written with: render, redirect, forms, the memory, pages of a list
note_html     the Markdown of a note as safe HTML
charts        bars, lines and named rows as SVG
NAME_page     one page each, with its templates in html/

How to add a page. Write `web/page/NAME_page.py` with a router and, if it stands in the navigation, an ENTRY:

    """The page of topics: how many notes each has."""

    from fastapi import APIRouter, Request, Response

    from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, paged, redirect, render

    ENTRY = NavigationEntry("Topics", "/topics", group="know", key="o")
    router = APIRouter()

    @router.get("/topics")
    def show_topics(request: Request, memory: PageMemory, page: int = 1) -> Response:
        """Every topic, those with the most notes first."""
        return render(request, "topics.html", title="Topics", topics=paged(memory.topics.list(), page))

    @router.post("/topics/forget")
    def forget(request: Request, memory: PageMemory, form: PageForm) -> Response:
        """Forget an entry, and go back to the list; its message has an Undo button."""
        done = memory.entries.forget(form.required("id"))
        return redirect(request, "/topics", f"Forgot {done.fact.text}.", undo=done.commit)

and `web/page/html/topics.html`:

    {% extends "layout.html" %}
    {% import "parts.html" as parts with context %}
    {% block content %}
    <h1>{{ title }}</h1>
    {% call(topic) parts.each(topics, "No topics yet.", "They appear when notes have tags.") %}
      {{ parts.button_form("/topics/forget", "Forget", {"id": topic.name}) }} {{ topic.name }}
    {% endcall %}
    {{ parts.pager(topics) }}
    {% endblock %}

Then name the module in `PAGES` of `app.py`, in the order of the navigation, and test it in
`tests/integration/web_page/test_NAME_page.py` with the fixtures of the conftest beside it.

Rules. A GET changes nothing. A POST takes a `PageForm`, which checks the CSRF token, and ends with `redirect`; only a
preview that may cost something is shown by a POST. A CommonplaceError may be raised anywhere: it becomes a page with
its message and hint. Everything works with JavaScript off; `assets/page.js` only makes it quicker. No inline script, no
`style` attribute: the CSP of the guard blocks both.
`memory` acts as the person, in the vault that the browser looks at. Values in templates are escaped; only `note_html`
and `charts` return markup. Filters: `ago` (a relative time), `ahead` (one that is to come), `day`, `note_path` (the
address of a note's page), `note_title` (its name for people), `message` (a message with its `commands` as code),
`without_links`, `schedule_words`, `counted` (`3|counted("note")`).
Groups of the navigation: "start", "know", "told", "steer", "run".
'''
