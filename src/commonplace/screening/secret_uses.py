"""Secrets recognised by their use: what opens a door or a file, logs someone in, or stands after the flag of a command.

The numbers of identity papers count here too; `secret_formats` knows them.
"""

import re
from collections.abc import Iterator
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.secret_formats import SecretMatch, classes, is_placeholder, is_public, match_papers
from commonplace.screening.secret_words import WORDS_AND_NUMBER

_LOCK: Final = (
    r"(?:(?<![.\w-])(?:pad|bike[ -]|combination[ -]|suitcase[ -]|battery[ -])?lock|lock-?box|(?:key"
    r"|code)[ -]?(?:box|safe|pad)|safe"
    r"|(?:alarm|control)[ ]panel|alarm|letter-?box|mail-?box|locker|strongbox|intercom|turnstile|barrier|tresor"
    r"|vault|cabinet"
    r"|chest|suitcase|gate|door|lift|elevator|entrance|till|voicemail)\b"
)
_PLACE: Final = (
    rf"(?:{_LOCK}|(?:garage|cellar|basement|shed|barn|flat|apartment|office|house|lobby|stairwell|room|phone|tablet"
    rf"|laptop"
    r"|i(?:pad|phone)|computer|building|storage|unit|menu|app|boat|car|van|bike|tür|tor|haustür|studio|hut|attic"
    r"|cabin|gym|club|pool|clinic|school|hall|archive|library|warehouse|lab|workshop|shop|store)\b)"
)
_DIGITS: Final = r"\d(?:[ -]?\d){2,9}(?![\w%]|[.,:/]\d|-\d)"
_SEPARATED: Final = r"\d{1,3}(?:-\d{1,3}){1,5}(?![\w%]|[.,:/]\d|-\d)"
_CODE: Final = rf"[*#]?(?P<value>{_DIGITS}|\d{{1,4}}[a-f]\d{{1,4}}(?!\w))"
_LONG_CODE: Final = (
    rf"[*#]?(?P<value>\d(?:[ -]?\d){{3,9}}(?![\w%]|[.,:/]\d|-\d)|{_SEPARATED}|\d{{1,4}}[a-f]\d{{1,4}}(?!\w))"
)
_PRESSES: Final = r"\d(?:(?:[ ,-]|\band\b|\bthen\b|\btogether\b){1,6}\d){2,9}(?!\w)"
_ENDS: Final = (
    r"(?=[#*.,;!?)\"'”’]|\s*$|\s(?:and|then|or|on|at|to|from|after|before|within|when|if|plus|followed|as|but|so)\b)"
)
_OPENING: Final = LazyPattern(
    rf"""(?i)\b{_PLACE}[^.\n\d]{{0,40}}?\b(?:
        (?<!building\s)(?:code|combination|combo|pin)\b[^.\n\d]{{0,30}}?
        |(?<=keypad\s)(?:takes|is)\s|(?<=lock\s)(?:takes|is)\s|(?<=safe\s)(?:takes|is)\s|(?<=alarm\s)is\s|takes\s(?=\d-\d)
        )({_DIGITS}){_ENDS}
    |(?<!area\s)(?<!post\s)(?<!zip\s)(?<!error\s)(?<!country\s)\b(?:code|combination|combo|pin)\s(?:of|for|to|at|on|in)\b
        [^.\n\d]{{0,40}}?\b{_PLACE}[^.\n\d]{{0,30}}?({_DIGITS}){_ENDS}
    |(?<![\d.,-])({_DIGITS})[#*]?\s(?:opens|unlocks|disarms)\s""",
    re.VERBOSE,
)
_MEANS: Final = LazyPattern(
    r"(?i)\b(?:with|using|use|via|by\s(?:typing|entering|pressing|dialling|dialing|keying\sin))\s"
    rf"(?:(?:the\s)?(?:code|numbers?|digits|combination|sequence)\s)?{_CODE}{_ENDS}"
)
"""A number as the means of something: "with 4471"."""
_ACCESS: Final = LazyPattern(
    r"(?i)\b(?:open\w*|(?:un|re)?lock\w*|unblock\w*|disarm\w*|arm(?:s|ed)?|(?:de|in)?activat\w*|access\w*"
    r"|silence[sd]?|releas\w+"
    r"|rais\w+|enter\w*|heard|(?:switch|turn|shut)(?:s|ed)?\b.{0,30}?\b(?:off|on)|(?:get|got|log|sign)\w*\s(?:in"
    r"|into|onto|past|on)"
    r"|lets?\b.{0,20}?\b(?:in|through|out)|(?:comes?|goes)\s(?:off|undone|quiet|silent))\b"
)
_WANTED: Final = LazyPattern(
    rf"(?i)\b{_LOCK}(?:\s[^.\n\d:]{{0,30}}?)?\s(?:needs|wants|accepts|takes|requires|expects|responds\sto"
    rf"|reacts\sto|listens\sto"
    r"|opens\s(?:on|to|at(?=\s\d{1,2}-))|lets\s(?:you|him|her|them|people|us|me)\sin\s(?:after|on|for)"
    rf"|(?:is|was)\s(?:set|turned|reset)\sto|is(?=\s\d\d?-\d\d?-\d))\s(?:the\scode\s)?{_LONG_CODE}{_ENDS}"
)
_LABELLED: Final = LazyPattern(
    rf"(?i)\b{_LOCK}(?:\s(?:of|on|at|by|in|to|for|behind|near|next\sto|beside|under)\s[^.\n\d:]{{1,40}}?)?\s?:\s"
    rf"(?:(?:turn|dial|press|type|enter)\s(?:it\s)?(?:to\s)?)?{_LONG_CODE}[#*]?\W{{0,2}}$"
)
_TURNED: Final = LazyPattern(
    rf"(?i)\b{_LOCK}[^.\n\d:]{{0,40}}:\s(?:(?:kombination|combination|code)\s)?(?P<value>\d{{1,2}}(?:\s?-\s?\d{{1,2}}){{2,4}})(?=[,;.\s]|$)(?!-)"
)
_FOREIGN_DOOR: Final = (
    r"(?:haustür|wohnungstür|tür|tor|garage|keller|tresor|schlüssel(?:kasten|box)|alarmanlage|portail|porte|immeuble|coffre"
    r"|boîte à clés"
    r"|alarme|portone|cancello|cassaforte|puerta|portal|garaje|alarma|caja fuerte|porta|portão|cofre|deur|poort"
    r"|kluis|drzwi|brama|furtka|kapı|dveře|ovi)"
)
_FOREIGN_CODE: Final = LazyPattern(
    rf"(?i)\b{_FOREIGN_DOOR}\b[^.\n\d]{{0,40}}?\b(?:kod|code|codice|código|koodi|kodu|pin)\b[^.\n\d]{{0,20}}?(?P<one>\d{{3,8}}[A-D]?)(?!\w)"
    rf"|\b(?:kod|code|codice|código|koodi|kodu|combinaison|kombination)\b[^.\n\d]{{0,40}}?\b{_FOREIGN_DOOR}\b[^.\n\d]{{0,20}}?"
    r"(?P<two>\d{3,8}[A-D]?)(?!\w)"
)
"""The code of a door, in other languages than English."""
_SET: Final = LazyPattern(rf"(?i)\block\s(?:is|was)\s(?:set|reset)\sto\s(?P<value>{_DIGITS}){_ENDS}")
_ANY_PLACE: Final = LazyPattern(rf"(?i)\b{_PLACE}")
_CLOCK: Final = LazyPattern(r"(?:[01]\d|2[0-3])(?:00|15|30|45)")
_SENTENCE_END: Final = LazyPattern(r"[.!?;]\s")
_NEAR: Final = 90  # characters from what is opened to the number that opens it
_PRESSING: Final = LazyPattern(
    rf"(?i)\b(?:press|type|types|typing|dial|dials|enter|enters|entering|punch in|key in|turn it to"
    rf"|turn the dial to|set it to)\s"
    rf"(?:the (?:code|digits|numbers?) )?({_PRESSES}|{_DIGITS}){_ENDS}"
)
_ENTRY: Final = LazyPattern(
    rf"(?i)\b(?:{_PLACE}|get in(?:to)?\b|let (?:him|her|them|your)sel(?:f|ves) in\b|unlock|disarm)"
)
_SHORT_NUMBER: Final = LazyPattern(r"\d(?:[ ,-]|and|then|together){0,6}\d(?:[ ,-]|and|then|together){0,6}\d")
_OPENER: Final = LazyPattern(r"(?i)open|unlock|disarm|\bcode|\bcomb|\bpin\b|keypad|alarm|\block\b|\bsafe\b|intercom")
_YEAR: Final = LazyPattern(r"(?:19|20)\d\d(?:-(?:0\d|1[0-2])(?:-[0-3]\d)?)?")

