"""The parts of the mode hybrid beside words and meaning, each of which can be left out to see what it is worth."""

from typing import Final, Literal, get_args

Part = Literal["sentences", "whole", "names", "phrases", "time", "replies", "opening", "kinship", "links", "age"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""
- sentences  a chunk is compared by its sentences too.
- whole      all chunks of a document count as one text, and a chunk gains by the document it stands in.
- names      a question that names someone who speaks is put in their words.
- phrases    a chunk that says what the question quotes counts more.
- time       what was said about the time that the question names counts more.
- replies    what a program said counts less, and more where the question is about it.
- opening    the turn that opens a conversation counts more.
- kinship    documents that are alike count more together.
- links      documents that are linked count more together.
- age        what was told lately counts more; off unless `recency_half_life_days` is set.
"""
