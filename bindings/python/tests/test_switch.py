"""A backend that switches its device: models move, sessions go on."""

import asyncio

import pytest

import runcible
from runcible import errors

GREEDY = dict(temperature=0, ignore_eos=True)


def test_a_text_goes_on_after_a_switch():
    backend = runcible.Backend("cpu")
    model = runcible.Model("builtin:fable", backend, context_length=128)
    session = model.session()
    "".join(session.generate("The fox", max_tokens=8, **GREEDY))
    there = runcible.Model("builtin:fable", runcible.Backend("reference"), context_length=128)
    expected = "".join(session.migrate(there).generate("", max_tokens=8, **GREEDY))
    backend.switch("reference")
    assert backend.device.id == "reference:0"
    assert "".join(session.generate("", max_tokens=8, **GREEDY)) == expected
    with pytest.raises(errors.NotFoundError, match="nothing"):
        backend.switch("nothing")
    assert backend.device.id == "reference:0"


def test_a_backend_switches_asynchronously():
    async def switching():
        backend = await runcible.Backend.open("cpu")
        model = runcible.Model("builtin:fable", backend, context_length=128)
        await backend.switch_async("reference", wait=60)
        assert backend.device.id == "reference:0"
        return "".join(model.session().generate("The", max_tokens=2, **GREEDY))

    assert asyncio.run(switching())
