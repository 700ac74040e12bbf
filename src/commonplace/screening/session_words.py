"""The words in which agents write about a session: who acts, what is said and done, requests, steps, empty words.

English only: agents write about sessions in English.
"""

from typing import Final


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in text.split())


USER: Final = _words("user user's human human's")
ASSISTANT: Final = _words("assistant ai chatbot")
CONVERSATION: Final = _words("conversation chat discussion exchange dialogue interaction session")
ADVERBS: Final = _words("""
    also then just again first next further later now still not very quite really so too has had have been only
    already almost once both all
""")
ONE: Final = _words("a an one some two three four five several another")
THE: Final = _words("the this that these those his her their it")
FILLERS: Final = _words("me us assistant for to with help have get up")
LISTENERS: Final = _words("me us for the assistant")
ASKED_ONES: Final = _words("user human him her them")
ANSWERING: Final = _words("""
    confirm clarify upload re-upload rephrase repeat paste specify resend retry elaborate wait choose pick provide share
""")
"""What a person is asked to do in a session."""
QUESTIONS: Final = _words("about what how why where when whether if who which whose")

ASKED: Final = _words("asked asking asks inquired enquired wondered wondering")
WANTED: Final = _words("asked wanted requested sought")
WANTS: Final = _words("wants needs needed looking")
TALKED: Final = _words("""
    explained provided helped suggested recommended answered offered described gave wrote listed summarized
    summarised translated clarified generated showed outlined walked responded replied drafted assisted searched
    apologized apologised asked discussed told greeted thanked acknowledged introduced presented proposed advised
    corrected informed reminded said stated mentioned noted commented rewrote repeated
""")
TAUGHT: Final = _words("explained clarified summarized summarised outlined elaborated apologized apologised")
HELPED: Final = _words("helped assisted helping assisting")
ADDRESSED: Final = _words("user user's you your you'd")
REPLIES: Final = _words("user user's human reply response input confirmation approval instructions answer feedback")
OPENED: Final = _words("opened started ended closed joined left resumed continued began")
DISCUSSED: Final = _words("discussed talked chatted spoke")
REACTED: Final = _words("""
    thanked greeted complimented congratulated praised acknowledged responded replied answered laughed smiled joked
    apologized apologised pasted attached clicked scrolled typed
""")
SENT: Final = _words("""
    sent shared copied pasted uploaded attached showed provided submitted tried opened closed posted dropped
""")
SENDINGS: Final = _words("""
    screenshot screenshots file files code link links image images log logs message messages snippet document error
    command picture photo text article list output traceback page prompt stack
""")
WENT: Final = _words("""
    went covered focused focussed revolved centered centred touched dealt concluded turned continued ended started
    began was
""")

PRODUCTS: Final = _words("""
    word words synonym synonyms antonym rhyme rhymes joke jokes poem poems haiku limerick story stories song recipe
    recipes translation summary recap definition explanation example examples list outline draft rewrite paraphrase
    caption captions headline title titles slogan slogans tagline nickname nicknames card toast speech message email
    e-mail letter reply tweet post paragraph paragraphs sentence sentences line lines bullet heading verse slide
    essay regex regexp function snippet query formula command one-liner conversion calculation estimate picture
    image logo icon idea ideas suggestion suggestions tip tips recommendation recommendations advice quiz riddle
    forecast answer clarification
""")
PIECES: Final = _words("paragraph paragraphs sentence sentences line lines bullet heading verse slide")
CHORES: Final = _words("""
    translate summarize summarise rewrite rephrase paraphrase convert calculate compute explain proofread spell
    define look find count debug shorten compare correct solve guess identify finish reword sort reorder
    translating summarizing summarising rewriting rephrasing converting calculating explaining proofreading
    spelling finding counting debugging comparing solving understanding repeat retry redo undo elaborate clarify
""")
SUM_VERBS: Final = _words("""
    add added subtract subtracted multiply multiplied divide divided times plus minus sum root percent percentage round
    rounded square squared product average mean difference modulo power
""")
SUMS: Final = (
    SUM_VERBS
    | ONE
    | _words("""
    by and of the a an from to up down places place decimal decimals together into between in it number numbers whole
    result answer
""")
)
"""What is said in a sum besides its numbers."""
LOOKED_UP: Final = _words("""
    plural singular spelling meaning opposite pronunciation etymology translation definition population distance capital
    weather temperature forecast sum average root difference height length area year date time version versions names
    antonym synonym abbreviation rate percentage word
""")
JOINTS: Final = _words("for of in between at today tomorrow now right on")
DONE: Final = _words("""
    translated summarized summarised rewritten rephrased reworded paraphrased converted calculated computed explained
    proofread corrected counted shortened sorted formatted multiplied divided added subtracted rounded reordered put
    checked solved defined spelled renamed fixed cut turned
""")
"""What is done once to a piece of work."""
CHORED: Final = _words("""
    translated summarized summarised rewrote rephrased reworded paraphrased converted calculated computed proofread
    counted shortened sorted reformatted formatted generated suggested drafted explained listed looked outlined
    transcribed rounded multiplied corrected compared solved composed polished simplified edited wrote renamed fixed
    described defined reordered numbered extracted merged indented capitalised capitalized expanded tidied restructured
    checked produced created prepared made
""")
MADE: Final = _words("made created prepared produced")
MADE_PIECES: Final = _words("list outline summary recap draft translation paraphrase")
CONVERTED: Final = _words("translated converted transcribed reformatted rewrote")
INTO: Final = _words("from into to")
HOW: Final = INTO | _words("""
    my me our us mine by because that which who where with using when if via only on until against without works now
    needs uses has lives
""")
"""What tells more of a chore than that it was done."""
CHORE_PIECES: Final = (
    (PRODUCTS - _words("song story stories speech letter"))
    | PIECES
    | SENDINGS
    | _words("""
    text table essay introduction abstract number numbers items names typo typos paragraph conclusion email e-mail
    footnote footnotes phrase phrases comment comments readme script bracket weather
    """)
)
"""What is worked on in a chore: one piece, without a name."""
CHORE_ENDS: Final = _words("""
    requested asked alphabetically clarity grammar spelling style half twice again once essay article letter bill list
    document report differences version versions contract talk poem user bit please order size
""")
"""What may stand after the piece besides grammar: a word with content says more than that a chore was done."""
EDITS: Final = _words(
    "turn put fix see make change rename move open show delete replace indent insert remove read check"
)

