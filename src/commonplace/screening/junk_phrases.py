"""Phrases without content, in the languages people write in.

Except for the courtesies, each line is one regular expression, compared without case.
"""

import re
from functools import cache
from typing import Final

ASSISTANT_HABITS: Final = r"""
as an? (?:ai|artificial|large language|language model)\b
(?:i['’]?m|i am) (?:just |only )?(?:an ai|a language model|a large language)
(?:i['’]?d|i would|i['’]?ll|i will|we['’]?d) be (?:more than )?(?:happy|glad|delighted) to\b
(?:i['’]?m|i am) (?:happy|glad|here|ready) to (?:help|assist)
(?:how|what) (?:can|may|could|else can) i (?:help|assist|do for you)
(?:i|we) can (?:certainly |definitely |absolutely |also |surely )?(?:help|assist)\b
(?:i['’]?ll|i will) (?:help|assist) you
(?:happy|glad|here|always happy) to (?:help|assist)
(?:is|was) there anything else
anything else\b
(?:i['’]?ll|i will) take care\b
(?:voici|voilà|aquí (?:tienes|está)|hier (?:ist|sind) (?:die|der|das|deine?|eine?)|ecco|aqui está) .{0,50}:?$
(?:please )?let me know (?:if|how|what|when|whether|which) (?:you|there|that|this|it|i|anything|any)\b
(?:please )?feel free to
(?:i )?hope (?:this|that|it) (?:helps|helped|clarif|answer|is helpful|makes sense|works|was)
(?:please )?don['’]t hesitate
please (?:provide|share|specify|clarify|wait|try again|confirm|let me know|bear with me)\b
could you (?:please )?(?:provide|share|specify|clarify|confirm|tell me|elaborate)\b
can you (?:please )?(?:provide|share|specify|clarify|confirm|tell me|elaborate|help me)\b
would you like me to\b
do you (?:want|need) me to\b
let me (?:check|look|see|think|take|try|start|begin|read|search|find|run|verify|fix|explain|break|help)\b
let me (?:analy[sz]e|examine|update|create|do that|review|explore|investigate|first|now|go|walk|get|know if)\b
let['’]?s (?:dive|get started|begin|start|take a look|see|go|break|move on|continue)\b
now (?:let me|i['’]ll|i will|i need to|i can see)\b
first,? (?:let me|i['’]ll|i will|i need to)\b
(?:i['’]?ll|i will|i['’]?m going to|i am going to) (?:now |first |go ahead and )?(?:check|look|take a|search|read)\b
(?:i need to) (?:now |first |go ahead and )?(?:check|look|take a|search|read)\b
(?:i['’]?ll|i will|i['’]?m going to) (?:now |first |go ahead and )?(?:open|run|start|begin|try|update|create)\b
(?:i need to) (?:now |first |go ahead and )?(?:open|run|start|begin|try|update|create)\b
(?:i['’]?ll|i will|i['’]?m going to) (?:now |first )?(?:analy[sz]e|examine|investigate|get back|proceed|continue)\b
(?:i['’]?ll|i will|i['’]?m going to) (?:now |first )?(?:think|do)\b
(?:i['’]?m|i am) (?:currently |now )?(?:working on (?:it|that|this)|looking into|checking|searching|thinking|reading)\b
(?:i['’]?ve|i have) (?:successfully |now |just |also )?(?:complet|finish|updat|made|creat|sav|not)\w* [^,;:]{0,60}$
(?:i['’]?ve|i have) (?:successfully |now |just |also )?(?:add|fix|done)\w* [^,;:]{0,60}$
(?:i['’]?m|i am) (?:so |very |really |truly )?sorry(?:,|$|!| (?:but|for|about|that|to|if|i)\b)
i (?:completely |fully |totally )?understand (?:your|that you|how)\b
(?:i['’]?ll|i will) (?:get (?:started|right|that)|be right|make sure|keep that)\b
(?:i apologi[sz]e|apologies|my apologies|sorry (?:about|for|but|i|if))\b
(?:unfortunately,? )?i (?:can['’]?t|cannot|can not) (?:help|assist|access|browse|provide|open|do|view|answer|generate)\b
(?:unfortunately,? )?i (?:am|['’]m) (?:unable|not able) to (?:help|assist|access|browse|provide|open|do|view|answer)\b
i (?:do not|don['’]t) have (?:access|personal|the ability|feelings|real-time|enough|any (?:memory|information|record))
(?:that['’]?s|what|this is|that is) (?:is )?an? (?:really |very )?(?:great|good|excellent) (?:question|idea|point)
(?:that['’]?s|what|this is|that is) (?:is )?an? (?:really |very )?(?:interesting|fantastic) (?:question|idea|point)
(?:great|good|excellent|interesting) (?:question|idea|point|choice)
you['’]?(?:re| are) (?:absolutely |completely |totally |quite )?right
thank(?:s| you) (?:so much |very much )?for (?:your|the|letting|asking|reaching|sharing|confirming|clarifying)\b
thank(?:s| you) (?:so much |very much )?for (?:waiting|contacting)\b
here(?:['’]s| is| are) .{0,70}\b(?:summary|answer|results?|list|code|version|overview|response|plan|i found)\b.{0,30}$
here(?:['’]s| is| are) .{0,70}\byou (?:requested|asked|wanted|need)\b.{0,30}$
here(?:['’]s| is| are) an? .{0,40}\b(?:breakdown|explanation|comparison|rewrite|walk-?through)\b.{0,60}$
to (?:answer|address) your (?:question|concern|point)\b
(?:should|shall|may|can|could) i (?:now |also )?(?:proceed|continue|go|start|keep|add|try|use|show|make|change|open)\b
(?:should|shall|may|can|could) i (?:now |also )?(?:run|send|explain|include|do|apply|delete|write|remove|replace)\b
question (?:to|for) (?:the )?user:
which (?:of (?:these|those|them|the \w+)|one|option|version) (?:would|do|should|shall|may) (?:you|i|we)\b
(?:als ki|als ein(?:e)? (?:ki|sprachmodell)|als (?:großes )?sprachmodell|als künstliche)\b
(?:ich helfe|ich kann (?:dir|ihnen|euch)|gerne? helfe|gern kann ich|ich bin (?:hier|da),? um)\b
(?:wie|womit|kann ich|was kann) (?:kann ich|darf ich|dir|ihnen|sonst|ich) [^.]{0,20}(?:helfen|behilflich|tun)
(?:kann ich|gibt es) (?:sonst )?noch (?:etwas|was|weitere)
(?:lass(?:en sie)? (?:es )?mich|ich (?:schaue|prüfe|sehe) (?:mir )?(?:das|jetzt|mal|kurz|nach))\b
(?:ich werde (?:das|jetzt|nun))\b
(?:ich hoffe,? (?:das|dass)|es tut mir leid|tut mir leid|entschuldig\w*|zögern? sie|meld(?:e|en) (?:dich|sie))\b
(?:sag (?:mir )?bescheid)\b
(?:(?:das ist )?eine? (?:sehr )?gute frage|gute frage|leider kann ich|danke,? dass|vielen dank für (?:deine|ihre|die))\b
(?:en tant qu['’](?:ia|assistant|intelligence)|en tant que (?:modèle|ia|grand modèle))\b
je peux (?:vous|t['’])|je serais? (?:ravi|heureu)|je suis (?:là|ravi|désolé|une ia)|n['’]hésite|comment puis-je
puis-je vous
(?:y a-t-il autre chose|laissez-moi|laisse-moi|j['’]espère que (?:cela|ça))\b
(?:(?:excellente|bonne|très bonne) question|désolée?|je vais)\b
(?:como (?:modelo de|una? (?:ia|modelo|asistente|inteligencia)|ia)|soy un(?:a)? (?:ia|modelo|asistente))\b
(?:en qué (?:más )?(?:te |le )?puedo|(?:te |le )?puedo ayudar|estoy aquí para|con (?:mucho )?gusto|no dudes?)\b
(?:espero que (?:esto|te))\b
déjame|lo siento|hay algo más|avísame|cómo puedo|(?:buena|excelente) pregunta|encantad[oa] de|estaré encantad
voy a (?:revisar|comprobar)
(?:come posso|posso (?:ajudar|aiutar)|como posso|fico feliz|spero che|mi dispiace|desculpe|come modello)\b
(?:como um modelo)\b
(?:hoe kan ik|ik help|als ai|чем я могу|я могу помочь|как языковая|конечно, я)\b
(?:我可以帮|有什么可以|有什么我|作为(?:一个|一名)?(?:ai|人工智能|语言模型)|很高兴(?:为|能|帮)|当然|让我|希望(?:这|对))
(?:何かお手伝い|aiとして|お手伝い|喜んで|他に何か|申し訳|もちろん|무엇을 도와|도와드릴|물론)
"""
"""How assistants begin sentences by habit."""

