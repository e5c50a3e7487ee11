"""Streams on trio: cancelling, deadlines, loading."""

import gc
import weakref

import pytest

import runcible

trio = pytest.importorskip("trio")


@pytest.fixture
def endless(model):
    """A session whose generation never ends by itself."""
    return model.session(when_full="shift")


def test_many_streams_share_a_run(model):
    texts = {}

    async def read(seed):
        stream = model.session().stream("A", seed=seed, max_tokens=20)
        texts[seed] = "".join([piece async for piece in stream])

    async def main():
        for _ in range(2):  # the mailbox is idle in between
            async with trio.open_nursery() as nursery:
                for seed in range(16):
                    nursery.start_soon(read, seed)

    for _ in range(2):
        trio.run(main)
    assert len(texts) == 16
    # On a CPU, concurrent work changes no bit of a session's results.
    alone = model.session().generate("A", seed=3, max_tokens=20)
    assert "".join(alone) == texts[3]


def test_cancelling_ends_the_request(endless):
    async def main():
        stream = endless.stream("A", ignore_eos=True)
        with trio.move_on_after(0.02) as scope:
            async for _ in stream:
                pass
        assert scope.cancelled_caught
        assert stream.report.reason == "cancelled"
        endless.append("B")  # no longer busy
        assert [piece async for piece in stream] == []

    trio.run(main)


def test_leaving_within_a_cancelled_scope_ends_the_request(endless):
    async def main():
        with trio.CancelScope() as scope:
            async with endless.stream("A", ignore_eos=True) as stream:
                async for _ in stream:
                    scope.cancel()
        assert scope.cancelled_caught
        assert stream.report.reason == "cancelled"
        endless.append("B")

    trio.run(main)


def test_leaving_a_loop_ends_the_request(endless):
    async def main():
        stream = endless.stream("A", ignore_eos=True)
        async for _ in stream:
            break
        endless.append("B")
        await endless.adecode()
        assert endless.logits().shape == (1, 2048)
        left = endless.stream("A", ignore_eos=True)
        async for _ in left:
            break
        stream = endless.stream("B", max_tokens=2)
        assert [piece async for piece in stream]

    trio.run(main)


def test_an_exception_in_the_body_ends_the_request(endless):
    async def main():
        async with endless.stream("A", ignore_eos=True) as stream:
            async for _ in stream:
                raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trio.run(main)
    endless.append("B")


def test_a_deadline_ends_the_request(endless):
    async def main():
        stream = endless.stream("A", ignore_eos=True, deadline=0.05)
        with pytest.raises(runcible.errors.DeadlineError):
            async for _ in stream:
                pass

    trio.run(main)


def test_many_waiting_pieces_let_other_tasks_run(model):
    async def main():
        stream = model.session(when_full="shift").stream(
            "A", ignore_eos=True, max_tokens=200
        )
        while stream.report is None:
            await trio.sleep(0.001)
        with trio.CancelScope() as scope:
            scope.cancel()
            async for _ in stream:
                pass
        assert scope.cancelled_caught

    trio.run(main)


def test_a_run_may_end_before_its_streams(endless):
    streams = []

    async def main():
        streams.append(endless.stream("A", ignore_eos=True))
        await streams[0].__anext__()

    trio.run(main)

    async def other():
        while True:
            await streams[0].__anext__()

    with pytest.raises(RuntimeError, match="another event loop"):
        trio.run(other)


def test_a_run_frees_its_mailbox(model):
    gone = []

    async def main():
        gone.append(weakref.ref(trio.lowlevel.current_trio_token()))
        stream = model.session().stream("A", max_tokens=2)
        assert [piece async for piece in stream]

    trio.run(main)
    gc.collect()
    assert gone[0]() is None


def test_a_load_reports_progress():
    fractions = []

    async def main():
        model = await runcible.Model.load(
            "builtin:fable", "reference", progress=fractions.append
        )
        return model.report.device

    assert trio.run(main) == "reference:0"
    assert fractions == sorted(fractions) and fractions[-1] == 1


def test_cancelling_a_scope_cancels_the_load():
    async def main():
        with trio.CancelScope() as scope:
            await runcible.Model.load(
                "builtin:fable", "cpu", progress=lambda _: scope.cancel()
            )
        return scope.cancelled_caught

    assert trio.run(main)
