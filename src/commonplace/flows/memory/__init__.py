"""Memory: entries and facts.

In: a candidate, the name of an entry, or a request for facts. Out: what became of it, or the facts.

    save       a candidate -> complete -> screen -> save lock -> facts with its words or its triple, and those that it
               is said to replace -> `facts.integrate`: confirm, supersede, extend, derive, contradict or insert
               -> `notes.write.change`: one commit with the new entry, and the old ones to the archive
               `evolve` replaces a given entry
    neighbours the entries nearest to a statement, for whoever reads the answer; they decide nothing
    verdicts   how an entry relates to older ones, said by somebody who has read both: replaces, covers, same, both
    new_entry  a candidate made into a fact and the text of its note; why it must wait for the person, if it must
    amend      an entry confirmed, forgotten, ended, always loaded, archived, or erased
    derive     several entries -> one that names them; the entries that it replaces go to the archive
    undo       a job's change undone, with what programs derived from it
    facts      facts about an entity, a topic or a prompt, now or on a day; versions, timeline, links
    spoken     whether the person said it: the words that an agent quotes, beside what the person wrote
    groups     entries of which nobody has said how they relate
    endings    endings that wait for the person, and those that rules of earlier versions made
    review     what waits for the person, and what it speaks against -> approved, edited or rejected
    profiles   operations on USER.md and CHANNEL.md -> checked one by one -> one commit, a proposal, a log; who
               wrote each line is in `profile_writers`
    lint       every entry and every chain checked; safe fixes on request
"""
