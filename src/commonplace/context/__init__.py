"""Composing the context that is put before a prompt; pure, no I/O.

- compose    which pieces get space, in what order, and why others are left out
- page       blocks of text, the space left, and truncation
- fence      the marks around the text, and sanitizing of the text between them
- selection  whether an entry or a passage fits a prompt, its title, and the channel of a prompt
- options    the settings `context` and `hooks`, and the phases of work
"""
