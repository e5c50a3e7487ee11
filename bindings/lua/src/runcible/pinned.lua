--- Memory that a device copies numbers from and to by itself, without a copy in
-- between. Tensor.from_bytes, Tensor.borrow and tensor:read_into accept it in
-- place of bytes; it counts within the backend's memory_limit. It is released
-- when it is closed or collected; tensors that borrow it keep it longer.
local Backend = require("runcible.backend").Backend
local handle = require "runcible.handle"
local native = require "runcible.native"

local Pinned = handle.class "Pinned"

local function need(self)
  return handle.need(self, Pinned, "self")
end

--- Makes room for `size` bytes, at least 1, which are zero at first; `device` is
-- one of the backend's (default: the one of its new tensors). UnsupportedError:
-- the device has no such memory, as those of webgpu.
function Pinned.new(backend, size, device)
  return Pinned.of(native.pinned_make(handle.need(backend, Backend, "backend"), device or "", size))
end

--- Returns the number of bytes.
function Pinned:size()
  return (select(2, native.pinned_place(need(self))))
end

local function check(self, first, count)
  local size = self:size()
  if math.type(first) ~= "integer" or math.type(count) ~= "integer"
    or first < 0 or count < 0 or first > size or count > size - first then
    handle.refuse("%s bytes from %s on are not within the %d of the memory",
      tostring(count), tostring(first), size)
  end
end

--- Writes the bytes of a string, as string.pack makes them, from byte `first`
-- (default: 0) on.
function Pinned:write(bytes, first)
  if type(bytes) ~= "string" then handle.refuse("bytes must be a string, not %s", type(bytes)) end
  check(self, first or 0, #bytes)
  native.pinned_write(need(self), first or 0, bytes)
end

--- Returns a string of `count` bytes (default: all that follow) from byte `first`
-- (default: 0) on.
function Pinned:read(first, count)
  first = first or 0
  count = count or self:size() - (math.tointeger(first) or 0)
  check(self, first, count)
  return native.pinned_read(need(self), first, count)
end

--- Returns the address of the memory, as light userdata, for modules that work
-- with memory of C. It is valid until the memory is closed or collected.
function Pinned:address()
  return (native.pinned_place(need(self)))
end

return Pinned