ANSWER_STARTS: Final = r"""
let(?: me|['’]?s) \w+[^:]{0,80}
(?:i['’]?ll|i will|i can|i could) (?:now |then |also |gladly |happily |go ahead and )?<work>
(?:i['’]?ve|i have) (?:now |also |just )?<worked> (?:it|that|this|the|your|these|those|both|all)\b[^:]{0,80}
(?:(?:based on|given) (?:that|this|your \w+), )?(?:there (?:are|is)|we have|you have) <several>[^:]{0,50}
(?:the (?:short|quick|simple|honest) answer is (?:that )?)?(?:it|this|that|the answer) (?:\w+ )?depends\b[^:]{0,60}
here(?:['’]s| is| are) (?:the|an?|your|some|my|two|three|four|five|one) [^:]{0,60}
(?:which|what|how|where) [^:]{0,30}\b(?:shall|should|would|do|can|could|may) (?:i|we|you)\b[^:]{0,60}
(?:first|to begin|to start|in short|simply put|basically)\b,? (?:let me|let['’]?s|we|i|you)\b[^:]{0,80}
"""
"""How the sentences after an assistant's first words begin; compared with a whole sentence without digits."""

ANSWER_WORDS: Final = {
    "<work>": r"(?:re-?(?:write|work|do|phrase|format|word|view|vise|name|consider|move|place)|go (?:through|over)|walk"
    r"|explain|summari[sz]e|translate|adjust|chang|shorten|simplif|updat|fix|correct|add|remov|draft|prepar|check"
    r"|look|tr(?:y|ied)|start|begin|proceed|do (?:that|this|it)|make|made|creat|generat|break|list|show|outlin|polish"
    r"|expand|tid|clean|convert|format|sort|compar|read|suggest|help|tighten"
    r"|double-check|put (?:it|that|this)|switch|provid)\w*\b[^:]{0,80}",
    "<worked>": r"(?:re-?(?:written|worked|done|phrased|formatted|worded|vised|named|placed)|adjusted|shortened"
    r"|simplified|updated|corrected|translated|summari[sz]ed|polished|expanded|tidied|sorted|drafted|outlined)",
    "<several>": r"(?:a |quite )?<some> .{0,40}\b<aspects>\b",
    "<some>": r"(?:several|many|multiple|various|different|some|few|couple|number|lots?|two|three|four|five|plenty)",
    "<aspects>": r"(?:ways?|things?|options?|approaches|factors|reasons|possibilities|aspects|methods|points|choices"
    r"|answers|angles|strategies|steps|considerations|explanations|solutions|causes|ideas)",
}
"""What stands for the words in angle brackets."""

