--- Common functions of the objects that stand for a handle of the library.
local errors = require "runcible.errors"
local json = require "runcible.json"
local members = require "runcible.members"
local native = require "runcible.native"

local handle = {}

-- The folder of the files of this package.
local FOLDER = debug.getinfo(1, "S").source:match "^(.*)handle%.lua$" or "\0"

--- Raises an error with the place outside this package that passed a wrong value.
function handle.refuse(format, ...)
  local level = 2
  while true do
    local info = debug.getinfo(level, "S")
    if not info or info.source:sub(1, #FOLDER) ~= FOLDER then break end
    level = level + 1
  end
  error(format:format(...), level)
end

local refuse = handle.refuse

--- Makes a class whose objects own a handle until they are closed or collected.
--
-- Objects may be closed and collected in any order, because the library keeps the
-- handles that another handle needs. `class(...)` is `class.new(...)`.
function handle.class(name)
  local class = {name = name, __name = "runcible." .. name}
  class.__index = class

  --- Releases the handle; using it afterwards raises ClosedError.
  function class:close()
    local proxy = self._proxy
    self._proxy = nil
    if proxy then native.dispose(proxy) end
  end
  class.__close = class.close

  function class:is_closed()
    return self._proxy == nil
  end

  function class:__tostring()
    return "runcible." .. name .. (self._proxy and "" or " (closed)")
  end

  --- Makes an object of a handle.
  function class.of(proxy)
    return setmetatable({_proxy = proxy}, class)
  end

  return setmetatable(class, {
    __call = function(_, ...)
      return class.new(...)
    end,
  })
end

--- Returns the handle of `value`, which must be an open object of `class`.
function handle.need(value, class, name)
  if getmetatable(value) ~= class then
    refuse("%s must be a %s, not %s", name, class.name, type(value))
  end
  local proxy = value._proxy
  if not proxy then
    error(errors.of_status(native.E_CLOSED, ("this %s is closed"):format(class.name)))
  end
  return proxy
end

-- Sets one member.
local function set_option(options, known, name, value)
  local milliseconds = tostring(name) .. "_ms"
  if members.pairs[name] then
    options["set_" .. name](options, value[1], value[2])
  elseif members.jsons[name] then
    options[name] = handle.encoded(value, name)
  elseif known[name] then
    options[name] = members.choices[name] and handle.choice(name, value) or value
  elseif known[milliseconds] then
    options[milliseconds] = handle.milliseconds(value, name)
  else
    refuse("there is no option %s", tostring(name))
  end
end

--- Sets members of an options object of the library, by name. A time is in
-- seconds, and has no unit in its name as timeout_ms in C has; an option with
-- named values takes the name.
--
-- `values` may be nil. `given` has the options that another function sets; they
-- are not unknown options.
function handle.set_options(options, values, given)
  if values == nil then return options end
  if type(values) ~= "table" then
    refuse("options must be a table, not %s", type(values))
  end
  local known = getmetatable(options)[".set"]
  for name, value in pairs(values) do
    if not (given and given[name]) then
      set_option(options, known, name, value)
    end
  end
  return options
end

--- Returns the milliseconds of a time in seconds, rounded up so that no limit
-- ends before its time, except for the rounding error of binary fractions. At
-- least 1, because 0 means no limit to the library.
function handle.milliseconds(seconds, name)
  if type(seconds) ~= "number" then
    refuse("%s must be seconds, not %s", name, type(seconds))
  end
  if not (seconds >= 0 and seconds <= 1e12) then
    refuse("%s must be from 0 to 1e12 seconds, not %s", name, seconds)
  end
  return math.max(1, math.ceil(seconds * 1000 - 1e-6))
end

--- Returns the number of a named value; raises an error that lists all names.
function handle.choice(name, value)
  local choices = members.choices[name]
  local found = choices[value]
  if found == nil then
    local names = {}
    for each in pairs(choices) do names[#names + 1] = each end
    table.sort(names)
    refuse("%s must be one of %s, not %s", name, table.concat(names, ", "), tostring(value))
  end
  return found
end

--- Returns a report of the library as a table.
function handle.copied(report)
  local copy = {}
  for name, get in pairs(getmetatable(report)[".get"]) do
    copy[name] = get(report)
  end
  if copy.kind then copy.kind = members.kinds[copy.kind] or "other" end
  return copy
end

--- Makes a method of a class that returns a report: a struct of the library that
-- one of its functions fills.
function handle.report_method(class, struct, fill)
  return function(self)
    local report = native[struct]()
    native[fill](handle.need(self, class, "self"), report)
    return handle.copied(report)
  end
end

--- Reads JSON as tables.
handle.decoded = json.decoded

--- Writes tables as JSON; a string is JSON already. `name` is the name of the
-- argument.
function handle.encoded(value, name)
  local text, message = json.encoded(value)
  if not text then refuse("%s: %s", name, message) end
  return text
end

return handle
