"""What a person's turn consists of: clauses, each with the reason why it is not the person's own plain statement.

`clauses_of` splits a turn into sentences and these into clauses. Text that someone else wrote (code, quotations, mails,
pages), questions, guesses, wishes, jokes and reports of others keep their words and get a reason; a clause without one
is what the person says. `is_played` tells a conversation in which the person speaks for somebody else.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from commonplace.model.learning import RejectReason, Turn
from commonplace.model.text import LazyPattern

MOST_CHARACTERS: Final = 20_000
"""Characters of a turn that are read; whoever writes more in one turn has pasted it."""

_LONGEST_CLAUSE: Final = 300  # characters; a plain statement is shorter
_OWN_WORDS: Final = 1_500  # characters of a turn from which its later paragraphs count as pasted
_MOST_LINES: Final = 12  # lines of a turn from which its later paragraphs count as pasted


@dataclass(frozen=True, slots=True)
class SpokenClause:
    """A part of a turn: its words with single spaces and without fillers, and where it stands in the turn.

    `sentence` is the number of its sentence in the turn. `reason` is empty if it is the person's own plain statement.
    `marks` are the fillers that were left out, in lower case: "by the way".
    """

    text: str
    start: int
    end: int
    sentence: int
    reason: RejectReason | None = None
    marks: str = ""


_FENCE: Final = LazyPattern(r"(?m)^[ \t]*(?:```|~~~)")
_QUOTED: Final = LazyPattern(
    r"""(?<![\w])"[^"\n]{0,600}"|“[^”\n]{0,600}”|„[^“”\n]{0,600}[“”]|«[^»\n]{0,600}»|`[^`\n]{1,600}`"""
    r"""|(?<![\w'])'[^'\n]{12,300}'(?!\w)"""
)
_LONG_QUOTE: Final = LazyPattern(
    r"""(?<![\w])"[^"]+"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|‚[^‚‘’]+[‘’]|‹[^‹›]+›|›[^‹›]+‹"""
)
_ELEMENT: Final = LazyPattern(
    r"(?s)<([A-Za-z][\w:-]*)(?:\s[^<>]*)?(?<!/)>.*?</\1\s*>|(?m:^)[ \t]*<[A-Za-z][\w:-]*(?:\s[^<>]*)?(?<!/)>.*"
)
_INDENTED: Final = LazyPattern(r"(?m)(?:\A|(?<=\n\n))(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
_WORDS: Final = LazyPattern(r"[\w'’-]+")
_HEADER: Final = LazyPattern(
    r"(?im)^[ \t]*(?:from|to|cc|subject|date|sent|betreff|von|an|re|fwd)[ \t]*:[ \t]*\S"
    r"|^[ \t]*(?:dear|hi|hello|hey) (?:all|team|everyone|folks|sir|madam|mrs?|ms|dr|[A-Z][\w-]+)\b[^\n]{0,40},[ \t]*$"
    r"|^[ \t]*-{2,}[ \t]*(?:original message|forwarded)|^On [^\n]{4,80} wrote:[ \t]*$"
    r"|^[\s\W]{0,6}(?:system|assistant|user|human|tool|developer|ai|bot|model|claude|chatgpt)\b[^\w\n]{0,6}[:：]"
    r"|^[ \t]*(?:\[/?INST\]|<\|?/?(?:system|im_start|im_end|assistant|user|tool|instructions?|memory|important)\b)"
)
_FOREIGN_LINE: Final = LazyPattern(
    r"[ \t]*(?:>|\||<[a-zA-Z/!]|#{1,6} |//|/\*|\* @|\$ |%|at \S+\(|File \"|Traceback|import \w"
    r"|from \w+ import|def \w+\("
    r"|class \w+|https?://|[{}\[\]();]|\d{4}-\d\d-\d\d[T ]\d\d:|\w+Error:|npm |pip |git |[-+]{3} |@@|SELECT |INSERT )"
)
_STRUCTURED: Final = LazyPattern(r"[ \t]*[-*][ \t]+\[[a-z-]{3,20}\]\s")
_PASTE_INTRO: Final = LazyPattern(
    r"(?i)\b(?:summari[sz]e|translat\w+|proof-?read|rewrite|rephrase|paraphrase|reword|shorten|improve"
    r"|correct|fix|edit"
    r"|polish|check|review|analy[sz]e|explain|reply to|answer|respond to|grade|classify|extract"
    r"|compare|format|convert"
    r"|scale|debug|parse|read|continue|complete|transcri\w+|look at|what does|what do you think|feedback|thoughts on"
    r"|draft|mail|e-?mail|message|letter|article|essay|text|page|post|transcript|log|output|error|trace\w*|snippet"
    r"|website|web page|readme|docs?|documentation|prompt|poem|story|lyrics|says?|said|wrote|writes|reads|sample"
    r"|example|homework|exercise|sentence|the following)\b(?![^:\n]{0,60}\b(?:rule|convention|policy"
    r"|remember|booked|decided)\b)"
    r"[^:\n]{0,60}:(?=\s|\n)"
)
_ABBREVIATION: Final = LazyPattern(
    r"(?i)(?:\b(?:dr|mr|mrs|ms|prof|st|no|nr|vs|approx|ca|e\.g|i\.e|etc|inc|ltd|jr|sr|fig|a\.m|p\.m)|\b[A-Z])\.$"
)
_SENTENCE_END: Final = LazyPattern(r"(?<![.!?…])[.!?…]+[)\"'”]{0,3}(?=\s|$)|\n+|;(?=\s)|\s[–—-]{1,2}\s")
_SUBJECT: Final = (
    r"i|i'm|i've|i'd|i'll|im|we|we're|we've|we'd|we'll|my|our|it|it's|its|that|that's|this|these|they|they're|he|he's"
    r"|she|she's|there's|there|the|you|you're|nobody|everybody|everyone|please|don't|never|always"
    r"|from now on|remember"
)
_QUESTION_START: Final = (
    r"(?:what|what's|whats|how|how's|which|where|where's|when|who|who's|why|whose|any|should|shall"
    r"|would|have you)(?![\w'])"
    r"|(?:can|could|do|does|did|is|are|was|were|will|am|may|has|isn't|aren't|don't|won't|doesn't|right)"
    r"(?=\s(?:i|we|you|he|she|it|they|there|that|this|these|those|the|a|an|my|our|your|anyone|someone)\b)"
)
_CLAUSE_END: Final = LazyPattern(
    r"(?i)(?:,|\s\()\s{0,3}(?:(?:and|but|so|or|then|plus|also|because|since|though|although|while"
    r"|whereas|which means)"
    r"\s{1,3})?(?:also\s{1,3})?" + f"(?=(?:{_SUBJECT})\\b|{_QUESTION_START})" + r"|,\s{0,3}(?:so|because)\s{1,3}"
    r"|\s{1,3}so\s{1,3}(?=(?:no|nothing|only|just|keep|make|use|please|don't|let's|can|could|that)\b)"
    r"|,\s{1,3}(?:and |but )?(?=(?-i:[A-ZÄÖÜÅ])[\w-]+ (?:is|was|has|does|will|can|takes|wants|left|isn't|doesn't)\b)"
    r"|,\s{1,3}(?=(?:put|add|make|write|send|tell|give|show|include|mention|change|update|fix|check|do) "
    r"(?:that|it|this|them|me)\b)"
    r"|,\s{1,3}(?=(?:hope|hoping|hopefully|wish|fingers crossed)\b)"
    r"|\s{1,3}(?:and|but|so|though|although|while|whereas)\s{1,3}(?:also\s{1,3})?"
    r"(?=(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|my|our|it's|that's|he's|she's|they're|they|he|she|never|always"
    r"|please|can you|could you|from now on|remember)\b)"
)
_LEADING: Final = LazyPattern(
    r"(?i)(?:(?:(?:before|lest|in case) (?:i|we) forget(?: (?:it|this|again))?"
    r"|while (?:i|we) (?:still )?remember(?: it)?|while (?:i|we) think of it|while (?:i'm|we're) at it"
    r"|(?:the|our|that|this) (?:\w+ )?(?:rule|policy|convention|limit|default|setting|number|plan)s?"
    r" (?:has |have |was |were )?(?:just |now )?changed(?: again)?"
    r"|(?:we|i)(?:'ve| have)? (?:just )?changed (?:the|our|that|this) (?:\w+ )?(?:rule|policy|convention)s?)"
    r"\s*[,:–—-]+\s*"
    r"|(?:ok|okay|so|yes|yeah|yep|yup|and|but|also|oh|well|anyway|anyways|actually|fyi|btw|hmm+"
    r"|hm|ah|by the way"
    r"|(?:it )?turns out(?: that)?|i found out(?: that)?|thanks|thank you|thx|hi|hello|hey|haha|then"
    r"|because|plus|just so you know|for (?:your information|context"
    r"|the record|reference)|as you know|although|though|while|whereas|honestly|frankly|obviously"
    r"|of course|personally"
    r"|luckily|sadly|unfortunately|lol|agreed)(?=[\s,.:!–—-])[\s,.:!–—-]+"
    r"|(?:can|could|will|would) you (?:please )?(?=remember that )"
    r"|(?:no[,.]? )?(?:sorry[,.]? )?i mean(?:t)?[,: ]+|for (?:my|the|our) [\w ]{2,20}:\s+"
    r"|(?:no|nope|nah|ta|sure|great|nice|perfect|good|cool|lovely|right|sorry|quick one|one more thing"
    r"|in case it helps"
    r"|true|exactly|absolutely|agree|done|fine|alright|first of all|wow|fun fact|yay|whatever|still|meanwhile|update"
    r"|background|context|done that|did that|makes sense|got it|good point|good idea)\s*[,.:!–—]+\s*"
    r"|no\s+(?=(?:i|i'm|we|we're|wait|it's|my|the)\b))"
)
_INSERTED: Final = LazyPattern(r"(?i),? (?:by the way|btw|fyi|as you know|to be honest|tbh)(?=,)")
_TRAILING: Final = LazyPattern(
    r"(?i),\s(?:and|but)\s(?:on|for|during|in)\s[\w ]{2,40}$|[\s,]+(?:since then|wish me luck"
    r"|fingers crossed|by the way|btw|fyi|obviously|though|tbh"
    r"|to be honest|please|thanks|thx"
    r"|ok|okay|too|as well|yay me"
    r"|of course|actually|anyway|unfortunately|sadly|luckily|if anyone asks|just so you know"
    r"|as you (?:may |might |already )?know|as i said|thank god|for context"
    r"|for the record|for your information|if that helps|if that matters|in case it helps|although|so"
    r"|and|but|or)[\s.!]*$"
)

_I_AM: Final = LazyPattern(r"\b[Ii] am(?= \w)")
_JOKE: Final = LazyPattern(
    r"(?i)\b(?:lol|lmao|rofl|haha\w*|hehe\w*|jk|j/k|just kidding|kidding|joking|joke|basically an? |literally dying"
    r"|sell my soul|king of|queen of|bow before|kill me)\b|[😂🤣😜😉😆🙃]|/s\b|;-?\)"
)
_RETRACTION: Final = LazyPattern(
    r"(?i)^\W*(?:jk|j/k|just kidding|kidding|only joking|joking|not really|nah,? just kidding"
    r"|scratch that|never ?mind"
    r"|(?:no,? )?(?:wait|sorry)\b|forget (?:that|it|what i said)|no wait|i take that back|haha|lol|\W*[😂🤣😜😆])"
)
_HYPOTHETICAL: Final = LazyPattern(
    r"(?i)\b(?:if|would|wouldn't|could|might|(?<!in )(?<!of )(?<!since )(?<!until )(?<!\d )(?-i:may)"
    r"|unless|suppose|supposing|imagine|assuming|assume|hypothetically|pretend"
    r"|what if|let's say|say (?:we|i|they|you)|(?:i|we) wish|wish (?:i|we)|dream\w*|hope|hoping"
    r"|hopefully|i'd|we'd|you'd|he'd|she'd"
    r"|they'd|were to|wanna|want to|wants? us|planning to|plan to|plan on|thinking (?:of|about)|considering|consider"
    r"|tempted|someday|some day|one day|eventually|ideally|would be nice|looking (?:for|to)|hesitat\w+|debating|torn"
    r"|in theory|theoretically|in case|or should)\b"
)
_CONDITION: Final = LazyPattern(r"(?i)(?:if|suppose|supposing|imagine|assuming|unless|say (?:i|we)|let's say)\b")
_HEDGE: Final = LazyPattern(
    r"(?i)\b(?:maybe|perhaps|probably|possibly|presumably|apparently|supposedly|allegedly|i think|i guess|i suppose"
    r"|i believe|i assume|i feel like|i reckon|i suspect|not sure|unsure|no idea|don't know|dunno"
    r"|seems?|seemed|sort of"
    r"|kind of|kinda|likely|roughly|i doubt|i heard|i read|i was told|i've heard|i've read|rumou?r\w*"
    r"|(?:it|that|this|he|she|there|they) must be|should be"
    r"|supposed to|looks like|sounds like|feels like|as far as i know|afaik|iirc|more or less|or so|or something)\b"
)
_QUESTION: Final = LazyPattern(
    rf"(?i)^(?:{_QUESTION_START})"
    r"|\?\s*$|\b(?:i wonder|wondering|any (?:idea|tips?|chance|suggestions?)|tell me|let me know"
    r"|is it (?:ok|true|possible)"
    r"|i(?:'d| would) like to know|want to know|do you|can you|could you|would you|are you)\b"
)
_RELATIVE: Final = LazyPattern(r"(?i)(?:which|who|whose|where|when)\b")
_INVERTED: Final = LazyPattern(
    r"(?i)\b(?:can|could|do|does|did|should|shall|would|will|is|are|was|were|am|have|has|may|might|must)"
    r" (?:i|we|you|he|she|it|they|there|that|this|my|our|your|the|a|an)\b"
)
"""The verb before its subject, as only questions have it."""
_REPORT: Final = LazyPattern(
    r"(?i)\b(?:says?|said|swears?|swore|claims?|claimed|reckons?|told (?:me|us)|tells (?:me|us)"
    r"|mentioned|argues?|argued"
    r"|believes?|thinks?|suggest(?:s|ed)|recommend(?:s|ed)|reported|according to|rumou?r|they say"
    r"|people say|supposedly"
    r"|advised|insists that|wrote|writes that|warned|promised)\b"
)
_OWN_REPORT: Final = LazyPattern(
    r"(?i)\b(?:i|we) (?:said|mentioned|told you|think|wrote|suggested|recommend(?:ed)?|promised)\b"
)
_PASSING: Final = LazyPattern(
    r"(?i)\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|time|one|weekend|second|minute)|right now"
    r"|at the moment|for now|for the moment|just now|yesterday|last night|temporarily|for this (?:one|task|demo|time)"
    r"|in a (?:minute|moment|bit|hurry)|as we speak|this once|just this|later|in (?:two|a few|three|a couple of) days"
    r"|(?:later|earlier) this week|(?<!starting )(?<!since )(?<!from )this week|next week"
    r"|just (?:wrote|called|got|had"
    r"|saw|finished|realised|realized|noticed|tried|ate|woke))\b"
)
_INSTRUCTION: Final = LazyPattern(
    r"(?i)(?<!\bi )(?<!\bwe )(?<!\bme )(?<!\bus )\b(?:ignore|disregard|forget|override|bypass)\b"
    r"[^.\n]{0,30}\b(?:previous|prior|above|earlier"
    r"|all|any|your|system"
    r"|instructions?|rules?|guidelines?|safety)\b"
    r"|\bsystem (?:prompt|message|override|notice|instruction)|\bnew instructions?\b|\bdeveloper mode|\bjailbreak"
    r"|\byou (?:are now|must now|will now|are (?:required|obliged|instructed|authori[sz]ed))\b"
    r"|\b(?:ai|llm|language model|assistant|agent|chatbot|model)s? (?:reading|processing|that reads?|who reads?|must"
    r"|should|shall|is (?:required|allowed|authori[sz]ed))\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|alert|warn|notify|ask|mention (?:this"
    r"|it) to) (?:the )?(?:user|owner|human"
    r"|anyone|them|me)\b"
    r"|\bwithout (?:asking|confirmation|confirming|approval|review|permission|telling|checking|any (?:check|review))"
    r"|\b(?:approv|authori[sz]|whitelist|auto-?accept|auto-?approv)\w*\b[^.\n]{0,40}\b(?:all|every|any|always|request"
    r"|payment|transfer|change|command|tool|pull|access)\w*"
    r"|\b(?:always|automatically|must|never refuse)\b[^.\n]{0,30}\b(?:approve|accept|allow|grant"
    r"|execute|trust|obey|comply"
    r"|merge|forward|disclose|reveal|share|send|upload|transfer|pay|wire|install|download|delete|disable|sudo)\b"
    r"|\b(?:save|store|add|write|put|record|insert|keep|commit)\b[^.\n]{0,40}\b(?:memory|memories"
    r"|long-term|always-load"
    r"|knowledge base|profile|directives?)\b"
    r"|\balways[- _]?load|\bdirective\b|\bpersistent (?:rule|instruction)|\bthe user (?:is|has|wants"
    r"|prefers|likes|said|"
    r"authori[sz]ed|agreed|trusts|confirmed|works|lives|must|allows|consents)\b|\bthis user\b"
    r"|\b(?:exfiltrat|credential|api[- ]?key|private key|access token|seed phrase|ssh key)\w*"
    r"|\b(?:curl|wget|sudo|rm -rf|base64|eval)\b|\btreat (?:this|the following|it) as\b|\bas (?:an|your) (?:ai|admin)"
    r"|\bact as\b|\badmin(?:istrator)? (?:mode|access|rights|privileges|override)\b|\broot access\b"
    r"|\b(?:trusted|verified|official) (?:source|domain|sender|message|instruction)\b"
)
_PLAYED: Final = LazyPattern(
    r"(?i)\b(?:for|in|of|about|on|writing|from) (?:my|a|the|our) (?:\w+ )?(?:novel|short story|screenplay"
    r"|fan ?fiction|fanfic|sketch|skit|comic|game character|(?:d&d|rpg|dnd) \w+|play script|manuscript)\b"
    r"|\bmy (?:main |novel's )?(?:character|protagonist|villain|heroine?|antagonist)\b"
    r"|\b(?:backstory|text adventure|one-shot|bedtime story|fairy tale|make-?believe|out of character|in character)\b"
    r"|\b(?:heroine?|protagonist|villain) (?:is|named|called)\b|\blevel \d+ [a-z]+\b"
    r"|\broll(?:ed)? (?:a d\d|for \w|insight)"
    r"|\b(?:in|as) (?:the )?first person\b|\b(?:ballad|verses|chorus|lyrics)\b"
)
"""Fiction, games and songs."""

_PARTS: Final = LazyPattern(
    r"(?i)\b(?:role ?-?play\w*|act as (?:a|my|the|if)|pretend|let's (?:practi[sc]e|rehearse|play)"
    r"|practi[sc]e (?:a|the|my) (?:\w+ )?(?:interview|conversation|dialogue|speech|call|negotiation)"
    r"|(?:first aid|fire|safety) drill|mock (?:interview|exam|call)|improv|persona)\b"
    r"|\bplay (?:my|the|a) (?!guitar|piano|violin|drums|cello|game|match|music|part in)\w+\b"
    r"|\byou(?:'re| are) (?:now )?(?:the|my|a|an) (?!best|only|first|last|one|same|star|hero|genius|legend"
    r"|lifesaver|saint|bit|little|great|good|real|angel|treasure|machine)[a-z-]+(?: [a-z-]+)?(?=[,.!;:]|$| and i| who)"
    r"|\bimagine (?:you|i|we)(?:'re|'m| are| am| were)\b"
)
"""Parts that the person gives to the assistant, and plays with it."""

_SAMPLES: Final = LazyPattern(
    r"(?i)\b(?:sample|example|dummy|fictional|fictitious|made-up|invented|fake|test|mock|placeholder|seed) "
    r"(?:\w+ )?(?:text|sentence|person|persona|people|profile|data|customer|user|name|record|account|itinerary|entry"
    r"|client|patient|review|script)s?\b|\b(?:fixtures?|seed script|lorem ipsum|test data|unit test data)\b"
    r"|\b(?:crossword:|riddle\b|brain ?teaser\b|word problem\b|exam question\b|\d{1,2} letters\b)"
    r"|\b(?:check|correct) my (?:working|homework|exercise|solution)s?\b"
)
"""Texts that stand for something else: test data, examples, exercises, puzzles."""


_WRITING: Final = LazyPattern(
    r"(?i)\b(?:write|compose|make up|tell) (?:me |us )?(?:a|an|the|some) (?:\w+ ){0,3}(?:story|poem"
    r"|limerick|song|rap|haiku|novel"
    r"|monologue|dialogue|scene|fairy tale|joke|sketch|parody|screenplay|script)\b"
)


def is_played(turns: Sequence[Turn]) -> bool:
    """True if in this conversation the person speaks for somebody else: a part, a figure of fiction, sample texts."""
    texts = [turn.text[:MOST_CHARACTERS] for turn in turns if turn.role == "user"]
    return any(pattern.search(text) for text in texts for pattern in (_PLAYED, _PARTS, _SAMPLES))


def clauses_of(text: str) -> list[SpokenClause]:
    """The clauses of a turn in order, each with the reason why it is not a plain statement, if there is one."""
    text = text[:MOST_CHARACTERS]
    if _INSTRUCTION.search(text):
        return [_whole(part, text, "instruction") for part in _lines(text)]
    if _WRITING.search(text):
        return [_whole(part, text, "hypothetical") for part in _lines(text)]
    masked, foreign = _mask_foreign(text)
    clauses = foreign
    for number, (start, end) in enumerate(_sentences(masked)):
        if not masked[start:end].isspace():
            clauses += _sentence_clauses(masked, start, end, number)
    return _retracted(sorted(clauses, key=lambda clause: clause.start))


def is_relative(clause: SpokenClause, before: SpokenClause) -> bool:
    """True if a clause that begins like a question belongs to the one before it: "..., who likes long memos"."""
    if clause.reason != "question" or clause.sentence != before.sentence or clause.text.endswith("?"):
        return False
    return _RELATIVE.match(clause.text) is not None and _INVERTED.search(clause.text) is None


def _lines(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            yield position, position + len(line)
        position += len(line)


def _whole(span: tuple[int, int], text: str, reason: RejectReason) -> SpokenClause:
    words = " ".join(text[span[0] : span[1]].split())
    return SpokenClause(words[:_LONGEST_CLAUSE], span[0], span[1], 0, reason)


def own_parts(text: str) -> tuple[str, ...]:
    """The parts of a turn that the person wrote, in order: what stands between quotations, code and pasted text.

    A quotation may have several lines here, an element is foreign from its tag to its end, and so is an indented block.
    """
    text = text[:MOST_CHARACTERS]
    wide = (match.span() for pattern in (_ELEMENT, _INDENTED) for match in pattern.finditer(text))
    quoted = (match.span() for match in _LONG_QUOTE.finditer(text) if len(_WORDS.findall(match.group())) > 3)
    spans = _merged([*_foreign_spans(text), *wide, *quoted])
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return tuple(part for start, end in zip(edges[::2], edges[1::2], strict=True) if (part := text[start:end].strip()))


def _foreign_spans(text: str) -> list[tuple[int, int]]:
    """Where someone else's words stand."""
    spans = [*_fenced(text), *_foreign_lines(text), *_pasted(text)]
    spans += [
        match.span()
        for match in _QUOTED.finditer(text)
        if len(_WORDS.findall(match.group())) > 3 or "`" in match.group()
    ]
    return _merged(spans)


def _mask_foreign(text: str) -> tuple[str, list[SpokenClause]]:
    """The text with spaces in place of what someone else wrote, and that as clauses with the reason `quotation`."""
    spans = _foreign_spans(text)
    letters = list(text)
    for start, end in spans:
        letters[start:end] = [letter if letter == "\n" else " " for letter in letters[start:end]]
    return "".join(letters), [_whole(span, text, "quotation") for span in spans if text[span[0] : span[1]].strip()]


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    fences = [match.start() for match in _FENCE.finditer(text)]
    for first, last in zip(fences[::2], [*fences[1::2], len(text)], strict=False):
        end = text.find("\n", last)
        yield first, len(text) if end < 0 else end


def _foreign_lines(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _lines(text):
        line = text[start:end]
        if _FOREIGN_LINE.match(line) and not _STRUCTURED.match(line):
            yield start, end


def _pasted(text: str) -> Iterator[tuple[int, int]]:
    """The rest of a turn from where a text that someone else wrote begins."""
    starts = [match.end() for match in (_PASTE_INTRO.search(text),) if match]
    starts += [match.start() for match in (_HEADER.search(text),) if match]
    if len(text) > _OWN_WORDS or text.count("\n") > _MOST_LINES:
        starts.append(max(text.find("\n"), 0))
    if starts and text[min(starts) :].strip():
        yield min(starts), len(text)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text[max(start, match.start() - 8) : match.end()]):
            continue
        yield start, match.end()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _sentence_clauses(text: str, start: int, end: int, number: int) -> Iterator[SpokenClause]:
    """The clauses of one sentence. A question mark at its end makes all of it a question, unless a part is asked."""
    cuts = [start, *(match.end() for match in _CLAUSE_END.finditer(text, start, end)), end]
    spans = [(first, last) for first, last in pairwise(cuts) if text[first:last].strip()]
    parts = _conditional([_clause(text, first, last, number) for first, last in spans])
    if not text[start:end].rstrip(" )\"'”").endswith("?"):
        yield from parts
        return
    asks = [index for index, part in enumerate(parts) if part.reason == "question" and index < len(parts) - 1]
    is_asked = bool(parts) and _starts_as_question(parts[-1].text)
    for index, part in enumerate(parts):
        is_question = index == len(parts) - 1 or not is_asked or bool(asks and index >= asks[0])
        yield replace(part, reason=part.reason or "question") if is_question else part


def _conditional(parts: list[SpokenClause]) -> list[SpokenClause]:
    """The clauses of a sentence; all of them are hypothetical if it begins with a condition."""
    if not parts or not _CONDITION.match(parts[0].text):
        return parts
    return [replace(part, reason=part.reason or "hypothetical") for part in parts]


def _starts_as_question(text: str) -> bool:
    return bool(re.match(rf"(?i)(?:{_QUESTION_START})", text))


def _clause(text: str, start: int, end: int, number: int) -> SpokenClause:
    raw = text[start:end]
    if len(raw) > 4 * _LONGEST_CLAUSE:
        return _whole((start, end), text, "junk")
    start += len(raw) - len(raw.lstrip())
    end -= len(raw) - len(raw.rstrip())
    raw = re.sub(r"[,\s(]+(?:and|but|so|or|plus|also|because)?[,\s(]*$", "", text[start:end])
    words, marks = _without_fillers(_I_AM.sub("I'm", " ".join(raw.replace("’", "'").split())))
    return SpokenClause(words, start, start + len(raw), number, _reason(words, marks, raw), marks)


def _without_fillers(words: str) -> tuple[str, str]:
    """The clause without the words that only connect it, and those words."""
    marks = [match.group().strip(" ,").lower() for match in _INSERTED.finditer(words)]
    words = _INSERTED.sub("", words)
    while match := _LEADING.match(words):
        marks.append(match.group().strip(" ,.:!").lower())
        words = words[match.end() :]
    while match := _TRAILING.search(words):
        marks.append(match.group().strip(" ,.!").lower())
        words = words[: match.start()]
    return words.strip(" ,;:!.…–—-"), " ".join(marks)


def _reason(words: str, marks: str, raw: str) -> RejectReason | None:
    """Why a clause is not a plain statement; None if it is one."""
    if len(words) > _LONGEST_CLAUSE:
        return "junk"
    if _QUESTION.search(words):
        return "question"
    if _JOKE.search(raw) or "lol" in marks.split() or (marks.endswith("haha") and words):
        return "joke"
    if _HYPOTHETICAL.search(words) or _HEDGE.search(words):
        return "hypothetical"
    if _REPORT.search(words) and not _OWN_REPORT.search(words):
        return "third_party"
    return "passing" if _PASSING.search(words) else None


def _retracted(clauses: list[SpokenClause]) -> list[SpokenClause]:
    """The clauses, with a reason for each that the next one takes back: "jk", "no wait", "scratch that"."""
    for index, clause in enumerate(clauses):
        spoken = f"{clause.marks}, {clause.text}" if clause.marks else clause.text
        if index and _RETRACTION.match(spoken) and clauses[index - 1].reason is None:
            is_joke = re.search(r"(?i)jk|j/k|kid|jok|haha|lol", spoken)
            clauses[index - 1] = replace(clauses[index - 1], reason="joke" if is_joke else "hypothetical")
    return clauses
