--- Grammars, which describe the texts that may be generated; see
-- runcible/grammar.h.
--
-- Made by Grammar.json_schema and others, and passed to generate as an option.
local Tokenizer = require "runcible.tokenizer"
local handle = require "runcible.handle"
local native = require "runcible.native"

local Grammar = handle.class "Grammar"

-- Returns the handle of a tokenizer, or of a model's tokenizer.
local function tokenizer_of(given)
  if getmetatable(given) ~= Tokenizer and type(given) == "table" and given.tokenizer then
    given = given:tokenizer()
  end
  return handle.need(given, Tokenizer, "tokenizer")
end

local function make(tokenizer, kind, text, options)
  local made = handle.set_options(native.grammar_options(), options)
  return Grammar.of(native.grammar_create(tokenizer_of(tokenizer), kind, text, made))
end

--- Makes a grammar of a JSON Schema: a table, or JSON. `tokenizer` is a Tokenizer
-- or a Model, also in the functions below.
-- :api: members rc_grammar_options
function Grammar.json_schema(tokenizer, schema, options)
  return make(tokenizer, native.GRAMMAR_JSON_SCHEMA, handle.encoded(schema, "schema"), options)
end

--- Makes a grammar of a regular expression in the syntax of JavaScript.
function Grammar.regex(tokenizer, expression)
  return make(tokenizer, native.GRAMMAR_REGEX, expression)
end

--- Makes a grammar of rules in llama.cpp's GBNF; the text is a `root`.
function Grammar.gbnf(tokenizer, rules)
  return make(tokenizer, native.GRAMMAR_GBNF, rules)
end

--- Makes a grammar of rules and terminals in Lark's syntax; the text is a
-- `start`.
function Grammar.lark(tokenizer, rules)
  return make(tokenizer, native.GRAMMAR_LARK, rules)
end

--- Makes a grammar of a list of texts; the generated text is one of them.
function Grammar.choices(tokenizer, choices)
  local texts = native.text_list()
  for _, choice in ipairs(choices) do texts:add(choice) end
  return Grammar.of(native.grammar_of_choices(tokenizer_of(tokenizer), texts))
end

return Grammar
