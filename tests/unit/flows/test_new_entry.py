"""New ids: version 7, in the order of time, never twice."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from commonplace.flows.memory.new_entry import new_id

NOW = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)


def test_ids_are_of_version_seven_and_tell_their_time() -> None:
    """The first 48 bits are the milliseconds since 1970."""
    made = UUID(new_id(NOW))

    assert made.version == 7
    assert made.variant == "specified in RFC 4122"
    assert made.int >> 80 == int(NOW.timestamp() * 1000)


def test_ids_of_later_moments_come_later_and_none_comes_twice() -> None:
    """A microsecond apart is enough; of one moment, chance tells them apart."""
    ordered = [new_id(NOW + timedelta(microseconds=each)) for each in range(0, 5000, 7)]
    same = {new_id(NOW) for _ in range(500)}

    assert ordered == sorted(ordered)
    assert len(same) == 500
    assert len({each[-6:] for each in same}) > 490
