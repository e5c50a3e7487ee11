-- A custom op that runs as one op of a graph: silu(x) times a gate, which many
-- models compute between two products.
--
--     lua5.4 silu_gate.lua
local runcible = require "runcible"

local silu_gate <close> = runcible.CustomOp {
  name = "silu_gate",
  -- All three have the same shape, whatever it is.
  signature = "x F32 [...], gate F32 [...] -> y F32 [...]",
  compute = function(x, gate)
    local y = {}
    for i, each in ipairs(x) do y[i] = each / (1 + math.exp(-each)) * gate[i] end
    return y
  end,
}

local backend <close> = runcible.Backend("cpu")
local x = runcible.Tensor({-1, 0, 1, 2}, backend)
local gate = runcible.Tensor({2, 2, 2, 0.5}, backend)
-- Recorded once; it runs with any numbers of these shapes.
local graph <close> = runcible.Graph.record(backend, {x, gate}, function(given, by)
  return silu_gate:compute {given, by} + given
end)
for _, y in ipairs(graph:run({x, gate}):read()) do print(("%.4f"):format(y)) end
