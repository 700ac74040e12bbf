"""Find program output: progress, installs, listings, traces, logs, results of tools and tests.

Each line of the lists is one regular expression, compared without case. A line in which a program reports a run has
parts of known kinds and no other: what it worked on, how many, how it went, how long it took.
"""

import re
from functools import cache
from typing import Final

from commonplace.model.text import LazyPattern
from commonplace.screening.junk_phrases import any_of

_CERTAIN: Final = r"""
.*\d%\s?\|.*|.*\[[#=>.\- ]*[#=>.\-]{3}[#=>.\- ]*\].{0,60}|.*[█▓▒░▏▎▍▌▋▊▉━]{3,}.*
.*\d%.*\b\d+(?:\.\d+)?\s?(?:[kmg]i?b|it)/s\b.*|.*\b(?:[kmg]i?b|it)/s\b.*\beta\b.*
collecting [\w.\[\]-]+(?:[=<>~!]=?\S*)?(?: \(.*\))?|downloading \S+\.(?:whl|tar|gz|zip|deb|tgz)\b.*
downloading \S+ \(.*b\)
installing collected packages:.*|successfully (?:installed|built|uninstalled) \S+.*|requirement already satisfied:.*
(?:building wheels?|created wheel|stored in directory|using cached|attempting uninstall)\b.*[:=(].*
(?:found existing installation)\b.*[:=(].*
(?:building wheel for|preparing metadata|getting requirements to build|installing build dependencies|using cached) \S+.*
(?:npm|yarn|pnpm) (?:warn|err!|notice|info|error)(?: .*)?|(?:added|removed|changed|audited) \d+ packages?.*
found \d+ vulnerabilit.*|\d+ packages? (?:are|is) looking for funding.*|\s*run `npm (?:fund|audit).*
up to date, audited.*
(?:reading package lists|building dependency tree|reading state information)\.\.\..*|(?:get|hit|ign):\d+ \S+.*
fetched \d+ .*
(?:setting up|unpacking|preparing to unpack|selecting previously unselected|processing triggers for) .*\.\.\..*
the following (?:new|additional|extra) packages will be installed:|after this operation, .* disk space.*
\d+ upgraded, \d+ newly.*
\s*(?:compiling|downloaded|fresh|checking|adding|installing|resolved) \S+ (?:v\d\S*|\d+ packages.*|in \d.*)
\s*(?:resolving|prepared|installed) \S+ (?:v\d\S*|\d+ packages.*|in \d.*)
\s*finished (?:`\w+` |dev |release |test )?.*(?:profile|target).*
(?:installed|resolved|prepared|audited) \d+ packages? in \d.*
step \d+/\d+ :.*|#\d+ (?:\[|done|cached|sha256|exporting|\d+\.\d+).*
[0-9a-f]{12}: (?:pull|already|download|waiting|verif|extract|layer|push).*
(?:digest: sha256|status: (?:downloaded|image is)|successfully tagged|using default tag).*
(?:removing intermediate container).*
(?:==> |🍺|make(?:\[\d+\])?: (?:entering|leaving|nothing|\*\*\*)|-- (?:configuring|generating|build files)).*
(?:g?cc|clang|g\+\+) -.*|[-dlbcps][rwxst-]{9}[+@.]?\s+\d+\s.*|total \d+
[│├└─ ]*[├└│][│├└─ ]*[\w.@ -]*(?:/|\.\w+)?(?: ->.*)?|[├└│─ ]+
\S+\.\w{1,5}:\d+:\d+:? .*|\S+\.\w{1,5}:\d+: (?:error|warning|[a-z]\d{3}|in |note).*
traceback \(most recent call last\).*|during handling of the above.*|the above exception was.*|exception in thread .*
\s*file "[^"]+", line \d+.*|\s*at \S.*(?::\d+\)?|\(native method\)|<anonymous>\)?|\(unknown source\))|\s*\^[~^ ]*
\s*\.\.\. \d+ more
goroutine \d+ \[.*|thread '[^']*' panicked at.*|stack backtrace:|note: run with `rust_backtrace.*
segmentation fault(?: at .*|[^\w]*(?:core dumped)?\W*)|(?:aborted|killed|bus error|illegal instruction) \(core dumped\)
terminate called (?:after throwing|without an active).*|\s*what\(\): .*|\*\* \([\w.]+\) .*|node:internal/\S+.*
(?:double free or corruption|free\(\)|malloc\(\)|realloc\(\)|munmap_chunk\(\)).*|\*\*\* stack smashing detected.*
\S+\.(?:rb|lua|php|exs?):\d+:(?:in)? .*|\s*from \S+:\d+:in .*|lua: \S+:\d+: .*
unhandled (?:exception[.:]|promise rejection:?) .*|caused by: (?:[\w$]+\.)+\w+(?:error|exception)(?::.*)?
(?:.* )?at \S+\.p[lm] line \d+\W*|.*\bcalled on a null object reference\W*|error in \S[^:]{0,60} : .*
\s*\d+: +(?:0x[0-9a-f]+ - )?[\w:<>]+::.*|(?:bash|zsh|sh|-bash): .*(?:command not found|no such file|permission denied).*
(?:ls|cat|cd|rm|cp|mv|grep|find|mkdir|chmod|touch|git|head|tail): .*(?:no such file|permission denied).*
(?:ls|cat|cd|rm|cp|mv|grep|find|mkdir|chmod|touch|git|head|tail): .*(?:not permitted|is a directory|not a).*
\[?\d{4}[-/]\d\d[-/]\d\d[t ]\d\d:\d\d\S*\]?\s.{0,40}\b(?:info|debug|warn(?:ing)?|error|trace|notice|critical|fatal)\b.*
\[?\d\d:\d\d:\d\d\S*\]?\s.{0,30}\b(?:info|debug|warn(?:ing)?|error|trace|notice|critical|fatal)\b.*
\[(?:info|debug|warn(?:ing)?|error|trace|notice|critical|fatal)\s*\].*
(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+\d+ \d\d:\d\d:\d\d \S+ \S+:.*
\S+ - - \[.*|(?:get|post|put|delete|head|patch|options) /\S* (?:http/\d|\d{3}).*|http/\d(?:\.\d)? \d{3}.*
(?:content-type|accept): \w+/.*
(?:content-length|cache-control|etag|access-control-\S+|set-cookie|transfer-encoding|x-[\w-]+): .*
(?=.*\.{3})[.fsxe]{5,}(?:\s*\[\s*\d+%\])?|={3,}.*={3,}|\S+\.py [.fsxe]+\s*\[\s*\d+%\]
.*::\S+ (?:passed|failed|skipped|error|xfail\w*|xpass\w*)(?:\s*\[\s*\d+%\])?|(?:passed|failed|error) \S+::\S+.*
(?:platform \w+ --|rootdir:|configfile:|cachedir:|collected \d+ items?|short test summary info|ran \d+ tests? in).*
running \d+ tests?
(?:tests|test suites|snapshots|time|test files|duration): +[\d.]+.*
\d+ (?:passed|failed|passing|failing|pending)(?:,.*| in .*| \(.*|$)
test \S+ \.\.\. (?:ok|failed|ignored)|test result: .*|(?:ok|not ok) \d+ .*|--- (?:pass|fail): .*
(?:pass|fail|ok) +\S+(?:\.\w+|/\S+)(?: .*)?
\s*[✓✔✗✘√×✕] .{0,100}(?:\(?\d+ ?m?s\)?)|name +stmts.*|total +\d+ +\d+ +\d+%|[\w/.-]+\.py +\d+ +\d+ +\d+%.*
on branch \S+|your branch (?:is up to date|is ahead|is behind|and ').*|nothing to commit.*
changes (?:not staged for commit|to be committed).*
untracked files:.*|no changes added to commit.*|already up[ -]to[ -]date\W*|everything up-to-date|fast-forward
updating [0-9a-f]{7}.*
\s*\((?:use "git|create/copy).*|\s*(?:modified|new file|deleted|renamed): +\S.*|switched to (?:a new )?branch '.*
cloning into '.*
remote: (?:counting|compressing|enumerating|total|resolving|create a|processing).*|to (?:https?:|git@|ssh:).*
\s*\S+ -> \S+
(?:receiving|counting|compressing|writing|enumerating|unpacking) objects:.*|resolving deltas:.*|delta compression.*
\s*[0-9a-f]{7,}\.\.[0-9a-f]{7,}.*|\s*\d+ files? changed.*|\s*\S+ +\| +\d+ [+-]*|commit [0-9a-f]{7,40}(?: \(.*\))?
author: .*<.*>|date:   .*
head is now at.*|\[\S+ (?:\(.*\) )?[0-9a-f]{7,}\] .*|create mode \d+.*|saved working directory.*
(?:diff --git|index [0-9a-f]+\.\.|--- a/|\+\+\+ b/|--- /dev|\+\+\+ /dev|@@ -|rename (?:from|to) |similarity index).*
(?:new file mode).*
command (?:executed|completed|ran|finished|succeeded|failed)(?: successfully)?(?: \(?(?:in|with) .{0,20}\d.{0,20})?\W*
(?:process )?(?:exit(?:ed)?|finished)(?: with)?(?: exit)? (?:code|status):? ?\d+(?: \(.{0,60}\))?\W*
(?:kernel: )?out of memory: killed .*|(?:current )?working directory: \S+
(?:the )?file (?:\S+ )?(?:has been |was )?(?:created|saved|written)(?: successfully)?(?:[:.]| at| to|$).{0,120}
(?:the )?file (?:\S+ )?(?:has been |was )?(?:updated|edited|deleted)(?: successfully)?(?:[:.]| at| to|$).{0,120}
successfully (?:wrote|created|updated|saved|edited|read|loaded)(?: (?:to|file|\d+|/\S+|\S+\.\w+).{0,100}|\W*)
successfully (?:connected)(?: (?:to|file|\d+|/\S+|\S+\.\w+).{0,100}|\W*)
todos have been modified.*|status(?: code)?: ?\d+.*
\w+ (?:finished|completed|done|failed) with \d+ (?:error|warning|failure).*
(?:loaded|indexed|registered|initiali[sz]ed|synced|processed|scanned) \d+ [\w ]{1,30}\W*
(?:wrote|read|edited|created) \d+ (?:lines?|bytes|files?)\b.{0,80}
(?:operation|task|request|build|job|process) (?:completed?|succeeded|finished|exited)(?: successfully| with .{0,30})?\W*
[1-5]\d\d (?:ok|created|accepted|no content|found|not found|forbidden|unauthorized|bad request|bad gateway)\W*
(?:context(?: window)?|tokens?|memory|cpu|disk|battery)\b.{0,20}\b\d+ ?%\W*
(?:running|calling|executing|invoking|using) (?:tool|command|function)[:` ]+\S+\W*
(?:tool|function)[_ ]?(?:call|result|use)s?(?:[_:].*|\W*)
</?(?:tool_?\w*|function_\w+|system-reminder|invoke|parameter)\b.*|\(no (?:output|content)\)
no (?:matches|files|results) found\W*
(?:done|finished|completed|built|compiled)(?: successfully)? (?:in|after) \d+(?:\.\d+)?\s?m?s\W*
\W*done in \d.*s\W*|✨.*
(?:user|pid) +(?:user|pid)\b.*%?cpu.*|container id +image.*|name +(?:ready|namespace) +.*|filesystem +(?:size|1k).*
\S+ +\d+/\d+ +(?:running|pending|error|completed|crashloop\w*|terminating|evicted|imagepull\w*).*|(?:\S+ +){2,}\d+% /\S*
(?:</?[a-z!][^>]*>[^<\w]{0,20})+|(?:real|user|sys)\s+\d+m[\d.]+s
(?:listening|running|serving|server \w+) (?:on|at) \S*:\d+\S*
➜ +(?:local|network): .*|press ctrl.*to (?:quit|stop).*|(?:webpack|vite|next\.js|esbuild) .*(?:compiled|built|ready).*
nvidia-smi.*|\|.*mib / .*mib.*|\d+ bytes from \S+: icmp_seq.*|ping \S+ \(.*\).*|\d+ packets transmitted.*
(?:still |now )?(?:thinking|processing|searching|generating|analy[sz]ing|loading|fetching).{0,40}(?:\.\.\.|…)
(?:still |now )?(?:checking|reading|working|compiling|please wait).{0,40}(?:\.\.\.|…)
(?:progress|downloading|uploading|loading|completed?)[: ]+\d{1,3}(?:\.\d+)?\s?%\W*|processing your request.*
copied to (?:the )?clipboard\W*
(?=.*<verdict>)(?:(?:all|the|both|of|out|ran|\d+) )*(?:\w+ )?<run>(?: run)?(?: <outcome>[,;]?){1,8}\W*
(?=.*<verdict>)<run>: <outcome>(?:[,;]? <outcome>){0,8}\W*|\d+(?:/| of | out of )\d+ (?:tests? )?<verdict>.{0,40}
(?:found )?\d+ errors?(?:,| and)? ?(?:\d+ warnings?.*|\W*)
(?:✅|✔|✓|❌)? ?(?:success|no issues found|compiled successfully|saved|changes saved|all files formatted).{0,3}
(?=.*\.\w{1,5}\b)\S+(?:\s{2,}\S+){2,}|\$ (?:ls|cd|pwd|clear|exit|whoami|cat|echo|history)\b.{0,20}
\[\d+/\d+\] .*\.\.\.|.*\.\.\.\s?(?:done|ok|failed|skipped)\W*|(?-i:[MADRCU?!]{1,2}) {1,2}\S+[./]\S*|(?-i:E) {3,}.*
pid tty +time cmd|\s*\d+ (?:pts|tty)\S* +.*|<(?:script|style)\b.*|(?:&#?\w+;\s*)+|exit \d+|step \d+ of \d+\W{0,2}\w*
(?:found|matched|showing|returned|displaying) \d+ \w+(?: (?:in|of|from) \d+ \w+)?\W*|\w+ing\W+\d{1,3} ?%\W*
(?:(?:rows?|lines?|files?|matches|hits|errors?|warnings?|skipped|changed|affected|total) ?){1,3}: \d+\W*
(?:memory|note|file|entry|profile|settings|changes?|document) (?:updated|saved|created|deleted|written|stored|loaded)\W*
(?:traceback|error|exception|warning)s?: ?\w+(?:error|exception)\b.*
(?:connection|session|task|job|process|server|service|worker) (?:closed|opened|started|established|lost|stopped)\W*
(?:connection|session|task|job|process|server|service|worker) (?:reset|terminated|ended)\W*
(?:connecting|searching|looking|listing) (?:to|for|in) (?:server|files?|the (?:web|file|files|directory)|directory).*
(?:connecting|searching|looking|listing) (?:to|for|in) (?:matches).*
import [\w.]+(?: as \w+)?|from [\w.]+ import [\w, *()]+
waiting for .*\.\.\.|retrying in \d+ ?m?s.*|(?:attempt|retry|iteration|epoch|step|batch) \d+/\d+.*
[\[<]\W?(?:tool|function|system|command|shell|output|assistant)\b[^\[\]<>]{0,200}[\]>]
(?:[\w ]{0,30} (?:started|stopped|loaded|ready)\W{0,3}(?:at )?)?\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d\S*(?:,.{0,120}|\W*)
"""
"""Lines that only a program writes; compared with the whole line. `_RUNS` has the words in angle brackets."""

