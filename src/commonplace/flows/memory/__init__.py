"""Memory: entries and facts.

In: a candidate, the name of an entry, or a request for facts. Out: what became of it, or the facts.

    save       a candidate -> completed, screened -> similar facts -> confirm, supersede, extend, contradict or insert
               -> one commit: the new entry, and the old one to the archive; `evolve` replaces a given entry
    new_entry  a candidate made into a fact and the text of its note; says why it must wait for a person
    amend      an entry confirmed, forgotten, ended, always loaded, or erased
    facts      facts about an entity, a topic or a prompt, now or on a day; versions, timeline, links
    lint       every entry and every chain checked; safe fixes on request
"""
