--- What all objects have that stand for a handle of the library.
local errors = require "runcible.errors"
local json = require "runcible.json"
local members = require "runcible.members"
local native = require "runcible.native"

local handle = {}

-- Of the files of this package.
local FOLDER = debug.getinfo(1, "S").source:match "^(.*)handle%.lua$" or "\0"

--- Raises an error with the place outside this package that gave a wrong value.
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

--- A class whose objects own a handle until they are closed or collected.
--
-- They may be closed and collected in any order, for the library keeps what
-- another handle needs. `class(...)` is `class.new(...)`.
function handle.class(name)
  local class = {name = name, __name = "runcible." .. name}
  class.__index = class

  --- Gives the handle back; using it then is a ClosedError.
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

  --- An object of a handle.
  function class.of(proxy)
    return setmetatable({_proxy = proxy}, class)
  end

  return setmetatable(class, {
    __call = function(_, ...)
      return class.new(...)
    end,
  })
end

--- The handle of `value`, which must be an object of `class` that is open.
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

--- Sets members of an options object of the library, by name: a time in seconds
-- without the unit that its name has in C, timeout_ms; what is told by a name, by
-- that.
--
-- `values` may be nil. `given` has what another function sets; its keys are no
-- unknown options.
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

--- Of a time in seconds, which no limit ends before: rounded up, but for what a
-- fraction is off in binary; at least 1, as 0 means none to the library.
function handle.milliseconds(seconds, name)
  if type(seconds) ~= "number" then
    refuse("%s must be seconds, not %s", name, type(seconds))
  end
  if not (seconds >= 0 and seconds <= 1e12) then
    refuse("%s must be from 0 to 1e12 seconds, not %s", name, seconds)
  end
  return math.max(1, math.ceil(seconds * 1000 - 1e-6))
end

--- The number of what is told by a name; an error that names all others.
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

--- A report of the library as a table.
function handle.copied(report)
  local copy = {}
  for name, get in pairs(getmetatable(report)[".get"]) do
    copy[name] = get(report)
  end
  if copy.kind then copy.kind = members.kinds[copy.kind] or "other" end
  return copy
end

--- A method of a class that tells a report: a struct of the library that one of
-- its functions fills.
function handle.telling(class, struct, fill)
  return function(self)
    local report = native[struct]()
    native[fill](handle.need(self, class, "self"), report)
    return handle.copied(report)
  end
end

--- Reads JSON as tables.
handle.decoded = json.decoded

--- Tables as JSON; a string is JSON already. `name` is that of the argument.
function handle.encoded(value, name)
  local text, message = json.encoded(value)
  if not text then refuse("%s: %s", name, message) end
  return text
end

return handle