_RUNS: Final = {
    "<run>": r"(?:tests?|checks?|specs|test suite|suite|build|ci|pipeline|lint(?:er)?)",
    "<verdict>": r"\b(?:pass(?:ed|es|ing)?|fail(?:ed|s|ing)?|succe\w+|green|red|clean|ok)\b",
    "<outcome>": r"(?:is|are|was|were|has|have|all|now|still|again|finally|locally|with|no|and|in|pass(?:ed|es|ing)?"
    r"|fail(?:ed|s|ing|ures?)?|succe\w+|green|red|clean|ok|skipped|errors?|warnings?|seconds|m?s|\d[\d.]*m?s?)",
}
"""How runs of tests and builds are called, and what is said of them."""

_POSSIBLE: Final = r"""
[\w.@~+-]*[/\\][\w.@~+/\\-]*|[\w@~+-]+(?:\.[\w-]+)*\.[a-z]\w{0,4}|[\w.-]+/
(?:[a-z_]\w*\.)*[a-z]\w*(?:error|exception|warning|interrupt)(?::.*)?
(?:error|fatal|warning|info|debug|note|hint|panic|fatal error|caused by|uncaught.{0,30})(?:\[\w+\])?: .{0,160}
(?:date|server|connection|vary|last-modified|expires|age|via|location|user-agent|host|accept-\w+|plugins|remote): .*
\[\d+/\d+\] .*|.*\b\d+(?:\.\d+)?\s?[kmg]i?b/s\b.*|(?:\$|>>>|❯|➜|%) \S.*|(?-i:[ MADRCU?!]{2}) \S+
[-\w.+]+ (?:[-\w.+]+ )*\(?v?\d[\w.+-]*\)?
(?:tests?|pass|passed|fail|failed|ok|skipped|done)(?:[: ].{0,100}|\W*)|\d{4}-\d\d-\d\d[t ]\d\d:\d\d\S* .*
\d\d:\d\d:\d\d\S* .*
[-_*=~+|: ]{3,}|\s*[{}\[\]();,]+|.{0,3}\d+(?:\.\d+)?(?:\s+\S+){0,3}
"""
"""Lines that programs write and people might: output only next to lines that are certain."""

