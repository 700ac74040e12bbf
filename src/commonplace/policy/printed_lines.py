"""What lines that programs print look like: one expression to a line, compared without case with the whole line."""

from typing import Final

SURE: Final = r"""
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
segmentation fault.*|aborted \(core dumped\)
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
command (?:executed|completed|ran|finished|succeeded)(?: successfully)?(?: \(?in \d.*)?\W*
(?:process )?exit(?:ed)?(?: with)? (?:code|status):? ?\d+\W*
(?:the )?file (?:\S+ )?(?:has been |was )?(?:created|saved|written)(?: successfully)?(?:[:.]| at| to|$).{0,120}
(?:the )?file (?:\S+ )?(?:has been |was )?(?:updated|edited|deleted)(?: successfully)?(?:[:.]| at| to|$).{0,120}
successfully (?:wrote|created|updated|saved|edited|read|loaded)(?: (?:to|file|\d+|/\S+|\S+\.\w+).{0,100}|\W*)
successfully (?:connected)(?: (?:to|file|\d+|/\S+|\S+\.\w+).{0,100}|\W*)
todos have been modified.*
(?:wrote|read|edited|created) \d+ (?:lines?|bytes|files?)\b.{0,80}
(?:operation|task|request|build|job) (?:completed|succeeded|finished)(?: successfully)?\W*
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
(?:thinking|processing|searching|generating|analy[sz]ing|loading|fetching|checking|reading|working).{0,40}(?:\.\.\.|…)
(?:compiling|please wait).{0,40}(?:\.\.\.|…)
(?:progress|downloading|uploading|loading|completed?)[: ]+\d{1,3}(?:\.\d+)?\s?%\W*|processing your request.*
copied to (?:the )?clipboard\W*
(?:all )?(?:tests|checks) (?:have )?passed\W*|build (?:succeeded|failed|successful)\W*
(?:found )?\d+ errors?(?:,| and)? ?(?:\d+ warnings?.*|\W*)
(?:✅|✔|✓|❌)? ?(?:success|no issues found|compiled successfully|saved|changes saved|all files formatted).{0,3}
(?=.*\.\w{1,5}\b)\S+(?:\s{2,}\S+){2,}|\$ (?:ls|cd|pwd|clear|exit|whoami|cat|echo|history)\b.{0,20}
\[\d+/\d+\] .*\.\.\.|.*\.\.\.\s?(?:done|ok|failed|skipped)\W*|(?-i:[MADRCU?!]{1,2}) {1,2}\S+[./]\S*|(?-i:E) {3,}.*
pid tty +time cmd|\s*\d+ (?:pts|tty)\S* +.*|<(?:script|style)\b.*|(?:&#?\w+;\s*)+|exit \d+|step \d+ of \d+
(?:connection|session|task|job|process|server|service|worker) (?:closed|opened|started|established|lost|stopped)\W*
(?:connection|session|task|job|process|server|service|worker) (?:reset|terminated|ended)\W*
(?:connecting|searching|looking|listing) (?:to|for|in) (?:server|files?|the (?:web|file|files|directory)|directory).*
(?:connecting|searching|looking|listing) (?:to|for|in) (?:matches).*
import [\w.]+(?: as \w+)?|from [\w.]+ import [\w, *()]+
waiting for .*\.\.\.|retrying in \d+ ?m?s.*|(?:attempt|retry|iteration|epoch|step|batch) \d+/\d+.*
"""
"""Lines that nobody but a program writes."""

MAYBE: Final = r"""
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
"""Lines that programs write and people might: noise only among lines that are surely so."""