_LOGIN: Final = (
    r"(?:log(?:s|ged|ging)?[- ]?(?:in|on|into)|login|sign(?:s|ed|ing)?[- ]?(?:in|on|into)|basic auth\w*|auth|vpn"
    r"|(?:laptop|computer|tablet|phone|pc|mac)\s(?:opens|starts)|unlock\w*|(?:de|en)crypt\w*|accounts?|everything"
    r"|everywhere|credentials|router|nas|wi-?fi|wlan|hotspot|ssid"
    r"|bitlocker|filevault|portal|e?banking|ftp|smb|admin|root|password|passwort)\b"
)
_LOGIN_CUE: Final = LazyPattern(rf"(?i)\b{_LOGIN}")
_TYPED: Final = LazyPattern(
    r"(?i)(?:\b(?:with|is|are|types?|typing|enters?|entering|use[sd]?|using|phrase|word|key|old|new)\b(?:[ ]?[:=])?"
    r"|[:=](?!/)|[,/](?=\s))\s{0,2}"
    r"(?:[\"“'‘`](?P<quoted>[^\"“”'‘’`\n]{6,60})[\"”'’`]|(?P<plain>[^\s\"“”'‘’`,;|]{7,60}))"
)
_NETWORK_KEY: Final = LazyPattern(
    r"(?i)\b(?:wi-?fi|wlan|wireless|network|hotspot|router|ssid)\b[^\n;]{0,50}?"
    r"(?<!primary )(?<!foreign )\bkey\b(?!\s(?:figures?|points?|people|players?|numbers?|ideas?))"
    r"[^\n.;]{0,20}?[\"“'‘`](?P<value>[^\s\"“”'‘’`]{6,60})[\"”'’`]"
    r"|\b(?:wi-?fi|wlan|wireless|network|hotspot|ssid)\b[^\n;]{0,50}?(?:,|\band|/|\bund|\bet|\by)"
    r"(?:\s(?:the|der|la))?\s(?:key|schlüssel|clé|clave)(?:\s(?:is|ist|lautet|est|es)|:|\s=)?\s"
    r"(?P<second>(?=[^\s\d]{0,30}\d)[^\s\"“”'‘’`,;|()]{8,60})"
    r"|\bkey\s(?:of|for|to)\s(?:the\s)?(?:[\w-]{1,12}\s){0,2}(?:wi-?fi|wlan|network|hotspot)(?:\s(?:is|was|reads)|:)\s"
    r"[\"“'‘`]?(?P<named>[^\s\"“”'‘’`]{6,60})"
    r"|\b(?:wi-?fi|wlan|hotspot)\b(?:\s[^\n.;:]{0,30}?\b(?:uses|takes|wants|needs|with)|:)\s"
    r"[\"“'‘`](?P<own>[^\s\"“”'‘’`]{6,60})[\"”'’`]"
)
"""A quoted value that is the key of a network; what a network is called has no such words before it."""
_NETWORK_NAME: Final = LazyPattern(r"(?i)\b(?:key|password|ssid|called|named?)\b")
_NAMED_PAIR: Final = LazyPattern(
    r"(?i)\b(?:takes?|wants?|accepts?|expects?|needs?|typ(?:es?|ing)|enter(?:s|ing)?|use[sd]?|using|as|is|with|login"
    r"|user)[: ]\s?[\"'`]?[a-z][\w.-]{1,30}[\"'`]?,?\s(?:(?:and\s)?then|followed\sby|(?:and\s)?after\sthat|plus|and)\s"
    r"(?:the\spassword\s)?"
    r"[\"“'‘`]?(?P<value>[^\s\"“”'‘’`,;|()]{7,60})"
)
"""Two words typed one after the other: "takes admin and then ..."."""
_HOST_PAIR: Final = LazyPattern(
    r"(?i)(?<!\S)[\w.+-]{1,40}@[\w.-]{1,60},?\s(?:with|and|using|plus|then|via)\s(?:the\spassword\s)?"
    r"[\"“'‘`]?(?P<value>[^\s\"“”'‘’`,;|()]{7,60})"
)
_SIGNING_IN: Final = LazyPattern(
    r"(?i)\b(?:log(?:s|ged|ging)?|sign(?:s|ed|ing)?|get(?:s|ting)?|got)[- ]?(?:in|on|into)\b"
    r"|\blog-?in\b|\baccount\b|\bssh\b"
)
_USER_NAME: Final = LazyPattern(
    r"(?i)\b(?:user(?:[ -]?name)?|account(?: name)?|login(?: name)?)\s(?:is\s)?[\"'`]?[a-z]"
)
_SAID_TO_BE: Final = LazyPattern(
    r"(?i)(?P<said>\bi\.\s?e\.|\bthat is|\bnamely|\bviz\.)?,?\s[\"“'‘`]?"
    r"(?P<value>[^\W\d_]{4,30}\d{2,8})(?![\w.-]*\w)"
)
"""A word with a number, as people make passwords, perhaps after words that say what it is."""
_CLAUSE_END: Final = LazyPattern(r"[\n;]|\.\s")
_REACH: Final = 70  # characters from a word about a login to the word before its value
_LABELLED_PAIR: Final = LazyPattern(
    r"(?i)\b(?:wi-?fi|wlan|ssid|log-?in|credentials|root|admin)\b[^\n/]{0,40}?\s/\s(?P<plain>[a-z]{5,30}\d{2,4})\W{0,2}$"
)
_BY_NAME: Final = LazyPattern(
    r"(?i)(?<![\w/.-])(?:admin|administrator|root|guest|operator|service|user|pi|ubuntu)\s/\s([^\s\"“”'‘’`,;|/]{7,60})"
)
_SLASHED: Final = LazyPattern(rf"(?i)\b{_LOGIN}[^\n]{{0,60}}?\S\s/\s(?P<plain>[^\s\"“”'‘’`,;|]{{7,60}})")
_ACCOUNT_WORD: Final = LazyPattern(
    r"(?i)\b(?:use[sd]?|using)\s(?P<plain>[^\s\"“”'‘’`,;|]{7,60})\s(?:for|on|as)\s[^.\n]{0,30}\b(?:accounts?"
    r"|logins?|everything)\b"
)
_CONTAINER: Final = LazyPattern(
    r"(?i)\b(?:zip|rar|7z|tar|archives?|files?|pdfs?|documents?|docs?|spreadsheets?|workbook|sheets?|folders?"
    r"|dis[ck]s?|drives?|ssd|stick|usb|volume|partition|container|backups?|database|vault|exports?|statements?"
    r"|payslips?|attachments?|accounts?|box|notebook|notes?|app|wallet|keychain|keystore|image|reports?|invoices?"
    r"|laptop|computer|tablet|phone|presentation|letters?)\b"
)
_OPENED: Final = LazyPattern(
    r"(?i)\b(?:(?:re-?)?open(?:s|ed|ing)?|unlock(?:s|ed|ing)?|decrypt(?:s|ed|ing)?|encrypted|mount(?:s|ed)?"
    r"|extract(?:s|ed)?|unzip(?:s|ped)?|unpack(?:s|ed)?)\b"
)
_OPENED_WITH: Final = LazyPattern(
    r"(?i)\b(?:with|(?:open|unlock|decrypt)ed\sby|using|uses?|via|enter(?:s|ing)?|typ(?:es?|ing))\s[\"“'‘`]?(?P<value>[^\s\"“”'‘’`,;|()]{7,60})"
)
_OPENS: Final = LazyPattern(
    r"(?i)(?<![^\s\"'`(])(?P<value>[^\s\"“”'‘’`,;|()]{7,60})[\"'`]?\s(?:(?:to\s)?(?:open|unlock|decrypt|extract|unzip)s?|is\sfor)"
    r"\s(?P<what>[^.\n]{1,60})"
)
_NO_MADE: Final = LazyPattern(
    r"(?i:office|windows|word|excel|acrobat|photoshop|autocad|visual|ubuntu|python|java|node)[-_]?\d\S*|\S*(?:://|[\\/@(){}<>\[\]])\S*|\d{4}-\d\d\S*|\S+\.[a-z]\w{1,4}"
)
_JOINED_WORDS: Final = LazyPattern(
    r"[A-Za-z][a-z]{2,}_?[A-Z][a-z]{2,}\d{2,4}|[A-Za-z]{4,}\d+[A-Za-z]\w*|[A-Za-z]{3,}(?:[!?$%&*€£§^][A-Za-z\d]{2,}){1,4}"
)
_VERSION: Final = LazyPattern(r"\d\.\d|-(?:19|20)\d\d$|(?i:[_-]v\d)")
_PAIRED: Final = LazyPattern(
    r"(?i)\bauth\w*\b[^\n/]{0,40}?[\s(]([a-z][\w.@+-]{1,40}):(?=[^\s/:|,]{0,40}?\d)([^\s/:|,\"'`]{6,40})"
)
_ANSWER: Final = LazyPattern(
    r"(?i)\bsecurity (?:question|answer)s?\b[^\n]{0,80}?\b(?:answer (?:to it )?is|answer:|answered with)\s"
    r"[\"“'‘`]?([^\s\"”'’`.,]{3,40})"
)
_GUARDED: Final = LazyPattern(r"(?i)\b(?:unlock\w*|enters?|types?|phrase|(?:de|en)crypt\w*|passphrase|password)\b")
_SENTENCE: Final = LazyPattern(
    r"(?i)\b(?:the|and|for|from|with|must|not|are|was|has|have|can|should|our|your|you|this|that|see|use|is|to|of"
    r"|in|a|on|it)\b"
)
_PHRASE_MARKS: Final = LazyPattern(
    r"\d|\w[!?$%&*]\w|[\"“'‘`]\w{3,20} \w|\w-\w{1,20}-\w{1,20}-\w|(?i:security (?:question|answer))"
)
_SIGNS: Final = frozenset("!?$%&*+=~€£§@#^")
_CLOSING: Final = ".,;:)]}>"
_NO_PASSWORD: Final = LazyPattern(
    r"[A-Za-z]+[-_ ]?\d{1,4}(?:\.\d+)*|v?\d+(?:[.-]\d+)*|[\w.+-]+@[\w-]+\.[\w.]+|[\d:./-]+|\S*(?:://|\\|\(|\)|\{|\["
    r"|<|\$[A-Z{(])\S*"
    r"|[\w./-]+/[\w./-]*|[\w-]+\.(?:md|txt|env|ya?ml|json|toml|py|js|ts|html?|com|org|net|io|dev|local"
    r"|example)\b\S*|[+#@]\S*"
)
"""Names with a number, versions, addresses, paths, dates, code: not chosen passwords."""

