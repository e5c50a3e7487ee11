"""Wrong types and values, closed objects, loops that are left: no crash, no hang."""

import asyncio
import errno
import gc
import os
import random
import signal
import threading

import pytest

import runcible
from runcible import errors


def test_wrong_arguments_raise(model):
    with pytest.raises(TypeError):
        runcible.Model("builtin:fable", "cpu", progress=7)
    with pytest.raises(TypeError):
        runcible.Session("model")
    with pytest.raises(ValueError):
        model.session().generate("A", deadline=float("nan"))


def test_text_that_is_not_unicode_is_replaced_or_raises(model):
    assert model.detokenize(model.tokenize(b"a\xffb")).endswith("a\ufffdb")
    with pytest.raises(UnicodeEncodeError):
        model.tokenize("\ud800")


def test_closed_objects_raise(model):
    session = model.session()
    session.close()
    assert session.closed
    with pytest.raises(errors.ClosedError, match="closed"):
        session.__enter__()
    assert "closed" in repr(session)


def test_an_uninitialised_object_raises():
    with pytest.raises(errors.ClosedError):
        runcible.Session.__new__(runcible.Session).decode()


def test_objects_may_be_collected_in_any_order():
    for seed in range(6):
        backend = runcible.Backend("cpu")
        model = runcible.Model("builtin:fable", backend)
        session = model.session()
        things = [backend, model, session, session.fork(), session.generate("A")]
        things.append(things)  # left to the collector
        random.Random(seed).shuffle(things)
        del backend, model, session, things
        gc.collect()


def test_an_exception_while_streaming_ends_the_generation(model):
    session = model.session(when_full="shift")
    with pytest.raises(KeyError):
        with session.generate("A", ignore_eos=True) as generation:
            for _ in generation:
                raise KeyError
    assert generation.report.reason == "cancelled"
    session.append("B")


def test_a_generation_kept_by_a_traceback_ends(model):
    session = model.session(when_full="shift")

    def interrupted():
        for _ in session.generate("A", ignore_eos=True):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:
        interrupted()
    assert list(session.generate("B", max_tokens=2))
    del kept


def test_an_exception_while_waiting_ends_the_generation(model):
    """A signal that ends a wait ends the generation."""
    session = model.session(when_full="shift")
    going = session.generate("A", ignore_eos=True)
    waiting = session.generate("B")  # waits for the end of the first
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt) as kept:
            next(waiting)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert waiting.report.reason == "cancelled"
    assert list(waiting) == []
    going.close()
    assert list(session.generate("C", max_tokens=2))
    del kept


def test_errors_are_built_in_exceptions():
    built_in = {
        "InvalidArgumentError": ValueError,
        "OutOfMemoryError": MemoryError,
        "NotFoundError": FileNotFoundError,
        "FileError": OSError,
        "FormatError": ValueError,
        "DeviceMemoryError": MemoryError,
        "WaitTimeoutError": TimeoutError,
        "DeadlineError": TimeoutError,
        "ClosedError": ValueError,
    }
    for name, known in vars(errors).items():
        if isinstance(known, type) and issubclass(known, runcible.Error):
            if known is not runcible.Error:
                assert issubclass(known, built_in.get(name, RuntimeError))
                assert not issubclass(known, asyncio.CancelledError)
                error = errors.of_status(known.status, "a message")
                assert str(error) == "a message"
                assert (error.errno > 0) if isinstance(error, OSError) else True


def test_errors_of_the_system_have_their_number(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        runcible.Model(tmp_path / "none.gguf", "cpu")
    assert caught.value.errno == errno.ENOENT
    assert "none.gguf" in str(caught.value)
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(loop)
    with pytest.raises(OSError) as caught:
        runcible.Model(loop, "cpu")
    assert caught.value.errno == errno.ELOOP
    assert "loop.gguf" in str(caught.value)


def test_an_exception_of_the_progress_function_ends_the_load():
    def stop(fraction):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        runcible.Model("builtin:fable", "cpu", progress=stop)
    with pytest.raises(KeyError, match="mine"):
        runcible.Backend("cpu", progress=stop)


def test_memory_does_not_grow(model):
    """Generations free all their memory, in Python and in C."""

    def generate():
        for _ in range(200):
            list(model.session().generate("A", max_tokens=1, stop=["x"],
                                          logit_bias={5: -1.0}))

    def resident():
        gc.collect()
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    generate()
    # A leak grows each time; the allocator grows by leaps, and for longer if there
    # are many threads.
    grown = []
    while len(grown) < 16 and (not grown or grown[-1] >= 1 << 20):
        before = resident()
        for _ in range(5):
            generate()
        grown.append(resident() - before)
    assert grown[-1] < 1 << 20, grown