PAGE_ENDS: Final = r"""
(?:all rights reserved|alle rechte vorbehalten|tous droits réservés|todos los derechos reservados)
^(?:©|\(c\)|copyright)? ?(?:©|\(c\))? ?(?:19|20)\d\d\b.{0,60}(?:inc|ltd|llc|corp|gmbh|ag|all rights)\b
^(?:copyright|©) ?(?:©|\(c\))? ?(?:19|20)\d\d
^(?:we|this (?:web)?site)(?: and our partners)? (?:use|uses|store) cookies(?:$|,| (?:to|and|on|for|that|so)\b)
^(?:our (?:web)?site)(?: and our partners)? (?:use|uses|store) cookies(?:$|,| (?:to|and|on|for|that|so)\b)
^(?:wir|diese (?:web)?(?:site|seite)) (?:verwende[nt]|nutz(?:en|t)) cookies(?:$|,| (?:um|auf|und|zur)\b)
^(?:ce site|nous) (?:utilisons|utilise) des cookies
^(?:este sitio|nosotros)? ?(?:usa|utiliza(?:mos)?|usamos) cookies
by (?:continuing|clicking|using|signing|subscribing|browsing) .{0,60}(?:you agree|consent|accept)
^you are receiving this (?:e-?mail|message)|^confidentiality notice\b|^vertraulichkeitshinweis\b
^(?:page \d+ (?:of|/) \d+|seite \d+ von \d+|log ?in to continue|sign in to (?:continue|view))\b.{0,20}$
^(?:cookie preferences|create an account)\b.{0,20}$
^(?:accept|reject|allow|manage|decline|necessary|only) (?:all|cookies?|settings|preferences|necessary)(?: cookies)?$
^(?:accept|reject|allow|manage|decline|necessary|only) (?:my choices)(?: cookies)?$
^(?:alle (?:cookies )?(?:akzeptieren|ablehnen)|tout (?:accepter|refuser)|aceptar todas?|cookie[- ]?einstellungen)$
^(?:mehr erfahren)$
^(?:this|the) (?:e-?mail|message|communication|transmission) (?:and any|is intended|is confidential|may contain)
^(?:this|the) (?:e-?mail|message|communication|transmission) (?:contains confidential)
received this (?:e-?mail|message|communication|transmission)?.{0,20}(?:in )?error
^(?:diese e-?mail (?:enthält|ist)|ce (?:message|courriel)) .{0,60}(?:vertraulich|confiden[ct]ie?l|confidencial)
^(?:este (?:mensaje|correo)) .{0,60}(?:vertraulich|confiden[ct]ie?l|confidencial)
^if you are not the intended recipient
^(?:please )?consider the environment before printing
^(?:please )?(?:subscribe|sign up|register|join)\b.{0,50}(?:newsletter|mailing list|updates|free|now|today|channel)
^(?:enter your email|get the latest|never miss|don['’]t miss|stay (?:up to date|tuned|informed)|limited time)\b
^(?:buy now|add to cart|shop now)\b
we value your privacy|trademarks are (?:the )?property of|please do not reply|do not reply to this
bitte antworten sie nicht
^(?:unsubscribe|newsletter abonnieren|abonnez-vous|suscríbete|jetzt (?:anmelden|abonnieren|kaufen)|hier klicken)\b
\bclick (?:here|the link|below)\b.{0,40}$
^(?:skip to (?:main |the )?(?:content|navigation)|zum inhalt springen|aller au contenu|ir al contenido)
^(?:toggle navigation)
enable (?:javascript|cookies)|javascript (?:is|must be|seems to be) (?:required|disabled|enabled|not)
your browser (?:is not|does not|is out)
^(?:share|follow us|like us|tweet|pin it|teilen|partager|compartir)(?: (?:this|on|auf|sur|en)\b.{0,40})?$
^(?:read|learn|show|load|see|view|find out)(?: more| less| all| full article)(?: ?[»>→]+)?$
^(?:sent from my|sent via|get outlook for|von meinem \w+ gesendet|gesendet von|envoyé de(?:puis)? mon)\b
^(?:enviado desde mi|inviato da)\b
(?:provided ["“']?as is["”']?,? without|without warranty of any kind|^in no event shall|permission is hereby granted)
redistribution and use in source|licensed under the apache license|you may not use this file except
warranties of merchantability
^(?:subject to|read|see|view|by using).{0,30} terms (?:of|and)\b
terms and conditions apply|past performance is (?:not|no)\b
(?:does|do) not constitute (?:financial|legal|medical|investment|an offer)
^(?:home|about|about us|blog|contact|contact us|privacy|privacy policy|terms|terms of (?:service|use)|imprint)$
^(?:impressum|agb)$
^(?:datenschutz|datenschutzerklärung|kontakt|startseite|log ?in|sign (?:in|up|out)|register|careers|faq|help)$
^(?:support|sitemap)$
^(?:menu|search|cart|news|products?|pricing|services|mentions légales|accueil|inicio|contacto|back to top|next)$
^(?:previous)$
^(?:advertisement|sponsored|anzeige|publicité|close|cookies?|cookie (?:policy|settings)|legal|jobs|press|features)$
^(?:docs|shop)$
^(?:español|deutsch|english|français|twitter|facebook|linkedin|instagram|youtube|rss|suche|über uns|warenkorb|anmelden)$
^powered by\b.{0,40}$
^(?:error )?(?:4\d\d|5\d\d) (?:not found|forbidden|bad gateway|internal server error|service unavailable).{0,12}$
^(?:error )?(?:4\d\d|5\d\d) (?:unauthorized|bad request).{0,12}$
(?:page|site) (?:you .{0,40})?(?:was not found|not found|cannot be found|could not be found|does not exist)
(?:checking your browser|verify you are (?:a )?human|are you (?:a )?(?:human|robot)|checking if the site connection)
^(?:loading|please wait|redirecting|\d+ min(?:ute)? read|\d+ (?:comments?|likes?|shares?|views|replies))$
"""
"""How web pages, e-mails and licences begin and end; searched in a sentence."""

