"""What people say once for all times: rules, standing instructions, decisions, who does what, shared values."""

import re
from typing import Final

from commonplace.extraction.statement import (
    Frame,
    PlainStatement,
    frame,
    has_capital,
    has_name,
    is_mood,
    is_vague,
    is_vague_rule,
)
from commonplace.extraction.third_person import about_person, as_sentence
from commonplace.model.text import LazyPattern

_BASE_VERB: Final = LazyPattern(
    r"(?i)(?:use|keep|put|write|send|sign|add|give|call|ask|answer|reply|avoid|show|log|name|start|end"
    r"|begin|format|run"
    r"|include|leave|make|take|do|be|check|prefer|quote|cite|explain|speak|address|commit|push|test"
    r"|document|touch|print"
    r"|deploy|merge|squash|translate|convert|round|sort|list|mention|suggest|remind|book|schedule"
    r"|order|pay|store|save"
    r"|force|rebase|amend|delete|remove|change|edit|install|import|mock|hardcode|guess|invent|share|post|publish|upload"
    r"|apologi[sz]e|repeat|shorten|summari[sz]e|link|split|lint|review|drop|break|ignore|interrupt|phone|open|close"
    r"|wrap|indent|go|set|treat|consider|work|create|round|stick|assume|return|tell|skip|spell|don't|never|always)\b"
)
_NO_RULE: Final = LazyPattern(
    r"(?i)^(?:mind|again|ever|know|knew|heard|been|seen|had|will|would|been|thought|a|an|the|in|too|enough|say|wanted"
    r"|understood|got|that|seem\w*|expected|before|after|have i|did|does|do i)\b"
)
_SAID: Final = LazyPattern(r"(?i)(?:i|i'm|i've|we|we're|we've|my|our|the|every|each|all|no|on|in)\b|(?-i:[A-ZÄÖÜÅ])")
_NOT_STATED: Final = LazyPattern(
    r"(?i)(?:you|your|you're|this|that|these|those|it|its|he|she|they|there|to|if|when|how|what|who|where|why)\b"
)
_ERRAND: Final = LazyPattern(
    r"(?i)(?:the |this |that )?(?:article|text|essay|answers?|output|response|code|function|e-?mail"
    r"|post|blog|story|poem|title|table"
    r"|script|speech|letter|paragraph|list|summary|report|question|task|assignment|prompt|design"
    r"|website|image|user)\b"
)
_SHORT_RULE: Final = LazyPattern(r"[\w./-]+(?: (?:units|dates|answers|names|spelling|format|style|tone|time))?")
_DUTY: Final = LazyPattern(
    r"(?i)\b(?:takes|taking|does|doing|writes|writing|leads|leading|runs|running|handles"
    r"|handling) (?:the |our )?(?P<thing>[\w ]+)$"
)
_INTENTION: Final = LazyPattern(r"(?i)(?:i'll|i will|we'll|we will|i'm going to|i am going to|i'm trying|i try)\b")
_PROJECT_NOUNS: Final = (
    r"budget|deadline|region|rent|address|landlord|landlady|boss|manager|client|supplier|vendor|policy"
    r"|convention|stack"
    r"|database|ci|timezone|time zone|stand-?up|office|team|team lead|it lead|ceo|cto|managing director|director"
    r"|accountant|lawyer|doctor|gp|dentist|vet|vet's name|therapist|rheumatologist|teacher|school|project|product|app"
    r"|newsletter|company|repo|repository|main branch|default branch|licen[cs]e|target|launch|release|pilot"
    r"|minimum (?:\w+ )?version|production|prod|staging|server|hosting|framework|backend|frontend"
    r"|language|booth|venue"
    r"|caterer|plumber|electrician|neighbour|tenant|coach|trainer|wifi name|car|boiler|heating|alarm code holder"
    r"|(?:staging|production|prod|dev|test) (?:db|database|server|cluster|environment)|revenue|turnover|headcount"
    r"|emergency contact|contact|notice period|interest rate|mortgage|premium|fee|subscription"
)


