"""Streams on asyncio: cancelling, deadlines, and loops that end early."""

import asyncio
import gc
import time
import weakref

import pytest

import runcible
from runcible import streaming


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request):
    """Runs a coroutine on a separate event loop."""
    return pytest.importorskip(request.param).run


@pytest.fixture
def endless(model):
    """A session whose generation never ends by itself."""
    return model.session(when_full="shift")


async def first_piece(stream):
    return await stream.__anext__()


def test_many_streams_share_a_loop(model, run):
    async def text_of(seed):
        stream = model.session().stream("A", seed=seed, max_tokens=20)
        return "".join([piece async for piece in stream])

    async def main():
        return await asyncio.gather(*(text_of(seed) for seed in range(16)))

    together = run(main())
    assert len(set(together)) > 8
    # On a CPU, concurrent work changes no bit of a session's results.
    alone = model.session().generate("A", seed=3, max_tokens=20)
    assert "".join(alone) == together[3]


def test_the_loop_goes_on_during_a_stream(endless, run):
    async def main():
        turns = 0
        stream = endless.stream("A", ignore_eos=True)
        async with stream:
            for _ in range(5):
                await first_piece(stream)
                await asyncio.sleep(0)
                turns += 1
        return turns

    assert run(main()) == 5


def test_a_backlog_is_read_in_turns(run, monkeypatch):
    backend = runcible.Backend("cpu")
    model = runcible.Model("builtin:fable", backend)
    turns = []
    post = streaming._Mailbox._post
    take = streaming._Mailbox._take

    def counted_post(mailbox, event):
        turns[-1] += 1
        post(mailbox, event)

    def counted_take(mailbox):
        turns.append(0)
        take(mailbox)

    monkeypatch.setattr(streaming._Mailbox, "_post", counted_post)
    monkeypatch.setattr(streaming._Mailbox, "_take", counted_take)

    async def main():
        streams = [
            model.session(when_full="shift").stream(
                "A", ignore_eos=True, max_tokens=60
            )
            for _ in range(4)
        ]
        while backend.usage.requests < 4:
            time.sleep(0.01)  # blocks the loop
        for stream in streams:
            pieces = [piece async for piece in stream]
            assert sum(len(piece.tokens) for piece in pieces) == 60

    run(main())
    assert max(turns) == streaming._EVENTS_OF_A_TURN
    assert len(turns) > 4


def test_many_waiting_pieces_let_other_callbacks_run(model, run):
    async def main():
        stream = model.session(when_full="shift").stream(
            "A", ignore_eos=True, max_tokens=200
        )
        while stream.report is None:
            await asyncio.sleep(0.001)
        ran = []
        asyncio.get_running_loop().call_soon(ran.append, True)
        async for piece in stream:
            if ran:
                break
        assert ran

    run(main())


def test_cancelling_the_task_ends_the_request(endless, run):
    async def read(stream):
        async for _ in stream:
            pass

    async def main():
        stream = endless.stream("A", ignore_eos=True)
        task = asyncio.create_task(read(stream))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stream.report.reason == "cancelled"
        endless.append("B")  # no longer busy
        assert [piece async for piece in stream] == []

    run(main())


def test_aclose_ends_the_request(endless, run):
    async def main():
        stream = endless.stream("A", ignore_eos=True)
        await first_piece(stream)
        await stream.aclose()
        await stream.aclose()
        assert stream.report.reason == "cancelled"
        assert [piece async for piece in stream] == []
        endless.append("B")

    run(main())


def test_a_lost_stream_is_cancelled(endless, run):
    async def main():
        stream = endless.stream("A", ignore_eos=True)
        await first_piece(stream)
        gone = weakref.ref(stream)
        del stream
        gc.collect()
        assert gone() is None
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                return endless.append("B")
            except runcible.errors.BusyError:
                await asyncio.sleep(0.01)
        raise AssertionError("the request goes on")

    run(main())


