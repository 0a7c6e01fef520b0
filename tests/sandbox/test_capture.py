"""Head and tail are kept, the middle is counted."""

from hypothesis import given
from hypothesis import strategies as st

from torl.sandbox.capture import Capture


@given(chunks=st.lists(st.binary(max_size=50)), capacity=st.integers(2, 60))
def test_any_stream_keeps_its_two_ends(chunks: list[bytes], capacity: int) -> None:
    stream = b"".join(chunks)
    capture = Capture(capacity)
    for chunk in chunks:
        capture.feed(chunk)
    head, tail = capacity // 2, capacity - capacity // 2
    assert capture.total == len(stream)
    assert capture.left_out == max(0, len(stream) - capacity)
    if capture.left_out:
        gap = f"\n[{capture.left_out} bytes left out]\n".encode()
        assert capture.text() == (stream[:head] + gap + stream[-tail:]).decode("utf-8", "replace")
    else:
        assert capture.text() == stream.decode("utf-8", "replace")


def test_memory_is_bounded_by_the_capacity_and_one_chunk() -> None:
    capture = Capture(1000)
    for _ in range(1000):
        capture.feed(b"x" * 100)
    assert sum(map(len, capture._tail)) <= 600
