-- Custom ops: functions of C and kernels; borrowed memory.
local forking = require "forking"
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

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

local function in_lua(x, attributes)
  return softsign(x, attributes.scale)
end

local function check_softsign(op)
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
  return graph
end

function TestCustom.test_functions_of_c_and_kernels_compute_the_op()
  check_softsign(runcible.CustomOp(SOFTSIGN))
end

function TestCustom.test_lua_functions_compute_the_op()
  local graph = check_softsign(runcible.CustomOp(with {library = "", items = "", compute = in_lua}))
  collectgarbage() -- does not free the op, which the graph keeps
  unit.assertEquals(#graph:run({runcible.Tensor(X, backend)}):read(), #X)
  coroutine.wrap(function()
    local running = graph:run_async({runcible.Tensor(X, backend)}, {loop = runcible.Loop.default()})
    helpers.raises("BusyError", running.wait, running)
  end)()
  uv.run()
end

function TestCustom.test_lua_functions_take_types_and_raise_their_errors()
  local mistake = {}
  local op = runcible.CustomOp {
    signature = "x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]",
    compute = function(x, w, about)
      unit.assertEquals({x.dtype, x.shape, about[1]}, {"i32", {3, 2}, {dtype = "f64", shape = {3}}})
      if w[1] < 0 then error(mistake) end
      if w[1] == 0 then return {1, 2} end
      local y, z = {}, {}
      for row = 1, 3 do y[row] = x[2 * row - 1] * w[1] + x[2 * row] * w[2] end
      for i, each in ipairs(x) do z[i] = -each end
      return y, z
    end,
  }
  local x = runcible.Tensor({{1, 2}, {3, 4}, {5, 6}}, backend, {dtype = "i32"})
  local function weights(...)
    return runcible.Tensor({...}, backend, {dtype = "f64"})
  end
  local y, z = op:compute {x, weights(10, 0.5)}
  unit.assertEquals(y:read(), {11, 32, 53})
  unit.assertEquals(z:read(), {-1, -2, -3, -4, -5, -6})
  local going, failure = pcall(op.compute, op, {x, weights(-1, 0)})
  unit.assertEquals({going, failure == mistake}, {false, true})
  local few = helpers.raises("DeviceError", op.compute, op, {x, weights(0, 0)})
  unit.assertStrContains(few.message, "output 1 has 2 numbers, of 3")
end

function TestCustom.test_errors_name_the_cause()
  local x = runcible.Tensor(X, backend)
  local op = runcible.CustomOp(SOFTSIGN)
  unit.assertErrorMsgContains("needs the attribute scale", op.compute, op, {x})
  unit.assertErrorMsgContains("no attribute size", op.compute, op, {x}, {scale = 1, size = 2})
  unit.assertErrorMsgContains("list of tensors", op.compute, op, x, {scale = 1})
  helpers.raises("InvalidArgumentError", op.compute, op, {x, x}, {scale = 1})
  helpers.raises("NotFoundError", runcible.CustomOp, with {library = "/no/such.so"})
  local failure = helpers.raises("InvalidArgumentError", runcible.CustomOp, with {signature = "x F32 [n]"})
  unit.assertStrContains(failure.message, "signature")
  failure = helpers.raises("InvalidArgumentError", runcible.CustomOp, with {library = "", opencl_c = ""})
  unit.assertStrContains(failure.message, "neither a function nor a kernel")
  unit.assertErrorMsgContains("there is no option", runcible.CustomOp, with {nothing = 1})
  op = runcible.CustomOp(with {library = ""})
  helpers.raises("UnsupportedError", op.compute, op, {x}, {scale = 1})
end

function TestCustom.test_borrowed_tensor_shares_and_keeps_the_memory()
  local block = forking.block(1, -2, 3)
  local x = runcible.Tensor.borrow(block, {3}, "f32", backend)
  unit.assertEquals(x:relu():read(), {1, 0, 3})
  runcible.Tensor({4, 5, 6}, backend):into(x):neg()
  unit.assertEquals({forking.numbers(block)}, {-4, -5, -6})
  -- The graph that keeps the tensor keeps the memory, until it is closed.
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
  runcible.Backend("cpu"):close() -- releases the memory of loans that have ended
  collectgarbage()
  unit.assertNil(watched[1])
  unit.assertErrorMsgContains("must be full userdata", runcible.Tensor.borrow, "text", {1}, "f32", backend)
  local failure = helpers.raises(
    "InvalidArgumentError", runcible.Tensor.borrow, forking.block(1), {3}, "f32", backend
  )
  unit.assertStrContains(failure.message, "[3]")
end

return TestCustom
