"""The words that announce a secret, in the languages that people write their notes in, and those that do not."""

import re
from typing import Final

_PASSWORDS: Final = r"""pass[-_ ]?word | pass[-_ ]?wort | pass[-_ ]?phrase | passwd | kennwort | wachtwoord | lösenord
    | mot[ ]de[ ]passe | contrase[ñn]a | palavra-passe | parola[ ]d'ordine | пароль
    | 密码 | 密碼 | 口令 | パスワード | 비밀번호 | şifre
    | (?: wi-?fi | wlan | router )[- ]?(?: key | code | schlüssel )
    | (?<![a-z])(?: pass | pwd | pw | mdp | senha | clave | hasło | psk | zugangswort | losung )"""
_KEYS: Final = r"""(?<![a-z])(?: (?: api | access | auth | secret | private | account | service | signing | encryption
        | master | licen[cs]e | product | shared | pre-shared | deploy | storage | admin
        | secret[-_ ]access )[-_ ]?key
    | (?: client | shared | webhook | app | consumer | signing | jwt | totp | otp )[-_ ]?secret | bearer
    | token | secret
    | credential | (?: api | lizenz | geheim | zugriffs )?-?schlüssel | clé[ ](?: d['’]api | api | secrète
    | privée ) | jeton
    | clave[ ](?: de[ ]api | api | secreta | privada ) | ключ | 密钥 | 令牌 | apikey | トークン )
    | (?<=_)(?: key | token | secret )(?![a-z])"""
CUE: Final = re.compile(
    rf"(?:(?P<key>{_KEYS}) | (?P<password>{_PASSWORDS}))(?P<suffix>s|[_-][\w-]{{1,20}}+)?+(?![^\W\d_ぁ-ヿ一-鿿])",
    re.VERBOSE,
)
"""A word after which a secret may stand, in a line of small letters: `key` for what machines make, else `password`."""

LINK: Final = re.compile(
    r"""\s{0,3}(?P<sign> :=|=>|={1,3}|:(?!:|//)|：|→|->|(?<=\s)[-–—](?=\s))[\s*]{0,4}
    | (?:^|(?<=[\s\w\"')\]])) \s{0,2} (?<![a-zà-ÿ])(?P<word> is | was | are | to | ist | war | lautet
    | lauten | heißt | auf | est | es | era
        | é | è | это | jest )(?: \s(?: now | still | currently | again | jetzt | nun | weiterhin | désormais
        | ahora | set[ ]to ))?
        \s{0,2}[:：]?\s{1,3}
    | (?P<glued> 是 | 为 | は ) [:：]? \s{0,2}""",
    re.VERBOSE | re.IGNORECASE,
)
"""What joins a cue to its value."""

VALUE: Final = re.compile(
    r"(?:[\"“„«'‘`「](?P<quoted>[^\"“”«»'’`」\n]{1,120})[\"“”»'’`」]|(?P<plain>[^\s\"`“”„«»，。ぁ-ヿ一-鿿가-힣]{1,200}))(?P<after>.{0,24})",
    re.DOTALL,
)

OTHER_MATTER: Final = re.compile(
    r"""\b(?: polic(?:y|ies) | encryption | fields? | reset | rotation | length | hash(?:es|ing)?
    | manager | page | form | column
    | variables?
    | minimum | expiry | expiration | link | prompt | file | filename | hint | generator | rules? | count
    | limits? | types? | format
    | bucket | budget | usage | window | lifetime | ttl | endpoint | url | scope | storage | store | strength
    | change | must | should
    | may | never | cannot | can't | don't | richtlinie | länge | feld | muss | müssen | darf | dürfen | soll
    | sollen | doit | doivent
    | debe | deben | longueur | gestionnaire | gestor | ends? | starts? | begins? | prefix | suffix
    | contains? | names? | id | dialog )\b
    | [.;!?]\s | ^@""",
    re.VERBOSE | re.IGNORECASE,
)
"""Between a cue and its value: the sentence is about something else."""

PLAIN_KEY: Final = re.compile(
    r"(?:public|cache|primary|foreign|sort|partition|idempotency|object|row|cursor|page|next|max|num|csrf)[-_ ]?$",
    re.IGNORECASE,
)
"""Before a cue: a key or token that is no secret."""

UNITS: Final = re.compile(
    r"""\W{0,3}(?:(?:or|to|bis|à|a|und|and|-)\W?(?:\d+|more|mehr)\s)?
    (?: characters? | chars? | digits? | words? | letters? | days? | weeks?
    | months? | bits? | bytes? | zeichen | stellen | stellig\w* | ziffern | tagen? | monaten? | caractères
    | chiffres | jours | mois | caracteres
    | d[ií]gitos | d[ií]as | meses | years? | times | hours? | minutes? | stunden? | minuten? | tokens?
    | attempts? )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""After a number: it counts something."""

_LISTED_STATES: Final = """
    wrong correct secret secure weak strong missing invalid valid unknown incorrect public safe confidential gone
    lost unique random long short same here there below above needed mandatory different fine identical kept broken
    forgotten taken written given known shown chosen always never still only often usually empty blank private
    sensitive either falsch richtig geheim sicher unsicher schwach stark gleich notwendig bekannt unbekannt privat
    vertraulich pflicht korrekt ungültig gültig abgelaufen leer requis obligatoire invalide valide court nouveau
    identique différent incorrecta correcta vacía larga corta nueva vieja segura débil fuerte obligatoria distinta
    igual secreto secreta under inside within ours mine yours theirs another nothing something anything everything
    absent obsolete
"""
STATES: Final = frozenset(_LISTED_STATES.split())
STATE_ENDING: Final = re.compile(
    r"(?:ed|ing|able|ible|ive|ory|ful|ous|less|ly|é|ée|és|ado|ada|ido|ida|lich|bar|los|ig|iert|ert|ten|end)$|^ge\w+t$|^(?:ver|ent|be|er)\w+t$",
    re.IGNORECASE,
)
"""Words that say how a password is, and not which."""

PRODUCT: Final = re.compile(
    r"""(?:1password|bitwarden|keepass\w*|lastpass|github|gitlab|sha-?\d+\w*|md5\w*|bcrypt\w*|scrypt\w*|argon2\w*|aes-?\d+\S*|pbkdf2\S*
    |oauth2?|base64\S*|wpa[23]?\S*|[rhe]s(?:256|384|512)|utf-?8|v?\d+(?:\.\d+)+|https?:\S*|\S+@\S+\.\w+|\d{4}-\d\d(?:-\d\d\S*)?|\d+[-–]\d+
    |oidc|saml2?|totp|jwt|scram\S*|x509|pkcs\S*|fido2|windows\d*|ipv[46]|[\w-]+\.(?:md|txt|env|ya?ml|json|toml|py|kdbx|gpg)|\.env\S*|[§#]\d+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Names with digits in them that are no secret."""
