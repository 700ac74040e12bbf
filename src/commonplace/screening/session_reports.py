"""Reports on a session all of whose words are known, so that they say nothing else.

There is nothing to remember ("Memory unchanged."), the person's mood ("The user seemed happy with the draft."), a
courtesy that is told ("He wished me a good evening."), the assistant's own mistakes ("I misread your question."), how
a tool did ("The search returned nothing."), waiting ("Still waiting for the build.") and a request without its matter
("Please keep that in mind.").
A wish such as "No summary needed.", a fact such as "Allergies: none." and any word with content are not reports.
"""

from collections.abc import Sequence
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening import session_words as words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DENIALS: Final = _words("""
    no nothing none not zero without didn't doesn't don't wasn't weren't isn't aren't hasn't haven't couldn't cannot
    can't unable neither
""")
_UNCHANGED: Final = _words("unchanged same untouched intact empty up-to-date unmodified unaltered current complete")
_UNCHANGED_PHRASES: Final = (
    ("up", "to", "date"),
    ("as", "it", "is"),
    ("as", "it", "was"),
    ("as", "they", "are"),
    ("as", "before"),
)
_MEMORY: Final = _words("""
    memory memories fact facts information info preference preferences insight insights takeaway takeaways learning
    learnings entry entries detail details update updates record records profile knowledge
""")
_OUTCOME: Final = _words("decision decisions conclusion conclusions agreement agreements action actions commitment")
_KEEPING: Final = _words("""
    remember remembering save saving saved keep keeping kept store storing stored record recording recorded note noting
    noted memorise memorize memorable noteworthy add added adding extract extracted capture captured learn learned
    learnt decide decided persist worth mention mentioning report relevant
""")
_ABOUT: Final = _MEMORY | words_of.USER | _words("nothing anything everything we notes")
_VOCABULARY: Final = (
    words_of.EMPTY
    | _DENIALS
    | _UNCHANGED
    | _MEMORY
    | _OUTCOME
    | _KEEPING
    | _words("""
    user's durable lasting long-term long term persistent permanent value importance substance interest removed
    deleted updated modified change modify update stay stays stayed remain remains remained date contain contained
    contains yield yielded produced produce reveal revealed include included emerged came come make required
    necessary existing previous one ones identified detected find able notes note items item store summary existing
    last latest ever exchanged valid accurate talk held holds before brought themselves himself herself need
    """)
)
_QUALITIES: Final = _words("""
    new further other more durable lasting long-term persistent relevant important notable noteworthy memorable personal
    specific particular user user's key significant stored existing
""")
_LABEL: Final = LazyPattern(
    r"(?:(?:new|key|main|user|open|saved|stored|memory|session|chat|action|important|relevant|conversation"
    r"|other) ){0,2}"
    r"(?:summary|facts?|preferences?|notes?|memory|memories|updates?|decisions?|takeaways?|learnings?|insights?|changes"
    r"|actions?|action items|items|to-?dos?|tasks|next steps|follow-ups?|questions|details|information|info|results?"
    r"|output|context|content|highlights|topics|findings|entries|observations|errors|warnings)"
    r"(?: (?:of|from|in|about) (?:the |this )?(?:session|chat|conversation|user))?\s?(?:[:=–—]|->|→| -)\s*(?=\S)"
)
_BLANK: Final = _words("none nothing no n/a na nil null empty unchanged zero 0 nobody -")
_WORD: Final = LazyPattern(r"[^\W_]+(?:['/-][^\W_]+)*")
_FEW: Final = 8  # words after a label


