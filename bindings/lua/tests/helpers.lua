-- Functions that several files of tests use.
local runcible = require "runcible"
local unit = require "luaunit"

local helpers = {}

local model

--- Returns the built-in model, which is loaded once.
function helpers.model()
  model = model or runcible.Model("builtin:fable", "cpu")
  return model
end

--- Makes a session whose generations, with ENDLESS, never end by themselves.
function helpers.endless()
  return helpers.model():session {when_full = "shift"}
end

helpers.ENDLESS = {ignore_eos = true}

--- Returns the error of class `name` that a call raises.
function helpers.raises(name, f, ...)
  local going, failure = pcall(f, ...)
  unit.assertFalse(going)
  if getmetatable(failure) ~= runcible.errors[name] then error(failure, 0) end
  return failure
end

--- Runs a program in a separate Lua; returns its output and its exit status.
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
