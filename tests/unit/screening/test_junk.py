"""Junk: what nobody needs to remember, in any language; and what looks like it and is worth keeping."""

import time

import pytest

from commonplace.screening.junk import junk_reason

JUNK = (
    "",
    " \n\t ",
    "...",
    "👍👍",
    "12345",
    "ok",
    "Thanks!",
    "Vielen Dank für deine Hilfe!",
    "muchas gracias",
    "好的，谢谢",
    "Sure, I can help with that!",
    "As an AI language model, I cannot access the internet.",
    "Bien sûr ! Je peux vous aider.",
    "The user greeted the assistant.",
    " 73%|███████▎  | 730/1000 [00:12<00:04, 60.1it/s]",
    "\x1b[32m✔\x1b[0m \x1b[1mDone\x1b[0m in 2.31s",
    "Collecting requests\nInstalling collected packages: requests\nSuccessfully installed requests-2.31.0",
    "total 24\ndrwxr-xr-x 2 mira mira 4096 Mar  1 09:12 .",
    "src/app.py\nsrc/main.py",
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    main()\nKeyError: 1',
    '{"status": "ok", "data": []}',
    "....................F....s...   [100%]",
    "aaaaaaaaaaaa",
    "no no no no no no",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "© 2024 Acme Corp. All rights reserved.",
    "We use cookies to improve your experience. Accept all | Reject all",
    "asdfghjkl",
    "sdkjfh skdjfh ksjdhf",
    "null",
    "[object Object]",
)
WORTH_KEEPING = (
    "Vegetarian.",
    "ADHD.",
    "怕辣。",
    "Не ест мясо.",
    "يفضل القهوة",
    "Thanks to Mira the migration was finished in March.",
    "Sure-Fit is the supplier for the gaskets.",
    "Let Mira know before 5 pm if the flight is late.",
    "I can lift 80 kg.",
    "The user said he is moving to Lisbon in May.",
    "Error: ENOSPC means raise fs.inotify.max_user_watches.",
    "KeyError: 'user_id' comes from old events; run the backfill.",
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n\nCause: no ids. Run `make ids`.',
    'The status endpoint answers {"status": "ok"} even when the queue is down.',
    "Warning: Mira's dog bites.",
    "Collecting stamps is Jonas's hobby.",
    "Our cookie banner must offer Reject all beside Accept all.",
    "nginx, psql and xvfb are installed on the box.",
    "| Name | Role |\n|---|---|\n| Mira | design |",
    "1. Tea\n2. Bread",
    "[[Mira]] works at [[Acme]]",
    "Of course! The API allows 300 calls a minute.",
)
HOSTILE = (
    "a",
    "ok ",
    "tak ",
    "test ",
    "bla ",
    "...f",
    "a.",
    "{",
    "<a",
    "<a>",
    "\x1b[",
    "  at a\n",
    "[#",
    "a/b.py\n",
    "I can help ",
)


@pytest.mark.parametrize("text", JUNK)
def test_junk_is_refused_with_a_reason(text: str) -> None:
    """What says nothing is junk, and why is told in a sentence that does not quote it."""
    reason = junk_reason(text)

    assert reason.endswith(".")
    assert len(text) < 4 or text not in reason


@pytest.mark.parametrize("text", WORTH_KEEPING)
def test_what_says_something_is_kept(text: str) -> None:
    """Short is not junk, a fix may quote an error, and one sentence that says something saves the text."""
    assert junk_reason(text) == ""


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_can_hold_the_gate_up(piece: str) -> None:
    """200,000 characters of anything take a second at most."""
    begun = time.process_time()
    junk_reason(piece * (200_000 // len(piece)) + "x")

    assert time.process_time() - begun < 1.0
