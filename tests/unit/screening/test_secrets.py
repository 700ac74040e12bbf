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
    "recovery key": "417203-558213-009341-660215-731904-284417-905533-118260",
    "Mailgun key": "key-4by7yokq30ke7get5hd484thwkyufpm1",
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
    "The root password was reset to 'Regen.Bogen.9'.",
    "The password? It's dragonfly88.",
    "Old password out, new password is Stein-Adler-55 since May.",
    "The master password is lantern violet cactus harbor",
    "The staging key is st-9f8a7c6b5d4e3f2a",
    "key for the mail relay: 9f8a7c6b5d4e3f2a1b0c",
    "The app password for the mail is abcd efgh ijkl mnop",
    "The PIN, which is 4821, opens the phone.",
    "Has one password for all shops, Margerite64, since school.",
    "Our password (Kastanie7) is the same everywhere.",
    "The report asks for a password; it is 20417733.",
    "Bot secret 4Kd92mXpQ83kdLz7",
    "Activation code: 9Q4X-7V1B-2M8K",
    "The session id is 4x9k2m7q1v8b",
)
COOKIES = (
    "Cookie: lang=de; sid=7plz6w8f2k9dm3xq",
    "Set-Cookie: id=81B35D60A7E94F7A9C2E; HttpOnly",
    "PHPSESSID=1r5s3t6u0v9k2m4n",
    "X-XSRF-Token: 4rStV7wXyZ8Jk2LmN9",
    'session_id: "8z1v5n3b7x2m9k4q"',
)
USED = (
    "The network key of the workshop is 'linnet-6620'.",
    "Network 'Finch-Guest' wants the key 'dahlia-7712'.",
    "Guest Wi-Fi: 'maple-3390'",
    "Key for the office network: quartz-8812",
    "The camera takes admin and then Pebble!River9.",
    "The NAS wants admin, then Walnut$Fjord3.",
    "The staging login is test@preview with lavender_Brick4.",
    "He logs in with the boat's name, i.e. Seestern44.",
    "She signs in to the forum with Kamille2015, user name rosi.",
    "The back door opens with 4471.",
    "4471 opens the shed.",
    "The archive with the contracts opens with Ahorn-2291-Tor.",
    "The PDF is unlocked by Kiesel_77.",
    "To open the zip use Ahorn-2291-Tor.",
    "Ahorn-2291-Tor opens the payroll file.",
    "The statements open with Ortega1975M.",
    "The gym locker is 3-17-29.",
    "The guest wifi is Heidekraut with the key Fuchs-Bau-31",
    "WiFi: Casa_Verde / tramonto1977",
    "The alarm in the studio is turned off with 7740.",
    "Anyone can raise the barrier using 2951.",
    "I open the gun cabinet with 61-20-4.",
    "She gets into the archive with 80412.",
    "The key safe behind the shed: 5036",
    "The bike lock is set to 417.",
    "The alarm panel wants 6093 after eight.",
    "Log in to the till with 5521.",
    "The hall is opened by typing 2038.",
    "His laptop opens with Erlen-Bach-31.",
    "Code at the back gate: 5512#",
    "Combination of the suitcase lock: 2-7-1-9",
    "The keypad at the studio takes 3-8-1-1.",
    "To disarm the alarm type 7781 and press OK.",
    "To get into the cellar press 4, then 1, then 9.",
    "He logs into the bank with Sonne!2031.",
    "She unlocks the tablet with Blau-Katze-77.",
    "To unlock the disk he enters 'copper ladder ninety swans'.",
    "The backup is encrypted with the phrase velvet-anchor-brisk-kettle.",
    "Basic auth for the preview is demo:Kiesel-Turm-41",
    "Wifi at the cabin: BirkenHain / Moos-Pilz-22",
    "use W1nter$now for all trial accounts",
    "The security question is answered with Zitrone-1.",
    "Her SSN is 219-09-9999.",
    "National insurance: QQ 12 34 56 C",
    "His passport number is C01X00T47.",
    "Debit card 5413 3300 8912 4475",
)
COMMANDS = (
    "podman login -u bot -p Kiefer-Dachs-7 quay.example.io",
    "podman login -p Kiefer-Dachs-7 -u bot quay.example.io",
    "docker login -u bot -p kieferdachs",
    "mysql -u root -pKiefer_Dachs7 shop",
    "curl --user bot:Kiefer-Dachs-7 https://api.example.org",
    "smbclient //nas/data -U bot%Kiefer-Dachs-7",
    "gpg --batch --passphrase 'kiefer dachs 7' -d a.gpg",
    "tool --db-password=Kiefer-Dachs-7 run",
    "unzip -P Kiefer-Dachs-7 a.zip",
    "ldapsearch -D cn=admin -w Kiefer-Dachs-7",
    "xfreerdp /u:bot /p:Kiefer-Dachs-7 /v:host",
    "echo Kiefer-Dachs-7 | docker login -u bot --password-stdin",
)
OPEN = (
    "The key to the network is people.",
    "The network key figures are 'revenue-2024' and 'churn'.",
    "Wi-Fi 'Heron-2093' is the one for guests.",
    "The wifi is called 'birch-8830'.",
    "Primary key is 'order_id7' in that table.",
    "The course takes Spanish and then French2.",
    "The account is demo@portal with read-only rights.",
    "Sign in with Google, user name ewald1982.",
    "He signs in with his face, i.e. Face ID.",
    "The archive opens with 7-Zip, the drawing with AutoCAD-2024.",
    "Opens files with Sublime-Text-4, tables with PDF-XChange-10.",
    "Opening the file with utf-8-sig helps.",
    "The file is locked by PID-4471-worker.",
    "The account opens with a deposit of 500 euros.",
    "Cookies are set with SameSite=Lax.",
    "SESSION_COOKIE_AGE=1209600, the session id is in the URL.",
    "session: Kickoff-2025-Q3-Review",
    "Session: 0199f3c2-7a31-7c55-9d1e-2b8f4c6a7e10",
    "auth: Keycloak-24.0.3",
    "The password for the course, MATH101, is on the handout.",
    "Passwords on the old server, web04, must be rotated.",
    "The pass to Zermatt, A4-class, is closed.",
    "The password was changed; it is in Bitwarden.",
    "The alarm is turned off by the caretaker at 0700.",
    "The alarm is turned off with the remote.",
    "The gate opens at 7 and needs 4 new hinges.",
    "The phone starts with 0221, the locker is number 4471.",
    "The barrier closes at 2200.",
    "The safe was opened in 2014 with two keys.",
    "The script takes -u for the user and -p for the port.",
    "docker run -u 1000:1000 -p 5432:5432 db16",
    "psql -U app -p 5433 shop",
    "Runs `mysql -u root -p shop` and types it by hand.",
    "sudo -u web mkdir -p /srv/www2",
    "release --token $GITHUB_TOKEN, --password is never used",
    "docker login -u bot --password-stdin < token.txt",
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
    "Deploy key fingerprint: SHA256:kT9vQm81xLp0aTy7RbWn5cJd2FhGs9Ee4uOqAzX1wB6",
    "Tokens in our palette are called accent-strong-1 to accent-strong-9.",
    "The key for sorting is created_at_2024.",
    "- key: `ctrl+shift+i`",
    "An IBAN is written with spaces, for example DE89 3704 0044 0532 0130 00.",
    "The safe is in the cellar behind the wine.",
    "The office opens at 9 and closes at 17:30.",
    "The shop opens with 300 guests on 4 May.",
    "The area code for the office is 0221.",
    "The building code 2015 applies to the house.",
    "Press 1 for English when calling the office.",
    "Logs in with a YubiKey 5C, at work with Office365.",
    "The VPN uses AES-256-GCM on port 51820.",
    "The router is a FRITZ!Box 7590, the laptop a ThinkPad-X1-Gen12.",
    "Docker login is at registry.kestrel.dev:5000.",
    "Her passport expires on 2027-03-08.",
    "The passport number has to be given before 2027-03-08.",
    "The SSN field is encrypted in the database.",
    "His debit card ends in 4821.",
    "https://example.org/login/?next=%2fProfile%2fBilling1",
    "The password is longer than twelve characters here",
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
    "1-",
    "1 then ",
    "door opens with ",
    "login is ",
    "wifi key ",
    "key for the network ",
    "takes a and then ",
    "login a@b with ",
    "login i.e. aaaa",
    "alarm off with ",
    "the lock at a ",
    "open door with 123 x ",
    "-u a ",
    "-p a ",
    "--user a:",
    "mysql a ",
    "--a-a-a-",
    "echo a|",
    "passport number ",
    "'ab cd ",
    "password, ",
    "password (a1",
    "file opens with a1",
    "aaaaaaa1 opens ",
    "sid=",
    "cookie: a=",
    "session_id: a1b2c3d4e5f6",
    "login is a with ",
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


@pytest.mark.parametrize("text", COOKIES)
def test_a_cookie_is_known_by_its_name_or_its_header(text: str) -> None:
    """A cookie may be a login, and a token against forgery belongs to one."""
    assert find_secrets(text)


@pytest.mark.parametrize("text", USED)
def test_a_secret_is_known_by_its_use(text: str) -> None:
    """What opens a door, unlocks a device or logs someone in, and the numbers of identity papers."""
    assert find_secrets(text)


@pytest.mark.parametrize("text", COMMANDS)
def test_a_secret_is_known_by_the_flag_before_it(text: str) -> None:
    """A flag for a password, a user name beside a short flag, or a pipe gives a secret in a command away."""
    assert find_secrets(text)


@pytest.mark.parametrize("text", OPEN)
def test_what_only_speaks_of_secrets_holds_none(text: str) -> None:
    """Placeholders, names, policies, digests and identifiers are no secrets."""
    assert find_secrets(text) == ()


@pytest.mark.parametrize("text", [*FORMS.values(), *TOLD, *COOKIES, *USED, *COMMANDS])
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