_PIECES: Final = frozenset(
    word for word in words_of.PRODUCTS | words_of.PIECES | words_of.SENDINGS | words_of.WORKPIECES if word[-1] != "s"
)
"""One piece of work in a session; several, as in "annoyed by jokes", may be what somebody likes or dislikes."""
_SESSION: Final = (
    words_of.GRAMMAR
    | words_of.TOPICS
    | words_of.ONE
    | _PIECES
    | _words("""
    first second third last previous next final new version attempt try time times once twice whole entire throughout
    part beginning end start overall generally bit little lot slightly somewhat rather much extremely fairly pretty such
    """)
)
"""Words that speak of a session and its work, without content."""

_SEEMED: Final = _words("seemed seems appeared appears sounded sounds looked came")
_WAS: Final = _words("lost was were felt remained stayed kept got became acted behaved showed expressed reacted")
_MOODS: Final = _words("""
    happy unhappy satisfied dissatisfied pleased glad grateful thankful appreciative impressed polite friendly kind
    patient impatient calm calmer frustrated annoyed irritated cheerful relaxed excited enthusiastic curious confused
    puzzled surprised relieved cooperative courteous respectful talkative chatty upset bored attentive positive
    negative neutral disappointed delighted amused content casual warm pleasant helpful constructive
    enjoying positively negatively politely calmly patiently enthusiastically frustration patience impatience
    enthusiasm gratitude satisfaction dissatisfaction relief curiosity appreciation surprise confusion disappointment
    annoyance mood tone manner attitude demeanour demeanor
""")
_PASSING_MOODS: Final = _words(
    "tired stressed worried nervous anxious sad angry rushed hesitant unsure busy distracted hurried rush"
)
"""Moods that matter where they last: "was anxious" may, "seemed anxious" does not."""
_AROUND_MOODS: Final = (
    _SESSION
    | words_of.REACTED
    | _words("""
    across liked loved enjoyed gave clear instructions feedback tone mood manner attitude demeanour demeanor turned out
    failed worked passed ran fixed lost bug gone errors visibly clearly genuinely
    spirits high short towards even quick quickly fast progress script today
    """)
)

_MISTAKES: Final = _words("""
    sorry apologies apologise apologize pardon oops whoops mistake mistakes misread misunderstood misspoke misheard
    misinterpreted miscounted miscalculated mistyped mistaken wrong incorrect inaccurate overlooked missed mixed
    confused forgot skipped omitted corrected correct correcting correction error bug typo slip redo redid truncated
    incomplete unclear misleading hallucinated invented garbled failed accidentally repeated compile crashed redone
""")
_SPEAKING: Final = _words("i my me mine i've i'm i'd i'll you your you're sorry apologies pardon oops whoops")
_ADMITTING: Final = _SPEAKING | _words(
    "that this the it correction ah good thanks thank let there apologised apologized"
)
"""How an admission begins; "Correct my mistakes." and "Point out my errors." are wishes."""
_AROUND_MISTAKES: Final = (
    _SESSION
    | _MISTAKES
    | _words("""
    let stand errors ah good catch catching pointing out thanks thank noticing spotting made make making gave give
    got meant mean see saw went said read wrote used looked thought didn't wasn't weren't can't attachment sent cut
    accidentally row rows column columns table figure figures number numbers total sum value values name names date
    dates word sentence paragraph option step section link image earlier original clear enough fix fixed right now
    think should before previously lost track doing calculation off six seven eight nine ten include mention files
    lines answers links accident fully completely instructions other contained contains contain had typos bugs
    afterwards too long short initially originally at first removed added rewrote replaced repaired retried tried
    again worked bracket comma formatting exist exists does not partly off because one point example function redo
    anything everything misplaced way round around myself back switched twice did shortened cut off
    """)
)

