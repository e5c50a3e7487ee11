"""The examples, as a user starts them."""

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_fable():
    command = [sys.executable, str(EXAMPLES / "fable.py"), "A", "fox"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A fox")
    assert len(done.stdout) > 100


def test_server():
    server = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "server.py"), "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().strip()
        # One leaves in the middle; the next is served all the same.
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
