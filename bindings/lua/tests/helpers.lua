-- What several files of tests need.
local runcible = require "runcible"
local unit = require "luaunit"

local helpers = {}

local model

--- The model in the box, loaded once.
function helpers.model()
  model = model or runcible.Model("builtin:fable", "cpu")
  return model
end

--- A session whose generations never end by themselves, with ENDLESS.
function helpers.endless()
  return helpers.model():session {when_full = "shift"}
end

helpers.ENDLESS = {ignore_eos = true}

--- The error of class `name` that a call raises.
function helpers.raises(name, f, ...)
  local going, failure = pcall(f, ...)
  unit.assertFalse(going)
  if getmetatable(failure) ~= runcible.errors[name] then error(failure, 0) end
  return failure
end

--- Runs a Lua of its own: what it wrote, and its exit status.
function helpers.run(program)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(program)
  file:close()
  local pipe = assert(io.popen(("timeout 900 lua5.4 %s 2>&1"):format(path)))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  os.remove(path)
  return output, status
end

return helpers