_ARGUMENT: Final = (
    r"""(?:"(?P<double>[^"\n]{4,100})"|'(?P<single>[^'\n]{4,100})'|(?P<plain>[^\s"'`|;&<>-][^\s"'`|;&<>]{3,100}))"""
)
_LONG_FLAG: Final = LazyPattern(
    r"(?<![\w-])--?(?:[a-z0-9]{1,20}[-_]){0,3}(?:(?:store|key|user|root|db)?pass(?:word)?|passwd|passphrase|pwd"
    r"|token|secret|(?:api|auth|access|secret)[-_]?key)"
    rf"[=\s]\s?{_ARGUMENT}",
    re.IGNORECASE,
)
_NAMED: Final = LazyPattern(
    r"(?<![\w-])(?:-[uUD]|--?user(?:name)?|/u(?:ser)?:|--login)[=\s]?\s?[\"']?[^\s\"'|;&]{1,60}[\"']?(?:\s[^\n"
    r"|;&]{0,80}?)?"
    rf"\s(?:-[pPw]\s?|/p:){_ARGUMENT}"
    r"|(?<![\w-])-[pPw]\s?(?P<before>[^\s\"'`|;&<>-][^\s\"'`|;&<>]{3,100})\s(?:[^\n|;&]{0,80}?\s)?(?:-[uUD]"
    r"|--?user(?:name)?)[=\s]"
)
_PROGRAM: Final = LazyPattern(
    r"(?<![\w-])(?:sshpass\b[^\n|;&]{0,40}?\s-p\s?|redis-cli\b[^\n|;&]{0,60}?\s-a\s|(?:mysql|mariadb)(?:dump"
    r"|admin)?\b[^\n|;&]{0,60}?\s-p(?=\S)"
    r"|(?:7za?|rar|unrar)\b[^\n|;&]{0,60}?\s-h?p(?=\S)|(?:zip|unzip|sqlcmd|bcp)\b[^\n|;&]{0,60}?\s-P\s?"
    r"|ldap(?:search|add|modify|whoami)\b[^\n|;&]{0,80}?\s-w\s|openssl\b[^\n|;&]{0,80}?\s-(?:k\s|pass(?:in"
    r"|out)?\spass:)"
    r"|htpasswd\s-\w{0,4}b\w{0,4}\s\S{1,60}\s\S{1,40}\s|ssh-keygen\b[^\n|;&]{0,80}?\s-N\s"
    r"|net\suse\s\S{1,10}\s\S{1,60}\s"
    rf"|login\s\S{{1,40}}\spassword\s){_ARGUMENT}"
)
_JOINED: Final = LazyPattern(
    r"(?<![\w-])(?:-[uU]|--?user|--auth|-a)[=\s]\s?[\"']?[\w.@\\-]{1,40}[:%,](?P<plain>[^\s\"'`|;&<>]{4,100})"
)
_PIPED: Final = LazyPattern(
    r"\b(?:echo|printf)\s(?:-\w\s)?[\"']?(?P<plain>[^\s\"'`|]{4,100})[\"']?\s?\|[^\n]{0,80}?(?:-stdin\b"
    r"|--with-token\b|\bsudo\s-S\b|passwd\b)"
)
_FLAG_MARK: Final = LazyPattern(r"(?:^|\s)(?:--?[a-zA-Z]|/u(?:ser)?:)|\blogin\s\S{1,40}\spassword\s|\|")
_LOGGING_IN: Final = LazyPattern(r"\b(?:log-?in|auth|connect)\b")
_NO_ARGUMENT: Final = LazyPattern(
    r"[\d.:,/-]+|\S*[/\\]\S*|\w+(?::\w+)+|[\w.-]+\.(?:txt|md|json|ya?ml|toml|env|py|sql|zip|7z|gz|log|key|pem)"
    r"|[a-z]+_[a-z_]+"
    r"|(?i:is|are|was|with|and|for|from|the|that|this|takes?|flags?|options?|must|should|when|instead|twice|again"
    r"|only|then"
    r"|will|which|here|needs?|reads?|means|sets?|does|cannot|where|every|value|argument|parameter|also|once|into|stdin)"
)
"""A port, a path, a mapping, a file, a name in code, or a word of a sentence about the flag."""


