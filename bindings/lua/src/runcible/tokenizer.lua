--- Converts text to tokens and back; see runcible/model.h.
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

local Tokenizer = handle.class "Tokenizer"

--- Opens the tokenizer that a file describes, without loading the model.
function Tokenizer.new(path)
  return Tokenizer.of(native.tokenizer_open(path))
end

--- Returns the flags of the options add_special (default: true) and parse_special
-- (default: false).
function Tokenizer.flags(options)
  options = options or {}
  local flags = 0
  if options.add_special ~= false then flags = flags | native.TOKENIZE_ADD_SPECIAL end
  if options.parse_special then flags = flags | native.TOKENIZE_PARSE_SPECIAL end
  return flags
end

--- Returns the tokens of a text, a list. Options: add_special, parse_special.
function Tokenizer:tokenize(text, options)
  return native.tokenize(need(self, Tokenizer, "self"), text, Tokenizer.flags(options))
end

--- Returns the text of tokens; with the option `special` also that of special
-- tokens.
function Tokenizer:detokenize(tokens, options)
  local special = options and options.special or false
  return native.detokenize(need(self, Tokenizer, "self"), tokens, special)
end

-- :api: methods rc_tokenizer

return Tokenizer