def test_leaving_a_loop_ends_the_request(endless, run):
    async def main():
        for use in (
            lambda: endless.append("B"),
            lambda: endless.decode(),
            lambda: list(endless.generate("B", max_tokens=2)),
        ):
            stream = endless.stream("A", ignore_eos=True)
            async for _ in stream:
                break
            use()
            with pytest.raises(runcible.errors.CancelledError):
                async for _ in stream:
                    pass
        left = endless.stream("A", ignore_eos=True)
        async for _ in left:
            break
        stream = endless.stream("B", max_tokens=2)
        assert [piece async for piece in stream]

    run(main())


def test_a_stream_that_another_task_reads_is_not_left(endless, run):
    async def main():
        stream = endless.stream("A", ignore_eos=True)
        await asyncio.create_task(first_piece(stream))
        with pytest.raises(runcible.errors.BusyError):
            endless.append("B")
        await stream.aclose()

    run(main())


def test_decoding_on_a_loop(endless, run):
    async def main():
        endless.append([5, 6, 7])
        await endless.adecode(all_logits=True)
        return endless.logits()

    logits = run(main())
    assert logits.shape == (3, 2048)
    endless.decode(all_logits=True)
    endless.truncate(0)
    endless.append([5, 6, 7])
    endless.decode(all_logits=True)
    assert (endless.logits() == logits).all()


def test_an_exception_in_the_body_ends_the_request(endless, run):
    async def main():
        async with endless.stream("A", ignore_eos=True) as stream:
            async for _ in stream:
                raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(main())
    endless.append("B")


def test_a_deadline_ends_the_request(endless, run):
    async def main():
        stream = endless.stream("A", ignore_eos=True, deadline=0.05)
        with pytest.raises(TimeoutError) as caught:
            async for _ in stream:
                pass
        assert type(caught.value) is runcible.errors.DeadlineError
        assert caught.value.report.reason == "deadline"
        assert [piece async for piece in stream] == []

    run(main())


def test_a_timeout_of_asyncio_ends_the_request(endless, run):
    async def main():
        async def read():
            async for _ in endless.stream("A", ignore_eos=True):
                pass

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(read(), 0.05)
        endless.append("B")

    run(main())


def test_a_loop_may_end_before_its_streams(model, run):
    streams = []

    async def main():
        streams.append(
            model.session(when_full="shift").stream("A", ignore_eos=True)
        )
        await first_piece(streams[0])

    run(main())

    async def other():
        while True:
            await first_piece(streams[0])

    with pytest.raises(RuntimeError, match="another event loop"):
        run(other())


def test_a_stream_needs_a_loop(model):
    with pytest.raises(RuntimeError):
        model.session().stream("A")


def test_two_tasks_cannot_share_a_stream(endless, run):
    async def main():
        stream = endless.stream("A", ignore_eos=True)
        stream._channel.items.clear()
        tasks = [
            asyncio.create_task(stream._channel.wait()) for _ in range(2)
        ]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results].count(RuntimeError) == 1
        await stream.aclose()

    run(main())


def test_opening_on_a_loop(run):
    fractions = []

    async def main():
        found = await runcible.discover_async()
        backend = await runcible.Backend.open(
            "reference", progress=fractions.append, threads=1
        )
        await asyncio.sleep(0)
        return found.devices, backend.device.id

    devices, opened = run(main())
    assert opened in [device.id for device in devices]
    assert fractions and fractions == sorted(fractions)


def test_cancelling_the_task_cancels_the_opening(run):
    async def main():
        task = asyncio.ensure_future(
            runcible.Backend.open(
                "reference", progress=lambda _: task.cancel()
            )
        )
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())


def test_loading_on_a_loop(run):
    fractions = []

    async def main():
        model = await runcible.Model.load(
            "builtin:fable", "reference", progress=fractions.append
        )
        await asyncio.sleep(0)
        return model.report.device

    assert run(main()) == "reference:0"
    assert fractions == sorted(fractions) and fractions[-1] == 1
