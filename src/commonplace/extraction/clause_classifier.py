"""How likely a clause states something that lasts and can be understood alone: a linear classifier of clauses.

It is fitted on labelled clauses with the vectors of the encoder that this machine has (`fit_classifier`), so that no
weights are shipped and another encoder gets a classifier of its own. Pure: vectors come from the caller.
A sentence encoder knows what a clause is about, and little of how it is said; whether something lasts is in the tense,
the person, a quantifier or a date. So beside the vector each sign of grammar is one number (`signs_of`), and each
frequent word or pair of words another (`words_of_clause`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from commonplace.extraction.statement import has_name, is_mood, is_vague
from commonplace.model.text import LazyPattern

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class ClauseInContext:
    """A clause of the person and where it stands: how many clauses and messages precede it, and the reply before it.

    `marks` are fillers that were left out of it, such as "by the way".
    """

    text: str
    marks: str = ""
    position: int = 0
    turn: int = 0
    before: str = ""


_SIGNS: Final = tuple(
    LazyPattern(pattern)
    for pattern in (
        r"(?i)^(?:i|i'm|i've|im|i'll)\b",
        r"(?i)^(?:we|we're|we've)\b",
        r"(?i)^(?:my|our)\b",
        r"(?i)\b(?:my|our)\b",
        r"(?i)^the\b",
        r"(?i)^(?:it|it's|that|that's|this|they|they're|he|she|he's|she's|there|there's)\b",
        r"^[A-ZÄÖÜÅ][\w-]+ ",
        r".\b[A-ZÄÖÜÅÉ][\w&.-]+",
        r"\d",
        r"(?i)^(?:i|we) (?:\w+ed|was|were|had|did|went|got|took|came|saw|made|found|thought|felt|gave|ran|put|tried)\b",
        r"(?i)^(?:i|we) (?:am|are|have|do|use|live|work|prefer|hate|love|like|need|want|don't|never|always|take|drive"
        r"|play|speak|go|eat|drink|keep|run|pay|own)\b",
        r"(?i)\b(?:want|need|wanna|gotta|have to|has to|trying|let's|let me)\b",
        r"(?i)\b(?:will|'ll|going to|gonna)\b",
        r"(?i)\b(?:i'm|i am|we're|we are|is|are) \w+ing\b",
        r"(?i)\b(?:'ve|have|has|'s) (?:been|\w+ed|got|moved|left|taken|given|become|gone)\b",
        r"(?i)\b(?:always|never|every|usually|each|only|from now on|rule|policy|convention|no longer|any ?more)\b",
        r"(?i)\b(?:since|until|from|starting|as of)\b",
        r"(?i)\bnow\b",
        r"(?i)\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar"
        r"|apr|jun|jul|aug|sept?|oct|nov|dec)\b",
        r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
        r"(?i)\b(?:wife|husband|partner|mother|father|mum|mom|dad|sister|brother|son|daughter|kids?|child|children|dog"
        r"|cat|boss|manager|doctor|gp|landlord|colleague|neighbou?r|friend)\b",
        r"(?i)\b(?:not|no|never|without|none)\b|n't\b",
        r"(?i)\b(?:this|that|it|these|those|here|there|them)\b",
        r"(?i)\b(?:because|so that|due to)\b",
        r"(?i)\b(?:changed|switched|moved|left|quit|sold|stopped|cancelled|replaced|instead|new|gone|gave up|dropped"
        r"|ended|over)\b",
        r"(?i)^(?:use|write|put|send|call|keep|make|don't|please|always|never|answer|add|show|give|check|fix|stick|skip"
        r"|leave|remember|note|sign|reply|speak)\b",
        r"(?i)\b(?:booked|signed|decided|settled|confirmed|agreed|fixed|due|deadline|appointment|starts?|expires?"
        r"|runs out)\b",
        r"(?i)\b(?:nice|great|good|bad|fine|tired|annoying|weird|funny|ok|okay|thanks|thx|perfect|cool|ugh|awful"
        r"|lovely)\b",
        r",",
        r"(?i)\band\b",
        r"(?i)^to\b",
        r"(?i)\b(?:just|really|actually|basically|literally)\b",
    )
)
_ASIDE: Final = LazyPattern(r"(?i)by the way|btw|fyi")
_TOKEN: Final = LazyPattern(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[:,]")


def signs_of(clause: ClauseInContext) -> tuple[float, ...]:
    """The signs of the clause, always as many and in the same order."""
    text, words = clause.text, len(clause.text.split())
    return (
        *(1.0 if pattern.search(text) else 0.0 for pattern in _SIGNS),
        min(words, 30) / 15,
        float(words <= 3),
        float(words <= 1),
        float(is_vague(text)),
        float(is_mood(text)),
        float(has_name(text)),
        min(clause.position, 10) / 5,
        min(clause.turn, 12) / 6,
        float(bool(_ASIDE.search(clause.marks))),
        float(clause.position == 0 and clause.before.rstrip().endswith("?")),
    )


def words_of_clause(text: str) -> frozenset[str]:
    """The words of the clause, its pairs of neighbours, and how it begins; every number is the same word."""
    words = ["0" if word.isdigit() else word for word in _TOKEN.findall(text.lower())]
    starts = {f"^{words[0]}", f"^{' '.join(words[:2])}"} if words else set[str]()
    return frozenset((*words, *starts, *(f"{one} {two}" for one, two in pairwise(words))))


_MEANING, _REPLY, _WORD = 2.0, 1.0, 0.6  # weights of the parts, chosen on authors that were left out of the fit
_LEAST_OFTEN: Final = 4  # examples in which a word must occur
_PENALTY: Final = 3.0  # on the squares of the weights, chosen in the same way
_ITERATIONS: Final = 150  # twice as many move no weight of an example by more than 0.02


@dataclass(frozen=True, slots=True)
class LabelledClause:
    """A clause, whether it is worth keeping, and who wrote it."""

    clause: ClauseInContext
    keep: bool
    author: str = ""


@dataclass(frozen=True, slots=True)
class ClauseClassifier:
    """A fitted classifier: one weight for each sign, each number of the two vectors, and each word."""

    vocabulary: dict[str, int]
    weights: "Matrix"
    bias: float

    def probabilities(self, clauses: Sequence[ClauseInContext], vectors: "Matrix", replies: "Matrix") -> list[float]:
        """For each clause how likely it is worth keeping, from 0 to 1.

        `vectors` has a row for the text of each clause, `replies` one for the reply before it: zeros if there is none.
        """
        if not clauses:
            return []
        scores = _features(clauses, vectors, replies, self.vocabulary) @ self.weights + self.bias
        return [float(each) for each in logistic(scores)]


def fit_classifier(examples: Sequence[LabelledClause], vectors: "Matrix", replies: "Matrix") -> ClauseClassifier:
    """The classifier of these examples: logistic regression with a penalty on large weights."""
    import numpy as np

    clauses = [each.clause for each in examples]
    vocabulary = _vocabulary(clauses)
    matrix = _features(clauses, vectors, replies, vocabulary)
    labels = np.array([float(each.keep) for each in examples])
    weights, bias = fit_weights(matrix, labels, penalty=_PENALTY)
    return ClauseClassifier(vocabulary, weights, bias)


def _vocabulary(clauses: Sequence[ClauseInContext]) -> dict[str, int]:
    counts = Counter(word for each in clauses for word in words_of_clause(each.text))
    return {
        word: number for number, word in enumerate(sorted(w for w, count in counts.items() if count >= _LEAST_OFTEN))
    }


def _features(
    clauses: Sequence[ClauseInContext], vectors: "Matrix", replies: "Matrix", vocabulary: dict[str, int]
) -> "Matrix":
    import numpy as np

    words = np.zeros((len(clauses), len(vocabulary)))
    for row, clause in enumerate(clauses):
        known = [vocabulary[word] for word in words_of_clause(clause.text) if word in vocabulary]
        words[row, known] = _WORD
    signs = np.array([signs_of(each) for each in clauses])
    return np.hstack([signs, _MEANING * vectors, _REPLY * replies, words])


def fit_weights(matrix: "Matrix", labels: "Matrix", *, penalty: float) -> "tuple[Matrix, float]":
    """Weights and bias of a logistic regression by accelerated gradient descent; the bias has no penalty."""
    import numpy as np

    matrix = np.hstack([matrix, np.ones((len(matrix), 1))]).astype(np.float32)
    penalties = np.full(matrix.shape[1], penalty, dtype=np.float32)
    penalties[-1] = 0.0
    step = 1.0 / (0.25 * _largest_eigenvalue(matrix) + penalty)
    weights: Matrix = np.zeros(matrix.shape[1], dtype=np.float32)
    ahead = weights
    labels = labels.astype(np.float32)
    pace = 1.0
    for _ in range(_ITERATIONS):
        moved = ahead - step * (matrix.T @ (logistic(matrix @ ahead) - labels) + penalties * ahead)
        faster = (1.0 + (1.0 + 4.0 * pace * pace) ** 0.5) / 2.0
        ahead = moved + (pace - 1.0) / faster * (moved - weights)
        weights, pace = moved, faster
    return weights[:-1], float(weights[-1])


def logistic(scores: "Matrix") -> "Matrix":
    """The probabilities of these scores."""
    import numpy as np

    probabilities: Matrix = 1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0)))
    return probabilities


def _largest_eigenvalue(matrix: "Matrix") -> float:
    """Of the matrix times its transpose, a little too large rather than too small."""
    import numpy as np

    vector: Matrix = np.full(matrix.shape[1], matrix.shape[1] ** -0.5, dtype=np.float32)
    for _ in range(30):
        vector = matrix.T @ (matrix @ vector)
        vector = vector / (np.linalg.norm(vector) or 1.0)
    return float(np.linalg.norm(matrix @ vector) ** 2) * 1.05
