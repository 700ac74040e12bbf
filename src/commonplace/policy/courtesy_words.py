"""Thanks, greetings and agreement, in the languages people write in."""

from typing import Final

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
i'm good, i agree, same here, me too, not bad, what's up, looks good, looks good to me, lgtm, idk, ikr, same, imo,
omg, wtf, any update, any updates, what do you think, what about you, nice one, one sec, hold on
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
"""Whole phrases, with commas between them: a text of nothing else is a courtesy."""