_LONGEST_LINE: Final = 300  # characters: enough to recognise program output
_MOST_LINES: Final = 120
_FEW_PATHS: Final = 2
_FEW_WORDS: Final = 4  # in colour: a status shown in a terminal
_ANSI: Final = LazyPattern(r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]|\x1b\][^\x07\n]{0,200}\x07|\r|\x08")
_TRACE: Final = LazyPattern(
    r"(?im)^(?:traceback \(most|exception in|\s+at \S|panic:|thread '|goroutine \d|diff --git|@@ -|\s+raise \w)"
)
_CRASH_HEAD: Final = LazyPattern(r"(?im)^([^\n]{0,80}\bpanicked at [^\n]{1,200}:)\n")
"""The first line of a crash whose message stands in the next line."""
_ERROR_ALONE: Final = LazyPattern(
    r"(?:(?:PHP )?(?:Uncaught|Unhandled|Caused by:|(?:[Ff]atal|Parse) error:) )?"
    r"(?:\(in promise\) |exception |Uncaught )?"
    r"(?:[A-Za-z_]\w*[.\\$]|[a-z_]\w*::)*[A-Z]\w*(?:Error|Exception)(?:\s?\[\w+\])?(?::.{0,200}|\s+at .{0,100})?"
    r"|(?:[Ff]atal|[Rr]untime|[Pp]arse|[Ii]nternal|[Ss]yntax) error: .{0,140}"
    r"|(?:[Ee]rror|ERROR|[Ff]atal|FATAL|warning|panic)(?:\[\w+\]| \d+ \(\w+\))?: .{0,140}"
)
_PATH: Final = LazyPattern(r"(?:[A-Za-z]:)?[\w.@~+-]*[/\\][\w.@~+/\\-]*|[\w@~+-]+(?:\.[\w-]+)*\.[a-z]\w{0,4}|[\w.-]+/")
_EXPLAINED: Final = LazyPattern(
    r"(?i)^\W*(?:fix(?:ed)?|solution|cause|because|reason|workaround|lesson|root cause|lösung|ursache"
    r"|grund|solución|causa|remède|conclusion|learned|merke|tip)\b"
    r"|\b(?:fix(?:ed)? (?:by|with)|use|upgrade|happens|because|means|caused by|comes from|run|instead|solved|weil)\b"
)
_COMMAND: Final = LazyPattern(r"(?:[$>] )?[a-z][\w./-]*(?: [\w./-]+){0,3}: ")
_SENTENCE_WORDS: Final = LazyPattern(r"(?:[^\W\d_]{2,}[,;:]?\s+){3}[^\W\d_]{2,}")
_RECORD_KEY: Final = LazyPattern(
    r"""["'](?:status|ok|success|results?|data|errors?|code|content|type|tool_use_id|tool_call_id|id|items|total|count|took|took_ms
    |exit_?code|stdout|stderr|output|response|request_id|timestamp|duration_ms|usage|role|choices|hits|rows|cursor|has_more|event
    |level|jsonrpc|method|params|finish_reason|is_?error|arguments|truncated|matches|files|message)["']\s?:""",
    re.VERBOSE | re.IGNORECASE,
)
_HOLLOW: Final = LazyPattern(r"[\[{\s\]},:\"]{2,}")
_PRINTED: Final = "it is only program output"