_COURTEOUS: Final = _words("""
    wished wishes thanked thanks greeted said says told sent bade welcomed apologised apologized complimented
    congratulated praised expressed offered exchanged asked bid
""")
_GREETINGS: Final = _words("""
    hello hi hey goodbye bye farewell greetings greeting thanks gratitude appreciation morning afternoon evening night
    weekend luck patience compliment compliments pleasantries smiley emoji thumbs-up well job regards holidays birthday
    doing
""")
_AROUND_GREETINGS: Final = (
    _COURTEOUS
    | _GREETINGS
    | words_of.USER
    | _words("""
    the a an me us i we he she they him her them you my our your each other and for of with to at in how was
    have it that this so very much again back then left good great nice lovely pleasant happy best wonderful
    wishes day week rest time help quick kind warm big many all everything work effort support assistance being
    helpful patient once more before leaving today tonight tomorrow until assistant twice logged off few some start
    end beginning task session chat conversation short late slow delay reply
    """)
)

_WAITING: Final = _words("waiting awaiting queued paused pending holding standing blocked")
_UNFINISHED: Final = _words("""
    running loading processing uploading downloading building compiling installing indexing syncing searching thinking
    generating rendering working going taking exporting importing fetching finish finished complete completes completed
    done ready progress pass reply response answer result results uploaded downloaded loaded exported imported processed
    yet
""")
_STILL: Final = _words("still until once while yet longer")
_AROUND_WAITING: Final = (
    (_SESSION - _words("remember save i'd we'd they'd not no or"))
    | _WAITING
    | _UNFINISHED
    | _STILL
    | _words("""
    upload download build deploy deployment export import test tests suite pipeline job script query search page file
    files command process install installation sync transfer render model api server tool tools permission approval
    feedback input batch chunk index background expected usual than nothing do will continue resume proceed hang on
    standing by moment sec second seconds minute minutes bit please further instructions confirm confirms answers
    reads reading draft load open start connect wait processing second third currently go signal green light run
    user's human call
    """)
)

_HOSTS: Final = _words("""
    context window token tokens budget session sessions compaction heartbeat websocket socket connection reconnected
    mcp sandbox checkpoint agent subagent model tool tools history latency ping rate cache server conversation chat
    plan mode battery kernel terminal shell workspace gateway quota stream memory usage cpu disk
""")
_HOST_STATES: Final = _words("""
    compacting compacted summarising summarizing summarised summarized retrying reconnecting reconnected trimming
    trimmed truncated truncating clearing cleared pruning restarting restarted resuming resumed restored connecting
    connected disconnected disconnecting timed reached exceeded exhausted full used low compaction triggered started
    ended expired closed opened lost dropped established warmed interrupted refreshed reloaded initialised initialized
    crashed throttled stalled switched suspended idle received remain remaining left enabled logged latency ping
    received normal remains activated saving
""")
_AROUND_HOSTS: Final = (
    _HOSTS
    | _HOST_STATES
    | _words("""
    the a an this is was has been are now currently nearly almost soon will at of for in on to after with from by and
    as up out limit because due load all systems system new earlier older previous turns messages turn space save
    free ms s sec second seconds min minute minutes mb gb kb percent code reply response request call calls inactivity
    idle time timeout attempt retry every running file files auto-save autosave auto network access without small large
    smaller larger fallback default variant version open successfully again continuing summary summarise summarize
    compact compression error active ok ready about
    """)
)


_ASKING: Final = _words("""
    remember forget save note noted keep store memorise memorize important urgent attention bear mind crucial
    remembering noting essential vital critical notice reference
""")
_AROUND_ASKING: Final = _ASKING | _words("""
    please this that it these those just what i said told you me so very really super extremely highly
    quite most must never don't do not in for later next time future reference the a to self my your memory of be sure
    make take into account ever again now absolutely worth here is are was thing info information
    above following should too good safe mark as useful helpful know
""")
_HOLDING: Final = _words("save store keep note")
"""What may be forbidden: "Do not store this." is a wish."""

