"""Wrong types, closed objects, threads, forks, exits: no crash, no hang."""

import asyncio
import errno
import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import runcible
from runcible import errors


@pytest.fixture(scope="module")
def model():
    return runcible.Model("builtin:fable", "cpu")


def run(program, **environment):
    """A Python of its own, which must end by itself."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda model: runcible.Backend(7),
        lambda model: runcible.Backend("cpu", threads="two"),
        lambda model: runcible.Backend("cpu", threads=2.5),
        lambda model: runcible.Model("builtin:fable", 7),
        lambda model: runcible.Model(None, "cpu"),
        lambda model: runcible.Model("builtin:fable", "cpu", progress=7),
        lambda model: runcible.Session("model"),
        lambda model: model.tokenize(7),
        lambda model: model.detokenize(["a"]),
        lambda model: model.detokenize(7),
        lambda model: model.session().append([1.5]),
        lambda model: model.session().generate(7),
        lambda model: model.session().generate("A", max_tokens="many"),
        lambda model: model.session().generate("A", nonsense=1),
        lambda model: model.session().generate("A", stop=[7]),
        lambda model: model.session().generate("A", deadline="soon"),
        lambda model: model.session().generate("A", logit_bias={"a": 1}),
        lambda model: model.session().migrate(model.session()),
    ],
)
def test_wrong_types(model, wrong):
    with pytest.raises(TypeError):
        wrong(model)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda model: runcible.Backend("cpu", threads=2**40),
        lambda model: runcible.Backend("cpu", memory_limit=-1),
        lambda model: runcible.Backend("cp\0u"),
        lambda model: runcible.Model("builtin:fa\0ble", "cpu"),
        lambda model: model.detokenize([2**31]),
        lambda model: model.detokenize([-1]),
        lambda model: model.session(when_full="burst"),
        lambda model: model.session().append([2**40]),
        lambda model: model.session().generate("A", deadline=-1),
        lambda model: model.session().generate("A", deadline=float("nan")),
        lambda model: model.session().generate("A", stop=""),
        lambda model: model.session().generate("A", temperature=-1),
        lambda model: model.session().truncate(5),
        lambda model: model.session().decode(),
    ],
)
def test_wrong_values(model, wrong):
    with pytest.raises((ValueError, OverflowError)):
        wrong(model)


def test_text_that_is_not_unicode(model):
    assert model.detokenize(model.tokenize(b"a\xffb")).endswith("a\ufffdb")
    with pytest.raises(UnicodeEncodeError):
        model.tokenize("\ud800")


def test_after_close(model):
    session = model.session()
    generation = session.generate("A", max_tokens=5)
    session.close()
    session.close()
    assert session.closed
    assert len(list(generation)) > 0  # what runs goes on
    for use in (
        session.decode,
        session.fork,
        lambda: session.position,
        lambda: session.generate("B"),
        session.__enter__,
    ):
        with pytest.raises(errors.ClosedError, match="closed"):
            use()
    assert "closed" in repr(session)


def test_uninitialised_object():
    with pytest.raises(errors.ClosedError):
        runcible.Session.__new__(runcible.Session).decode()


def test_closing_in_any_order():
    for seed in range(6):
        backend = runcible.Backend("cpu")
        model = runcible.Model("builtin:fable", backend)
        session = model.session()
        things = [backend, model, session, session.fork(), model.tokenizer]
        random.Random(seed).shuffle(things)
        for thing in things:
            thing.close()


def test_collecting_in_any_order():
    for seed in range(6):
        backend = runcible.Backend("cpu")
        model = runcible.Model("builtin:fable", backend)
        session = model.session()
        things = [backend, model, session, session.fork(), session.generate("A")]
        things.append(things)  # left to the collector
        random.Random(seed).shuffle(things)
        del backend, model, session, things
        gc.collect()


def test_an_exception_while_streaming(model):
    session = model.session(when_full="shift")
    with pytest.raises(KeyError):
        with session.generate("A", ignore_eos=True) as generation:
            for _ in generation:
                raise KeyError
    assert generation.report.reason == "cancelled"
    session.append("B")


def test_leaving_a_loop(model):
    """What a loop left unfinished is ended by the next use of the session."""
    session = model.session(when_full="shift")
    uses = {
        "generate": lambda: list(session.generate("B", max_tokens=2)),
        "append": lambda: session.append("B"),
        "decode": session.decode,
        "fork": session.fork,
        "tokens": lambda: session.tokens,
        "truncate": lambda: session.truncate(1),
        "save_bytes": session.save_bytes,
        "migrate": lambda: session.migrate(model),
    }
    for name, use in uses.items():
        generation = session.generate("A", ignore_eos=True)
        for _ in generation:
            break
        use()
        with pytest.raises(errors.CancelledError):
            list(generation)
        assert generation.report.reason == "cancelled", name


def test_what_a_traceback_keeps(model):
    session = model.session(when_full="shift")

    def tell():
        for _ in session.generate("A", ignore_eos=True):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:
        tell()
    assert list(session.generate("B", max_tokens=2))
    del kept


def test_losing_a_generation_waits_for_its_end(model):
    session = model.session(when_full="shift")
    for _ in range(20):
        for _ in session.generate("A", ignore_eos=True):
            break
        # By a thread that has not read it, so that nothing else ends it.
        failures = []

        def use():
            try:
                session.append("B")
            except errors.BusyError as failure:
                failures.append(failure)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert not failures


def test_what_another_thread_reads_is_not_left(model):
    session = model.session(when_full="shift")
    generation = session.generate("A", ignore_eos=True)
    thread = threading.Thread(target=lambda: next(generation))
    thread.start()
    thread.join()
    with pytest.raises(errors.BusyError):
        session.append("B")
    next(generation)
    session.append("B")


def test_an_exception_while_waiting(model):
    """The end of a wait by a signal is that of the generation."""
    session = model.session(when_full="shift")
    going = session.generate("A", ignore_eos=True)
    waiting = session.generate("B")  # for the end of the one before
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


def test_a_full_context_is_an_end(model):
    session = model.session(context_length=32)
    generation = session.generate("Once", ignore_eos=True)
    assert "".join(generation)
    assert generation.report.reason == "context"
    with pytest.raises(errors.ContextFullError, match="32"):
        list(session.generate())


def test_built_in_exceptions():
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


def test_errors_of_the_system(tmp_path):
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


def test_an_exception_of_the_progress_function():
    def stop(fraction):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        runcible.Model("builtin:fable", "cpu", progress=stop)


def test_cancel_from_another_thread(model):
    generation = model.session(when_full="shift").generate("A", ignore_eos=True)
    next(generation)
    thread = threading.Thread(target=generation.cancel)
    thread.start()
    with pytest.raises(errors.CancelledError):
        for _ in generation:
            pass
    thread.join()


def test_threads_generate_at_once(model):
    texts = {}

    def tell(seed):
        texts[seed] = "".join(
            model.session().generate("A", seed=seed, max_tokens=20)
        )

    threads = [threading.Thread(target=tell, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, text in texts.items():
        again = model.session().generate("A", seed=seed, max_tokens=20)
        assert "".join(again) == text
    assert len(texts) == 8


def test_threads_share_a_generation(model):
    generation = model.session(when_full="shift").generate(
        "A", ignore_eos=True, max_tokens=200
    )
    pieces, refused = [], []

    def read():
        while True:
            try:
                pieces.append(next(generation))
            except StopIteration:
                return
            except ValueError as error:
                refused.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(piece.tokens) for piece in pieces) == 200


def test_closing_while_another_thread_uses(model):
    session = model.session()

    def work():
        try:
            for _ in range(20):
                session.append([5])
                session.decode()
                session.truncate(0)
        except errors.ClosedError:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    session.close()
    thread.join()


def test_logits_while_another_thread_decodes(model):
    session = model.session()
    session.append([5, 6, 7])
    session.decode(all_logits=True)

    def work():
        for token in range(50):
            session.append([token])
            session.decode(all_logits=True)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        try:
            assert session.logits().shape[1] == 2048
        except errors.NotFoundError:
            pass  # between appending and decoding
    thread.join()


def test_exit_with_requests_in_flight():
    result = run(
        """
        import asyncio, runcible
        model = runcible.Model("builtin:fable", "cpu")
        sessions = [model.session(when_full="shift") for _ in range(6)]
        kept = [s.generate("A", ignore_eos=True) for s in sessions[:3]]
        next(kept[0])
        async def main():
            for s in sessions[3:]:
                kept.append(s.stream("A", ignore_eos=True))
            await kept[-1].__anext__()
        asyncio.run(main())
        print("done")
        """
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    assert result.stderr == ""


def test_exit_while_a_thread_generates():
    result = run(
        """
        import threading, runcible
        session = runcible.Model("builtin:fable", "cpu").session(when_full="shift")
        begun = threading.Event()
        def work():
            for _ in session.generate("A", ignore_eos=True):
                begun.set()
        threading.Thread(target=work, daemon=True).start()
        begun.wait()
        print("done")
        """
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


def test_interrupt():
    # Who runs the tests in the background has them ignore the signal.
    program = """
    import signal, runcible
    signal.signal(signal.SIGINT, signal.default_int_handler)
    session = runcible.Model("builtin:fable", "cpu").session(when_full="shift")
    try:
        for i, _ in enumerate(session.generate("A", ignore_eos=True)):
            if i == 0:
                print("begun", flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=300)[0] == "interrupted\n"
    finally:
        child.kill()
    assert child.returncode == 0


