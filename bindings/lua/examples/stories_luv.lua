-- Generates two texts at once on luv's loop, while a timer ticks.
local runcible = require "runcible"
local uv = require "luv"

local model = runcible.Model("builtin:fable", "cpu")
local stories, left, ticks = {}, 0, 0

local timer = uv.new_timer()
timer:start(0, 10, function()
  ticks = ticks + 1
end)

local function generate(beginning)
  local story = {}
  for piece in model:session():stream(beginning, {max_tokens = 60, echo = true}) do
    story[#story + 1] = piece
  end
  stories[#stories + 1] = table.concat(story)
  left = left - 1
  if left == 0 then timer:close() end
end

for _, beginning in ipairs {"A fox", "A goose"} do
  left = left + 1
  coroutine.wrap(generate)(beginning)
end
uv.run()

print(table.concat(stories, "\n---\n"))
print(("%d ticks of the timer meanwhile"):format(ticks))
