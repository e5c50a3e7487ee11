-- Prints a text as it is generated; blocks meanwhile.
--
--     lua5.4 story.lua [PROMPT]
local runcible = require "runcible"

local model <close> = runcible.Model("builtin:fable", "cpu")
local session <close> = model:session()
for piece in session:generate(arg[1] or "Once upon a time", {max_tokens = 100, echo = true}) do
  io.write(piece)
  io.flush()
end
print()
