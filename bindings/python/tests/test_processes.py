"""Ends, signals, forks and interpreters: separate processes, which must end."""

import pickle
import signal
import subprocess
import sys
import textwrap

import pytest


def run(program):
    """Runs a separate Python, which must end by itself."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_process_may_exit_with_requests_in_flight():
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


def test_a_process_may_exit_while_a_thread_generates():
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


def test_an_interrupt_ends_a_generation():
    # A shell that runs the tests in the background makes them ignore the signal.
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


def test_a_fork_with_a_model_refuses_calls():
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


def test_a_fork_before_any_model_works():
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


def test_a_sub_interpreter_cannot_import_the_package():
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


def test_objects_cannot_be_pickled(model):
    with pytest.raises(TypeError, match="belongs to its process"):
        pickle.dumps(model)
