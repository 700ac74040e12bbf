"""Facts as logic: values in, values out, no I/O and no clock.

entry_format, entry_paths   an entry's frontmatter <-> Fact; its kind, folder, file name and slug
line_facts                  facts from structured lines, and relations from the words before a link
commitments                 who has to do what by when, from the lines of notes; open, overdue or closed
spoken_commitments          what the person says they will do by a day, and which open commitment they say is done
triples                     entities, predicates and their rules, a triple as a sentence
claims                      what only one fact may say at a time, and which fact ends which
validity                    what holds when, as known when; timelines
integrate                   what becomes of a candidate: confirm, supersede, extend, derive, contradict, insert
words                       the words of a statement: which are equal, and its fingerprint
value_spelling              numbers, dates, times and units in one spelling
snapshots                   a fact at a moment: state, end, importance; kept while nothing changes
profile                     which facts give a standing picture of the person, ranked and chosen
relevance                   which facts belong before a prompt, their aged importance, doubts about them; topics, styles
lint                        Problems in and between entries, and safe fixes
options                     the settings block `facts`
"""