_TIME: Final = (
    r"(?:(?:\d+ ?h ?)?(?:\d+ ?m(?:in)? ?)?\d+(?:[.,]\d+)? ?(?:ms|s|secs?|seconds)|\d+(?:\.\d+)? ?(?:m|min|minutes))"
)
_UNITS: Final = """
    crates? modules? packages? files? targets? tests? migrations? assets? artifacts? layers? images? documents?
    rows? records? objects? chunks? pages? warnings? errors? problems? issues? dependencies wheels?
    director(?:y|ies) folders? entries lines? commits? bytes items? nodes? tasks? jobs? class(?:es)? symbols?
    templates? routes? schemas? snapshots? specs? suites? cases? containers? services? endpoints? tokens?
    batch(?:es)? embeddings? vectors? urls? requests? plugins? sources? components? functions? bundles? sections?
    notes? index(?:es)? stories failures? vulnerabilities fixes changes checks archives updates matches results hits
    links queries tables blobs deltas
"""
_WORKS: Final = """
    compiling linking bundling building rebuilding transpiling transforming minifying linting type-?checking installing
    downloading uploading fetching pulling pushing resolving deploying packaging indexing reindexing migrating syncing
    cloning extracting unpacking generating rendering processing running checking testing collecting cleaning copying
    formatting optimi[sz]ing restoring publishing importing exporting scanning loading analy[sz]ing writing verifying
"""
_DONE: Final = """
    compiled linked bundled built rebuilt transpiled transformed minified linted type-?checked installed downloaded
    uploaded fetched pulled pushed resolved deployed packaged indexed reindexed migrated synced cloned extracted
    generated rendered processed ran checked tested collected cleaned copied formatted optimi[sz]ed restored
    published imported exported scanned loaded analy[sz]ed verified removed added deleted updated skipped
    passed failed cached changed created ignored deselected fixed audited saved applied
"""
_VERDICTS: Final = """
    done ok okay success successful successfully succeeded finished completed? failed complete up.to.date passed
    ready clean unchanged aborted cancelled skipped
"""
_CLAUSE_ENDS: Final = r"\s*(?:,|;|:|\.{3}|…| - | – | — |\||\.(?=\s|$))\s*|\s+and\s+(?=\d)"
_LONGEST_REPORT: Final = 200  # characters


