"""Secrets that only other lines announce, and tokens of no known vendor: found, redacted, and nothing else."""

import pytest

from commonplace.screening.secrets import find_secrets, match_across_lines, redact

WALLET = "1. ozone\n2. drill\n3. grab\n4. fiber\n5. curtain\n6. grace\n7. pudding\n8. thank\n9. cruise\n10. elder"
ACROSS_LINES = (
    ("Wifi password:\nTangerine!44", "Tangerine!44"),
    ("Password:\nswordfish", "swordfish"),
    ("## Router password\n\nTangerine-Fox-44\n", "Tangerine-Fox-44"),
    ("**Password**\nFjord!Mango7", "Fjord!Mango7"),
    ("The password is\n\n```\nFjord!Mango7\n```", "Fjord!Mango7"),
    ("Password for the NAS\n> Fjord!Mango7", "Fjord!Mango7"),
    ("password: >-\n  Quiet-Harbor-2291", "Quiet-Harbor-2291"),
    ("# Credentials\n\n- router: Maple77Thunder\n- nas: Quiet!Harbor9", "Quiet!Harbor9"),
    ("| service | user | password |\n|---|---|---|\n| router | admin | Maple77Thunder |", "Maple77Thunder"),
    ("what | secret key\n--- | ---\nprod | 9f8a7c6b5d4e3f2a1b0c", "9f8a7c6b5d4e3f2a1b0c"),
    ("| Password | Fjord!Mango7 |", "Fjord!Mango7"),
    ("Recovery codes for GitHub:\n8391-2207\n5518-9043\n7720-1164", "5518-9043"),
    ("backup codes\n- a1b2c-3d4e5\n- f6g7h-8i9j0", "f6g7h-8i9j0"),
    ("AKIAQ3EGXJ7PLM5ZTW2R\nZk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOq+Az1", "Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOq+Az1"),
    ("AKIAQ3EGXJ7PLM5ZTW2R / Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOq+Az1", "Zk3vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOq"),
    (f"The wallet:\n{WALLET}\n11. eight\n12. picnic", "pudding"),
)
IN_ONE_LINE = (
    ("OZONE DRILL GRAB FIBER CURTAIN GRACE PUDDING THANK CRUISE ELDER EIGHT PICNIC", "PUDDING"),
    ("Pay the rent to DE75 5121 0800 1245 1261 99 each month", "1245 1261"),
    ("Kontonummer IBAN AT483200000012345864", "0012345864"),
    ("The card is 4539.1488.0343.6467 for trips", "0343"),
    ("admin:$apr1$Zk3vQm81$xLp0aTy7RbWn5cJd2FhGs9", "xLp0aTy7RbWn5cJd2FhGs9"),
    ("https://b.example.com/x?X-Amz-Signature=" + "64328c0490c257a6" * 4, "64328c0490c257a6"),
    ("İzmir: API Key = q8Zr2LmVx4Tn7WcKb1Yd", "q8Zr2LmVx4Tn7WcKb1Yd"),
    ("İstanbul ofis Password: Winterreise!84", "Winterreise!84"),
    ("Guest network Birkenhof, key Sommerwind24", "Sommerwind24"),
    ("The password was changed from Winter2024! to Sommer2025!", "Sommer2025!"),
    ("He reuses Krokus!Beet5 as his password everywhere", "Krokus!Beet5"),
    ("Krokus!Beet5 is the password of the shared mailbox", "Krokus!Beet5"),
    ("Heslo k wifi je Jahoda2291", "Jahoda2291"),
    ("The job uses pscale_pw_E1SkHbn88HxjSI6bWHtP3fS2qHx6kwXoIIXGvOoNZYW since May.", "E1SkHbn88HxjSI6bWHtP3f"),
    ("The job uses bkua_ad6ba2b0aee0ca923732881584d8c4fa2815d280 since May.", "ad6ba2b0aee0ca923732"),
    ("The job uses newvendor_live_q7Zr2LmVx4Tn7WcKb1YdPf6G since May.", "q7Zr2LmVx4Tn7WcKb1YdPf6G"),
    ("The job uses pat-na1-e1c60aa3-d510-bb04-32d9-0dcd57bb7d97 since May.", "e1c60aa3"),
)
BLIND = (
    ("You can log in as frontdesk with juniper-heron-969 on the till in the shop.", "juniper-heron-969"),
    ("Das WLAN im Ferienhaus heißt Seeblick_5G, der Schlüssel ist otter-glacier-537.", "otter-glacier-537"),
    ("İnternet değil, İstanbul ofisindeki yazıcının şifresi: EmberQuartz48!", "EmberQuartz48!"),
    ("пароль от роутера на даче H4rb0r_847", "H4rb0r_847"),
    ("GitHub recovery codes, saved 2026-02-14:\nuj8vq-fftm1\nj6gh8-5fimg\nmnygb-zn4ei", "j6gh8-5fimg"),
    ("to pull the gated weights: 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", "IODYJoPpaDfv"),
    ("Lösenordet till båtklubbens sida är anchor-walnut-864.", "anchor-walnut-864"),
    ("hey can you remember my icloud pw? its Marble#5426", "Marble#5426"),
    ("Adgangskoden til skolens intranet er saffron-saffron-843", "saffron-saffron-843"),
    ("Google backup codes\n1. 7638 2321\n2. 8892 3189\n3. 7072 2855", "8892 3189"),
    (
        "wallet words: PELICAN TICKET CURTAIN CORAL JUNGLE MIRROR\nMANGO OLIVE CATALOG BEACH HAMSTER ALBUM",
        "OLIVE CATALOG BEACH",
    ),
    ("2FA setup key for the registrar: qwn6 tdpo nuxr irys 2ata tg4q z4dg zprg", "tdpo nuxr"),
    ("numéro de registre national de Luc : 78.06.24-873.87", "873.87"),
)
"""What two lists of 60 found, written by someone who had not read the program; it stopped 55 and 52 of them then."""
HARMLESS = (
    "Password:\nto be set by the admin",
    "## Passwords\n\nWe keep them in Bitwarden, shared vault Family.",
    "## Passwords\n\n- [[firefox]] about:logins",
    "| field | type | note |\n|---|---|---|\n| password | string | hashed with argon2id |\n| token | uuid | 15 min |",
    "| model | tokens | cost |\n|---|---|---|\n| small | 120034 | 0.12 |",
    "## Password rules\n\n- at least 12 characters\n- no reuse of the last 5\n- rotation: 90 days",
    "## API keys\n\n1. Open Settings\n2. Choose Keys\n3. Press Create",
    "Backup codes\nare in the drawer",
    "SMTP_PASSWORD={{ vault_smtp_password }}\nSMTP_PORT=587",
    "Twelve garden seeds: carrot tomato basil parsley lettuce radish spinach cabbage onion pepper melon beet",
    "The list has abandon ability able about above absent absorb abstract absurd abuse access accident in it",
    "At the top level, you only have, you know, the very good stuff behind this",
    "The id is msg_01XFDUDYJgAACzvnptvVoYEL in the log",
    "https://www.youtube.com/watch?v=jWMtgM_8jAE&list=PLui6Eyny-UzzJ4NSTesh4xRWg4ZWNz5s4&index=8",
    "Image sha256:7c1f0a9e4b2d48d6a3e5f7089b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192",
    "An IBAN has spaces, for example DE89 3704 0044 0532 0130 00",
    "changed the timeout from 30s to 45s",
    "Network 10.0.0.0/24, key person Anna",
)


@pytest.mark.parametrize(("text", "value"), [*ACROSS_LINES, *IN_ONE_LINE, *BLIND])
def test_a_secret_is_found_and_goes(text: str, value: str) -> None:
    """Whether another line announces it or its own form gives it away."""
    assert value in text
    assert find_secrets(text)
    assert value not in redact([text])[0]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_harmless_stays(text: str) -> None:
    """Headings, tables and lists about secrets, lists of words, ids and addresses."""
    assert find_secrets(text) == ()
    assert redact([text]) == (text,)


def test_a_line_is_read_after_the_nearest_announcement_alone() -> None:
    """Otherwise a note that says "password:" in every line would hold the gate up, and with it the vault's lock."""
    lines = ["password:"] * 2_000 + ["Tangerine!44"]

    assert [str(secret) for secret in find_secrets("\n".join(lines))] == ["password in line 2001"]
    assert len(list(match_across_lines(lines))) == 1
