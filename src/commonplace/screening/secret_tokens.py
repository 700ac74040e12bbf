"""Secrets recognised as tokens: the formats of known vendors, and what is built like them."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.secret_formats import SecretMatch, classes, entropy, is_filler, letter_digit_turns

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
    "Mailgun key": r"key-(?=[a-z]*\d[a-z]*\d)[0-9a-z]{24,}",
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
    "Brevo key": r"xkeysib-[a-f0-9]{32,}[\w-]*",
    "Resend key": r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}",
    "Netlify token": r"nfp_[A-Za-z0-9]{24,}",
    "Fly token": r"(?:fm[12]|fo1)_[\w+/=-]{32,}",
    "Render key": r"rnd_[A-Za-z0-9]{20,}",
    "Contentful token": r"CFPAT-[\w-]{32,}",
    "Postman key": r"PMAK-[a-f0-9]{20,}[\w-]*",
    "New Relic key": r"NRAK-[A-Z0-9]{24,}",
    "Pulumi token": r"pul-[a-f0-9]{36,}",
    "LangSmith key": r"lsv2_(?:pt|sk)_[a-f0-9]{24,}\w*",
    "Pinecone key": r"pcsk_\w{24,}",
    "Tavily key": r"tvly-(?:[a-z]+-)?[A-Za-z0-9]{20,}",
    "PostHog key": r"phx_[A-Za-z0-9]{30,}",
    "1Password key": r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}|ops_eyJ[\w-]{40,}",
    "recovery key": r"\d{6}(?:-\d{6}){7}",
    "CircleCI token": r"CCI(?:PAT|PRJ)_\w{20,}",
    "Doppler token": r"dp\.[a-z]{2,4}\.[A-Za-z0-9]{30,}",
    "JSON web token": r"eyJ[\w-]{8,}+\.eyJ[\w-]{6,}+\.[\w-]{6,}",
    "age key": r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
    "wallet key": r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{80,}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![\w])",
    "vendor key": r"(?:LTAI|AKID|AQVN)[A-Za-z0-9]{16,}|EZ[AT]K[A-Za-z0-9]{40,}|EAA(?=[A-Za-z]{0,60}?\d)[A-Za-z0-9]{40,}"
    r"|FLWSECK(?:_TEST)?-[a-f0-9]{32}|pk_\d{5,9}_[A-Z0-9]{30,}|KEY0[A-Z0-9]{30,}_\w{16,}"
    r"|\d/\d{12,18}/\d{12,18}:[a-f0-9]{32}|oy2[a-z0-9]{43}(?!\w)|cio[A-Za-z0-9]{32}(?!\w)|nsec1[a-z0-9]{58}|ATTA[a-f0-9]{60,}|IQoJb3JpZ2lu[\w+/=]{60,}"
    r"|sl\.[AB][\w-]{60,}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}|[sp]k\.eyJ[\w-]{20,}\.[\w-]{16,}|mlsn\.[a-f0-9]{40,}"
    r"|dt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}|sha256~[\w-]{40,}|sq0(?:atp|idp)-[\w-]{20,}|1//0[\w-]{30,}"
    r"|access_token\$production\$\w{10,}\$[a-f0-9]{24,}|[\w.]{3}\dQ~[\w.~-]{31,34}|AAAA[\w-]{7}:[\w-]{120,}"
    r"|(?:HRKU|pat-(?:na|eu)\d|access-(?:production|sandbox|development)|[sp]k-lf|sdk|api|secret-(?:live|test))"
    r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "password hash": r"\$(?:2[abxy]\$\d\d|apr1|[156y]|argon2(?:id?|d)\$v=\d+\$[\w=,]+)\$[\w./$+=]{20,}",
}
"""Tokens at the beginning of a word, by kind."""

_EMBEDDED_TOKENS: Final = {
    "Artifactory key": r'(?:^|[\s=:"])A(?:KC[A-Za-z0-9]{10,}|P[0-9A-F][A-Za-z0-9]{8,})(?:[\s"]|$)',
    "AWS access key": r"A(?:3T[0-9A-Z]|KIA|SIA|BIA|CCA)[0-9A-Z]{16}",
    "AWS secret key": r"(?i)aws.{0,20}?(?:key|token|pw|pwd|pass|password).{0,20}?[\"']([a-z0-9/+]{40})[\"']",
    "Azure storage key": r"AccountKey=[A-Za-z0-9+/=]{88}|SharedAccessKey=[A-Za-z0-9+/=]{40,}",
    "Discord bot token": r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    "GitLab token": r"(?:GR1348941[A-Za-z0-9_-]{20,50}|glimt-[A-Za-z0-9_-]{25}|glptt-[A-Za-z0-9_-]{40}"
    r"|glagent-[A-Za-z0-9_-]{50,1024}|gloas-[A-Za-z0-9_-]{64})(?!\w)",
    "Mailchimp key": r"[0-9a-z]{32}-us[0-9]{1,2}",
    "PyPI token": r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{70,}",
    "SendGrid key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "Slack token": r"(?i)xox[abposr]-(?:\d+-)+[a-z0-9]+"
    r"|https://hooks\.slack\.com/services/T[a-z0-9_]+/B[a-z0-9_]+/[a-z0-9_]+",
    "Square key": r"sq0csp-[0-9A-Za-z\\_-]{43}",
    "Stripe key": r"[rs]k_live_[0-9A-Za-z]{24}",
    "Telegram bot token": r"\d{8,10}:[0-9A-Za-z_-]{35}",
}
"""Tokens so distinctive that they count inside a longer word too, by kind."""

_LONG: Final = 20  # characters: no embedded token is shorter
_UNKNOWN: Final = LazyPattern(
    r"(?<![\w/.-])(?P<name>[a-z][a-z0-9]{1,11}|[A-Z][A-Z0-9]{1,11})(?:[_-][A-Za-z0-9]{1,10}){0,3}?[_.-](?P<body>[A-Za-z0-9]{22,})(?![A-Za-z0-9])"
    r"(?:[_-]\w{1,60})?(?!\.[a-z]{2,4}\b)"
)
"""A short name, and a long word that looks generated: how vendors build their tokens today."""
_NAMES_OF_IDS: Final = """
    msg req toolu call chatcmpl run thread asst file resp cus pi evt acct sub in price prod ch txn si seti cs batch conv
    item fc rs ses sess session pk sha sha1 sha256 sha512 md5 commit build img image id uuid etag rev ver main index
    chunk vendor app bundle page style styles job task step trace span node pod org user team doc obj order inv ref ws
    client request event message project workspace blk block tx gen snap vol ami subnet vpc eni rtb igw sg arn log
