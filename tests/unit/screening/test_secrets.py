"""Secrets: found by form, by the words before them, by their digits; never repeated."""

import time

import pytest

from commonplace.screening.secrets import Secret, find_secrets

FORMS = {
    "OpenAI key": "sk-proj-9aVb3kQx71LmPz4TnWc8RfYd2GhJ6sEu0oKi",
    "Anthropic key": "sk-ant-api03-Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee",
    "GitHub token": "ghp_q8Zr2LmVx4Tn7WcKb1YdPf6GhJs9Ee0Ru3Ai",
    "GitLab token": "glpat-x7Rk2mVq9LzT4wNc8bYd",
    "Hugging Face token": "hf_QmZxRkVtLwNcBpYdGhJsEuOaKiTfWr73",
    "npm token": "npm_8sKd02Lq7VxZtRmNwBcYpGhJfEuOaKiTWr31",
    "Google key": "AIzaSyD4x9Qm2LzV7TnRkWcBbYpGhJfEuOaKi3s",
    "AWS access key": "AKIA4XQ7MZRT2LVNWKCB",
    "Stripe key": "sk_live_51HxQ2mLzV7TnRkWcBbYdGhJ",
    "Discord bot token": "MTE4NzQ2MjM5ODc2NTQzMjEw.GhIjKl.MnOpQrStUvWxYzAbCdEfGhIjKlM",
    "Artifactory key": 'key="AKC8kQx71LmPz4TnWc8RfYd2GhJ6sEu"',
    "AWS secret key": "aws_secret_access_key = 'Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOq/A+z'",
    "Azure storage key": "AccountKey=" + "Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOqAzX1" * 2 + "wB6t+/==",
    "Mailchimp key": "7c1f0a9e4b2d48d6a3e5f7089b1c2d3e-us21",
    "SendGrid key": "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",
    "Slack token": "xoxb-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1",
    "Square key": "sq0csp-Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOqAzX1wB6",
    "Telegram bot token": "1187462398:Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uO",
    "password in an address": "postgres://app:Vk7mZ2qLr@db.internal:5432/shop",
    "authorization header": "Authorization: Bearer 7c1f0a9e4b2d48d6a3e5f7089b1c2d3e",
    "card number": "4539 1488 0343 6467",
    "seed phrase": "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA4k3vQm81xLp0aTy7",
}
TOLD = (
    "My password is hunter2.",
    "The password for the staging server is Vk7-mZ2q-Lr.",
    "Das Passwort für das WLAN lautet Sonnenblume42",
    "Le mot de passe du wifi est Tournesol42.",
    "La contraseña del wifi es Girasol_42",
    "WiFi密码是 tangyuan2030",
    "DB_PASSWORD=correcthorsebattery",
    'password: "S0mmer!2031"',
    "client_secret: q8Zr2LmVx4Tn7WcKb1Yd",
    "My bank PIN is 4821.",
    "Login for the printer: admin / Drucker2020",
)
OPEN = (
    "The password is in 1Password, vault Team.",
    "Passwords must have at least 12 characters.",
    "Das Passwort ist abgelaufen.",
    "Le mot de passe est stocké dans Bitwarden.",
    "export GITHUB_TOKEN=<your-token>",
    "api_key=sk-...",
    "token: ${CI_JOB_TOKEN}",
    'password = os.environ["DB_PASSWORD"]',
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "postgres://user:password@localhost:5432/app",
    "commit 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39 broke it",
    "trace 0199f3c2-7a31-7c55-9d1e-2b8f4c6a7e10",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'integrity="sha512-oK3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOqAAzZ1x0oK3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOqAAzZ1w=="',
    "max_tokens: 4096",
    "The LED is on pin 13.",
    "A file with -----BEGIN OPENSSH PRIVATE KEY----- must not be committed.",
    "The order number is 1234 5678 9012 3456.",
)
HOSTILE = (
    "a",
    "a1",
    "password=",
    "password is ",
    "密码是",
    "eyJa.",
    "http://a:",
    "sk-1",
    "//a/:_authToken=",
    "PIN code the ",
    "ozone ",
    '"aB3',
    "$2b$12$",
    "-----BEGIN RSA PRIVATE KEY-----",
    "\n",
    "login a/",
    "4444 ",
)


@pytest.mark.parametrize("kind", FORMS)
def test_a_secret_is_known_by_its_form(kind: str) -> None:
    """A token, key or number of a known form is found wherever it stands, and its kind is told."""
    found = find_secrets(f"A first line.\nUse {FORMS[kind]}" if kind != "seed phrase" else f"A line.\n{FORMS[kind]}")

    assert Secret(kind, 2) in found


@pytest.mark.parametrize("text", TOLD)
def test_a_secret_is_known_by_the_words_before_it(text: str) -> None:
    """What words announce as a password, key or PIN is found, in several languages."""
    assert find_secrets(text)


@pytest.mark.parametrize("text", OPEN)
def test_what_only_speaks_of_secrets_holds_none(text: str) -> None:
    """Placeholders, names, policies, digests and identifiers are no secrets."""
    assert find_secrets(text) == ()


@pytest.mark.parametrize("text", [*FORMS.values(), *TOLD])
def test_no_part_of_a_secret_is_repeated(text: str) -> None:
    """What is told of a secret is its kind and its line: no word of the text that is longer than five characters."""
    told = " ".join(f"{each!r} {each}" for each in find_secrets(text))

    assert told
    assert not [word for word in text.split() if len(word) > 5 and any(map(str.isdigit, word)) and word in told]


def test_a_secret_that_hides_behind_invisible_characters_is_found() -> None:
    """Characters of no width between the letters of a token do not hide it."""
    token = FORMS["GitHub token"]

    assert find_secrets(f"{token[:8]}\u200b{token[8:]}") == (Secret("GitHub token", 1),)


def test_a_secret_deep_in_one_long_line_is_found() -> None:
    """A line is looked at in pieces that overlap, so that a secret across two of them is whole in one."""
    token = FORMS["GitHub token"]

    assert all(find_secrets(f"{'word ' * 310}{' ' * shift}{token} {'word ' * 400}") for shift in range(0, 60, 7))


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_can_hold_the_gate_up(piece: str) -> None:
    """200,000 characters of anything take a second at most; the limit leaves room for a busy machine."""
    find_secrets("warm 0123456789abcdef0123")
    begun = time.process_time()
    find_secrets(piece * (50_000 // len(piece)))

    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("XAKIA4XQ7MZRT2LVNWKCB", "AWS access key"),
        ("idA3TX4XQ7MZRT2LVNWKCB", "AWS access key"),
        ("runnerGR1348941x7Rk2mVq9LzT4wNc8bYd", "GitLab token"),
        ("glimt-x7Rk2mVq9LzT4wNc8bYdPf6Gh", "GitLab token"),
        ("XOXB-263594206564-fgqddmf8t08v", "Slack token"),
        ("https://hooks.slack.com/services/T02AB3/B04CD5/x7Rk", "Slack token"),
        ("keysk_live_51HxQ2mLzV7TnRkWcBbYdGhJ", "Stripe key"),
    ],
)
def test_distinctive_tokens_are_found_inside_a_longer_word(text: str, kind: str) -> None:
    """Text that was copied without a separator still gives its secret away."""
    assert Secret(kind, 1) in find_secrets(text)