PLACEHOLDER_TEXTS: Final = r"""
(?:test(?:s|ing|e)?[ ,.]*)+(?:\d+[ ,.]*)*
(?:this is (?:just )?an? test|das ist (?:nur )?ein test|ceci est un test|esto es una prueba|prueba|essai)
foo(?: ?bar)?(?: ?baz)?
(?:(?:todo|tbd|fixme|n[/.]?a|null|none|nil|nan|undefined|true|false|void|eof|ack|pass|abc|xyz|wip|xxx)[ ,.]*)+
(?:todo|tbd|fixme)\b.{0,12}(?:fill|add|write|complete|later|something)\b.{0,20}
(?:untitled|unbenannt|sans titre|sin título)(?: \w+)?
(?:new|neue|my) (?:note|document|file|notiz)
(?:object object|hello world|hallo welt|placeholder|your text here|insert text here|text goes here)
(?:insert|enter|add|type|your) (?:your )?(?:title|text|name|content|description|message) here
(?:some|sample|example|dummy) (?:text|note|content|title)
no (?:content|output|results?|data|response|reply|text|answer|title|memory|memories)(?: (?:found|available|yet))?
no (?:changes|errors?|information)(?: (?:found|available|yet))?
nothing (?:to (?:report|remember|save|note|add|do)|new|important)|none found|not applicable|not available|empty
unknown
(?:heartbeat(?:[_ ]ok)?|no_reply|keepalive|healthcheck(?: ok)?)
(?:bla+h?[ ,.]*)+
(?:etc|usw|und so weiter|and so on)
[a-z]
"""
"""Whole texts that are placeholders."""