_TOOLS: Final = _words("""
    search searches lookup query tool tools command script function fetch fetching grep download upload attempt browser
    api page webpage website site scrape scan crawler calculator generation run read import export sync engine file
    link pdf document image opening loading reading searching
""")
_TOOL_VERBS: Final = _words("""
    returned gave turned found produced yielded failed finished completed succeeded ran exited crashed timed came
    brought worked showed displayed loaded retried restarted was were took aborted did didn't could couldn't listed
    reported responded
""")
_STATES: Final = _words("was were did didn't could couldn't took")
_VERDICTS: Final = _words("""
    empty successful unsuccessful successfully helpful useful relevant restarted retried loaded displayed aborted failed
    nothing anything return find load respond opened read while
""")
"""What makes a report of "was" or "did"; "The script was in the repo." tells where it is."""
_AROUND_TOOLS: Final = (
    (_SESSION - words_of.ACTORS)
    | words_of.USER
    | words_of.OUTCOMES
    | _TOOLS
    | _TOOL_VERBS
    | _words("""
    web internet online notes files call calls api empty null none nothing anything everything something useful helpful
    relevant matching matched hits hit rows row pages documents entries items output outputs response timeout timeouts
    rate limit network connection error errors warnings failures list result out back up successful unsuccessful
    successfully without return find load because due retry retrying while then data value image test three four five
    six seven eight nine ten two one zero several usable good new success status respond opened problems weather
    assistant's request requests http
    """)
)
_MOST_BEFORE: Final = 6  # words before the verb of a report on a tool


def is_known_report(plain: str) -> bool:
    """True if a sentence, in lower case, is one of the reports all of whose words are known."""
    if is_empty_report(plain):
        return True
    words = _WORD.findall(plain)
    kinds = (_judges_mood, _admits_mistake, _tells_of_tool, _tells_of_courtesy, _is_bare_request, _is_host_state)
    return any(kind(words) for kind in kinds)


def _is_host_state(words: Sequence[str]) -> bool:
    """True for "session resumed after 12 minutes": what the program in which an agent works is doing at the moment."""
    told = [word for word in words if not word.isdigit()]
    if not _AROUND_HOSTS.issuperset(told) or _HOSTS.isdisjoint(told):
        return False
    is_mode = told[-2:] == ["mode", "on"] or told[-3:] == ["mode", "is", "on"] or told[:1] == ["running"]
    return is_mode or not _HOST_STATES.isdisjoint(told)


def is_waiting(plain: str) -> bool:
    """True for "still waiting for the upload" and "the export is still running"; a rule about waiting is none."""
    words = _WORD.findall(plain)
    if not _AROUND_WAITING.issuperset(word for word in words if not word.isdigit()) or words[:1] == ["wait"]:
        return False
    if not _WAITING.isdisjoint(words[:5]):
        return len(words) > 1
    is_open = words[0] in ("still", "nothing", "not", "will", "i'll", "hang", "one") or "still" in words[1:6]
    if words[:2] in (["will", "wait"], ["i'll", "wait"]):
        return True
    is_open = is_open or words[:3] == ["it", "is", "taking"]
    return is_open and not _STILL.isdisjoint(words) and not _UNFINISHED.isdisjoint(words)


def _tells_of_courtesy(words: Sequence[str]) -> bool:
    """True for "he wished me a good evening": somebody was courteous, and nothing else is told."""
    start = 1 if words[:1] == ["the"] else 0
    return (
        len(words) > start + 1
        and words[start] in words_of.USER | _COURTEOUS | {"he", "she", "they", "i", "we", "assistant"}
        and not _COURTEOUS.isdisjoint(words[start : start + 3])
        and not _GREETINGS.isdisjoint(words[start + 1 :])
        and _AROUND_GREETINGS.issuperset(words)
    )


def _is_bare_request(words: Sequence[str]) -> bool:
    """True for "please remember this" and "very important": what is to be remembered is not said."""
    if _ASKING.isdisjoint(words) or not _AROUND_ASKING.issuperset(words):
        return False
    return "forget" in words or {"not", "don't", "never"}.isdisjoint(words) or _HOLDING.isdisjoint(words)