def match_uses(line: str) -> Iterator[SecretMatch]:
    """Every secret in a line that its use gives away."""
    if _SHORT_NUMBER.search(line):
        yield from _codes(line)
    yield from match_papers(line)
    if _PHRASE_MARKS.search(line):
        yield from _logins(line)


def _codes(line: str) -> Iterator[SecretMatch]:
    """What is pressed to open a door or to switch off an alarm."""
    values: list[str] = []
    if _OPENER.search(line):
        values += [next(filter(None, match.groups()), "") for match in _OPENING.finditer(line)]
    pressed = [match[1] for match in _PRESSING.finditer(line)]
    values += pressed if pressed and _ENTRY.search(line) else []
    stated = [match["value"] for form in (_WANTED, _LABELLED, _TURNED, _SET) for match in form.finditer(line)]
    stated += [match["one"] or match["two"] for match in _FOREIGN_CODE.finditer(line)]
    values += [value for value in stated if not _CLOCK.fullmatch(value)]
    yield from (SecretMatch("PIN or code", value) for value in values if not _YEAR.fullmatch(value))
    for match in _MEANS.finditer(line):  # nothing opens "with" a year
        if _is_access(line[: match.start()]):
            yield SecretMatch("PIN or code", match["value"])


def _is_access(before: str) -> bool:
    """True if the sentence so far says that somebody gets into something, or switches an alarm on or off."""
    near = _SENTENCE_END.split(before[-_NEAR:])[-1]
    return _ACCESS.search(near) is not None and _ANY_PLACE.search(near) is not None


