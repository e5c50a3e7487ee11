--- The errors of the library: a class for each status.
--
-- errors.DeadlineError is the class of a passed deadline, and so on; all classes
-- inherit from errors.Error. An error has the fields
--   status       the number of the status
--   message      a human-readable message with the values concerned
--   errno        of a NotFoundError and an IoError: the system's number, which the
--                functions of io return too
--   retry_after  the seconds after which to try again; nil if not known
--   report       of a generation that failed: the work done before
local native = require "runcible.native"

local errors = {}

local Error = {name = "Error"}
Error.__index = Error
Error.__name = "runcible.Error"
errors.Error = Error

function Error:__tostring()
  return getmetatable(self).name .. ": " .. self.message
end

--- Returns whether `value` is an error of this class, or of a class that inherits
-- from it.
function Error.is(class, value)
  local own = type(value) == "table" and getmetatable(value) or nil
  return own ~= nil and (own == class or class == Error and getmetatable(own) == Error)
end

local by_status = {}

--- Makes the error of a status; an Error if the status is not known.
function errors.of_status(status, message, errno, retry_after)
  local made = {status = status, message = message, errno = errno, retry_after = retry_after}
  return setmetatable(made, by_status[status] or Error)
end

for constant, status in pairs(native) do
  if constant:sub(1, 2) == "E_" then
    local words = constant:sub(2):lower():gsub("_(%l)", string.upper)
    local class = {name = words .. "Error", status = status}
    class.__index = class
    class.__name = "runcible." .. class.name
    class.__tostring = Error.__tostring
    errors[class.name] = setmetatable(class, Error)
    by_status[status] = class
  end
end

return errors
