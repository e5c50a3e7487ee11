"""Jinja with the settings of transformers' apply_chat_template
(transformers/utils/chat_template_utils.py, _compile_jinja_template)."""

import contextlib
import copy
import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2024, 7, 26, 14, 5, 9)


class Generation(jinja2.ext.Extension):
    """{% generation %} blocks; `spans` are the ends of their text."""

    tags = {"generation"}
    spans = None
    blocks = None

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_mark")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _mark(self, context, caller):
        text = caller()
        if Generation.blocks is not None:
            begin = len("".join(Generation.blocks))
            Generation.spans.append((begin, begin + len(text)))
        return text


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent,
                      separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True,
        extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


ENVIRONMENT = environment()


def render(template, variables):
    """The text, or None if there was an error."""
    try:
        if isinstance(template, str):
            template = ENVIRONMENT.from_string(template)
        # Filters of Jinja may change a list that they fail on.
        text = template.render(**copy.deepcopy(variables))
        text.encode("utf-8")
        return text
    except Exception:  # whatever it is, a template must not do it
        return None


def render_with_generation(source, variables):
    """The text and the spans of characters of its generation blocks."""
    template = ENVIRONMENT.from_string(source)
    Generation.blocks, Generation.spans = [], []
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: setattr(Generation, "blocks", None))
        for block in template.generate(**variables):
            Generation.blocks.append(block)
        return "".join(Generation.blocks), Generation.spans
