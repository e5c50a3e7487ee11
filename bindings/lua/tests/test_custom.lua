-- Custom ops: functions of C and kernels; borrowed memory.
local forking = require "forking"
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"

local TestCustom = {}

local backend = runcible.Backend("cpu")
local SOFTSIGN = {
  name = "softsign",
  signature = "x F32 [...] -> y F32 [...]",
  attributes = "scale float",
  items = "elements(x)",
  library = os.getenv "RUNCIBLE_CUSTOM_OP",
  opencl_c = "size_t i = get_global_id(0);\n"
    .. "if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
  grid = "elements(x)",
}
local X = {-4, -1, 0, 1, 3}

local function with(changes)
  local options = {}
  for name, value in pairs(SOFTSIGN) do options[name] = value end
  for name, value in pairs(changes) do options[name] = value ~= "" and value or nil end
  return options
end

local function softsign(x, scale)
  local made = {}
  for i, each in ipairs(x) do made[i] = each / (1 + math.abs(each) * scale) end
  return made
end

local function assert_near(found, expected)
  unit.assertEquals(#found, #expected)
  for i, each in ipairs(expected) do unit.assertAlmostEquals(found[i], each, 1e-6) end
end

function TestCustom.test_functions_of_c_and_kernels()
  local op = runcible.CustomOp(SOFTSIGN)
  for _, device in ipairs {"cpu", "reference", "opencl"} do
    local opened, other = pcall(runcible.Backend, device)
    if opened then
      assert_near(op:compute({runcible.Tensor(X, other)}, {scale = 0.5}):read(), softsign(X, 0.5))
    end
  end
  local graph = runcible.Graph.record(backend, {runcible.Tensor(X, backend)}, function(x)
    return op:compute({x + x}, {scale = 2}):relu()
  end)
  local expected = softsign({-8, -2, 0, 2, 6}, 2)
  expected[1], expected[2] = 0, 0
  assert_near(graph:run({runcible.Tensor(X, backend)}):read(), expected)
end

function TestCustom.test_what_goes_wrong()
  local x = runcible.Tensor(X, backend)
  local op = runcible.CustomOp(with {symbol = "refuses"})
  local failure = helpers.raises("FormatError", op.compute, op, {x}, {scale = 1})
  unit.assertStrContains(failure.message, "softsign will not")
  op = runcible.CustomOp(SOFTSIGN)
  unit.assertErrorMsgContains("needs the attribute scale", op.compute, op, {x})
  unit.assertErrorMsgContains("no attribute size", op.compute, op, {x}, {scale = 1, size = 2})
  unit.assertErrorMsgContains("list of tensors", op.compute, op, x, {scale = 1})
  helpers.raises("InvalidArgumentError", op.compute, op, {x, x}, {scale = 1})
  op:close()
  helpers.raises("ClosedError", op.compute, op, {x}, {scale = 1})
  failure = helpers.raises("NotFoundError", runcible.CustomOp, with {symbol = "nothing"})
  unit.assertStrContains(failure.message, "nothing")
  helpers.raises("NotFoundError", runcible.CustomOp, with {library = "/no/such.so"})
  failure = helpers.raises("InvalidArgumentError", runcible.CustomOp, with {signature = "x F32 [n]"})
  unit.assertStrContains(failure.message, "signature")
  failure = helpers.raises("InvalidArgumentError", runcible.CustomOp, with {library = "", opencl_c = ""})
  unit.assertStrContains(failure.message, "neither a function nor a kernel")
  unit.assertErrorMsgContains("there is no option", runcible.CustomOp, with {nothing = 1})
  op = runcible.CustomOp(with {library = ""})
  helpers.raises("UnsupportedError", op.compute, op, {x}, {scale = 1})
end

function TestCustom.test_borrowed_memory()
  local block = forking.block(1, -2, 3)
  local x = runcible.Tensor.borrow(block, {3}, "f32", backend)
  unit.assertEquals(x:relu():read(), {1, 0, 3})
  runcible.Tensor({4, 5, 6}, backend):into(x):neg()
  unit.assertEquals({forking.numbers(block)}, {-4, -5, -6})
  -- Kept by what keeps the tensor, and let go of.
  local watched = setmetatable({block}, {__mode = "v"})
  local graph = runcible.Graph.record(backend, {x}, function(given)
    return given + x
  end)
  block = nil -- luacheck: ignore
  x:close()
  collectgarbage()
  unit.assertNotNil(watched[1])
  unit.assertEquals(graph:run({runcible.Tensor({1, 1, 1}, backend)}):read(), {-3, -4, -5})
  graph:close()
  collectgarbage()
  runcible.Backend("cpu"):close() -- which lets go of what has ended
  collectgarbage()
  unit.assertNil(watched[1])
  unit.assertErrorMsgContains("must be full userdata", runcible.Tensor.borrow, "text", {1}, "f32", backend)
  local failure = helpers.raises(
    "InvalidArgumentError", runcible.Tensor.borrow, forking.block(1), {3}, "f32", backend
  )
  unit.assertStrContains(failure.message, "[3]")
end

return TestCustom
