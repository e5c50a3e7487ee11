-- Generates two texts at once without an event loop. A program with an event loop
-- other than luv's watches loop:descriptor() and calls loop:dispatch(); see
-- Loop.new.
local runcible = require "runcible"

local model = runcible.Model("builtin:fable", "cpu")
local loop = runcible.Loop.new()

for _, beginning in ipairs {"A fox", "A goose"} do
  coroutine.wrap(function()
    local stream = model:session():stream(beginning, {max_tokens = 40, loop = loop})
    print(beginning .. stream:text())
  end)()
end
loop:run()
