"""Options in help(), and repr() and position at any time."""

import inspect
import pydoc
import re
import threading

import pytest

import runcible
from runcible import errors
from runcible.embedding import start_embedding, start_scores


def keywords(function):
    return [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is each.KEYWORD_ONLY
    ]


GENERATE = list(runcible.GenerateOptions.__annotations__)
MODEL = [name for name in keywords(runcible.Model.__init__) if name != "progress"]
BACKEND = [
    name for name in keywords(runcible.Backend.__init__) if name != "progress"
]

#: Methods that pass options on, and the names of these.
PASSED_ON = {
    "Session.generate": GENERATE,
    "Session.stream": GENERATE,
    "Chat.answer": GENERATE,
    "Chat.stream": GENERATE,
    "Chat.ask": GENERATE,
    "Chat.aask": GENERATE,
    "Model.from_bytes": MODEL,
    "Model.load_bytes": MODEL,
    "Model.load": MODEL,
    "Model.from_hub": MODEL,
    "Model.embed": keywords(start_embedding),
    "Model.embed_async": keywords(start_embedding),
    "Model.rerank": keywords(start_scores),
    "Model.rerank_async": keywords(start_scores),
    "Backend.open": BACKEND,
    "Backend.switch_async": keywords(runcible.Backend.switch),
}


#: Classes that users of models, sessions and conversations need.
EXPLAINED = {
    "Backend",
    "Chat",
    "Grammar",
    "Model",
    "Session",
    "Tokenizer",
    "estimate",
    "plan",
}


def functions():
    """The public functions and methods, by their qualified names."""
    for name in runcible.__all__:
        thing = getattr(runcible, name)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            for own, member in inspect.getmembers(thing, callable):
                if own == "__init__" or not own.startswith("_"):
                    yield f"{name}.{own}", member
        elif inspect.isfunction(thing):
            yield name, thing


def parameters(function, kind):
    try:
        signature = inspect.signature(function)
    except ValueError:  # a C function
        return []
    return [each.name for each in signature.parameters.values() if each.kind is kind]


def test_the_table_contains_all_functions_that_pass_options_on():
    found = {
        name
        for name, function in functions()
        if parameters(function, inspect.Parameter.VAR_KEYWORD)
        and getattr(function, "__module__", "").startswith("runcible")
    }
    assert found == set(PASSED_ON)


@pytest.mark.parametrize("name", PASSED_ON)
def test_help_lists_each_option_with_its_meaning(name):
    owner, own = name.split(".")
    shown = pydoc.plain(
        pydoc.render_doc(getattr(getattr(runcible, owner), own))
    )
    for option in PASSED_ON[name]:
        # A line that begins with the option, and a meaning of some words.
        assert re.search(
            rf"^ +{option}: \S+ \S+", shown, re.MULTILINE
        ), f"help({name}) does not explain {option}"
    assert "RC_" not in shown and "NULL" not in shown


def test_help_names_each_keyword():
    unknown = []
    for name, function in functions():
        if name.split(".")[0] not in EXPLAINED:
            continue
        said = inspect.getdoc(function) or ""
        if name.endswith(".__init__"):
            said += inspect.getdoc(getattr(runcible, name.split(".")[0])) or ""
        unknown += [
            f"{name}: {keyword}"
            for keyword in parameters(function, inspect.Parameter.KEYWORD_ONLY)
            if not re.search(rf"\b{keyword}\b", said)
        ]
    assert not unknown, "\n".join(unknown)


def things(model):
    """One object of each class that has a handle."""
    session = model.session()
    tensor = runcible.Tensor([[1.0, 2.0]], model.backend)
    return [
        model.session(),
        session,
        session.chat(template_name="zephyr"),
        tensor,
        runcible.Grammar.regex(model, "a|b"),
        model.tokenizer,
        runcible.Backend("cpu"),
        runcible.Model("builtin:fable", "cpu"),
    ]


def test_repr_and_position_of_closed_handles(model):
    session = model.session()
    session.append("Once upon a time")
    held = session.position
    assert held > 0 and str(held) in repr(session)
    for thing in [*things(model), session]:
        name = type(thing).__name__
        assert repr(thing).startswith(f"<{name}")
        thing.close()
        assert repr(thing) == f"<{name}, closed>"
    assert session.position == held
    for kind in (runcible.Session, runcible.Model, runcible.Backend):
        assert repr(kind.__new__(kind)) == f"<{kind.__name__}, closed>"
    assert runcible.Session.__new__(runcible.Session).position == 0


def test_repr_and_position_while_another_thread_generates_and_closes(model):
    session = model.session()
    failed = []
    done = threading.Event()

    def look():
        try:
            while not done.is_set():
                assert session.position >= 0
                assert repr(session).startswith("<Session")
        except BaseException as error:
            failed.append(error)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for each in lookers:
        each.start()
    for seed in range(3):
        "".join(session.generate("Once", max_tokens=20, seed=seed))
    assert session.position > 60
    session.close()
    done.set()
    for each in lookers:
        each.join()
    assert not failed


def test_repr_and_position_when_the_library_refuses_calls(model, monkeypatch):
    """The library refuses calls for a lost device, or in the child of a fork."""

    def refuses(*arguments):
        raise errors.DeviceLostError("the device is gone")

    session = model.session()
    session.append("Once upon a time")
    held = session.position
    from runcible import native

    for name in dir(native):
        if re.fullmatch(r"(session|model|backend|tensor|tokenizer)_[a-z_]+", name):
            monkeypatch.setattr(native, name, refuses)
    assert session.position == held
    for thing in (session, model, model.backend):
        assert repr(thing).startswith(f"<{type(thing).__name__}")
