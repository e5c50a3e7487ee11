"""Options of calls and the configuration: an option that is given holds."""

import pytest

import runcible
from runcible import errors


@pytest.fixture
def configure(monkeypatch):
    """Configures settings of generations and sessions by their variables."""
    def set_variables(**settings):
        for name, value in settings.items():
            monkeypatch.setenv(f"RUNCIBLE_{name.upper()}", value)
        runcible.Backend("cpu")  # this reads the environment

    yield set_variables
    monkeypatch.undo()
    runcible.Backend("cpu")


def text_of(model, **options):
    return "".join(model.session().generate("A", seed=7, **options))


def test_options_that_are_given_hold(model, configure):
    hot = text_of(model, max_tokens=12)
    greedy = text_of(model, max_tokens=12, temperature=0)
    short = text_of(model, max_tokens=3, temperature=0)
    assert hot != greedy
    configure(generate_temperature="0", generate_max_tokens="3")
    assert text_of(model) == short
    assert text_of(model, max_tokens=12) == greedy
    # An option that equals the default holds as well.
    assert text_of(model, max_tokens=12, temperature=0.8) == hot
    assert text_of(model, max_tokens=12, temperature=0.9) != greedy
    assert text_of(model, max_tokens=12, ignore_configuration=True) == hot


def test_options_of_sessions_override_the_configuration(model, configure):
    configure(session_context_length="16", session_when_full="shift")
    tokens = [1] * 20
    model.session().append(tokens)
    with pytest.raises(errors.ContextFullError):
        model.session(when_full="error").append(tokens)
    with pytest.raises(errors.ContextFullError):
        model.session(ignore_configuration=True).append([1] * 100000)