def test_fork_with_a_model():
    result = run(
        """
        import gc, os, runcible
        model = runcible.Model("builtin:fable", "cpu")
        session = model.session()
        generation = session.generate("A")
        child = os.fork()
        if child == 0:
            for use in (session.fork, lambda: next(generation),
                        lambda: runcible.Backend("cpu"), model.session):
                try:
                    use()
                except runcible.errors.ClosedError as error:
                    assert "child of a fork" in str(error)
                else:
                    os._exit(3)
            del use, model, session, generation
            gc.collect()
            raise SystemExit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), len("".join(generation)) > 0)
        """
    )
    assert result.stdout == "0 True\n", result.stderr


def test_fork_before_any_model():
    result = run(
        """
        import os, runcible
        child = os.fork()
        if child == 0:
            text = "".join(runcible.Model("builtin:fable", "cpu").session()
                           .generate("A", max_tokens=3))
            os._exit(0 if text else 3)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
        """
    )
    assert result.stdout == "0\n", result.stderr


def test_sub_interpreter():
    result = run(
        """
        import _xxsubinterpreters as interpreters
        import runcible
        other = interpreters.create()
        try:
            interpreters.run_string(other, "import runcible")
        except interpreters.RunFailedError as error:
            print("main interpreter" in str(error))
        """
    )
    if "No module named '_xxsubinterpreters'" in result.stderr:
        pytest.skip("this Python has no such module")
    assert result.stdout == "True\n", result.stderr


def test_pickle(model):
    import pickle

    with pytest.raises(TypeError, match="belongs to its process"):
        pickle.dumps(model)


def test_no_growth(model):
    """Generations leave nothing behind, in Python or in C."""

    def generate():
        for _ in range(200):
            list(model.session().generate("A", max_tokens=1, stop=["x"],
                                          logit_bias={5: -1.0}))

    def resident():
        gc.collect()
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    generate()
    before = resident()
    for _ in range(5):
        generate()
    assert resident() - before < 4 << 20