def noise_reason(text: str) -> str:
    """Why the text is only program output, as the end of a sentence; empty if someone says something in it."""
    clean = _CRASH_HEAD.sub(r"\1 ", _ANSI.sub("", text))
    lines = [line.rstrip()[:_LONGEST_LINE] for line in clean.split("\n", _MOST_LINES * 2) if line.strip()][:_MOST_LINES]
    if not lines or ("\x1b" in text and len(clean.split()) <= _FEW_WORDS):
        return _PRINTED
    if _is_record(clean.strip()):
        return "it is the result of a tool"
    if len(lines) >= _FEW_PATHS and all(_PATH.fullmatch(line.strip()) for line in lines):
        return "it is a listing"
    return _PRINTED if _is_printed(lines, in_trace=_TRACE.search(clean) is not None) else ""


def _is_printed(lines: list[str], *, in_trace: bool) -> bool:
    """True if the lines are program output, except for a few without content."""
    sure = [line for line in lines if _is_sure(line, in_trace=in_trace)]
    if not sure or len(lines) == 1:
        return bool(sure)
    rest = [line for line in lines if not _is_sure(line, in_trace=in_trace)]
    unclear = [line for line in rest if _EXPLAINED.search(line) or not any_of(_POSSIBLE).fullmatch(line.strip())]
    few = len(sure) >= 2 and len(unclear) <= max(1, len(lines) // 3)
    return not unclear or (few and not any(_EXPLAINED.search(line) or _SENTENCE_WORDS.search(line) for line in unclear))


def _is_sure(line: str, *, in_trace: bool) -> bool:
    bare = line.strip()
    if _is_certain(bare) or _is_run_report(bare) or (in_trace and line[:1] in " \t+-"):
        return True
    if _EXPLAINED.search(bare):
        return False
    return _ERROR_ALONE.fullmatch(bare) is not None or _is_quoted_output(bare)


def _is_certain(line: str) -> bool:
    return any_of(_certain_lines()).fullmatch(line) is not None


@cache
def _certain_lines() -> str:
    lines = _CERTAIN
    for name, words in _RUNS.items():
        lines = lines.replace(name, words)
    return lines


def _is_quoted_output(line: str) -> bool:
    """True if a command and a colon come before output whose lines were joined by commas."""
    label = _COMMAND.match(line)
    clauses = line[label.end() :].rstrip(".").split(", ") if label else []
    return len(clauses) > 1 and sum(map(_is_certain, clauses)) * 2 >= len(clauses)


def _is_record(text: str) -> bool:
    """True if the whole text is JSON, as tools return it."""
    if len(text) < 2 or text[0] not in "{[" or text[-1] not in "}]" or text.startswith("[["):
        return False
    return _RECORD_KEY.search(text) is not None or _HOLLOW.fullmatch(text[:400]) is not None


def _is_run_report(line: str) -> bool:
    """True if all parts of a line say what a program worked on and how it went: "Built 14 targets in 2m 31s".

    "Builds take 48 s on the CI." is a sentence, and stays.
    """
    if len(line) > _LONGEST_REPORT:
        return False
    opened = line.casefold().replace("(", ", ").replace(")", ", ")
    parts = [part for each in _clause_ends().split(opened.strip()) if (part := each.strip(" .!✓✔✗"))]
    kinds = [_part_kind(part) for part in parts]
    if not parts or "" in kinds:
        return False
    return "run" in kinds or (len(kinds) > 1 and not {"work", "tally", "time"}.isdisjoint(kinds))


def _part_kind(part: str) -> str:
    """What a part of a line tells: a `run`, `work`, a `count`, outcomes (`tally`), `time`, `verdict`; or empty."""
    return next((kind for kind, pattern in _report_parts() if pattern.fullmatch(part)), "")


@cache
def _clause_ends() -> re.Pattern[str]:
    return re.compile(_CLAUSE_ENDS)


@cache
def _report_parts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    units, works, done, verdicts = map(_any, (_UNITS, _WORKS, _DONE, _VERDICTS))
    counted = rf"(?:\d[\d.,]*|no|all|\d+/\d+) (?:[\w-]+ )?{units}"
    took = rf"(?: (?:in|after|took) {_TIME})"
    forms = {
        "run": rf"\w+ed \d[\d.,]* (?!k?m\b|met(?:re|er)s|miles|laps|lengths)\w+ in \d+(?:\.\d+)? ?m?s"
        rf"|{done} (?:[\w-]+ (?:of )?)?{counted}{took}|(?:{works}|{done}) {counted}{took}"
        rf"|(?:[\w.-]+ )?(?:(?:re)?build|lint(?:er)?|compilation|compile|bundle"
        rf"|deploy(?:ment)?|(?:test )?run|install(?:ation)?|job|pipeline"
        rf"|tests?) (?:{verdicts}|{done})"
        rf"(?: successfully| with {counted})?{took}?|(?:linking|compiling|bundling|building) \S*[/.]\S+"
        rf"|(?:{verdicts}|{done}){took}"
        rf"|0 {units} found|{works} (?:[\w-]+ ){{0,2}}\d+/\d+|(?:success"
        rf"|{verdicts})? ?no {units} found(?: in {counted})?",
        "work": rf"{done} {counted}|{works}(?: (?:the |to )?[\w./@-]+){{0,3}}|{works} {counted}",
        "tally": rf"(?:\d+|all|no|none) (?:{done}|{verdicts}|failures?|errors?|warnings?)",
        "count": rf"{counted}(?: (?:{done}|{verdicts}|generated|left unchanged|run))?{took}?|saved \d[\d.,]* ?[kmg]i?b"
        rf"|\d+/\d+|\d+(?:\.\d+)? ?% ?(?:{verdicts})?|\d[\d.,]* ?[kmg]i?b(?:/s)?",
        "time": rf"(?:took |in |after |time |duration )?{_TIME}|{verdicts}{took}",
        "verdict": rf"{verdicts}(?: {verdicts})?|exit (?:code )?\d+",
    }
    return tuple((kind, re.compile(form)) for kind, form in forms.items())


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"
