"""Backends made of Python objects: models, failures, threads, and their end."""

import gc
import importlib.util
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy
import pytest

import runcible
from runcible import errors

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def example(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NumPy = example(EXAMPLES / "numpy_backend.py").NumPy


@pytest.fixture
def register():
    """Registers backends, and unregisters the remaining ones at the end."""
    names = []

    def registering(name, backend, **options):
        made = runcible.register_backend(name, backend, **options)
        names.append(name)
        return made

    yield registering
    gc.collect()
    for name in names:
        try:
            runcible.unregister_backend(name)
        except errors.NotFoundError:
            pass


def text_on(spec, prompt="Once upon a time", **options):
    session = runcible.Model("builtin:fable", spec).session()
    chosen = {"max_tokens": 40, "temperature": 0, **options}
    return "".join(session.generate(prompt, **chosen))


@pytest.fixture(scope="module")
def expected():
    return text_on("reference")


def tensor(spec, numbers=(1.0, 2.0)):
    return runcible.Tensor(numpy.array(numbers, "f4"), runcible.Backend(spec))


class Sums:
    """Adds tensors, and does with them what a test requires."""

    capabilities = {"binary": lambda types, params: params["function"] == "add"}

    def __init__(self, then=None):
        self.then = then
        self.calls = 0

    def binary(self, a, b, out, *, function):
        assert function == "add"
        self.calls += 1
        if self.then is not None:
            self.then(a, b, out)
        numpy.add(a, b, out=out)


def test_a_model_computes_three_ops_in_python(register, expected):
    backend = NumPy()
    called = set()
    for op in NumPy.capabilities:

        def counting(*given, op=op, function=getattr(backend, op), **params):
            called.add(op)
            function(*given, **params)

        setattr(backend, op, counting)
    register("numpy", backend)
    assert text_on("numpy,cpu") == expected
    assert {"rms_norm", "linear"} <= called


def test_operands_are_views_of_the_memory_of_the_library(register):
    seen = []

    def look(a, b, out):
        seen.append((a.flags.writeable, out.flags.writeable, a.base is not None, a.shape))

    x = register("sums", Sums(look)) and tensor("sums,cpu")
    assert (x + x).numpy().tolist() == [2, 4]
    assert seen == [(False, True, True, (2,))]


def test_a_general_function_receives_the_op_and_its_parameters(register):
    calls = []

    class General:
        capabilities = ["rms_norm", "linear"]

        def compute(self, call):
            calls.append((call.op, call.params, call.dtypes, call.weights))
            x, weight = call.inputs[:2]
            numpy_backend.rms_norm(x, weight, *call.outputs, **call.params)

        def forget(self, number):
            forgotten.append(number)

    numpy_backend = NumPy()
    forgotten = []
    register("general", General)
    text_on("general,cpu", max_tokens=2)
    gc.collect()
    # Its linear is for f32, and the weights are q8_0.
    assert {call[0] for call in calls} == {"rms_norm"}
    op, params, dtypes, weights = calls[0]
    assert params == {"epsilon": pytest.approx(1e-5)} and dtypes == ("f32", "f32")
    assert weights[0] == 0 and weights[1] > 0
    # There are as many numbers as norms, and each weight is freed.
    assert len({call[3][1] for call in calls}) == 9
    assert {call[3][1] for call in calls} <= set(forgotten)


def test_discovery_reports_the_health(register):
    backend = register("numpy", NumPy, description="for a test")

    def report():
        devices = runcible.discover().devices
        return next(each for each in devices if each.backend == "numpy")

    assert report().id == "numpy:0"
    assert report().driver == f"NumPy {numpy.__version__}"
    assert report().features == "add linear rms_norm"
    assert report().description == "for a test"
    # It is used only if it is named.
    assert report().kind == "software"
    assert runcible.discover().automatic != "numpy:0"

    def ill():
        raise ConnectionError("the cable is out")

    backend.health = ill
    assert report().index < 0 and "the cable is out" in report().reason
    with pytest.raises(errors.BackendUnavailableError, match="the cable is out"):
        runcible.Backend("numpy")
    backend.health = lambda: False
    assert "not well" in report().reason
    backend.health = lambda: True
    assert runcible.Backend("numpy,cpu").device.id == "numpy:0"


@pytest.mark.parametrize(
    "raised, kind",
    [
        (ValueError("the sum is odd"), errors.DeviceError),
        (MemoryError("the sum is odd"), errors.OutOfMemoryError),
        (errors.QuotaError("the sum is odd"), errors.QuotaError),
        (KeyboardInterrupt("the sum is odd"), errors.CancelledError),
        (SystemExit("the sum is odd"), errors.DeviceError),
    ],
)
def test_exceptions_are_failures_of_ops(register, raised, kind):
    def fails(a, b, out):
        raise raised

    backend = register("sums", Sums(fails))
    x = tensor("sums,cpu")
    with pytest.raises(kind) as caught:
        (x + x).numpy()
    for part in ("BINARY", "the sum is odd", "in fails", "test_backends.py"):
        assert part in str(caught.value)
    backend.then = None
    assert (x + x).numpy().tolist() == [2, 4]


def test_exceptions_end_generations(register):
    left = [30]

    class Failing(NumPy):
        def rms_norm(self, *given, **params):
            left[0] -= 1
            if left[0] < 0:
                raise ArithmeticError("no roots today")
            super().rms_norm(*given, **params)

    register("failing", Failing)
    model = runcible.Model("builtin:fable", "failing,cpu")
    with pytest.raises(errors.DeviceError, match="ArithmeticError: no roots today"):
        list(model.session().generate("A", max_tokens=200))
    left[0] = 1 << 30
    assert len(list(model.session().generate("A", max_tokens=5, ignore_eos=True))) > 0


def test_wrong_results_are_failures_of_ops(register):
    def fails(a, b, out):
        out[...] = numpy.zeros(3)

    register("sums", Sums(fails))
    x = tensor("sums,cpu")
    with pytest.raises(errors.DeviceError, match="could not broadcast"):
        (x + x).numpy()

    class ReadOnly(Sums):
        def binary(self, a, b, out, *, function):
            a[...] = 1

    register("readonly", ReadOnly)
    x = tensor("readonly,cpu")
    with pytest.raises(errors.DeviceError, match="read-only"):
        (x + x).numpy()


def test_views_that_are_kept_are_an_error(register):
    kept = []
    backend = register("sums", Sums(lambda a, b, out: kept.append(a[:1])))
    x = tensor("sums,cpu")
    with pytest.raises(errors.DeviceError, match="kept a view"):
        (x + x).numpy()
    kept.clear()
    backend.then = lambda a, b, out: kept.append(a.copy())
    assert (x + x).numpy().tolist() == [2, 4]

    def cycle(a, b, out):
        try:
            raise KeyError(a.sum())
        except KeyError as error:
            itself = error  # refers to this frame, which refers to it
            assert itself is error

    backend.then = cycle
    assert (x + x).numpy().tolist() == [2, 4]


@pytest.mark.parametrize(
    "name, backend, kind",
    [
        ("cpu", Sums, ValueError),
        ("Big", Sums, ValueError),
        ("auto", Sums, ValueError),
        ("", Sums, ValueError),
        (7, Sums, TypeError),
        ("a", object(), TypeError),
        ("a", type("A", (), {"capabilities": "add"}), TypeError),
        ("a", type("A", (), {"capabilities": ["add"]}), TypeError),
        ("a", type("A", (), {"capabilities": ["sum"], "compute": print}), ValueError),
        (
            "a",
            type("A", (), {"capabilities": {"add": ("f7",)}, "compute": print}),
            ValueError,
        ),
    ],
)
def test_registering_an_invalid_backend_raises(name, backend, kind):
    with pytest.raises(kind):
        runcible.register_backend(name, backend)
    assert "a" not in {each.backend for each in runcible.discover().devices}


def test_a_name_can_be_registered_again_after_unregistering(register):
    first = register("sums", Sums())
    with pytest.raises(errors.InvalidArgumentError, match="already"):
        runcible.register_backend("sums", Sums())
    x = tensor("sums,cpu")
    runcible.unregister_backend("sums")
    with pytest.raises(errors.NotFoundError):
        runcible.unregister_backend("sums")
    with pytest.raises(errors.NotFoundError):
        runcible.Backend("sums")
    # Open backends continue to work, along with the next one of the name.
    second = register("sums", Sums())
    y = tensor("sums,cpu")
    assert (x + x).numpy().tolist() == (y + y).numpy().tolist()
    assert (first.calls, second.calls) == (1, 1)
    with pytest.raises(errors.NotFoundError):
        runcible.unregister_backend("cpu")


def test_objects_are_released_after_unregistering():
    gone = []

    class Weak(Sums):
        def __del__(self):
            gone.append(True)

    runcible.register_backend("weak", Weak)
    x = tensor("weak,cpu")
    runcible.unregister_backend("weak")
    gc.collect()
    assert not gone
    assert (x + x).numpy().tolist() == [2, 4]
    del x
    gc.collect()
    assert gone == [True]


def test_several_threads_compute_at_once(register, expected):
    """Several models and the main thread compute and register at once."""
    register("numpy", NumPy)
    texts = {}

    def generate(number):
        texts[number] = text_on("numpy,cpu")

    threads = [threading.Thread(target=generate, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for i in range(20):
        runcible.register_backend("more", Sums)
        x = tensor("more,cpu")
        runcible.unregister_backend("more")
        assert (x + x).numpy().tolist() == [2, 4]
    for thread in threads:
        thread.join()
    assert list(texts.values()) == [expected] * 3


def test_closing_while_ops_are_computed(register):
    """Closing waits for the library, whose threads wait for the interpreter."""
    register("numpy", NumPy)
    for _ in range(10):
        model = runcible.Model("builtin:fable", "numpy,cpu")
        session = model.session(when_full="shift")
        generation = session.generate("A", ignore_eos=True)
        next(generation)
        session.close()
        model.close()
        del session, model, generation
        gc.collect()


def test_an_async_generation(register, expected):
    import asyncio

    register("numpy", NumPy)

    async def main():
        model = await runcible.Model.load("builtin:fable", "numpy,cpu")
        stream = model.session().stream("Once upon a time", max_tokens=40, temperature=0)
        return "".join([str(piece) async for piece in stream])

    assert asyncio.run(main()) == expected


def run(program):
    """Runs a separate Python, which must end by itself."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=EXAMPLES,
    )


def test_exit_while_ops_are_computed():
    result = run(
        """
        import threading, time, runcible
        from numpy_backend import NumPy
        runcible.register_backend("numpy", NumPy)
        model = runcible.Model("builtin:fable", "numpy,cpu")
        kept = [model.session(when_full="shift").generate("A", ignore_eos=True)
                for _ in range(3)]
        next(kept[0])
        begun = threading.Event()
        def work():
            try:
                for _ in model.session(when_full="shift").generate("A", ignore_eos=True):
                    begun.set()
            except runcible.errors.DeviceLostError:
                pass  # if the thread receives the end of the interpreter
        threading.Thread(target=work, daemon=True).start()
        begun.wait()
        print("done")
        """
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    assert result.stderr == ""


def test_exit_while_an_op_does_not_end():
    result = run(
        """
        import threading, time, numpy, runcible
        begun = threading.Event()
        class Slow:
            capabilities = ["rms_norm"]
            def rms_norm(self, x, weight, out, *, epsilon):
                begun.set()
                time.sleep(3600)
        runcible.register_backend("slow", Slow)
        session = runcible.Model("builtin:fable", "slow,cpu").session()
        def work():
            list(session.generate("A", max_tokens=3))
        threading.Thread(target=work, daemon=True).start()
        begun.wait()
        print("done", flush=True)
        """
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


def test_the_example_runs():
    command = [sys.executable, str(EXAMPLES / "numpy_backend.py"), "A", "fox"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A fox") and len(done.stdout) > 100
