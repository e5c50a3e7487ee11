"""Runs the cases of bindings/conformance/cases.json in Python."""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import json
import math
import os
import re
from pathlib import Path
from typing import Any, Dict, List

import runcible

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases.json"


def error_class(name: str) -> type:
    """The exception of a status; "IO" is that of RC_E_IO."""
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
        """What a step means by a value."""
        if isinstance(given, dict) and "file" in given:
            return self.objects[given["file"]]
        if isinstance(given, dict) and "golden" in given:
            found = self.golden
            for key in given["golden"].split("/"):
                found = found[int(key) if isinstance(found, list) else key]
            return found
        return given

    def run(self, case: Dict[str, Any]) -> None:
        async def steps() -> None:
            for step in case["steps"]:
                await self.step(step)

        asyncio.run(steps())

    async def step(self, step: Dict[str, Any]) -> None:
        step = {key: self.value(given) for key, given in step.items()}
        action = getattr(self, "do_" + step["do"])
        if "raises" not in step:
            result = action(step)
            if asyncio.iscoroutine(result):
                await result
            return
        try:
            result = action(step)
            if asyncio.iscoroutine(result):
                await result
        except runcible.Error as error:
            assert type(error) is error_class(step["raises"]), repr(error)
            assert step.get("says", "") in str(error)
            assert str(error)
            assert step.get("names", "") in str(error)
            assert not re.search(r"\b(rc|RC)_|->", str(error)), str(error)
            if "reason" in step:
                assert error.report and error.report.reason == step["reason"]
        else:
            raise AssertionError(f"{step} raised nothing")

    def options(self, step: Dict[str, Any]) -> Dict[str, Any]:
        """Those of a step; a grammar is named."""
        given = dict(step.get("options", {}))
        if "grammar" in given:
            given["grammar"] = self.objects[given["grammar"]]
        return given

    def session(self, step: Dict[str, Any]) -> runcible.Session:
        found: runcible.Session = self.objects[step["session"]]
        return found

    # The steps.

    def do_load(self, step: Dict[str, Any]) -> None:
        backend = runcible.Backend(
            step["backend"], **step.get("backend_options", {})
        )
        if "hub" in step:
            model = runcible.Model.from_hub(step["hub"], backend)
        else:
            model = runcible.Model(step.get("path", "builtin:fable"), backend)
        self.objects[step["as"]] = model

    def do_embed(self, step: Dict[str, Any]) -> None:
        rows = self.objects[step["model"]].embed(step["texts"])
        assert len(rows) == len(step["expect"])
        for row, expected in zip(rows, step["expect"]):
            for number, wanted in zip(row, expected):
                assert abs(number - wanted) < 2e-3

    def do_rerank(self, step: Dict[str, Any]) -> None:
        scores = self.objects[step["model"]].rerank(
            step["query"], step["documents"]
        )
        assert len(scores) == len(step["expect"])
        for number, wanted in zip(scores, step["expect"]):
            assert abs(number - wanted) < 2e-3

    def do_report(self, step: Dict[str, Any]) -> None:
        report = self.objects[step["model"]].report
        for name, expected in step["expect"].items():
            assert getattr(report, name) == expected

    def do_tokenize(self, step: Dict[str, Any]) -> None:
        model = self.objects[step["model"]]
        tokens = model.tokenize(step["text"], add_special=False)
        assert tokens == step["expect"]

    def do_detokenize(self, step: Dict[str, Any]) -> None:
        model = self.objects[step["model"]]
        assert model.detokenize(step["tokens"]) == step["expect"]

    def do_session(self, step: Dict[str, Any]) -> None:
        model = self.objects[step["model"]]
        self.objects[step["as"]] = model.session(**step.get("options", {}))

    def do_generate(self, step: Dict[str, Any]) -> None:
        generation = self.session(step).generate(
            step.get("prompt"), **self.options(step)
        )
        text = "".join(generation)
        self.check_text(step, text)
        assert generation.report
        assert generation.report.reason == step.get("reason")

    async def do_stream(self, step: Dict[str, Any]) -> None:
        stream = self.session(step).stream(
            step.get("prompt"), **self.options(step)
        )
        pieces = []
        async for piece in stream:
            pieces.append(piece)
            if len(pieces) == step.get("cancel_after"):
                stream.cancel()
        self.check_text(step, "".join(pieces))
        assert len(pieces) >= step.get("pieces", 0)
        assert stream.report and stream.report.reason == step["reason"]

    @staticmethod
    def check_text(step: Dict[str, Any], text: str) -> None:
        assert text == step.get("expect", text)
        assert text
        assert step.get("expect_start_of", text).startswith(text)

    async def do_together(self, step: Dict[str, Any]) -> None:
        await asyncio.gather(*(self.step(each) for each in step["steps"]))

    def do_tokens(self, step: Dict[str, Any]) -> None:
        # The end token ends a text and is no part of the session.
        tokens = self.session(step).tokens
        assert tokens == step["expect"][: len(tokens)]
        assert len(tokens) >= len(step["expect"]) - 1

    def do_append(self, step: Dict[str, Any]) -> None:
        self.session(step).append(step.get("text", step.get("tokens")))

    def do_statuses(self, step: Dict[str, Any]) -> None:
        for name, number in step["expect"].items():
            assert error_class(name).status == number
            error = runcible.errors.of_status(number, "a message")
            assert type(error) is error_class(name)
            assert str(error) == "a message"

    def do_file(self, step: Dict[str, Any]) -> None:
        path = self.folder / step["as"]
        path.write_text(step["text"])
        self.objects[step["as"]] = path

    def do_start(self, step: Dict[str, Any]) -> None:
        self.objects[step["as"]] = self.session(step).generate(
            step["prompt"], **step["options"]
        )

    def do_finish(self, step: Dict[str, Any]) -> None:
        generation = self.objects[step["generation"]]
        generation.close()
        assert generation.report.reason == "cancelled"

    def do_close(self, step: Dict[str, Any]) -> None:
        self.objects[step["object"]].close()

    def do_save(self, step: Dict[str, Any]) -> None:
        path = self.folder / "session.gguf"
        self.session(step).save(path)
        self.objects[step["as"]] = path

    def do_restore(self, step: Dict[str, Any]) -> None:
        self.objects[step["as"]] = runcible.Session.restore(
            self.objects[step["model"]], self.objects[step["saved"]]
        )

    def do_fork(self, step: Dict[str, Any]) -> None:
        self.objects[step["as"]] = self.session(step).fork()

    def do_grammar(self, step: Dict[str, Any]) -> None:
        make = getattr(runcible.Grammar, step["kind"])
        text = step.get("schema", step.get("choices", step.get("text")))
        made = make(
            self.objects[step["model"]], text, **step.get("options", {})
        )
        self.objects[step["as"]] = made

    def do_chat(self, step: Dict[str, Any]) -> None:
        chat = self.session(step).chat(**step.get("options", {}))
        self.objects[step["as"]] = chat

    def do_add(self, step: Dict[str, Any]) -> None:
        self.objects[step["chat"]].add(step["messages"])

    def do_undo(self, step: Dict[str, Any]) -> None:
        self.objects[step["chat"]].undo(step["count"])

    def do_messages(self, step: Dict[str, Any]) -> None:
        assert self.objects[step["chat"]].messages() == step["expect"]

    def do_fork_chat(self, step: Dict[str, Any]) -> None:
        self.objects[step["as"]] = self.objects[step["chat"]].fork()

    async def do_answer(self, step: Dict[str, Any]) -> None:
        stream = self.objects[step["chat"]].stream(**self.options(step))
        reply = runcible.Reply()
        async for part in stream:
            if isinstance(part, runcible.ToolCall):
                reply.tool_calls.append(part)
            elif isinstance(part, runcible.Reasoning):
                reply.reasoning += part
            else:
                reply.text += part
        reply.report = stream.report
        self.check_reply(step, reply)

    def do_ask(self, step: Dict[str, Any]) -> None:
        chat = self.objects[step["chat"]]
        self.check_reply(step, chat.ask(step["text"], **self.options(step)))

    @staticmethod
    def check_reply(step: Dict[str, Any], reply: runcible.Reply) -> None:
        expected = step["expect"]
        assert reply.text == expected["text"]
        assert reply.reasoning == expected["reasoning"]
        calls = [dataclasses.asdict(each) for each in reply.tool_calls]
        assert calls == expected["calls"]
        assert reply.report and reply.report.reason == step["reason"]

    def do_decode(self, step: Dict[str, Any]) -> None:
        self.session(step).decode(all_logits=step["all_logits"])

    def do_logits(self, step: Dict[str, Any]) -> None:
        logits = self.session(step).logits()
        assert logits.shape == (step["rows"], step["vocabulary"])
        row = logits[step["row"]].astype(float)
        assert int(row.argmax()) == step["largest"]
        assert math.isclose(
            row.sum(), step["sum"], rel_tol=step["tolerance"]
        )

    def do_tensor(self, step: Dict[str, Any]) -> None:
        import numpy

        values = step.get("values", step.get("fill"))
        numbers = numpy.empty(step["shape"], numpy.float32)
        numbers.ravel()[:] = values
        backend = runcible.Backend(step["backend"])
        self.objects[step["as"]] = runcible.Tensor(numbers, backend)

    def do_matmul(self, step: Dict[str, Any]) -> None:
        a, b = self.objects[step["a"]], self.objects[step["b"]]
        self.objects[step["as"]] = a @ b

    def do_quantize(self, step: Dict[str, Any]) -> None:
        self.objects[step["tensor"]].quantize(step["dtype"])

    def do_read(self, step: Dict[str, Any]) -> None:
        numbers = self.objects[step["tensor"]].numpy()
        assert list(numbers.shape) == step["expect_shape"]
        assert numbers.ravel().tolist() == step["expect"]

    def do_record(self, step: Dict[str, Any]) -> None:
        backend = runcible.Backend(step["backend"])
        # Distinct ones, for an input is told by its tensor.
        inputs = [
            runcible.Tensor(self.objects[name].numpy(), backend)
            for name in step["like"]
        ]
        with runcible.graph(backend) as graph:
            values = list(inputs)
            for op, x, *others in step["ops"]:
                values.append(
                    getattr(values[x], op)(*(values[i] for i in others))
                )
            outputs = [values[i] for i in step["outputs"]]
        self.objects[step["as"]] = graph, inputs, outputs

    def run_inputs(self, step: Dict[str, Any]) -> Any:
        graph, inputs, outputs = self.objects[step["graph"]]
        others = [self.objects[name] for name in step["inputs"]]
        return graph, dict(zip(inputs, others)), outputs

    def do_run(self, step: Dict[str, Any]) -> None:
        graph, given, outputs = self.run_inputs(step)
        found = graph.run(given)
        for name, output in zip(step["as"], outputs):
            self.objects[name] = found[output]

    async def do_run_later(self, step: Dict[str, Any]) -> None:
        graph, given, outputs = self.run_inputs(step)
        found = await graph.run_async(given)
        for name, output in zip(step["as"], outputs):
            self.objects[name] = found[output]

    async def do_open_later(self, step: Dict[str, Any]) -> None:
        told: List[float] = []
        backend = await runcible.Backend.open(
            step["spec"], progress=told.append
        )
        await asyncio.sleep(0)  # the last is told on the loop
        assert told[-1] == 1
        assert backend.device.id == step["expect"]

    def do_switch(self, step: Dict[str, Any]) -> None:
        backend = runcible.Backend(step["from"])
        backend.switch(step["spec"])
        assert backend.device.id == step["expect"]

    def do_custom_op(self, step: Dict[str, Any]) -> None:
        library = ctypes.CDLL(os.environ["RUNCIBLE_CUSTOM_OP"])
        self.objects[step["as"]] = runcible.custom_op(
            step["signature"],
            ctypes.cast(library[step["name"]], ctypes.c_void_p).value,
            name=step["name"],
            attributes=step["attributes"],
            items=step["items"],
        )

    def do_compute(self, step: Dict[str, Any]) -> None:
        inputs = [self.objects[name] for name in step["inputs"]]
        (name,) = step["as"]
        self.objects[name] = self.objects[step["op"]](*inputs, scale=step["scale"])

    def do_pinned(self, step: Dict[str, Any]) -> None:
        backend = runcible.Backend(step["backend"])
        array = runcible.pinned(
            step["shape"], backend, device_id=step.get("device", "")
        )
        assert not array.any()
        array.ravel()[:] = step["values"]
        self.objects[step["as"]] = array

    def do_from_pinned(self, step: Dict[str, Any], copy: bool = True) -> None:
        array = self.objects[step["memory"]].reshape(step["shape"])
        backend = runcible.Backend(step["backend"])
        self.objects[step["as"]] = runcible.Tensor(array, backend, copy=copy)

    def do_borrow_pinned(self, step: Dict[str, Any]) -> None:
        self.do_from_pinned(step, copy=False)

    def do_write_pinned(self, step: Dict[str, Any]) -> None:
        self.objects[step["memory"]].ravel()[:] = step["values"]

    def do_read_into(self, step: Dict[str, Any]) -> None:
        array = self.objects[step["memory"]]
        assert self.objects[step["tensor"]].numpy(out=array) is array
        assert array.ravel().tolist() == step["expect"]

    def do_drop_pinned(self, step: Dict[str, Any]) -> None:
        del self.objects[step["memory"]]

    async def do_discover_later(self, step: Dict[str, Any]) -> None:
        found = await runcible.discover_async()
        assert step["expect"] in [device.id for device in found.devices]
