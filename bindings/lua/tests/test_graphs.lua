-- Graphs: recorded, run, run on an event loop.
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

local TestGraphs = {}

local backend = runcible.Backend("cpu")

local function tensor(...)
  return runcible.Tensor({...}, backend)
end

function TestGraphs.test_graphs_refuse_invalid_arguments()
  local x = tensor(1, 2)
  local _, mistake = pcall(runcible.Graph.record, backend, {x}, function()
    error "mine"
  end)
  unit.assertStrContains(mistake, "mine")
  unit.assertErrorMsgContains("an output must be a Tensor", runcible.Graph.record, backend, {x}, function()
    return 1
  end)
  unit.assertErrorMsgContains("list of tensors, not a Tensor", runcible.Graph.record, backend, x, print)
  local graph = runcible.Graph.record(backend, {x}, function(given)
    return given:neg()
  end)
  unit.assertErrorMsgContains("no option dead", graph.run, graph, {x}, {dead = 1})
end

function TestGraphs.test_many_runs_share_a_loop()
  local graph = runcible.Graph.record(backend, {tensor(0, 0)}, function(x)
    return x + x
  end)
  local found, plain = {}, runcible.Loop.new()
  for i = 1, 6 do
    local loop = i % 2 == 0 and plain or nil
    coroutine.wrap(function()
      local y = graph:run_async({tensor(i, 1)}, {deadline = 60, loop = loop}):wait()
      found[i] = y:read()
    end)()
  end
  unit.assertEquals(found, {})
  uv.run()
  plain:run()
  for i = 1, 6 do unit.assertEquals(found[i], {2 * i, 2}) end
  graph:cancel() -- no run is in progress
  unit.assertErrorMsgContains("within a coroutine", function()
    graph:run_async({tensor(1, 2)}):wait()
  end)
  uv.run()
end

function TestGraphs.test_deadline_and_cancel_end_a_run()
  local endless = runcible.CustomOp {
    name = "endless",
    signature = "x F32 [n] -> y F32 [n]",
    library = os.getenv "RUNCIBLE_CUSTOM_OP",
  }
  local x = tensor(1, 2)
  local graph = runcible.Graph.record(backend, {x}, function(y)
    return endless:compute {y}
  end)
  -- No deadline passes before its time.
  for deadline, text in pairs {[0.0012] = " 2 ms", [0.007] = " 7 ms"} do
    local failure = helpers.raises("TimeoutError", graph.run, graph, {x}, {deadline = deadline})
    unit.assertStrContains(tostring(failure), text)
  end
  coroutine.wrap(function()
    local running = graph:run_async {x}
    running:cancel()
    helpers.raises("CancelledError", running.wait, running)
    helpers.raises("CancelledError", running.wait, running)
  end)()
  uv.run()
end

return TestGraphs
