--- Tensors and ops, for programs that compute without a model; see
-- runcible/tensor.h. Shapes are lists, slowest dimension first; dimensions as
-- arguments are counted from 0, or from the last as -1.
local Backend = require("runcible.backend").Backend
local dtypes = require "runcible.dtypes"
local handle = require "runcible.handle"
local native = require "runcible.native"
local numbers = require "runcible.numbers"
local Pinned = require "runcible.pinned"

local need = handle.need

-- The dimension of a reduction over all dimensions.
local ALL = -0x80000000

local Tensor = handle.class "Tensor"

local function shape_of(list)
  local shape = {}
  while type(list) == "table" do
    shape[#shape + 1] = #list
    list = list[1]
  end
  return shape
end

-- Returns the numbers of nested lists of a shape, one after the other.
local function flatten(list, shape, depth, into)
  if type(list) ~= "table" or #list ~= shape[depth] then
    handle.refuse("data is not an array of the shape [%s]", table.concat(shape, ", "))
  end
  if depth == #shape then
    for _, number in ipairs(list) do
      if type(number) ~= "number" then
        handle.refuse("data must be numbers, not %s", type(number))
      end
    end
    table.move(list, 1, #list, #into + 1, into)
  else
    for _, each in ipairs(list) do flatten(each, shape, depth + 1, into) end
  end
  return into
end

--- Makes a tensor of the numbers of a list, of lists of lists, and so on.
-- Options: `shape` of a flat list; `dtype`, the type of the elements (default:
-- "f32").
function Tensor.new(data, backend, options)
  local proxy = need(backend, Backend, "backend")
  if type(data) ~= "table" then handle.refuse("data must be a table, not %s", type(data)) end
  local dtype = options and options.dtype or "f32"
  local number = dtypes.number(dtype)
  local list = flatten(data, shape_of(data), 1, {})
  local shape = options and options.shape or shape_of(data)
  local stored = numbers.known(dtype) and dtype or "f32"
  local bytes = numbers.pack(list, stored)
  local tensor = Tensor.of(native.tensor_from_data(proxy, dtypes.number(stored), shape, bytes))
  return stored == dtype and tensor or Tensor.of(native.op_quantize(tensor._proxy, number))
end

--- Makes a tensor of bytes in the layout of the type, a string or Pinned.
function Tensor.from_bytes(bytes, shape, dtype, backend)
  local proxy = need(backend, Backend, "backend")
  if getmetatable(bytes) == Pinned then
    local memory = need(bytes, Pinned, "bytes")
    return Tensor.of(native.tensor_of_pinned(proxy, dtypes.number(dtype), shape, memory))
  end
  return Tensor.of(native.tensor_from_data(proxy, dtypes.number(dtype), shape, bytes))
end

--- Makes a tensor that uses the memory of full userdata of another module, or of
-- Pinned, without a copy. The memory has the number of bytes of the shape, in the
-- layout of the type, and is kept as long as the library needs it. Ops read the
-- values that are in the memory when they run, and ops that write into the tensor
-- write to the memory. Do not access the memory while a call works with it.
-- UnsupportedError: the device has separate memory.
function Tensor.borrow(memory, shape, dtype, backend)
  local proxy = need(backend, Backend, "backend")
  if getmetatable(memory) == Pinned then
    local pinned = need(memory, Pinned, "memory")
    return Tensor.of(native.pinned_borrow(proxy, dtypes.number(dtype), shape, pinned, 0, math.maxinteger))
  end
  if type(memory) ~= "userdata" then
    handle.refuse("borrowed memory must be full userdata, not %s", type(memory))
  end
  return Tensor.of(native.tensor_borrow(proxy, dtypes.number(dtype), shape, memory))
end

-- :api: makers

--- Returns the type of the elements: "f32", "q4_k".
function Tensor:dtype()
  return dtypes.name(native.tensor_dtype(need(self, Tensor, "self")))
end

--- Returns the dimensions, slowest first.
function Tensor:shape()
  return native.tensor_shape(need(self, Tensor, "self"))
end

--- Returns the number of elements, and the number of bytes that they take.
function Tensor:size()
  return native.tensor_size(need(self, Tensor, "self"))
end

--- Returns the device of the tensor's memory, "vulkan:0".
function Tensor:device()
  return native.tensor_device(need(self, Tensor, "self"))
end

--- Copies the numbers to another device ("vulkan:0"; default: the one of new
-- tensors), or to another handle.
function Tensor:to(device, backend)
  local other = backend and need(backend, Backend, "backend")
  return Tensor.of(native.tensor_to(need(self, Tensor, "self"), other, device or ""))
end

--- Returns, for an outline that an op returned, the device on which the op would
-- run, and the estimates of all candidates in seconds.
function Tensor:choice()
  return handle.decoded(native.op_choose(need(self, Tensor, "self")))
end

--- Returns the numbers in the layout of the type, a string.
function Tensor:bytes()
  local proxy = need(self, Tensor, "self")
  local _, bytes = native.tensor_size(proxy)
  return native.tensor_read(proxy, bytes)
end

--- Writes the numbers in the layout of the type to the beginning of a Pinned.
function Tensor:read_into(memory)
  native.tensor_read_into(need(self, Tensor, "self"), need(memory, Pinned, "memory"))
end

--- Returns the numbers, a list in the order of the shape.
function Tensor:read()
  local dtype, count = self:dtype(), self:size()
  if not numbers.known(dtype) then return self:dequantize():read() end
  return numbers.unpack(self:bytes(), dtype, 0, count)
end

local function optional(tensor, name)
  if tensor == nil then return nil end
  return need(tensor, Tensor, name)
end

local function made(self, op, ...)
  return Tensor.of(op(need(self, Tensor, "self"), ...))
end

-- :api: ops

Tensor.__add = Tensor.add
Tensor.__mul = Tensor.mul

return Tensor
