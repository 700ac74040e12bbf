"""Secrets that show themselves by their form: tokens with a known beginning, key blocks, addresses with a password.

The formats of a detector library are used beside our own. Only its expressions: it looks nothing up and writes nothing.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from commonplace.policy.placeholders import classes, is_filler, is_placeholder

Search = Callable[[str], Iterator[str]]

_TOKENS: Final = {
    "Commonplace token": r"cpl_[\w-]{20,}",
    "Anthropic key": r"sk-ant-[\w-]{12,}",
    "OpenAI key": r"sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[\w-]{0,60}?\d)[A-Za-z0-9_]{16,}[\w-]*",
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    "GitLab token": r"gl(?:pat|dt|ft|soat|rt|cbt|ptt|agent|oas)-[\w-]{16,}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{20,}",
    "npm token": r"npm_[A-Za-z0-9]{20,}",
    "PyPI token": r"pypi-[\w-]{24,}",
    "Google key": r"AIza[\w-]{28,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{16,}",
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])|ABSK[A-Za-z0-9+/]{40,}",
    "Stripe key": r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{12,}|whsec_[A-Za-z0-9+/]{16,}",
    "Slack token": r"xox[abeoprs]-(?=[\w-]*\d)[\w-]{10,}|xapp-\d-[\w-]{16,}",
    "SendGrid key": r"SG\.[\w-]{16,}\.[\w-]{16,}",
    "Twilio key": r"SK[0-9a-f]{32}(?![0-9a-f])",
    "Mailgun key": r"key-[0-9a-f]{32}",
    "DigitalOcean token": r"do[opr]_v1_[a-f0-9]{32,}",
    "Shopify token": r"shp(?:at|ss|pa|ca)_[A-Fa-f0-9]{24,}",
    "Linear key": r"lin_(?:api|oauth)_[A-Za-z0-9]{24,}",
    "Notion token": r"(?:ntn|secret)_[A-Za-z0-9]{36,}",
    "Airtable token": r"pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}",
    "Databricks token": r"dapi[a-f0-9]{32}",
    "Supabase token": r"sb[ps]_[a-f0-9]{32,}|sb_secret_[\w-]{20,}",
    "Grafana token": r"gls?[ac]_[A-Za-z0-9]{24,}",
    "Vault token": r"hv[sbr]\.[\w-]{20,}",
    "Atlassian token": r"AT(?:ATT3|CTT3|BB)[\w=-]{20,}",
    "model provider key": r"(?:gsk|r8|nvapi|csk)[_-][A-Za-z0-9_-]{24,}|(?:xai|pplx|fw)-[A-Za-z0-9]{24,}",
    "Tailscale key": r"tskey-[a-z]+-[\w-]{12,}",
    "Docker token": r"dckr_(?:pat|oat)_[\w-]{20,}",
    "Figma token": r"fig[dou]_[\w-]{24,}",
    "RubyGems key": r"rubygems_[a-f0-9]{40,}",
    "Sentry token": r"sntry[su]_[\w+/=-]{24,}",
    "Telegram bot token": r"\d{8,10}:AA[\w-]{30,}",
    "Doppler token": r"dp\.[a-z]{2,4}\.[A-Za-z0-9]{30,}",
    "JSON web token": r"eyJ[\w-]{8,}+\.eyJ[\w-]{6,}+\.[\w-]{6,}",
    "age key": r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
    "wallet key": r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{80,}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![\w])",
    "password hash": r"\$(?:2[abxy]\$\d\d|[156y]|argon2(?:id?|d)\$v=\d+\$[\w=,]+)\$[\w./$+=]{20,}",
}
_OURS: Final = tuple((kind, re.compile(rf"(?<![A-Za-z0-9])(?:{form})")) for kind, form in _TOKENS.items())
_PLUGINS: Final = (
    ("artifactory", "ArtifactoryDetector", "Artifactory key"),
    ("aws", "AWSKeyDetector", "AWS key"),
    ("azure_storage_key", "AzureStorageKeyDetector", "Azure storage key"),
    ("discord", "DiscordBotTokenDetector", "Discord bot token"),
    ("github_token", "GitHubTokenDetector", "GitHub token"),
    ("gitlab_token", "GitLabTokenDetector", "GitLab token"),
    ("mailchimp", "MailchimpDetector", "Mailchimp key"),
    ("pypi_token", "PypiTokenDetector", "PyPI token"),
    ("sendgrid", "SendGridDetector", "SendGrid key"),
    ("slack", "SlackDetector", "Slack token"),
    ("square_oauth", "SquareOAuthDetector", "Square key"),
    ("stripe", "StripeDetector", "Stripe key"),
    ("telegram_token", "TelegramBotTokenDetector", "Telegram bot token"),
)
_ADDRESS: Final = re.compile(
    r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://([^\s/:@?#\"'<>`]{0,80}):([^\s/\"'`]{1,120}?)@(?=([\w.\[<$-]))"
)
_HOOK: Final = re.compile(
    r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}|hooks\.slack\.com/services/T\w+/B\w+/\w{8,}|[?&]sig=[\w%+/-]{30,}"
)
_HEADER: Final = re.compile(
    r"(?i:\bauthorization\b\W{1,4}(?:basic|token|bearer|apikey)?|\bbearer)\s{1,3}[\"'`]?([\w.~+/=-]{12,300})"
)
_BASIC: Final = re.compile(
    r"\bBasic\s(?=[A-Za-z0-9+/]{0,60}?[a-z])(?=[A-Za-z0-9+/]{0,60}?[A-Z])([A-Za-z0-9+/]{10,200}={0,2})"
)
_USER_TOKEN: Final = re.compile(r"://([A-Za-z0-9_-]{20,100})@[\w.]")
_LOCAL: Final = re.compile(r"@(?:localhost|127\.0\.0\.1|\[::1\]|db|postgres|example\.\w+)\b")
_RUN: Final = re.compile(r"[\w$.:/+=,~-]{14,}+")
_LONG: Final = 20  # characters: what the library knows is longer


class Form(NamedTuple):
    """One thing found by its form: the kind, and the value, which goes no further than this room."""

    kind: str
    value: str


def forms_in(line: str) -> Iterator[Form]:
    """Everything in a line that is a secret by its form; only long words with a digit in them can hold a token."""
    if "://" in line:
        yield from _addresses(line)
    runs = [run for run in _RUN.findall(line) if not run.isalpha() and any(map(str.isdigit, run))]
    if not runs:
        return
    together = " ".join(runs)
    for kind, form in _OURS:
        yield from (Form(kind, found[0]) for found in form.finditer(together) if not _is_harmless(found[0], line))
    if max(map(len, runs)) >= _LONG:
        yield from _known_to_the_library(line)
    yield from (Form("webhook address", found[0]) for found in _HOOK.finditer(line) if not is_filler(found[0]))
    for found in (*_HEADER.finditer(line), *_BASIC.finditer(line)):
        if not is_placeholder(found[1]) and any(map(str.isdigit, found[1])):
            yield Form("authorization header", found[1])


def _known_to_the_library(line: str) -> Iterator[Form]:
    for kind, search in _library():
        yield from (Form(kind, value) for value in search(line) if len(value) > 8 and not _is_harmless(value, line))


def _addresses(line: str) -> Iterator[Form]:
    yield from (
        Form("token in an address", found[1])
        for found in _USER_TOKEN.finditer(line)
        if classes(found[1]) >= {"digit", "lower"}
    )
    for found in _ADDRESS.finditer(line):
        user, password = found[1], found[2]
        at_home = password in (user, "pass", "postgres", "root", "admin") and _LOCAL.match(line, found.end() - 1)
        if not at_home and not is_placeholder(password) and password.casefold() not in ("pass", "pwd", "passwort"):
            yield Form("password in an address", password)


def _is_harmless(token: str, line: str) -> bool:
    """Whether it has the form only: filler, or a key that a handbook prints and the line calls an example."""
    if is_filler(token):
        return True
    return (
        "EXAMPLE" in token
        and re.search(r"\b(?:example|sample|docs|documentation|placeholder|dummy)\b", line) is not None
    )


@lru_cache(maxsize=1)
def _library() -> tuple[tuple[str, Search], ...]:
    """The library's expressions, loaded at first use: it takes a tenth of a second.

    `analyze_string` reads no settings and asks no server; `analyze_line` would do both.
    """
    from importlib import import_module

    return tuple(
        (kind, getattr(import_module(f"detect_secrets.plugins.{module}"), name)().analyze_string)
        for module, name, kind in _PLUGINS
    )
