"""English words that say little by themselves: a question leaves them out while others remain."""

_WORDS = """
a an the this that these those some any each every either neither both all none such same other another
i me my myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one who whom whose which what when where why how
am is are was were be been being do does did doing done have has had having
can could will would shall should might must ought
not no nor cannot dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt
im ive youre youve youd youll hes shes theyre theyve weve thats whats lets
and or but if then else than because as until while although though since unless whether so
of at by for with about against between into through during before after above below to from up down in out on off
over under upon onto within without toward towards among per via
again further once here there now just only very too also more most much many few less least own ever even still yet
please tell
"""

STOP_WORDS = frozenset(_WORDS.split())
"""Case-folded, without apostrophes, not stemmed. `may`, `mine`, `id` and `ill` are not here: they can say much."""
