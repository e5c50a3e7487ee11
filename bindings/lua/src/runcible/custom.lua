--- Custom ops; see runcible/custom_op.h.
local Tensor = require "runcible.tensor"
local dtypes = require "runcible.dtypes"
local handle = require "runcible.handle"
local native = require "runcible.native"
local numbers = require "runcible.numbers"
local served = require "runcible.served"

local need = handle.need

-- :header: custom_op.h
local CustomOp = handle.class "CustomOp"

-- Returns the names in "axis int, epsilon float".
local function names_of(attributes)
  local names = {}
  for each in (attributes or ""):gmatch "[^,]+" do names[#names + 1] = each:match "%w[%w_]*" end
  return names
end

-- Returns the function that the library calls for a Lua function; see
-- swig/functions.h.
local function computing(f, names)
  return function(inputs, outputs, attributes)
    local named, given, made = {}, {}, {}
    for i, name in ipairs(names) do named[name] = attributes[i] end
    for i, each in ipairs(inputs) do
      local dtype = dtypes.name(each.dtype)
      local value = numbers.unpack(each.bytes, dtype, 0, #each.bytes // numbers.size(dtype))
      value.dtype, value.shape = dtype, each.shape
      given[i] = value
    end
    given[#given + 1] = named
    for i, each in ipairs(outputs) do
      named[i] = {dtype = dtypes.name(each.dtype), shape = each.shape}
    end
    local results = served.keeping(f, table.unpack(given))
    for i, each in ipairs(outputs) do
      if type(results[i]) ~= "table" then
        error(("output %d must be a list of numbers, not %s"):format(i, type(results[i])), 0)
      end
      local dtype = dtypes.name(each.dtype)
      if #results[i] * numbers.size(dtype) ~= each.bytes then
        error(("output %d has %d numbers, of %d"):format(
          i, #results[i], each.bytes // numbers.size(dtype)), 0)
      end
      made[i] = numbers.pack(results[i], dtype)
    end
    return made
  end
end

--- Makes an op of kernels, and for devices that compute in host memory of a Lua
-- function, `compute`. The function receives each input as a list of its numbers,
-- row-major, with fields `dtype` and `shape`, and a table of the attributes by
-- name, which has the `dtype` and `shape` of the i-th output at i. It returns a
-- list of numbers for each output. An error that it raises is raised by the call
-- of the op. The library calls it only while Lua waits in `compute` or `run`;
-- `run_async` raises BusyError. In place of `compute`, a C function: `symbol` is
-- its name in the shared library at the path `library`, which stays loaded; or
-- `address` is its address.
-- :api: members rc_custom_op_options
function CustomOp.new(options)
  local made = handle.set_options(native.custom_op_options(), options, {
    address = true, compute = true, library = true, symbol = true,
  })
  if options and options.address then made:set_function(options.address) end
  if options and options.library then
    made:set_function_of(options.library, options.symbol or made.name)
  end
  local names = names_of(options and options.attributes)
  local f = options and options.compute
  if f ~= nil and type(f) ~= "function" then
    handle.refuse("compute must be a function, not %s", type(f))
  end
  if f and options.items then
    handle.refuse("items divide the work of functions of C; a Lua function computes all of them")
  end
  local op = CustomOp.of(f and native.custom_op_of_function(made, computing(f, names))
    or native.custom_op_create(made))
  op._name = made.name
  op._attributes = names
  op._outputs = made:outputs()
  return op
end

-- Returns the numbers of a table of attributes, in their order.
local function numbers_of(op, attributes)
  local list, left = native.number_list(), {}
  for name, value in pairs(attributes or {}) do left[name] = value end
  for _, name in ipairs(op._attributes) do
    local value = left[name]
    if type(value) ~= "number" then
      handle.refuse("%s needs the attribute %s, a number, not %s", op._name, name, type(value))
    end
    list:add(value)
    left[name] = nil
  end
  local unknown = next(left)
  if unknown ~= nil then
    handle.refuse("%s has no attribute %s, but %s", op._name, tostring(unknown),
      #op._attributes == 0 and "none" or table.concat(op._attributes, ", "))
  end
  return list
end

--- Returns the outputs for a list of inputs, and attributes by their names:
-- `op:compute({x}, {scale = 0.5})`. If a graph records an input, the op is
-- recorded.
function CustomOp:compute(inputs, attributes)
  local proxy = need(self, CustomOp, "self")
  if type(inputs) ~= "table" or getmetatable(inputs) == Tensor then
    handle.refuse("inputs must be a list of tensors, not a %s",
      getmetatable(inputs) == Tensor and "Tensor" or type(inputs))
  end
  local list, made = native.tensor_list(), native.tensor_list()
  for _, each in ipairs(inputs) do list:add(need(each, Tensor, "an input")) end
  served.call(
    native.custom_op_compute_serving, proxy, list, numbers_of(self, attributes), self._outputs, made
  )
  local outputs = {}
  for i = 1, self._outputs do outputs[i] = Tensor.of(native.tensor_of_list(made, i - 1)) end
  return table.unpack(outputs)
end

return CustomOp
