"""Search: a question -> hits, best first, each with its reasons.

In: a `SearchQuery`. Out: an `Answer`: hits, confidence, what the search had to do without, how long each step took.

    search      understand -> encode -> candidates -> rank -> hits; checks that no hit's note has changed since
    candidates  the best chunks by words and by meaning; scores of chunks and documents in hybrid mode
    complete    the words of titles and names that begin like the unfinished last word of a question
    noise       how near a passage must be to a question none of whose words occurs
"""