_STAND_IN_WORDS: Final = """
    image images photo photos picture pictures screenshot screenshots attachment attachments attached file files
    video audio voice message messages media gif sticker emoji document link url omitted deleted removed missing
    redacted truncated content empty no insert summary here user uploaded sent pdf tool result results output
    unavailable not available loading blank text memory memories name placeholder your title date this was been
    has is by the a an of recording clip note notes response reply answer hidden cut off snipped skipped expired
    recalled shared added unsupported type kind format caption transcript description value unknown none null
    untitled jpg png mp4 mp3 docx xlsx csv zip jpeg heic kb mb sec min s
"""
STAND_INS: Final = frozenset(_STAND_IN_WORDS.split())
"""Words of what a program puts in brackets in place of something: "[image omitted]"."""


COURTESIES: Final = """
ok, okay, oki, k, kk, yes, yep, yeah, yup, no, nope, nah, sure, sure thing, cool, nice, great, perfect, awesome,
excellent, wow
lol, rofl, lmao, haha, hahaha, hehe, hmm, hm, uh, um, ah, oh, aha, done, fine, good, right, alright, all right,
agreed, exactly
indeed, correct, hi, hey, hello, hiya, yo, bye, goodbye, bye bye, cheers, thank, thanks, thx, ty, tysm, please, sorry,
welcome
ping, pong, brb, np, afk, continue, next, go on, go ahead, got it, gotcha, i see, i understand, understood, makes sense
that makes sense, sounds good, sounds great, sounds fine, no problem, no worries, never mind, nevermind, my bad, of
course
certainly, absolutely, definitely, will do, good morning, good evening, good night, good afternoon, good job, good point
good luck, great job, nice work, great work, thank you, thank u, many, a lot, a bunch, so much, very much, again,
there, everyone
all, guys, team, you, for that, for this, for your help, for the help, for everything, you're welcome, you are welcome
youre welcome, well done, see you, see you later, talk to you later, ttyl, take care, have a nice day, have a great day
have a good day, have a good one, congrats, congratulations, amazing, interesting, that's great, that's fine, that's
it, that works
works for me, fair enough, noted, roger, roger that, copy that, one moment, one moment please, just a moment, how are
you
i'm good, good to know, i agree, same here, me too, not bad, what's up, looks good, looks good to me, lgtm, idk,
ikr, same, imo, omg, wtf, any update, any updates, what do you think, what about you, nice one, one sec, hold on
proceed, please continue, please proceed, keep going, try again, do it, go for it, let's go, of course not, not
really, maybe, whatever
my friend, man, dude,
buddy, mate
danke, dankeschön, vielen, besten, herzlichen, lieben, dank, bitte, bitteschön, bitte sehr, gern, gerne, gern geschehen
gerne geschehen, ja, nein, jo, jep, klar, genau, alles klar, passt, passt schon, prima, toll, hallo, moin, servus,
grüß dich
guten morgen, guten tag, guten abend, gute nacht, tschüss, tschüs, bis bald, bis später, bis dann, schönen tag noch
schönen tag, schönen abend, in ordnung, verstanden, dir, ihnen, euch, natürlich, perfekt, kein problem, stimmt, okidoki
wunderbar, sehr gut, gut, geht klar, mach ich, na klar, ach so, achso, für deine hilfe, für die hilfe, für ihre hilfe,
nochmal
merci, beaucoup, bien, d'accord, oui, non, salut, bonjour, bonsoir, au revoir, de rien, parfait, super, bien sûr, très
bien
s'il vous plaît, s'il te plaît, entendu, bonne journée, ça marche, je vous en prie, pour votre aide, pour ton aide,
génial
c'est noté, à bientôt, pas de problème, avec plaisir, compris, ok merci, mille fois
gracias, muchas, muchísimas, vale, sí, si, claro, claro que sí, hola, buenos días, buenas tardes, buenas noches, de nada
perfecto, adiós, por favor, entendido, por supuesto, genial, muy bien, bueno, hasta luego, por tu ayuda, por su ayuda,
de acuerdo
no hay problema, listo, grazie, mille, tante, prego, ciao, va bene, certo, buongiorno, perfetto, d'accordo, obrigado,
obrigada
muito, olá, tudo bem, sim, não, bom dia, está bem, beleza, valeu, dank je, dank je wel, bedankt, graag gedaan,
goedemorgen, oké
tack, tack så mycket, tak, takk, tusen takk, mange, hej, hei, kiitos, kiitos paljon, dzięki, dziękuję, dziękuję
bardzo, dobrze
cześć, proszę, teşekkürler, teşekkür ederim, tamam, merhaba, děkuji, díky, köszönöm, mulțumesc
спасибо, большое, хорошо, ок, ладно, да, нет, привет, пожалуйста, понятно, здравствуйте, дякую, отлично, спасибо большое
谢谢, 謝謝, 好的, 好, 是的, 嗯, 嗯嗯, 你好, 不客气, 收到, 明白, 明白了, 没问题, 谢谢你, 多谢
非常感谢, 好的谢谢, 哈哈, 哈哈哈, 对
ありがとう, ありがとうございます, はい, いいえ, 了解, 了解です, 了解しました, わかりました
こんにちは, どういたしまして, 承知しました
よろしくお願いします, おはようございます, なるほど, お疲れ様です
감사합니다, 고마워, 고마워요, 네, 아니요, 알겠습니다, 안녕하세요, 좋아요
شكرا, شكراً, شكرا جزيلا, نعم, حسنا, حسناً, مرحبا, धन्यवाद, ठीक है, नमस्ते, हाँ, תודה, תודה רבה, ευχαριστώ, εντάξει,
cảm ơn, terima kasih
"""
"""Thanks, greetings and agreement: whole phrases, separated by commas. A text of nothing else is a courtesy."""


@cache
def any_of(lines: str) -> re.Pattern[str]:
    """One expression that matches any of the lines, compiled at first use."""
    return re.compile("|".join(f"(?:{line})" for line in lines.strip().splitlines()), re.IGNORECASE)
