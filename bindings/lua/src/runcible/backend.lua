--- Backends and devices; see runcible/backend.h.
local Pending = require "runcible.pending"
local Tenant = require("runcible.tenant").Tenant
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

-- Options that are not a single number or text of C.
local OTHERS = {tenant = true}
local OTHERS_ASYNC = {tenant = true, loop = true, progress = true}

local function backend_options(options, others)
  local made = handle.set_options(native.backend_options(), options, others)
  if options and options.tenant ~= nil then
    made:set_tenant(need(options.tenant, Tenant, "tenant"))
  end
  return made
end

--- One opening of one device, with its own limits and its own meter.
local Backend = handle.class "Backend"

--- Opens the first device of a chain, such as "vulkan,cpu" (default: "auto", or
-- the value of RUNCIBLE_BACKEND).
-- :api: members rc_backend_options
-- A further option is `tenant`, the Tenant to which the backend belongs; default:
-- a separate one without limits.
function Backend.new(spec, options)
  return Backend.of(native.backend_open(spec, backend_options(options, OTHERS)))
end

--- Opens while an event loop runs. Returns a Pending, whose `wait` returns the
-- Backend. Options: those of Backend; `loop`, as for streams; `progress`, a
-- function that receives the fraction done, 0 to 1, several times in a second, in
-- the loop: if it raises an error, the opening is cancelled, and `wait` raises
-- the error.
function Backend.open_async(spec, options)
  local made = backend_options(options, OTHERS_ASYNC)
  return Pending.start(options, function(box, key)
    return native.backend_open_start(box, key, spec, made)
  end, function(call)
    return Backend.of(native.pending_call_backend(call))
  end)
end

-- :header: rc_backend_switch
-- :api: members rc_backend_switch_options
function Backend:switch(spec, options)
  local proxy = need(self, Backend, "self")
  native.backend_switch(proxy, spec, handle.set_options(native.backend_switch_options(), options))
end

--- Switches while an event loop runs. Returns a Pending, whose `wait` returns
-- nothing. Options: those of Backend:switch; `loop` and `progress`, as for
-- Backend.open_async. A switch that is cancelled or fails leaves everything as it
-- was.
function Backend:switch_async(spec, options)
  local proxy = need(self, Backend, "self")
  local made = handle.set_options(
    native.backend_switch_options(), options, {loop = true, progress = true}
  )
  return Pending.start(options, function(box, key)
    return native.backend_switch_start(box, key, proxy, spec, made)
  end, function() end)
end

--- Returns a backend, or opens one by its name.
function Backend.from(backend)
  if backend == nil or type(backend) == "string" then return Backend.new(backend) end
  need(backend, Backend, "backend")
  return backend
end

-- :api: methods rc_backend

local function devices_of(found)
  local devices = {automatic = native.device_list_automatic(found)}
  for i = 1, native.device_list_count(found) do
    local report = native.device_report()
    native.device_list_get(found, i - 1, report)
    devices[i] = handle.copied(report)
  end
  return devices
end

--- Returns the devices of the machine, and the backends that are not available: a
-- list of reports whose field `automatic` is the device that "auto" would choose.
local function discover()
  return devices_of(native.discover())
end

--- Looks for devices while an event loop runs. Returns a Pending, whose `wait`
-- returns the list. Options: `loop` and `progress`, as for Backend.open_async.
local function discover_async(options)
  return Pending.start(options, native.discover_start, function(call)
    return devices_of(native.pending_call_devices(call))
  end)
end

return {Backend = Backend, discover = discover, discover_async = discover_async}