def _logins(line: str) -> Iterator[SecretMatch]:
    """Passwords that are typed, used or said to be the login, without the word "password" right before them."""
    for match in (*_typed(line), *_SLASHED.finditer(line), *_ACCOUNT_WORD.finditer(line)):
        groups = match.groupdict()
        value = groups.get("quoted") or (groups["plain"] or "").rstrip(_CLOSING)
        if "://" in line[max(0, match.start() - 200) : match.end()].rpartition(" ")[2]:  # a part of an address
            continue
        is_guarded = _GUARDED.search(line, max(0, match.start() - _REACH), match.end()) is not None
        if _looks_like_password(value) or (is_guarded and _is_phrase(value)):
            yield SecretMatch("login", value)
    yield from (SecretMatch("login", match["plain"]) for match in _LABELLED_PAIR.finditer(line))
    yield from (SecretMatch("login", value) for value in (*_network_keys(line), *_second_words(line)))
    yield from (SecretMatch("login", match[1]) for match in _BY_NAME.finditer(line) if _is_account_word(match[1]))
    yield from (SecretMatch("password", value) for value in _openers(line))
    yield from (
        SecretMatch("login", match[2])
        for match in _PAIRED.finditer(line)
        if _looks_like_password(match[2].rstrip(_CLOSING))
    )
    yield from (SecretMatch("answer to a security question", match[1]) for match in _ANSWER.finditer(line))


