--- Backends and devices; see runcible/backend.h.
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

--- One opening of one device, with its own limits and its own meter.
local Backend = handle.class "Backend"

--- Opens the first device of a chain, such as "vulkan,cpu"; nil is "auto" or
-- what RUNCIBLE_BACKEND holds.
-- :api: members rc_backend_options
function Backend.new(spec, options)
  return Backend.of(native.backend_open(spec, handle.set_options(native.backend_options(), options)))
end

--- A backend itself, or one that is opened by what it is called.
function Backend.from(backend)
  if backend == nil or type(backend) == "string" then return Backend.new(backend) end
  need(backend, Backend, "backend")
  return backend
end

-- :api: methods rc_backend

--- The devices of the machine, and the backends that are not available: a list
-- of reports whose field `automatic` tells what "auto" would choose.
local function discover()
  local found = native.discover()
  local devices = {automatic = native.device_list_automatic(found)}
  for i = 1, native.device_list_count(found) do
    local report = native.device_report()
    native.device_list_get(found, i - 1, report)
    devices[i] = handle.copied(report)
  end
  return devices
end

return {Backend = Backend, discover = discover}
