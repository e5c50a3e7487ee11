"""Starting work on an event loop does not block it, whatever the model does."""

import asyncio
import time

import runcible

# Tries of each call, at least one of which other programs do not interrupt.
_TRIES = 6
_LONGEST = 0.005  # seconds; most of them are the interpreter's own part


async def _first_turn(coroutine):
    """Returns how long a task keeps the loop until it first waits."""
    begun = time.perf_counter()
    task = asyncio.ensure_future(coroutine)
    await asyncio.sleep(0)
    kept = time.perf_counter() - begun
    return kept, task


def test_starting_answers_and_streams_does_not_block_the_loop_during_long_steps():
    model = runcible.Model("builtin:fabulist", "reference")

    async def piece_of(stream):
        async for _ in stream:
            break
        await stream.aclose()

    async def main():
        # Prompts whose steps each take a large part of a second.
        text = "a fox and a crow; " * 120
        running = [
            asyncio.ensure_future(piece_of(model.session().stream(text, max_tokens=1)))
            for _ in range(12)
        ]
        await asyncio.sleep(0.05)
        kept = {"answer": [], "generate": []}
        tasks = []
        for _ in range(_TRIES):
            chat = model.session().chat()
            chat.add({"role": "user", "content": "a fox and a crow; " * 60})
            now, task = await _first_turn(piece_of(chat.stream(max_tokens=1)))
            kept["answer"].append(now)
            tasks.append(task)
            stream = model.session().stream("a fox", max_tokens=1)
            now, task = await _first_turn(piece_of(stream))
            kept["generate"].append(now)
            tasks.append(task)
        left = sum(not task.done() for task in running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, *tasks, return_exceptions=True)
        return kept, left

    kept, left = asyncio.run(main())
    assert left, "all steps were over before the calls began"
    for name, times in kept.items():
        assert min(times) < _LONGEST, (name, times)
