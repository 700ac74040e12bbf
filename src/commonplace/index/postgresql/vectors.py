"""Vectors in rows: those of parts as pgvector compares them, those of sentences as bytes.

pgvector's products of our 8-bit numbers are exact up to EXACT_DIM numbers, and nearly so beyond. They choose the
candidates; what is returned is computed from the same integers as in every other index.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from commonplace.index.postgresql.statements import BuildConnection
from commonplace.index.segments.quantize import QuantizedQuery, QuantizedVectors, stored_bytes
from commonplace.index.segments.segment import Segment, SegmentBuilder
from commonplace.index.tables.documents import PlacedDocument

EXACT_DIM: Final = 1040
"""So many products of two numbers up to 127 have a sum that 32-bit floats hold exactly."""
_ONE: Final = 32767
_ROUNDING: Final = 2.0**-22  # the error of each sum of 32-bit floats, with room
_SCALE_BYTES: Final = 4
_HALFVEC_HEAD: Final = 4  # bytes before the numbers of a halfvec in PostgreSQL's binary form
_ENCODER: Final = "SELECT number FROM memory_encoders WHERE version = ?"
_ADD_PART: Final = "INSERT INTO memory_parts (number, part, document, encoder, scale, vector) VALUES (?, ?, ?, ?, ?, ?)"
_ADD_SENTENCES: Final = "INSERT INTO memory_sentences (number, encoder, scales, vectors) VALUES (?, ?, ?, ?)"
_NEAREST: Final = """
WITH scored AS MATERIALIZED (
  SELECT p.number, max((p.vector <#> :query::halfvec) * -p.scale) AS best FROM {parts} GROUP BY p.number)
SELECT number FROM scored
WHERE best >= coalesce((SELECT best FROM scored ORDER BY best DESC OFFSET :others LIMIT 1), '-infinity') - :margin
"""
# Of a vault that it has not analysed yet, PostgreSQL expects one row, and would compare all parts with all documents.
# IS TRUE makes it hash the documents, OFFSET 0 look up the parts of each of a few.
_PARTS_OF_MANY: Final = "memory_parts p WHERE p.encoder = :encoder AND (p.document IN ({passing})) IS TRUE"
_PARTS_OF_FEW: Final = """
({passing} OFFSET 0) AS d, LATERAL (
  SELECT q.number, q.vector, q.scale FROM memory_parts q
  WHERE q.encoder = :encoder AND q.document = d.key OFFSET 0) AS p
"""
_PARTS: Final = """
SELECT number, scale, vector FROM memory_parts
WHERE encoder = :encoder AND number = ANY(:numbers) ORDER BY number, part
"""
_SENTENCES: Final = """
SELECT number, scales, vectors FROM memory_sentences WHERE encoder = :encoder AND number = ANY(:numbers)
"""
# OFFSET 0: each range is looked up in the index. The planner would else compare all chunks with all ranges.
_FIRST_PARTS: Final = """
SELECT f.number, f.scale, f.vector FROM unnest(:low::bigint[], :high::bigint[]) AS r (low, high), LATERAL (
  SELECT p.number, p.scale, p.vector FROM memory_parts p JOIN memory_chunks c ON c.number = p.number
  WHERE p.number BETWEEN r.low AND r.high AND c.number BETWEEN r.low AND r.high
    AND p.encoder = :encoder AND p.part = 0 AND c.voice <> 'assistant' OFFSET 0) AS f
ORDER BY f.number
"""

_Part = tuple[bytes, bytes]  # the scale and the numbers of one vector


def store_vectors(connection: BuildConnection, placed: Sequence[PlacedDocument]) -> None:
    """Store the vectors of these documents."""
    versions = {each.document.version for each in placed}
    encoders = {version: encoder_number(connection, version) for version in versions}
    parts, sentences = [], []
    for document, key, _, vectors in placed:
        encoder = encoders[document.version]
        for number, count, own in vectors:
            coarse = zip(own.rows[:count].tolist(), own.scales[:count].tolist(), strict=True)
            parts += [(number, part, key, encoder, scale, vector_text(row)) for part, (row, scale) in enumerate(coarse)]
            if len(own.rows) > count:
                fine = QuantizedVectors(own.rows[count:], own.scales[count:])
                sentences.append((number, encoder, *stored_bytes(fine, parts=0)))
    connection.executemany(_ADD_PART, parts)
    connection.executemany(_ADD_SENTENCES, sentences)


def encoder_number(connection: BuildConnection, version: str) -> int:
    """The number that stands for that encoder version; 0 if it has no vectors here."""
    row = connection.execute(_ENCODER, (version,)).fetchone()
    return int(row[0]) if row else 0


def vector_text(row: Sequence[int]) -> str:
    """The numbers as pgvector reads them."""
    return f"[{','.join(map(str, row))}]"


# ---------------------------------------------------------------- candidates


def nearest_exactly(
    connection: BuildConnection,
    query: QuantizedQuery,
    *,
    encoder: int,
    passing: tuple[str, Mapping[str, Any]],
    are_few: bool,
    limit: int,
) -> list[int]:
    """The numbers of the nearest chunks, at least all of the best `limit` and what ties with the last of them.

    `passing` selects the keys of the documents that may be found; `are_few` says that these are few of all.
    """
    sql, values = passing
    dim = len(query.row)
    length = float(np.sqrt((query.row.astype(np.float64) ** 2).sum()))
    margin = 0.0 if dim <= EXACT_DIM else dim * _ROUNDING * _ONE * length
    bound = {"query": vector_text(query.row.tolist()), "encoder": encoder, "others": limit - 1, "margin": margin}
    parts = (_PARTS_OF_FEW if are_few else _PARTS_OF_MANY).replace("{passing}", sql)
    rows = connection.execute(_NEAREST.replace("{parts}", parts), {**values, **bound})
    return [number for (number,) in rows]


# ---------------------------------------------------------------- vectors of chunks


def read_vectors(connection: BuildConnection, numbers: Sequence[int], *, version: str, encoder: int) -> Segment:
    """These chunks as a segment that has their vectors of that version, and no words."""
    values = {"encoder": encoder, "numbers": [*numbers]}
    parts: dict[int, list[_Part]] = {}
    for number, scale, vector in connection.fetch_binary(_PARTS, values):
        parts.setdefault(number, []).append(_part(scale, vector))
    sentences = {number: (scales, rows) for number, scales, rows in connection.fetch_binary(_SENTENCES, values)}
    return _vector_segment(parts, sentences, version)


def read_first_parts(
    connection: BuildConnection, ranges: Sequence[tuple[int, int]], *, version: str, encoder: int
) -> Segment:
    """The first part of each chunk in these ranges of numbers, replies left out, as a segment."""
    low, high = zip(*ranges, strict=True) if ranges else ((), ())
    rows = connection.fetch_binary(_FIRST_PARTS, {"low": [*low], "high": [*high], "encoder": encoder})
    return _vector_segment({number: [_part(scale, vector)] for number, scale, vector in rows}, {}, version)


def _vector_segment(parts: Mapping[int, list[_Part]], sentences: Mapping[int, _Part], version: str) -> Segment:
    builder = SegmentBuilder()
    for number in sorted(parts):
        builder.add_chunk(number, 0, is_reply=False, words=b"")
        scales, rows = (b"".join(each) for each in zip(*parts[number], strict=True))
        more_scales, more_rows = sentences.get(number, (b"", b""))
        counts = (len(parts[number]), len(more_scales) // _SCALE_BYTES)
        builder.add_vectors(number, version, counts, scales=scales + more_scales, rows=rows + more_rows)
    return builder.build(min(parts, default=1), max(parts, default=0))


def _part(scale: float, vector: bytes) -> _Part:
    numbers: npt.NDArray[np.float16] = np.frombuffer(vector, ">f2", offset=_HALFVEC_HEAD)
    return np.float32(scale).astype("<f4").tobytes(), numbers.astype(np.int8).tobytes()
