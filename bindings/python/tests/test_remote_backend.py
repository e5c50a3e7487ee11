"""The example of a backend on another machine: TLS, cut connections, time."""

import os
import random
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy
import pytest

import runcible
from runcible import errors

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "remote_backend"
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOSTS = ("127.0.0.1", "10.213.77.2")

sys.path.insert(0, str(FOLDER))
import client  # noqa: E402
import kernels  # noqa: E402
import wire  # noqa: E402

sys.path.remove(str(FOLDER))

openssl = shutil.which("openssl", path=SYSTEM)
pytestmark = pytest.mark.skipif(
    openssl is None, reason="certificates are made by openssl, which is not installed"
)


def make_certificates(folder):
    """Makes an authority, and certificates of a server and of a client."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ",".join(["DNS:localhost", *(f"IP:{host}" for host in HOSTS)])

    def make(name, *more):
        subprocess.run(
            [openssl, "req", "-x509", *curve, "-days", "2", "-subj", f"/CN={name}"]
            + ["-keyout", f"{name}.key", "-out", f"{name}.pem", *more],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    signed = ["-CA", "authority.pem", "-CAkey", "authority.key"]
    leaf = ["-addext", "basicConstraints=critical,CA:FALSE"]
    make("authority", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    make("server", *signed, *leaf, "-addext", f"subjectAltName={names}")
    make("client", *signed, *leaf)
    return folder


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("strangers"))


def context(folder, authority=None):
    authority = authority or folder
    return wire.context(
        False, authority / "authority.pem", folder / "client.pem", folder / "client.key"
    )


class Server:
    """server.py in a separate process."""

    def __init__(self, folder, host="127.0.0.1", within=(), port=0):
        files = [folder / name for name in ("authority.pem", "server.pem", "server.key")]
        self.process = subprocess.Popen(
            [*within, sys.executable, str(FOLDER / "server.py"), host, str(port)]
            + [str(file) for file in files],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        self.port = int(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        return self.process.communicate()[1]


@pytest.fixture(scope="module")
def server(certificates):
    running = Server(certificates)
    yield running
    assert running.end() == ""


class Cutter:
    """A proxy that cuts each connection after a number of bytes, at any position.

    One of two is cut as if a machine had lost power; neither cut closes the TLS
    connection properly.
    """

    def __init__(self, port, seed):
        self.cuts = 0
        self.cutting = True
        self._target = port
        self._random = random.Random(seed)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listening.close()

    def _accept(self):
        while True:
            try:
                ours, _ = self._listening.accept()
            except OSError:
                return
            # From within the handshake to beyond the largest weight.
            budget = int(10 ** self._random.uniform(1, 6.3))
            hard = self._random.random() < 0.5
            threading.Thread(
                target=self._pass_on, args=(ours, budget, hard), daemon=True
            ).start()

    def _pass_on(self, ours, budget, hard):
        theirs = socket.create_connection(("127.0.0.1", self._target))
        other = {ours: theirs, theirs: ours}
        for each in other:  # send small messages without delay
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with selectors.DefaultSelector() as selector, ours, theirs:
            for each in other:
                selector.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    data = key.fileobj.recv(1 << 16)
                    if not data:
                        return
                    if self.cutting and len(data) > budget:
                        other[key.fileobj].sendall(data[:budget])
                        self.cuts += 1
                        if hard:
                            for each in other:
                                linger = struct.pack("ii", 1, 0)
                                each.setsockopt(
                                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                                )
                        return
                    if self.cutting:
                        budget -= len(data)
                    other[key.fileobj].sendall(data)


def calls():
    """Yields ops with their expected results, forever."""
    numbers = numpy.random.default_rng(7)
    blocks = numpy.zeros((96, 6), kernels.FORMATS["q8_0"])
    blocks["scale"] = numbers.uniform(0.001, 0.1, blocks.shape)
    blocks["numbers"] = numbers.integers(-127, 128, (*blocks.shape, 32))
    weight = numbers.standard_normal(192, "f4")
    while True:
        rows = int(numbers.integers(1, 40))
        x, y = numbers.standard_normal((2, rows, 192), "f4")
        for op, inputs, weights, params in (
            ("add", (x, y), (0, 0), {}),
            ("rms_norm", (x, weight), (0, 1), {"epsilon": 1e-5}),
            ("linear", (x, blocks, None, None), (0, 2, 0, 0), {}),
        ):
            right = kernels.compute(op, inputs, params)
            out = numpy.full_like(right, numpy.nan)
            dtypes = tuple(
                None if each is None else "q8_0" if each is blocks else "f32"
                for each in inputs
            )
            yield runcible.Call(op, inputs, (out,), params, dtypes, weights), right


@pytest.mark.parametrize("here", [True, False])
def test_ops_survive_a_hundred_cut_connections(certificates, server, here):
    cutter = Cutter(server.port, seed=42)
    remote = client.Remote(
        "127.0.0.1", cutter.port, context(certificates), tries=3, here=here, rest=0
    )
    failed = 0
    for call, right in calls():
        if cutter.cuts >= 100:
            break
        try:
            remote.compute(call)
        except ConnectionError:
            failed += 1
            continue
        # The last bits of a product depend on the layout of its operands in memory.
        numpy.testing.assert_allclose(call.outputs[0], right, rtol=1e-5, atol=1e-3)
    # Connections were made again, and most served several ops.
    assert remote.connections > 50
    assert remote.computed_there > 200
    assert failed == 0 if here else remote.computed_here == 0
    cutter.close()
    remote.close()


@pytest.fixture(scope="module")
def expected():
    return generated(runcible.Model("builtin:fable", "reference"))


def test_a_model_computes_over_cut_connections(certificates, server, expected):
    cutter = Cutter(server.port, seed=1)
    remote = client.Remote("127.0.0.1", cutter.port, context(certificates), here=False)
    cutter.cutting = False
    runcible.register_backend("remote", remote)
    try:
        model = runcible.Model("builtin:fable", "remote,cpu")
        assert generated(model) == expected
        cutter.cutting = True
        remote.close()
        good = failed = 0
        while cutter.cuts < 100:
            try:
                text = generated(model)
            except errors.DeviceError as error:
                assert "ConnectionError" in str(error)
                failed += 1
            else:
                assert text == expected
                good += 1
        assert good > 0
    finally:
        runcible.unregister_backend("remote")
        cutter.close()


def generated(model):
    session = model.session()
    return "".join(session.generate("Once upon a time", max_tokens=24, temperature=0))


def report():
    devices = runcible.discover().devices
    return next(each for each in devices if each.backend == "remote")


def test_health_reports_the_connection(certificates):
    server = Server(certificates)
    remote = client.Remote("127.0.0.1", server.port, context(certificates), timeout=60)
    runcible.register_backend("remote", remote)
    try:
        assert report().driver.startswith(f"TLSv1.3 to 127.0.0.1:{server.port}, ")
        assert report().features == "add linear rms_norm"
        server.end()
        assert report().index < 0 and "ConnectionRefusedError" in report().reason
        with pytest.raises(errors.BackendUnavailableError, match="refused"):
            runcible.Backend("remote")
        # The next backend of a chain is used.
        assert runcible.Backend("remote,cpu").device.id == "cpu:0"
    finally:
        runcible.unregister_backend("remote")


def test_a_server_may_end_and_restart(certificates, expected):
    server = Server(certificates)
    remote = client.Remote("127.0.0.1", server.port, context(certificates), timeout=60)
    runcible.register_backend("remote", remote)
    try:
        model = runcible.Model("builtin:fable", "remote,cpu")
        assert generated(model) == expected
        there = remote.computed_there
        assert there > 100 and remote.computed_here == 0
        server.end()
        assert generated(model) == expected
        assert remote.computed_there == there and remote.computed_here > 100
        # The new server does not have the weights that the old one had.
        server = Server(certificates, port=server.port)
        time.sleep(1)
        here = remote.computed_here
        assert generated(model) == expected
        assert remote.computed_there > there + 100 and remote.computed_here == here
        server.end()
    finally:
        runcible.unregister_backend("remote")


def test_a_silent_server_is_not_waited_for(certificates):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        remote = client.Remote(
            "127.0.0.1", port, context(certificates), timeout=0.3, here=False
        )
        call, _ = next(calls())
        begin = time.monotonic()
        with pytest.raises(ConnectionError):
            remote.compute(call)
        with pytest.raises(TimeoutError):
            remote.health()
        assert time.monotonic() - begin < 60


def test_certificates_of_another_authority_are_refused(certificates, strangers, server):
    # One side's certificate is signed by another authority.
    for folder, authority in ((strangers, certificates), (certificates, strangers)):
        remote = client.Remote(
            "127.0.0.1", server.port, context(folder, authority), timeout=60
        )
        with pytest.raises(OSError):
            remote.health()
    # The server has another name.
    remote = client.Remote(
        "127.0.0.1", server.port, context(certificates), name="elsewhere"
    )
    with pytest.raises(OSError, match="match"):
        remote.health()
    # A client without TLS is disconnected, and the others are served.
    with socket.create_connection(("127.0.0.1", server.port)) as stranger:
        stranger.sendall(b"\0" * 1000)
        stranger.settimeout(60)
        try:
            while stranger.recv(1000):
                pass
        except ConnectionResetError:
            pass
    remote = client.Remote("127.0.0.1", server.port, context(certificates))
    assert remote.health()


def test_an_op_that_the_server_refuses_fails(certificates, server):
    remote = client.Remote("127.0.0.1", server.port, context(certificates))
    call, _ = next(calls())
    x = call.inputs[0]
    wrong = runcible.Call("add", (x, x, x), call.outputs, {}, ("f32",) * 3, (0,) * 3)
    for refused, reason in (
        (runcible.Call("rope", (x,), call.outputs, {}, ("f32",), (0,)), "rope"),
        (wrong, "TypeError"),
    ):
        with pytest.raises(client.RemoteError, match=reason):
            remote.compute(refused)
    remote.compute(call)  # over the same connection
    assert remote.connections == 1
    line = server.process.stderr.readline()
    while "TypeError" not in line:
        line = server.process.stderr.readline()


def ip(*arguments):
    command = [shutil.which("ip", path=SYSTEM), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture
def namespaces():
    """Two network namespaces with a cable between them."""
    if os.geteuid() != 0 or shutil.which("ip", path=SYSTEM) is None:
        pytest.skip("network namespaces need root and the command ip")
    names = [f"rc-{os.getpid()}-{side}" for side in "ab"]
    ends = [f"rc{os.getpid()}{side}" for side in "ab"]
    made = []
    try:
        try:
            for name in names:
                ip("netns", "add", name)
                made.append(name)
            ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for i, (name, end) in enumerate(zip(names, ends)):
                ip("link", "set", end, "netns", name)
                ip("-n", name, "address", "add", f"10.213.77.{i + 1}/24", "dev", end)
                ip("-n", name, "link", "set", end, "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"this machine makes no network namespaces: {error.stderr}")
        yield names
    finally:
        for name in made:
            ip("netns", "delete", name)


def test_two_network_namespaces_compute_together(certificates, namespaces, expected):
    near, far = namespaces
    command = shutil.which("ip", path=SYSTEM)
    server = Server(certificates, HOSTS[1], [command, "netns", "exec", far])
    try:
        files = ("authority.pem", "client.pem", "client.key")
        done = subprocess.run(
            [command, "netns", "exec", near, sys.executable, str(FOLDER / "client.py")]
            + [HOSTS[1], str(server.port), *(str(certificates / file) for file in files)],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Once upon a time" + expected)
        assert " ops there, 0 here" in done.stderr
        assert int(done.stderr.split()[0]) > 500
    finally:
        server.end()