def _judges_mood(words: Sequence[str]) -> bool:
    """True for "the user was polite throughout", "seemed tired", "the mood of the session was relaxed"."""
    start = 1 if words[:1] == ["the"] else 0
    about = words[start : start + 1]
    if about and about[0] in _MOODS:  # "the tone of the user was"
        is_subject = about[0] in ("mood", "tone", "manner", "attitude", "demeanour", "demeanor")
        is_subject = is_subject and not (words_of.USER | words_of.CONVERSATION).isdisjoint(words)
    else:
        is_subject = about != [] and about[0] in words_of.USER | {"person", "was", "seemed", "appeared", "sounded"}
    verbs = [word for word in words[start : start + 8] if word in _SEEMED | _WAS]
    if not is_subject or not (verbs or words[start : start + 2] == ["user's", "mood"]):
        return False
    moods = _MOODS | _PASSING_MOODS if not _SEEMED.isdisjoint(verbs[:1]) else _MOODS
    stems = [stem if (stem := word.removesuffix("ly")) in moods else word for word in words]
    return not moods.isdisjoint(stems[1:]) and (moods | _AROUND_MOODS | _SEEMED | _WAS).issuperset(stems)


def _admits_mistake(words: Sequence[str]) -> bool:
    """True for "sorry, I misread that" and "my last answer was wrong"."""
    if _MISTAKES.isdisjoint(words) or _SPEAKING.isdisjoint(words) or words[0] not in _ADMITTING:
        return False
    return _AROUND_MISTAKES.issuperset(words)


def _tells_of_tool(words: Sequence[str]) -> bool:
    """True for "the search returned nothing useful" and "the command finished without output"."""
    if not _AROUND_TOOLS.issuperset(word for word in words if not word.isdigit()):
        return False
    verb = next((at for at, word in enumerate(words) if word in _TOOL_VERBS), len(words))
    is_counted = words[:1] != [] and (words[0] in ("no", "nothing") or words[0] in words_of.ONE or words[0].isdigit())
    before = words if is_counted else words[:verb]
    if not 0 < verb < len(words) or verb > _MOST_BEFORE or _TOOLS.isdisjoint(before):
        return False
    return words[verb] not in _STATES or is_counted or not _VERDICTS.isdisjoint(words[verb:])


def is_empty_report(plain: str) -> bool:
    """True if a sentence, in lower case, only says that there is nothing to remember or that memory is as it was."""
    if label := _LABEL.match(plain):
        value = _WORD.findall(plain[label.end() :])[: _FEW + 1]
        return len(value) <= _FEW and value[:1] != [] and value[0] in _BLANK and _VOCABULARY.issuperset(value[1:])
    words = _WORD.findall(plain)
    return _VOCABULARY.issuperset(words) and (_denies(words) or _is_as_it_was(words))


def _denies(words: Sequence[str]) -> bool:
    """True for "no new facts", "nothing worth saving", "did not learn anything about the user"."""
    if _DENIALS.isdisjoint(words):
        return False
    if words[0] in ("no", "without"):  # "No questions." and "No summary needed." are wishes
        noun = next((word for word in words[1:] if word not in _QUALITIES), "")
        return noun in _MEMORY | _OUTCOME or (noun == "need" and not _KEEPING.isdisjoint(words))
    if not words_of.CONVERSATION.isdisjoint(words):
        return True
    return not _ABOUT.isdisjoint(words) and not (_KEEPING | _MEMORY | _OUTCOME).isdisjoint(words)


def _is_as_it_was(words: Sequence[str]) -> bool:
    if (_MEMORY | {"everything", "summary", "notes"}).isdisjoint(words):
        return False
    is_said = any(
        tuple(words[at : at + len(phrase)]) == phrase for phrase in _UNCHANGED_PHRASES for at in range(len(words))
    )
    return is_said or not _UNCHANGED.isdisjoint(words)