_NO_NAME: Final = LazyPattern(
    r"(?i)(?:it|this|that|these|those|there|what|which|who|he|she|they|you|i|we|everyone|everybody|nobody|someone"
    r"|something|nothing|one|all|my|our|your|his|her|their|the|a|an|python|code|docs?)\b"
)
"""Words that may begin a sentence with a capital and name nothing."""
_NO_TITLE: Final = LazyPattern(r"(?i)(?:to|that|not|in|at|on|for|changing|unclear|open|being|only|just)\b")
"""What is said of a role instead of naming it."""


def _rule(match: re.Match[str]) -> PlainStatement | None:
    """A rule after words such as "from now on" or "as a rule", which stay if the rule is new."""
    rule = match["rule"].strip(" ,:")
    if is_vague_rule(rule) or len(rule.split()) < 2 or _INTENTION.match(rule):
        return None
    lead = match["lead"].lower()
    is_new = lead.startswith(("from now", "going forward", "from here", "in future", "in the future"))
    text = about_person(rule)
    text = f"From now on: {text}" if is_new and not text.lower().startswith("from now") else text
    return PlainStatement(
        text=text,
        kind="preference",
        fact="preference",
        relation="update" if is_new else "new",
        slot=f"rule {rule.lower()}",
    )


def _rule_at_end(match: re.Match[str]) -> PlainStatement | None:
    rule = match["rule"].strip(" ,")
    if is_vague_rule(rule) or len(rule.split()) < 3 or _INTENTION.match(rule):
        return None
    duty = _DUTY.search(rule)
    ends = duty["thing"].strip() if duty else ""
    return PlainStatement(text=about_person(match.group()), kind="decision", relation="update", ends=ends)


def _instruction(match: re.Match[str]) -> PlainStatement | None:
    """ "never use tabs", "always answer in Dutch": what follows must be a verb in its base form."""
    rule = match["rule"].strip(" ,")
    if _NO_RULE.match(rule) or is_vague_rule(rule):
        return None
    rule = re.sub(r"(?i),? ever$", "", rule)
    if not (_BASE_VERB.match(rule) or re.match(r"(?i)before |after |on |in ", rule) or _SHORT_RULE.fullmatch(rule)):
        return None
    word = "Never" if re.search(r"(?i)never|don't|do not", match["word"]) else "Always"
    text = as_sentence(f"{word} {rule}")
    return PlainStatement(
        text=text, kind="preference", fact="preference", joins=len(rule.split()) < (2 if _BASE_VERB.match(rule) else 3)
    )


def _no_more(match: re.Match[str]) -> PlainStatement | None:
    if is_vague_rule(match["rule"]):
        return None
    return PlainStatement(
        text=as_sentence(f"Don't {match['rule']}"), kind="preference", fact="preference", relation="update"
    )


def _remember(match: re.Match[str]) -> PlainStatement | None:
    """What the person asks to be remembered, if it is a statement of its own; after `remember that` it is one."""
    said = match["said"].strip(" ,:")
    is_stated = _SAID.match(said) or (match["word"].lower() == "remember" and not _NOT_STATED.match(said))
    if is_vague(said) or len(said.split()) < 3 or not is_stated or _ERRAND.match(said):
        return None
    return PlainStatement(text=about_person(said), kind="fact")


