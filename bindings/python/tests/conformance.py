"""Runs the steps of the cases in bindings/conformance; see README.md there."""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import inspect
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, List

import numpy

import runcible

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases.json"
#: The errors of the language itself.
OF_PYTHON = {"TYPE": TypeError, "VALUE": (ValueError, OverflowError)}


def error_class(name: str) -> type:
    """Returns the exception of a status; "IO" is that of RC_E_IO."""
    special = {"IO": "FileError", "TIMEOUT": "WaitTimeoutError"}
    words = "".join(word.capitalize() for word in name.split("_"))
    found = getattr(runcible.errors, special.get(name, words + "Error"))
    assert issubclass(found, runcible.Error)
    return found


class Runner:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document = json.loads(CASES.read_text(encoding="utf-8"))
        golden = CASES.parent / self.document["golden"]
        self.golden = json.loads(golden.read_text(encoding="utf-8"))
        self.objects: Dict[str, Any] = {}

    def value(self, given: Any) -> Any:
        """Returns a value of a step: "$name" is an object."""
        if isinstance(given, list):
            return [self.value(each) for each in given]
        if isinstance(given, dict):
            return {name: self.value(each) for name, each in given.items()}
        if not isinstance(given, str) or not given.startswith("$"):
            return given
        kind, *rest = given[1:].split("/")
        if kind == "golden":
            found = self.golden
            for key in rest:
                found = found[int(key) if isinstance(found, list) else key]
            return found
        if kind == "path":
            return self.folder / rest[0]
        if kind == "backend":
            return runcible.Backend(rest[0])
        found = self.objects[kind]
        for name in rest:
            found = self.member(found, name)
        return found

    def run(self, case: Dict[str, Any]) -> None:
        async def steps() -> None:
            for step in case["steps"]:
                await self.step(step)

        asyncio.run(steps())

    async def step(self, step: Dict[str, Any]) -> None:
        if "Python" in step.get("except", []):
            return None
        if "raises" not in step:
            return await self.act(step)
        wrong: Any = OF_PYTHON.get(step["raises"], runcible.Error)
        try:
            await self.act(step)
        except wrong as error:
            if step["raises"] in OF_PYTHON:
                assert not isinstance(error, runcible.Error), repr(error)
                return None
            assert type(error) is error_class(step["raises"]), repr(error)
            assert str(error)
            assert step.get("says", "") in str(error)
            assert str(error).startswith(step.get("names", "")), str(error)
            assert not re.search(r"\b(rc|RC)_|->", str(error)), str(error)
            if "retries" in step:
                assert (error.retry_after is not None) == step["retries"], repr(error)
            if "reason" in step:
                assert error.report and error.report.reason == step["reason"]
        else:
            raise AssertionError(f"{step} raised nothing")
        return None

    async def act(self, step: Dict[str, Any]) -> None:
        found = self.call(step)
        if inspect.isawaitable(found):
            found = await found
        if isinstance(step.get("as"), list):
            assert len(found) == len(step["as"])
            self.objects.update(zip(step["as"], found))
        elif "as" in step:
            self.objects[step["as"]] = found
        if "expect" in step:
            self.check(found, self.value(step["expect"]), step["do"])

    def call(self, step: Dict[str, Any]) -> Any:
        """Calls what a step names, of an object, a class or the package."""
        on, _, method = step["do"].partition(".")
        given = self.value(step.get("with", []))
        options = self.value(step.get("options", {}))
        if "logit_bias" in options:
            options["logit_bias"] = {
                token: float("-inf") if bias is None else bias
                for token, bias in options["logit_bias"]
            }
        target = self.objects.get(on, getattr(runcible, on, None))
        own = getattr(self, f"do_{on}_{method}", getattr(self, f"do_{method or on}", None))
        if own is not None:
            return own(target, *given, step=step, **options)
        member = getattr(target, method) if method else target
        return member(*given, **options) if callable(member) else member

    def check(self, found: Any, expected: Any, what: str) -> None:
        """Checks what was found against the expected part of it."""
        if isinstance(expected, list):
            assert len(found) == len(expected), what
            for i, each in enumerate(expected):
                self.check(found[i], each, f"{what}[{i}]")
        elif isinstance(expected, dict):
            for name, wanted in expected.items():
                if name == "$by":
                    continue
                if name.startswith("$"):
                    holds = self.compare(name, found, wanted, expected.get("$by"), what)
                    assert holds, f"{what}: {found} {name} {wanted}"
                else:
                    self.check(self.member(found, name), wanted, f"{what}.{name}")
        else:
            assert found == expected, what

    @staticmethod
    def member(found: Any, name: str) -> Any:
        if isinstance(found, dict):
            return found[name]
        if isinstance(found, runcible.Tensor) and name == "numbers":
            return found.numpy().ravel().tolist()
        if isinstance(found, tuple):  # a token with its logarithm
            return found[["token", "logprob"].index(name)]
        if name == "devices":
            return getattr(found, name, found)
        member = getattr(found, name)
        member = member() if inspect.ismethod(member) else member
        return list(member) if name == "shape" else member

    def passes(self, found: Any, wanted: Any) -> bool:
        try:
            self.check(found, wanted, "")
        except AssertionError:
            return False
        return True

    def compare(self, name: str, found: Any, wanted: Any, by: Any, what: str) -> bool:
        if name == "$near":
            if not isinstance(wanted, list):
                found, wanted = [found], [wanted]
            return len(found) >= len(wanted) and all(
                abs(a - b) <= by for a, b in zip(found, wanted))
        if name == "$count":
            self.check(len(found), wanted, f"{what} count")
            return True
        if name == "$but_last":
            return found == wanted[: len(found)] and len(found) >= len(wanted) - 1
        return {
            "$same": lambda: found == wanted,
            "$not": lambda: found != wanted,
            "$least": lambda: found >= wanted,
            "$most": lambda: found <= wanted,
            "$some": lambda: any(self.passes(each, wanted) for each in found),
            "$all": lambda: all(self.passes(each, wanted) for each in found),
            "$any": lambda: any(self.passes(found, each) for each in wanted),
            "$start_of": lambda: found != "" and wanted.startswith(found),
        }[name]()

    # Steps that are not a single call, or a different one in Python.

    def do_open(self, backend: Any, *given: Any, step: Any, **options: Any) -> Any:
        return backend(*given, **options)

    do_load = do_create = do_open

    def do_generate(self, session: Any, *given: Any, step: Any, **options: Any) -> Any:
        generation = session.generate(*given, **options)
        return {"text": "".join(generation), "report": generation.report}

    async def do_stream(self, session: Any, *given: Any, step: Any, **options: Any) -> Any:
        stream = session.stream(*given, **options)
        pieces = []
        async for piece in stream:
            pieces.append(piece)
            if len(pieces) == step.get("cancel_after"):
                stream.cancel()
        described = [{"text": str(each), "tokens": each.tokens, "logprobs": each.logprobs,
                 "top_logprobs": each.top_logprobs} for each in pieces]
        return {"text": "".join(pieces), "pieces": described, "report": stream.report}

    def do_restore_bytes(self, kind: Any, model: Any, saved: bytes, step: Any) -> Any:
        return kind.restore(model, saved)

    def do_start(self, session: Any, *given: Any, step: Any, **options: Any) -> Any:
        return session.generate(*given, **options)

    def do_leave(self, session: Any, *given: Any, step: Any, **options: Any) -> Any:
        generation = session.generate(*given, **options)
        next(generation)
        return generation

    def do_text(self, generation: Any, step: Any) -> str:
        return "".join(generation)

    def do_close_all(self, _: Any, *names: str, step: Any) -> None:
        for name in names:
            self.objects[name].close()

    def do_finish(self, generation: Any, step: Any) -> Any:
        generation.close()
        return generation

    async def do_together(self, _: Any, step: Any) -> None:
        await asyncio.gather(*(self.step(each) for each in step["steps"]))

    def do_statuses(self, _: Any, numbers: Dict[str, int], step: Any) -> None:
        for name, number in numbers.items():
            assert error_class(name).status == number
            error = runcible.errors.of_status(number, "a message")
            assert type(error) is error_class(name)
            assert str(error) == "a message"

    def do_file(self, _: Any, path: Path, text: str, step: Any) -> None:
        path.write_text(text)

    async def do_answer(self, chat: Any, step: Any, **options: Any) -> Any:
        stream = chat.stream(**options)
        reply = runcible.Reply()
        async for part in stream:
            if isinstance(part, runcible.ToolCall):
                reply.tool_calls.append(part)
            elif isinstance(part, runcible.Reasoning):
                reply.reasoning += part
            else:
                reply.text += part
        return dataclasses.replace(reply, report=stream.report)

    def do_logits(self, session: Any, number: int, step: Any) -> Any:
        logits = session.logits()
        row = logits[number].astype(float)
        return {"rows": logits.shape[0], "vocabulary": logits.shape[1],
                "largest": int(row.argmax()), "sum": row.sum()}

    def do_Tensor_of(self, _: Any, values: Any, shape: Any, backend: Any, step: Any,
                     dtype: str = "f32") -> Any:
        kind = {"i32": "int32", "i64": "int64", "f64": "float64"}.get(dtype, "float32")
        array = numpy.array(values, kind).reshape(shape)
        return runcible.Tensor(array, backend, dtype=dtype)

    def do_record(self, _: Any, backend: Any, like: Any, ops: Any, outputs: Any, kept: Any = (),
                  *, step: Any) -> Any:
        # Distinct ones, because a tensor identifies an input.
        inputs = [runcible.Tensor(each.numpy(), backend) for each in like]
        with runcible.graph(backend) as graph:
            values = [*inputs, *kept]
            for op, x, *others in ops:
                values.append(getattr(values[x], op)(*(values[i] for i in others)))
            made = [values[i] for i in outputs]
            del values  # tensors that are referenced at the end are outputs
        return graph, inputs, made

    def do_info(self, recorded: Any, step: Any) -> Any:
        return recorded[0].info

    def do_run(self, recorded: Any, inputs: List[Any], step: Any) -> Any:
        graph, like, outputs = recorded
        found = graph.run(dict(zip(like, inputs)))
        return [found[each] for each in outputs]

    async def do_run_later(self, recorded: Any, inputs: List[Any], step: Any, **options: Any) -> Any:
        graph, like, outputs = recorded
        found = await graph.run_async(dict(zip(like, inputs)), **options)
        return [found[each] for each in outputs]

    async def do_open_later(self, _: Any, spec: str, step: Any, **options: Any) -> Any:
        fractions: List[float] = []
        backend = await runcible.Backend.open(spec, progress=fractions.append, **options)
        await asyncio.sleep(0)  # the last report arrives on the loop
        assert fractions[-1] == 1
        return backend

    async def do_switch_later(self, backend: Any, spec: str, step: Any, **options: Any) -> None:
        await backend.switch_async(spec, **options)

    async def do_discover_later(self, _: Any, step: Any) -> Any:
        return await runcible.discover_async()

    def do_CustomOp_of(self, _: Any, signature: str, step: Any, name: str, **options: Any) -> Any:
        library = ctypes.CDLL(os.environ["RUNCIBLE_CUSTOM_OP"])
        function = ctypes.cast(library[name], ctypes.c_void_p).value
        return runcible.custom_op(signature, function, name=name, **options)

    def do_compute(self, op: Any, inputs: List[Any], step: Any, **options: Any) -> Any:
        return [op(*inputs, **options)]

    def do_Pinned_of(self, _: Any, values: Any, backend: Any, device: str = "", *, step: Any) -> Any:
        array = runcible.pinned([len(values)], backend, device_id=device)
        assert not array.any()
        array[:] = values
        return array

    def do_from_pinned(self, _: Any, array: Any, shape: Any, backend: Any, step: Any) -> Any:
        return runcible.Tensor(array.reshape(shape), backend)

    def do_borrow_pinned(self, _: Any, array: Any, shape: Any, backend: Any, step: Any) -> Any:
        return runcible.Tensor(array.reshape(shape), backend, copy=False)

    def do_write_pinned(self, array: Any, values: Any, step: Any) -> None:
        array[:] = values

    def do_read_into(self, tensor: Any, array: Any, step: Any) -> Any:
        assert tensor.numpy(out=array) is array
        return array.tolist()

    def do_drop(self, _: Any, name: str, step: Any) -> None:
        del self.objects[name]
