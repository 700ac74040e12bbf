"""Scrubbing: no secret that the gate finds survives it, and what is no secret does."""

import json
import time
from pathlib import Path

import pytest

from commonplace.screening.secrets import MARK, find_secrets, redact

EXAMPLES = Path(__file__).parents[2] / "gate_examples"
BY_LABEL: dict[str, list[str]] = {}
for _name in ("blind", "development"):
    for _line in (EXAMPLES / f"{_name}.jsonl").read_text().splitlines():
        BY_LABEL.setdefault(json.loads(_line)["label"], []).append(json.loads(_line)["text"])


def scrubbed(text: str) -> str:
    """One text, scrubbed."""
    return redact([text])[0]


def test_no_secret_that_the_gate_finds_survives() -> None:
    """Every labelled example of both sets: nothing is left to find, and a mark is there."""
    found = [text for text in BY_LABEL["secret"] if find_secrets(text)]
    cleaned = [scrubbed(text) for text in found]

    assert len(found) > 260
    assert [text for text in cleaned if find_secrets(text)] == []
    assert [text for text in cleaned if MARK not in text] == []


@pytest.mark.parametrize(
    "told",
    [
        "{}",
        "\x1b[31m{}\x1b[0m",
        "\x1b]8;;https://example.org\x07{}\x1b]8;;\x07",
        "\u202e{}\u202c",
        "\u2066{}\u2069",
    ],
    ids=["plain", "colours", "a link", "an override", "an isolate"],
)
def test_signs_that_nobody_sees_hide_no_secret(told: str) -> None:
    """What a terminal or a text editor puts around a token, or into it, is no part of it; ours is one, too."""
    tokens = [f"ghp_{'9kTq2Lx8' * 5}", f"cpl_{'x3Kd-8Qz_L' * 4}3"]
    halves = [f"{token[:12]}\x1b[0m\u200e{token[12:]}" for token in tokens]
    cleaned = [scrubbed(f"use {told.format(token)} here") for token in (*tokens, *halves)]

    assert [token[-6:] for token in tokens if any(token[-6:] in text for text in cleaned)] == []
    assert all(MARK in text for text in cleaned)


def test_ordinary_text_is_left_as_it_is() -> None:
    """Of more than nine hundred labelled texts none is changed."""
    ordinary = [text for label in ("keep", "junk", "duplicate") for text in BY_LABEL[label]]
    changed = [text for text in ordinary if scrubbed(text) != text]

    assert len(ordinary) > 900
    assert changed == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Her password is Fjord!2031, do not share it.", f"Her password is {MARK}, do not share it."),
        ("postgres://app:Vk7#m@Z2q@db.internal:5432/shop", f"postgres://app:{MARK}@db.internal:5432/shop"),
        ('{"user": "mira", "password": "sommer-im-garten"}', f'{{"user": "mira", "password": "{MARK}"}}'),
        ("2FA backup codes: 8391-2047, 5520-9913, 1178-4402", f"2FA backup codes: {MARK}"),
        ("The shed opens with 7734, turn left.", f"The shed opens with {MARK}, turn left."),
        ("For the VPN he types Blau-Katze-77 at home.", f"For the VPN he types {MARK} at home."),
        ("Her SSN is 219-09-9999.", f"Her SSN is {MARK}."),
        ("Alarm code 7734, then press star", f"Alarm code {MARK}, then press star"),
        ("Visa 4539 1488 0343 6467, exp 09/27, CVV 318", f"Visa {MARK}, exp 09/27, CVV {MARK}"),
        ("Cookie: sid=eubpnqr53dqf52t3hvbllalc0rnxr121; theme=dark", f"Cookie: sid={MARK}; theme=dark"),
        ("ghp_q8Zr2LmVx4Tn7\u200bWcKb1YdPf6GhJs9Ee0Ru3Ai is dead", f"{MARK} is dead"),
    ],
)
def test_the_secret_goes_and_the_sentence_stays(text: str, left: str) -> None:
    """What was said around it is still worth something."""
    assert scrubbed(text) == left


def test_a_private_key_goes_from_its_first_line_to_its_last() -> None:
    """Whether it has a last line or not."""
    body = "MIIEpAIBAAKCAQEA4k3vQm81xLp0aTy7\nRbWn5cJd2FhGs9Ee4uOqAAzZ1x0oK3vQ"
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"

    assert scrubbed(f"Here:\n{begin}\n{body}\n{end}\nUse it well.") == f"Here:\n{MARK}\nUse it well."
    assert scrubbed(f"Here:\n{begin}\n{body}\nUse it well, Jonas!") == f"Here:\n{MARK}\nUse it well, Jonas!"


def test_a_secret_that_is_told_once_goes_from_every_text() -> None:
    """The assistant repeats what the person told it, without the word that gave it away."""
    told, repeated = redact(["The password is Fjord!2031.", "I typed Fjord!2031 into the form."])

    assert (told, repeated) == (f"The password is {MARK}.", f"I typed {MARK} into the form.")


def test_a_plain_word_that_was_told_as_a_password_stays_elsewhere() -> None:
    """It says nothing there, and the text would be full of holes."""
    assert redact(["My password is swordfish.", "We had swordfish."]) == (
        f"My password is {MARK}.",
        "We had swordfish.",
    )


def test_scrubbing_again_changes_nothing() -> None:
    """The mark is no secret, and announces none."""
    once = [scrubbed(text) for text in BY_LABEL["secret"]]

    assert [scrubbed(text) for text in once] == once


@pytest.mark.parametrize(
    "text",
    [
        "password=Fjord!2031 " * 3000,
        " ".join(f"password=Fjord!{number}x" for number in range(3000)),
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA4k3vQm81xLp0aTy7\nno\n" * 1000,
        "PIN 4821, " * 5000,
        "a1 " * 30_000,
    ],
    ids=range(5),
)
def test_no_text_takes_long(text: str) -> None:
    """Whatever somebody pastes: a second or so for a hundred thousand characters."""
    begun = time.thread_time()
    scrubbed(text)

    assert time.thread_time() - begun < 10