"""
_PUBLIC_NAMES: Final = frozenset(_NAMES_OF_IDS.split())
_LEAST_TURNS: Final = 4  # changes between letters and digits in 22 random characters: 4 or more in 99 of 100
_HEX_KEY: Final = 40  # digits: shorter ones are digests, which are public
AWS_SECRET: Final = LazyPattern(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_RUN: Final = LazyPattern(r"[\w$.:/+=,~-]{14,}+")


def match_tokens(line: str) -> Iterator[SecretMatch]:
    """Every token in a line; only long words with digits, or with letters of both cases, can hold one."""
    runs = [run for run in _RUN.findall(line) if not run.isalpha() and (any(map(str.isdigit, run)) or _is_mixed(run))]
    if not runs:
        return
    words = " ".join(runs)
    values = [(kind, match[0]) for kind, form in _token_patterns() for match in form.finditer(words)]
    if max(map(len, runs)) >= _LONG:
        values += [(kind, match[match.lastindex or 0]) for kind, form in _embedded() for match in form.finditer(line)]
        known = [value for _, value in values]
        values += [("token", word) for word in _unknown_tokens(line) if not any(each in word for each in known)]
    if any(kind == "AWS access key" for kind, _ in values):
        values += [("AWS secret key", match[0]) for match in AWS_SECRET.finditer(line) if is_aws_secret(match[0])]
    yield from (SecretMatch(kind, value) for kind, value in values if not _is_harmless(value, line))


def _is_mixed(run: str) -> bool:
    return len(run) >= _LONG and len(re.findall("[a-z][A-Z]", run)) >= _LEAST_TURNS


def is_aws_secret(word: str) -> bool:
    """True if 40 characters beside an access key are its secret half, and no digest."""
    return classes(word) >= {"lower", "upper", "digit"} and entropy(word) >= 4.0


def _unknown_tokens(line: str) -> Iterator[str]:
    """Tokens of no known vendor; the parts of an address are none."""
    words = [word for word in line.split() if len(word) >= _LONG and "://" not in word]
    for match in _UNKNOWN.finditer(" ".join(words)):
        if match["name"].casefold() not in _PUBLIC_NAMES and _is_generated(match["body"], match["name"]):
            yield match[0]


def _is_generated(body: str, name: str) -> bool:
    """True if a word is random: letters of both cases with digits, or a long run of one case with digits all over."""
    kinds, turns = classes(body), letter_digit_turns(body)
    if all(char in "0123456789abcdef" for char in body):
        return len(body) >= _HEX_KEY and len(name) <= 8 and (name.islower() or name.isupper())
    if kinds >= {"lower", "upper", "digit"}:
        return turns >= _LEAST_TURNS and entropy(body) >= 3.8
    return len(body) >= 26 and "digit" in kinds and turns >= _LEAST_TURNS + 2 and entropy(body) >= 3.5


def _is_harmless(token: str, line: str) -> bool:
    """True for filler, and for a key from a handbook that the line calls an example."""
    if is_filler(token):
        return True
    return (
        "EXAMPLE" in token
        and re.search(r"\b(?:example|sample|docs|documentation|placeholder|dummy)\b", line) is not None
    )


@cache
def _token_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(rf"(?<![A-Za-z0-9])(?:{form})")) for kind, form in _TOKENS.items())


@cache
def _embedded() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(form)) for kind, form in _EMBEDDED_TOKENS.items())
