// Schemas, tools, choices and messages as objects, including those of zod.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as z from "zod";
import * as mini from "zod/mini";

import { Grammar, Model, errors } from "runcible";

// The template only checks for tools: their schemas are long for a small context.
const tools =
  "{% if tools %}{% endif %}" +
  "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}" +
  "{% for c in m.tool_calls or [] %}<tool_call>\n" +
  '{"name": "{{ c.function.name }}", "arguments": ' +
  "{{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}\n" +
  "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";

const sky = { colour: "grey", clouds: ["low"] };
const Sky = z.object({
  colour: z.literal("grey"),
  clouds: z.array(z.literal("low")).min(1).max(1),
});
const json = z.toJSONSchema(Sky);
const plain = JSON.parse(JSON.stringify(json));

/** Has only the interface Standard JSON Schema. */
const standard = {
  "~standard": {
    version: 1,
    vendor: "test",
    jsonSchema: {
      input: ({ target }) => {
        assert.equal(target, "draft-2020-12");
        return plain;
      },
      output: () => assert.fail("the schema of the input is required"),
    },
  },
};
/** Callable, like schemas of ArkType. */
const callable = Object.assign(() => {}, { toJsonSchema: () => plain });
const schemas = {
  zod: Sky,
  "the schema that zod makes": json,
  plain,
  text: JSON.stringify(plain),
  standard,
  callable,
  method: new (class {
    toJSONSchema() {
      return plain;
    }
  })(),
};

const model = await Model.load("builtin:fable");
const session = () => model.session();

for (const [name, schema] of Object.entries(schemas)) {
  test(`a grammar of ${name}`, async () => {
    const grammar = await Grammar.jsonSchema(model, schema);
    const { text } = await session().generate("A", { grammar });
    assert.deepEqual(JSON.parse(text), sky);
  });

  test(`a format of answers from ${name}`, async () => {
    const isPlain = ["the schema that zod makes", "plain", "text"].includes(name);
    const inner = name === "text" ? JSON.parse(schema) : schema;
    const whole = {
      type: "json_schema",
      json_schema: { name: "sky", strict: true, schema: inner },
    };
    // A schema alone is a format only if it identifies itself as a schema.
    const formats = [whole, isPlain ? JSON.stringify(whole) : schema];
    for (const responseFormat of formats) {
      const chat = session().chat({ templateName: "zephyr" });
      const reply = await chat.ask("How is it?", { responseFormat });
      assert.deepEqual(JSON.parse(reply.text), sky);
      assert.equal(reply.report.reason, "stop");
    }
  });

  test(`a tool of ${name}`, async () => {
    if (name === "text") return;
    const given = [
      { type: "function", function: { name: "look", parameters: schema } },
      { type: "function", function: { name: "listen", parameters: schema } },
    ];
    const chat = session().chat({ templateText: tools, tools: given });
    for (const name of ["listen", "look"]) {
      const toolChoice = { type: "function", function: { name } };
      const { toolCalls } = await chat.ask("Look.", { toolChoice });
      assert.equal(toolCalls.length, 1);
      assert.equal(toolCalls[0].name, name);
      assert.deepEqual(toolCalls[0].arguments, sky);
      chat.undo(2);
    }
  });
}

test("a schema describes the input of parsing, not its output", async () => {
  const Length = z.object({
    text: z.literal("fox").transform((text) => text.length),
    more: z.literal("crow").default("crow"),
  });
  const grammar = await Grammar.jsonSchema(model, Length);
  const { text } = await session().generate("A", { grammar });
  assert.equal(Length.parse(JSON.parse(text)).text, 3);
  // A schema that a program made itself is used unchanged.
  const output = z.toJSONSchema(
    z.object({ more: z.literal("crow").default("crow") }),
    { io: "output" },
  );
  const whole = await Grammar.jsonSchema(model, output);
  const made = await session().generate("A", { grammar: whole });
  assert.deepEqual(JSON.parse(made.text), { more: "crow" });
});

test("tools and arguments of templates may be JSON", async () => {
  const chat = session().chat({
    templateText: "{{ style }}" + tools,
    templateArguments: '{"style": "plain"}',
    tools: JSON.stringify([
      { type: "function", function: { name: "look", parameters: plain } },
    ]),
  });
  const { toolCalls } = await chat.ask("Look.", { toolChoice: "required" });
  assert.deepEqual(toolCalls[0].arguments, sky);
});

test("errors name the argument", async () => {
  const chat = session().chat({ templateName: "zephyr" });
  chat.add("a");
  const circle = {};
  circle.circle = circle;
  const unknown = { "~standard": { version: 1, vendor: "test" } };
  // zod/mini does not include the code that makes JSON schemas.
  const small = mini.object({ colour: mini.literal("grey") });
  for (const bad of [circle, 1n, unknown, small]) {
    const format = { type: "json_schema", json_schema: { schema: { a: bad } } };
    for (const name of ["responseFormat", "toolChoice"]) {
      const error = { name: "TypeError", message: new RegExp(`^${name}: `) };
      assert.throws(() => chat.answer({ [name]: format }), error);
    }
    const named = (name) => ({ message: new RegExp(`^${name}: `) });
    await assert.rejects(
      async () => Grammar.jsonSchema(model, { const: bad }),
      named("schema"),
    );
    assert.throws(() => chat.add({ role: "user", content: bad }), named("messages"));
    const options = { templateText: tools, tools: [{ function: bad }] };
    assert.throws(() => session().chat(options), named("tools"));
  }
  assert.throws(
    () => chat.answer({ responseFormat: small }),
    /^TypeError: responseFormat: this schema has no JSON schema; .*z\.toJSONSchema/,
  );
  assert.throws(
    () => chat.answer({ responseFormat: () => {} }),
    /^TypeError: responseFormat: JSON has nothing/,
  );
  assert.throws(
    () => chat.answer({ responseFormat: { type: "xml" } }),
    (error) =>
      error instanceof errors.InvalidArgumentError &&
      error.message.startsWith("responseFormat.type: 'xml'"),
  );
  assert.deepEqual(chat.messages(), [{ role: "user", content: "a" }]);
});
