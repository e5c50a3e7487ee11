--- Graphs: ops of tensors that are recorded once and run many times; see
-- runcible/graph.h.
local Backend = require("runcible.backend").Backend
local Pending = require "runcible.pending"
local Tensor = require "runcible.tensor"
local handle = require "runcible.handle"
local native = require "runcible.native"
local served = require "runcible.served"

local need = handle.need

--- A recorded function of tensors, which runs as one.
local Graph = handle.class "Graph"

local function list_of(tensors, count, what)
  local list = native.tensor_list()
  for i = 1, count do list:add(need(tensors[i], Tensor, what)) end
  return list
end

local function inputs_of(inputs)
  if type(inputs) ~= "table" or getmetatable(inputs) == Tensor then
    handle.refuse("inputs must be a list of tensors, not a %s",
      getmetatable(inputs) == Tensor and "Tensor" or type(inputs))
  end
  return list_of(inputs, #inputs, "an input")
end

local function deadline_of(options, known)
  for name in pairs(options or {}) do
    if not known[name] then handle.refuse("there is no option %s", tostring(name)) end
  end
  local deadline = options and options.deadline
  return deadline and handle.milliseconds(deadline, "deadline") or 0
end

--- Calls a function with tensors that stand for the inputs and have the types and
-- shapes of the tensors in a list. The ops on them are recorded and not run. The
-- tensors that the function returns are the outputs, which each run computes as
-- new tensors; other tensors that it uses are constants. An op raises an error
-- for shapes and types that do not fit.
--
--     local graph = runcible.Graph.record(backend, {x}, function(x)
--       return (x * scale):relu()
--     end)
--     local y = graph:run {x2}
function Graph.record(backend, inputs, f)
  local graph = Graph.of(native.graph_begin(need(backend, Backend, "backend")))
  inputs_of(inputs)
  local stand_ins = {}
  for i, like in ipairs(inputs) do
    local own = need(like, Tensor, "an input")
    stand_ins[i] = Tensor.of(native.graph_input(
      graph._proxy, native.tensor_dtype(own), native.tensor_shape(own)
    ))
  end
  local outputs = table.pack(f(table.unpack(stand_ins)))
  native.graph_finish(graph._proxy, list_of(outputs, outputs.n, "an output"))
  graph._outputs = outputs.n
  for _, each in ipairs(stand_ins) do each:close() end
  return graph
end

--- Computes the outputs for these inputs, which have the number, types and shapes
-- that were recorded. Options: deadline, seconds.
function Graph:run(inputs, options)
  local proxy = need(self, Graph, "self")
  local made = native.tensor_list()
  served.call(
    native.graph_compute_serving, proxy, inputs_of(inputs),
    deadline_of(options, {deadline = true}), made
  )
  local outputs = {}
  for i = 1, self._outputs do outputs[i] = Tensor.of(native.tensor_of_list(made, i - 1)) end
  return table.unpack(outputs)
end

--- Computes the outputs while an event loop runs. Returns a Pending, whose `wait`
-- returns the outputs. Options: deadline, and `loop`, as for streams.
function Graph:run_async(inputs, options)
  local proxy, count = need(self, Graph, "self"), self._outputs
  local given = inputs_of(inputs)
  local deadline = deadline_of(options, {deadline = true, loop = true})
  return Pending.start(options, function(box, key)
    return native.graph_run_start(box, key, proxy, given, deadline)
  end, function(call)
    local outputs = {}
    for i = 1, count do outputs[i] = Tensor.of(native.pending_call_tensor(call, i - 1)) end
    return table.unpack(outputs)
  end)
end

-- :api: methods rc_graph

return Graph
