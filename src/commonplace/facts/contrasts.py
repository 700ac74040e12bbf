"""Words that turn a statement round: negations, opposites, days, months and numbers, in English and German."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATIONS: Final = _words(
    "not no never none neither nor nobody nothing nowhere without cannot cant dont doesnt isnt wont stopped quit "
    "former formerly anymore ceased refuses avoids lacks fails "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends ohne weder ehemals ehemalig "
    "ehemaliger ehemalige früher aufgehört verweigert vermeidet meidet"
)
"""Words that say that something is not so, or no more; so does every word that ends in n't, and `used to`."""

OPPOSITES: Final = tuple(
    (_words(one), _words(other))
    for one, other in (
        ("like likes liked love loves loved enjoy enjoys", "dislike dislikes disliked hate hates hated loathes"),
        ("enabled enable enables on", "disabled disable disables off"),
        ("allow allows allowed permitted", "forbid forbids forbidden deny denies denied banned prohibited"),
        ("before", "after"),
        ("from", "to"),
        ("more increased increase rises rose", "less fewer decreased decrease falls fell"),
        ("open opened opens", "closed close closes"),
        ("start started starts begins began", "ended ends finished finishes"),
        ("married", "divorced single unmarried"),
        ("accepted accepts accept", "rejected rejects reject declined declines"),
        ("public", "private"),
        ("left", "right"),
        ("short shorter brief", "long longer"),
        ("small smaller", "large larger big bigger"),
        ("early earlier", "late later"),
        ("light", "dark"),
        ("old older", "new newer"),
        ("high higher", "low lower"),
        ("hour hours hourly", "day days daily week weeks weekly month months monthly year years yearly"),
        ("day days daily", "week weeks weekly month months monthly year years yearly"),
        ("week weeks weekly", "month months monthly year years yearly"),
        ("morning mornings", "evening evenings afternoon afternoons night nights"),
        ("mag liebt liebe", "hasst hasse verabscheut"),
        ("erlaubt", "verboten"),
        ("vor", "nach"),
        ("mehr", "weniger"),
        ("verheiratet", "geschieden ledig"),
        ("an aktiviert eingeschaltet", "aus deaktiviert ausgeschaltet"),
        ("morgens vormittags", "abends nachmittags nachts"),
    )
)
"""Pairs of groups: a statement with a word of the one speaks against a statement with a word of the other."""

DAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays montag montags",
            "tuesday tuesdays dienstag dienstags",
            "wednesday wednesdays mittwoch mittwochs",
            "thursday thursdays donnerstag donnerstags",
            "friday fridays freitag freitags",
            "saturday saturdays samstag samstags sonnabend",
            "sunday sundays sonntag sonntags",
        )
    )
    for name in names.split()
}

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar",
            "february feb februar",
            "march mar märz",
            "april apr",
            "may mai",
            "june jun juni",
            "july jul juli",
            "august aug",
            "september sep sept",
            "october oct oktober okt",
            "november nov",
            "december dec dezember dez",
        ),
        start=1,
    )
    for name in names.split()
}

NUMBERS: Final = {
    name: str(number)
    for number, names in enumerate(
        (
            "zero null",
            "once",
            "two twice zwei zweimal",
            "three drei dreimal",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwölf",
        )
    )
    for name in names.split()
}
"""Numbers as words; not `one` and `ein`, which mostly are no numbers."""

RATHER: Final = frozenset({"over", "than", "instead", "statt", "anstatt", "anstelle"})
"""What stands before such a word is preferred to what stands after it."""

JOINING: Final = frozenset({"and", "or", "&", "und", "oder"})
"""Words whose two sides may change places."""

HOLLOW: Final = _words(
    "a an the is are was were be been being am has have had do does did will would shall so also very really just "
    "that which who where this it its of in on at for by "
    "der die das den dem des ein eine einen einem einer eines ist sind war waren sein wird werden hat haben hatte "
    "auch sehr so dass im in am an auf bei für von zum zur es"
)
"""Words that carry no claim of their own."""

OPENING: Final = _words(
    "in on at for since during until from with by under as every after before "
    "im in am an auf bei für seit während bis von mit unter nach vor zum zur jeden"
)
"""A statement that opens with one of these has only moved a part of it to the front."""

OWNING: Final = _words("my our your his her their mein meine unser unsere dein deine sein seine ihr ihre")
"""Words that stand before what a statement is about."""

PERSONS: Final = _words(
    "i me my mine you your yours he him his she her hers we us our ours they them their theirs "
    "mother father mom dad sister brother son daughter wife husband aunt uncle boy girl man woman "
    "ich mir mich mein meine du dir dein deine er ihm sie ihr wir uns unser mutter vater schwester bruder sohn tochter "
    "frau mann tante onkel"
)
"""Words for people that no names are: whoever says another one means somebody else."""