def _convention(match: re.Match[str]) -> PlainStatement | None:
    """ "we use pnpm here, not npm": one of two, so that even a name in small letters is no passing remark."""
    if is_vague(match["one"]) or is_vague(match["other"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="preference", fact="preference")


def _every(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["rest"]) or _ERRAND.match(match.group().partition(" ")[2]):
        return None
    return PlainStatement(text=as_sentence(match.group()), kind="workflow", fact="preference")


def _decision(match: re.Match[str]) -> PlainStatement | None:
    choice = match["choice"].strip(" ,:")
    if is_vague(choice) or len(choice) < 3:
        return None
    is_shared = re.match(r"(?i)we|decision|final", match.group()) and not re.match(
        r"(?i)we(?:'ve)? (?:just )?agreed", match.group()
    )
    if not (is_shared or has_name(choice) or re.match(r"(?i)(?:not to|against|stop|quit|switch)\b", choice)):
        return None
    text = (
        about_person(match.group()) if re.match(r"(?i)(?:i|we)\b", match.group()) else as_sentence(f"decided: {choice}")
    )
    return PlainStatement(text=text, kind="decision")


def _agreement(match: re.Match[str]) -> PlainStatement | None:
    return None if is_vague(match["choice"]) else PlainStatement(text=about_person(match.group()), kind="decision")


def _it_is(match: re.Match[str]) -> PlainStatement | None:
    choice = match["choice"].strip(" ,")
    if is_vague(choice) or not has_capital(choice):
        return None
    rest = (match["rest"] or "").strip(" ,")
    return PlainStatement(
        text=as_sentence(f"decided: {choice}{', ' + rest if rest else ''}"), kind="decision", slot="choice"
    )


def _value(match: re.Match[str]) -> PlainStatement | None:
    noun, value = match["noun"], match["value"].strip(" ,")
    if is_mood(value) or is_vague(value) or is_vague(noun):
        return None
    if not has_name(value) or re.match(
        r"(?i)(?:around|about|roughly|approximately|up to|between|under"
        r"|over)\b",
        value,
    ):
        return None
    text = match.group() if match["article"] else f"the {match.group()}"
    return PlainStatement(text=as_sentence(text), kind="fact", slot=noun.lower(), starts=True, is_value=True)


def _responsible(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["rest"]):
        return None
    name = match["name"]
    if name.lower() in {"it", "that", "this", "he", "she", "there", "what", "here", "who", "which"}:
        return None
    verb = " is " if match["verb"].strip().lower() in {"'s", "is"} else f" {match['verb'].strip()} "
    return PlainStatement(text=as_sentence(f"{name}{verb}{match['rest']}"), kind="fact")


def _kept_in(match: re.Match[str]) -> PlainStatement | None:
    """ "designs live in Figma": where things of the team are."""
    if is_vague(match["noun"]) or is_vague(match["place"]) or not (has_name(match["place"]) or "/" in match["place"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact")


def _named_thing(match: re.Match[str]) -> PlainStatement | None:
    """ "Atlas uses Python 3.12", "Atlas is hosted on Render": what a thing with a name is made of and where it is."""
    if _NO_NAME.match(match["noun"]) or is_vague(match["value"]) or not has_name(match["value"]):
        return None
    return PlainStatement(text=as_sentence(match.group()), kind="fact")


def _own_role(match: re.Match[str]) -> PlainStatement | None:
    """ "my role is lead nurse", "my job title is now auditor"."""
    if is_mood(match["role"]) or is_vague(match["role"]) or _NO_TITLE.match(match["role"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="identity", fact="identity", slot="role")


def _tool(match: re.Match[str]) -> PlainStatement | None:
    if is_mood(match["value"]) or is_vague(match["value"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", slot=match["noun"].lower())


def _limit(match: re.Match[str]) -> PlainStatement | None:
    if is_vague_rule(match["rule"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="preference", fact="preference")


def _duty(match: re.Match[str]) -> PlainStatement | None:
    """ "our tenders must be in Dutch", "mypy strict is mandatory in CI"."""
    if is_vague(match["noun"]) or is_vague(match["rest"]) or _ERRAND.match(match["noun"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="constraint", fact="preference")


def _taste_of_others(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["thing"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="preference", fact="preference")


def _recurring(match: re.Match[str]) -> PlainStatement | None:
    """What happens again and again: "the stand-up is at 9:30 every day"."""
    if is_vague(match["noun"]) or is_mood(match["rest"]) or re.match(r"(?i)(?:i|we|you|there|what)\b", match["noun"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="fact", slot=match["noun"].lower())


def _no_rule(match: re.Match[str]) -> PlainStatement | None:
    if is_vague_rule(match.group()):
        return None
    return PlainStatement(text=as_sentence(match.group()), kind="preference", fact="preference")


def _split_work(match: re.Match[str]) -> PlainStatement | None:
    if is_vague(match["rest"]):
        return None
    return PlainStatement(text=about_person(match.group()), kind="workflow")


STANDING_FRAMES: Final[tuple[Frame, ...]] = (
    frame(
        r"(?:please )?(?P<word>remember|note|keep in mind|bear in mind|don't forget"
        r"|make a note|for (?:later|next time))(?: that|:| for (?:later|next time|the future)(?: that)?)\s*"
        r"(?P<said>.+)$",
        _remember,
    ),
    frame(
        r"(?:please )?(?P<lead>from now on|going forward|from here on(?: out)?|as a (?:general )?rule"
        r"|in general|by default|in (?:the )?future|as a matter of (?:policy"
        r"|principle))[,: ]\s*(?:please )?(?P<rule>.+)$",
        _rule,
    ),
    frame(
        r"(?P<lead>(?:(?:the|our|my|a) )?(?:new |team's |house |general |standing |coding "
        r"|company )?(?:rule|convention"
        r"|policy|principle)s?(?: (?:for|in|at|of|on|from) [\w -]{2,40}?)?(?: is(?: that| to)?|:))\s*(?P<rule>.+)$",
        _rule,
    ),
    frame(
        r"(?:it's |that's )?(?P<lead>(?:company|house|school|team) (?:policy|rules?)), (?P<rule>.+)$",
        _rule,
    ),
    frame(
        r"(?P<rule>.+?),? (?:from now on|going forward"
        r"|from here on(?: out)?)(?:, not [\w ]{2,20})?$",
        _rule_at_end,
    ),
    frame(
        r"(?:please )?(?:make sure (?:to |you )|be sure to )?(?P<word>always|never(?: ever)?|don't ever"
        r"|do not ever)\s+(?P<rule>.+)$",
        _instruction,
    ),
    frame(r"(?:please )?(?:don't|do not|stop) (?P<rule>[a-z]+ .+) (?:again|any ?more|in future)$", _no_more),
    frame(
        r"(?:we|i) (?:only )?use (?P<one>[\w./+#-]+(?: [\w./+#-]+)??)(?: here| everywhere| for [\w ]{2,30})?"
        r",? (?:not|instead of|rather than) (?P<other>[\w./+#-]+(?: [\w./+#-]+)?)(?: here)?$",
        _convention,
    ),
    frame(
        r"(?:every|each) (?:[\w-]+ ){1,3}?(?:gets?|goes (?:to|through)|starts with"
        r"|ends with)\s+(?P<rest>.+)$",
        _every,
    ),
    frame(
        r"(?:i|we)(?:'ve| have)? (?:now |finally |just |all |both |jointly |eventually )?(?:decided|agreed"
        r"|settled|resolved|(?<=we )(?:chose|picked|opted))(?! up\b)(?: (?:to|on|that|against|for"
        r"|not to))? (?P<choice>.+)$",
        _decision,
    ),
    frame(
        r"(?P<noun>(?:our|my|all|all our) [\w -]{2,40}?) (?:must|mustn't|have to|has to|may only"
        r"|may not)\s+(?P<rest>.+)$",
        _duty,
    ),
    frame(
        r"(?P<noun>[\w./+-]+(?: [\w./+-]+){0,3}?) (?:is|are) (?P<rest>(?:mandatory|required|forbidden"
        r"|banned|not allowed|compulsory"
        r"|obligatory|off[- ]limits)\b.*)$",
        _duty,
    ),
    frame(
        r"(?:my|our) (?:[\w-]+ )?(?:boss|chair|manager|director|ceo|cto|client|customers?|team|landlord"
        r"|landlady|editor|supervisor"
        r"|teacher|coach|lawyer|accountant|neighbours?) (?:hates|hate|loves|love|prefers|prefer|insists on"
        r"|dislikes|doesn't like"
        r"|refuses|can't stand) (?P<thing>.+)$",
        _taste_of_others,
    ),
    frame(
        r"(?P<article>our |the )?(?P<noun>revenue|turnover|profit|headcount|sales) (?:was"
        r"|were) (?P<value>.*\b(?:19|20)\d\d\b.*)$",
        _value,
    ),
    frame(
        r"(?P<noun>(?:the |our |all )?[a-z][\w-]*(?: [a-z][\w-]*)?) (?:live|lives|belong|belongs|go|goes"
        r"|are (?:kept|stored)"
        r"|is (?:kept|stored)) (?:in|into|on|under|to) (?P<place>.+)$",
        _kept_in,
    ),
    frame(
        r"(?P<noun>(?-i:[A-Z])[\w-]*(?:'s [a-z]+)?) @adv@(?P<verb>uses|needs|requires|depends on|runs? on"
        r"|(?:is|are) (?:written in|built with|bundled with|tested with|deployed (?:to|on|with)|hosted (?:on|at|by)"
        r"|based on|packaged (?:as|with))) (?P<value>.+)$",
        _named_thing,
    ),
    frame(r"my (?:new |current )?(?:role|job title|position)(?: at [\w .&-]{2,40}?)? is @adv@(?P<role>.+)$", _own_role),
    frame(
        r"(?P<article>our )(?P<noun>linter|formatter|ci|db|database|cache|queue|broker|orm|framework|bundler"
        r"|package manager|registry|editor|ide|tracker|wiki|chat|crm|erp|hosting|language|default branch"
        r"|main branch) "
        r"(?:is|are) (?P<value>[\w.+-]+.*)$",
        _tool,
    ),
    frame(
        r"(?P<rule>.+?) is our (?:limit|rule|convention|standard|policy|default|norm|maximum"
        r"|minimum)\b.*$",
        _limit,
    ),
    frame(r"we(?:'ve| have)? agreed with [\w ]{2,40}: (?P<choice>.+)$", _agreement),
    frame(r"(?:decision|decided|final decision|verdict)\s*:\s*(?P<choice>.+)$", _decision),
    frame(r"(?:we're|we are|i'm|i am) (?:now )?going (?:ahead )?with (?!my\b|our\b|an?\b)(?P<choice>.+)$", _decision),
    frame(r"(?:let's|lets|we'll|we will) go with (?P<choice>[\w+#./& -]{2,60})(?P<rest>,.*)?$", _it_is),
    frame(r"(?P<choice>[\w+#./& -]{2,40}?) it is(?P<rest>,.*)?$", _it_is),
    frame(rf"(?P<article>the |our )?(?P<noun>{_PROJECT_NOUNS})(?: now)?(?: is|'s)(?: now)? (?P<value>.+)$", _value),
    frame(
        r"(?P<noun>(?:the |our |my )?[a-z][\w-]*(?: [\w-]+){0,3}?) (?:is|are|happens?|takes? place"
        r"|appears?|comes? out) (?P<rest>.*\b(?:every (?:day|week|month|year|quarter|morning|evening"
        r"|second \w+|other \w+|\w+day|january|february|march|april|may|june|july|august|september|october"
        r"|november|december)|@weekdays@|once a (?:week|month|year))\b.*)$",
        _recurring,
    ),
    frame(
        r"no (?:meetings?|calls?|appointments?|deploys?|deployments|releases|emojis?|exclamation marks"
        r"|abbreviations|jargon|acronyms|bullet points|tables|small talk|passive voice"
        r"|comments)\b.*\b(?:before|after|on|in|at|during|unless|without|for|please)\b.+$",
        _no_rule,
    ),
    frame(
        r"(?P<name>(?-i:[A-ZÄÖÜÅ])[\w'-]+(?: (?-i:[A-ZÄÖÜÅ])[\w'-]+)?)(?P<verb>'s"
        r"| is) (?P<rest>(?:now )?(?:our|my) .+)$",
        _responsible,
    ),
    frame(
        r"(?P<name>(?-i:[A-ZÄÖÜÅ])[\w'-]+) (?P<verb>writes|edits|handles|owns|runs|leads|manages|approves"
        r"|signs off|reviews|is responsible for|is in charge of|takes care of|looks after)\s(?P<rest>.+)$",
        _split_work,
    ),
)
"""Ways of saying a rule, a decision, or a value of something that the person and others share."""