def _typed(line: str) -> Iterator[re.Match[str]]:
    """What may be typed or used to log in: each value within reach of a word about a login, in its clause."""
    reached = 0
    for cue in _LOGIN_CUE.finditer(line):
        end = _CLAUSE_END.search(line, cue.end(), cue.end() + _REACH)
        reach = end.start() if end else cue.end() + _REACH
        for match in _TYPED.finditer(line, max(reached, cue.end()), reach + 70):
            if match.start() > reach:
                break
            yield match
        reached = max(reached, reach)


def _network_keys(line: str) -> Iterator[str]:
    """Quoted keys of networks, with a digit or a sign in them."""
    for match in _NETWORK_KEY.finditer(line):
        value = (match["value"] or match["own"] or match["named"] or match["second"]).rstrip(_CLOSING)
        if match["own"] and _NETWORK_NAME.search(line):
            continue
        if classes(value) & {"digit", "sign"} and classes(value) & {"lower", "upper"} and not is_placeholder(value):
            yield value


def _second_words(line: str) -> Iterator[str]:
    """What is typed after the name of a user, or said to be what somebody signs in with."""
    for match in _NAMED_PAIR.finditer(line):
        value = match["value"].rstrip(_CLOSING)
        if _looks_like_password(value.replace("$", "!")) and _SIGNS.intersection(value[1:-1]):  # a $ begins no variable
            yield value
    if not _SIGNING_IN.search(line):
        return
    for match in _HOST_PAIR.finditer(line):
        value = match["value"].rstrip(_CLOSING)
        is_mixed = classes(value) >= {"lower", "upper", "digit"} and not _NO_MADE.fullmatch(value)
        if _looks_like_password(value) or (is_mixed and not _NO_PASSWORD.fullmatch(value)):
            yield value
    for match in _SAID_TO_BE.finditer(line):
        is_told = match["said"] or (_USER_NAME.search(line) and line[: match.start()].endswith(" with"))
        if is_told and not _NO_MADE.fullmatch(match["value"]) and not is_placeholder(match["value"]):
            yield match["value"]


