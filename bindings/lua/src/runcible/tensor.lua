--- Tensors and ops, for those who compute without a model; see
-- runcible/tensor.h. Shapes are lists, slowest dimension first; dimensions as
-- arguments are counted from 0, or from the last as -1.
local Backend = require("runcible.backend").Backend
local dtypes = require "runcible.dtypes"
local handle = require "runcible.handle"
local native = require "runcible.native"
local numbers = require "runcible.numbers"
local Pinned = require "runcible.pinned"

local need = handle.need

-- As the dimension of a reduction: all of them.
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

-- The numbers of nested lists of a shape, one after the other.
local function flatten(list, shape, depth, into)
  if type(list) ~= "table" or #list ~= shape[depth] then
    handle.refuse("data is no array of the shape [%s]", table.concat(shape, ", "))
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

--- A tensor of the numbers of a list, of lists of lists, and so on. Options:
-- `shape` of a list of numbers; `dtype` ("f32") to store them in.
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

--- A tensor of bytes in the layout of the type, a string or Pinned.
function Tensor.from_bytes(bytes, shape, dtype, backend)
  local proxy = need(backend, Backend, "backend")
  if getmetatable(bytes) == Pinned then
    local memory = need(bytes, Pinned, "bytes")
    return Tensor.of(native.tensor_of_pinned(proxy, dtypes.number(dtype), shape, memory))
  end
  return Tensor.of(native.tensor_from_data(proxy, dtypes.number(dtype), shape, bytes))
end

--- A tensor of the memory of full userdata of another module, or of Pinned, which is
-- not copied, and is kept as long as the library needs it: as many bytes as the shape takes, in
-- the layout of the type. What is written there later ops read, and ops that go into
-- the tensor write there; not while a call works with it. For a device with memory
-- of its own it is an UnsupportedError.
function Tensor.borrow(memory, shape, dtype, backend)
  local proxy = need(backend, Backend, "backend")
  if getmetatable(memory) == Pinned then
    local pinned = need(memory, Pinned, "memory")
    return Tensor.of(native.pinned_borrow(proxy, dtypes.number(dtype), shape, pinned, 0, math.maxinteger))
  end
  if type(memory) ~= "userdata" then
    handle.refuse("what is borrowed must be full userdata, not %s", type(memory))
  end
  return Tensor.of(native.tensor_borrow(proxy, dtypes.number(dtype), shape, memory))
end

-- :api: makers

--- The type of the elements: "f32", "q4_k".
function Tensor:dtype()
  return dtypes.name(native.tensor_dtype(need(self, Tensor, "self")))
end

--- The dimensions, slowest first.
function Tensor:shape()
  return native.tensor_shape(need(self, Tensor, "self"))
end

--- The number of elements, and the bytes that they take in their type.
function Tensor:size()
  return native.tensor_size(need(self, Tensor, "self"))
end

--- The device on which it lies, "vulkan:0".
function Tensor:device()
  return native.tensor_device(need(self, Tensor, "self"))
end

--- The same numbers on another device ("vulkan:0"; by default where new tensors
-- lie), or of another handle.
function Tensor:to(device, backend)
  local other = backend and need(backend, Backend, "backend")
  return Tensor.of(native.tensor_to(need(self, Tensor, "self"), other, device or ""))
end

--- Of an outline that an op gave: where the op would run, and the estimates of
-- all candidates in seconds.
function Tensor:choice()
  return handle.decoded(native.op_choose(need(self, Tensor, "self")))
end

--- The numbers in the layout of the type, a string.
function Tensor:bytes()
  local proxy = need(self, Tensor, "self")
  local _, bytes = native.tensor_size(proxy)
  return native.tensor_read(proxy, bytes)
end

--- Writes the numbers in the layout of the type to Pinned, from its beginning on.
function Tensor:read_into(memory)
  native.tensor_read_into(need(self, Tensor, "self"), need(memory, Pinned, "memory"))
end

--- The numbers, a list in the order of the shape.
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
