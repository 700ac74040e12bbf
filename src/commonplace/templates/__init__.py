"""Templates of notes: text with values in it -> text, in a small part of Jinja2 that no template can abuse. Pure.

    render    a template and its values -> the text of a note; hostile and endless templates are refused
    sections  a note's text by its headings, the hash of each, and a new rendering merged into an edited note

Beside the code are the packaged templates, one `NAME.md` for each.
"""