def _is_account_word(value: str) -> bool:
    """True if what stands after a user's name and a slash is a made password and no folder."""
    return _looks_like_password(value.rstrip(_CLOSING)) or _JOINED_WORDS.fullmatch(value.rstrip(_CLOSING)) is not None


def _openers(line: str) -> Iterator[str]:
    """Made passwords with which a file, an archive, a disk or an account opens."""
    for match in _OPENED_WITH.finditer(line):
        near = line[max(0, match.start() - _NEAR) : match.start("value")]
        value = match["value"].rstrip(_CLOSING)
        if _is_made(value) and _OPENED.search(near) and _CONTAINER.search(near):
            yield value
    for match in _OPENS.finditer(line):
        if _is_made(match["value"]) and _CONTAINER.search(match["what"]):
            yield match["value"]


def _is_made(value: str) -> bool:
    """True for words joined with numbers, as people make passwords: not a program and its version."""
    if _NO_MADE.fullmatch(value) or _VERSION.search(value) or is_placeholder(value) or is_public(value):
        return False
    parts = re.split(r"[-_]", value)
    words = sum(part.isalpha() and len(part) > 2 and part[1:].islower() for part in parts)  # not "PDF", "XChange"
    if any(part.isdigit() and len(part) > 1 for part in parts):  # "Sublime-Text-4" is a program
        return words >= (3 if value.islower() else 2) or (words == 1 and "_" in value)  # "utf-8-sig" is none
    return _JOINED_WORDS.fullmatch(value) is not None