STEPS: Final = _words("""
    checked searched looked scanned listed verified reviewed inspected grepped opened re-read read ran re-ran reran
    executed restarted committed pushed edited updated fixed formatted compiled rebuilt fetched loaded queried
    renamed running checking searching reading reviewing listing scanning find locate access gone
""")
WORKPIECES: Final = _words("""
    calendar inbox email emails e-mails mailbox file files folder folders directory repo repository code codebase
    log logs docs documentation web internet page pages note notes memory memories vault database test tests suite
    linter build script command changes branch commit typo typos result results output config configuration readme
    imports function module search query anything line lines import
""")
PASSIVES: Final = _words("""
    saved updated created deleted summarized summarised translated reviewed resolved fixed completed generated
    uploaded formatted loaded processed written stored edited renamed checked sent
""")
OUTCOMES: Final = _words("""
    nothing none no found empty passed pass passing green fine ok okay good done clean works worked failed failing
    successfully success and it they there is are was were all but still now the everything result results errors
    error matches changes issues problems tests as expected looks in at of to for a
""")

TO_DO_VERBS: Final = _words("todo follow followup follow-up check revisit remember finish continue fix add write fill")
TO_DO: Final = TO_DO_VERBS | _words("""
    look add back detail details note later soon tomorrow more this that these it things stuff something into up on
    with to need needs come write fill complete please do the a some here again will i'll
""")

GRAMMAR: Final = _words("""
    a an the this that these those it its they them their theirs he him his she her i me my we us our you your
    they'd they're they've he'd he's she'd she's it's i'd i'm i've i'll we'd we've that's there's there here which
    what who whom whose how where when why is are was were be been being am isn't aren't wasn't weren't has have had
    hasn't haven't hadn't do does did doesn't didn't will would can could may might cannot can't couldn't of in on
    at to for from with by about into as up out off over between during through and or but if while so than then no
    not any some more all both other another same such own now yet still also too again very quite really currently
    already earlier later soon well far else further simply today
""")
ACTORS: Final = (
    USER
    | CONVERSATION
    | _words("""
    users assistant assistant's conversations sessions nothing something anything everything thing things stuff
    someone memory memories remember save saved information info i we there i'm i've hello waiting asked said agreed
    reminder discussed
""")
)
"""Who, or what, a sentence without content is about."""
TOPICS: Final = ACTORS | _words("""
    users assistant assistant's conversation conversations session sessions chat discussion exchange interaction
    dialogue turn message messages prompt prompts reply replies response responses answer answers question questions
    query request requests help assistance suggestion suggestions proposal option options choice explanation
    clarification confirmation information info details detail topic topics subject matter task tasks memory
    memories fact facts preference preferences update updates point points thing things stuff something anything
    nothing everything someone hello hi hey goodbye bye greetings thanks yes confusion remember save
""")
EMPTY: Final = (
    GRAMMAR
    | TOPICS
    | REACTED
    | _words("""
    interesting seemed seems appeared appears sounded felt feels looked happy satisfied pleased glad grateful
    thankful impressed content curious confused delighted excited surprised typing waiting reading thinking browsing
    online offline idle accepted approved rejected declined agreed confirmed understood result results outcome
    progress solution changes said say says saying told tell asked ask asking agrees agree mentioned stated
    commented sent send typed discussed discussing talked talking chatted chatting explained explaining described
    clarified provided gave given giving offered helped helping assisted suggested shared received understands
    expressed showed wanted want like liked needed needs awaiting writing going went came ended ends started starts
    began continued continues finished concluded opened closed completed joined left returned resumed paused
    happened occurred learned learnt remembered saved stored recorded noted note found discovered known handled done
    made took got working interested fine good great nice okay ok helpful useful friendly polite positive productive
    pleasant ready available relevant new notable noteworthy important significant special particular specific
    general various several many few different certain much lot bit gratitude appreciation interest satisfaction
    agreement approval successfully politely briefly thinks think thought know knows knew don't won't share personal
    mood hurry person people computer project error errors issue issues problem problems resolved solved fixed code
    command tried try trying worked work approach approaches way ways idea ideas feature features example examples
    case kind sort day moment testing test check changed empty topic reminder self screenshot file files link image
    text document article uses use used using
""")
)
"""Words that say nothing by themselves: a sentence of these alone, about one of the actors, says nothing."""

WISHES: Final = _words("likes wants prefers enjoys values appreciates loves")
VAGUE: Final = (
    GRAMMAR
    | WISHES
    | USER
    | _words("""
    good great nice interesting useful helpful various many different new cool quality things stuff something
    results result help information topics subjects ideas work working well done fast quickly answers responses
    continue later talk talking chatting
""")
)
"""What everybody likes."""

MEMORY_TOPICS: Final = _words(
    "memory memories information info facts fact updates preferences details new relevant notable"
)
