--- Custom ops; see runcible/custom_op.h.
local Tensor = require "runcible.tensor"
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

-- :header: custom_op.h
local CustomOp = handle.class "CustomOp"

-- The names in "axis int, epsilon float".
local function names_of(attributes)
  local names = {}
  for each in (attributes or ""):gmatch "[^,]+" do names[#names + 1] = each:match "%w[%w_]*" end
  return names
end

--- An op of kernels, and for devices that compute in host memory a function of C:
-- `symbol`, its name in the shared library at the path `library`, which stays
-- loaded, or `address`, where it is. Functions of Lua are none, for the library
-- calls them from threads of its own.
-- :api: members rc_custom_op_options
function CustomOp.new(options)
  local made = handle.set_options(
    native.custom_op_options(), options, {address = true, library = true, symbol = true}
  )
  if options and options.address then made:set_function(options.address) end
  if options and options.library then
    made:set_function_of(options.library, options.symbol or made.name)
  end
  local op = CustomOp.of(native.custom_op_create(made))
  op._name = made.name
  op._attributes = names_of(options.attributes)
  op._outputs = made:outputs()
  return op
end

-- The numbers of a table of attributes, in their order.
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

--- The outputs of a list of inputs, and of attributes by their names:
-- `op:compute({x}, {scale = 0.5})`. In a graph that records it is recorded.
function CustomOp:compute(inputs, attributes)
  local proxy = need(self, CustomOp, "self")
  if type(inputs) ~= "table" or getmetatable(inputs) == Tensor then
    handle.refuse("inputs must be a list of tensors, not a %s",
      getmetatable(inputs) == Tensor and "Tensor" or type(inputs))
  end
  local list, made = native.tensor_list(), native.tensor_list()
  for _, each in ipairs(inputs) do list:add(need(each, Tensor, "an input")) end
  native.custom_op_compute(proxy, list, numbers_of(self, attributes), self._outputs, made)
  local outputs = {}
  for i = 1, self._outputs do outputs[i] = Tensor.of(native.tensor_of_list(made, i - 1)) end
  return table.unpack(outputs)
end

return CustomOp
