"""How likely a clause states something that lasts and can be understood alone: a linear classifier of clauses.

It is fitted on labelled clauses with the vectors of the encoder that this machine has (`fit_classifier`), so that no
weights are shipped and another encoder gets a classifier of its own. Pure: vectors come from the caller.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from commonplace.extraction.clause_features import ClauseInContext, signs_of, words_of_clause

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.floating[Any]]

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