def _looks_like_password(value: str) -> bool:
    """True for one word that people choose as a password: words, digits and signs in one, not a name with a number."""
    kinds = classes(value)
    if " " in value or not kinds & {"lower", "upper"} or is_placeholder(value) or is_public(value):
        return False
    if _NO_PASSWORD.fullmatch(value):
        return False
    if _SIGNS.intersection(value[1:]) and "digit" in kinds:
        return True
    if WORDS_AND_NUMBER.fullmatch(value):
        return True
    if "digit" not in kinds or "upper" not in kinds or "lower" not in kinds:
        return False
    parts = re.split(r"[-._]", value)
    return len(parts) >= 3 or re.search(r"[A-Za-z]\d+[A-Za-z]{2}", value) is not None


def _is_phrase(value: str) -> bool:
    """True for three words or more that make no sentence."""
    words = re.split(r"[ -]", value)
    return (
        len(words) >= 4 - (" " in value)
        and all(word.isalpha() and len(word) > 2 for word in words)
        and not _SENTENCE.search(value)
    )


def match_commands(line: str) -> Iterator[SecretMatch]:
    """Every secret in a line that a command takes."""
    if not _FLAG_MARK.search(line):
        return
    for pattern in (_LONG_FLAG, _PROGRAM):
        yield from (SecretMatch("password", value) for value in _arguments(pattern, line) if not _is_no_secret(value))
    is_login = _LOGGING_IN.search(line) is not None
    for value in (*_arguments(_NAMED, line), *_arguments(_JOINED, line), *_arguments(_PIPED, line)):
        if not _is_no_secret(value) and (is_login or _is_mixed(value)):
            yield SecretMatch("password", value)


def _arguments(pattern: LazyPattern, line: str) -> Iterator[str]:
    for match in pattern.finditer(line):
        yield next(filter(None, match.groupdict().values()), "")


def _is_no_secret(value: str) -> bool:
    return is_placeholder(value) or _NO_ARGUMENT.fullmatch(value.rstrip(".,:)")) is not None


def _is_mixed(value: str) -> bool:
    """True if letters come with digits or with signs, as in a chosen password."""
    kinds = classes(value)
    return bool(kinds & {"lower", "upper"}) and ("digit" in kinds or {"lower", "upper", "sign"} <= kinds)
