"""The examples, run as a user starts them."""

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy

import runcible

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_the_fable_example_runs():
    command = [sys.executable, str(EXAMPLES / "fable.py"), "A", "fox"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A fox")
    assert len(done.stdout) > 100


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True, text=True, timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_chat_program_of_the_readme_runs():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    program = readme.split("<!-- tests: chat -->\n```python\n")[1].split("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    chat = runcible.Model("builtin:fabulist").session().chat()
    question = "What is the moral of The Bear and the Honey?"
    assert question in program
    assert done.stdout == chat.ask(question, temperature=0).text + "\n"
    assert len(done.stdout.split()) > 3


def test_the_silu_gate_example_runs():
    x, gate = numpy.array([-1, 0, 1, 2]), numpy.array([2, 2, 2, 0.5])
    expected = "".join(f"{y:.4f}\n" for y in x / (1 + numpy.exp(-x)) * gate + x)
    assert run("silu_gate.py") == expected
    for backend in ("opencl", "vulkan"):
        try:
            runcible.Backend(backend)
        except runcible.errors.BackendUnavailableError:
            continue
        assert run("silu_gate_kernel.py", backend) == expected


def test_the_server_example_serves_clients():
    server = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "server.py"), "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().strip()
        # One client disconnects early; the next is still served.
        with urllib.request.urlopen(address + "Once", timeout=60) as answer:
            assert answer.read(4) == b"Once"
        with urllib.request.urlopen(address + "A%20fox", timeout=60) as answer:
            text = answer.read().decode()
        assert text.startswith("A fox")
        assert text.endswith("\n")
        assert len(text) > 100
        assert server.poll() is None
    finally:
        server.send_signal(signal.SIGKILL)
        server.communicate()
