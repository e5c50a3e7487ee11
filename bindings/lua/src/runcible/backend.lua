--- Backends and devices; see runcible/backend.h.
local handle = require "runcible.handle"
local members = require "runcible.members"
local native = require "runcible.native"

local need = handle.need

local function device_report(report)
  local copy = handle.copied(report)
  copy.kind = members.kinds[copy.kind] or "other"
  return copy
end

--- One opening of one device, with its own limits and its own meter.
local Backend = handle.class "Backend"

--- Opens the first device of a chain, such as "vulkan,cpu"; nil is "auto" or
-- what RUNCIBLE_BACKEND holds. Options are the members of rc_backend_options,
-- with `timeout` in seconds.
function Backend.new(spec, options)
  return Backend.of(native.backend_open(spec, handle.set_options(native.backend_options(), options)))
end

--- A backend itself, or one that is opened by what it is called.
function Backend.from(backend)
  if backend == nil or type(backend) == "string" then return Backend.new(backend) end
  need(backend, Backend, "backend")
  return backend
end

--- Accounts for the choice and for what became of it, as a table.
function Backend:explain()
  return handle.decoded(native.backend_explain(need(self, Backend, "self")))
end

--- The device that was opened, as a table with the members of
-- rc_device_report.
function Backend:device()
  local report = native.device_report()
  native.backend_device(need(self, Backend, "self"), report)
  return device_report(report)
end

--- What the handle has used since it was opened.
Backend.usage = handle.telling(Backend, "backend_usage_report", "backend_usage")

--- When the ops of the last runs began and ended, in the trace event format of
-- Chrome and Perfetto, as JSON; needs the option `profile`.
function Backend:trace()
  return native.backend_trace(need(self, Backend, "self"))
end

--- The devices of the machine, and the backends that are not available: a list
-- of reports whose field `automatic` tells what "auto" would choose.
local function discover()
  local found = native.discover()
  local devices = {automatic = native.device_list_automatic(found)}
  for i = 1, native.device_list_count(found) do
    local report = native.device_report()
    native.device_list_get(found, i - 1, report)
    devices[i] = device_report(report)
  end
  return devices
end

return {Backend = Backend, discover = discover}
