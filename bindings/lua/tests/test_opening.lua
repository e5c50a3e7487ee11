-- Opening and discovering on event loops.
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

local TestOpening = {}

-- Runs f in a coroutine to its end.
local function in_coroutine(f, run)
  local failure, ended
  coroutine.wrap(function()
    local going, problem = pcall(f)
    if not going then failure = {problem} end
    ended = true
  end)()
  run()
  if failure then error(failure[1], 0) end
  unit.assertTrue(ended)
end

function TestOpening.test_timer_ticks_while_a_backend_opens()
  local ticks = 0
  local timer = uv.new_timer()
  timer:start(0, 1, function()
    ticks = ticks + 1
  end)
  in_coroutine(function()
    local opening = runcible.Backend.open_async("cpu", {threads = 1})
    local backend = opening:wait()
    unit.assertEquals(backend, opening:wait()) -- the same result again
    unit.assertEquals(backend:device().id, "cpu:0")
    unit.assertEquals(runcible.Tensor({1, -2}, backend):relu():read(), {1, 0})
    timer:close()
  end, uv.run)
  unit.assertTrue(ticks > 0)
end

function TestOpening.test_opens_and_discovers_without_an_event_loop()
  local loop = runcible.Loop.new()
  in_coroutine(function()
    local fractions = {}
    local options = {
      loop = loop,
      progress = function(fraction)
        fractions[#fractions + 1] = fraction
      end,
    }
    runcible.Backend.open_async("cpu", options):wait()
    unit.assertEquals(fractions[#fractions], 1)
    local devices = runcible.discover_async({loop = loop}):wait()
    unit.assertEquals(devices.automatic, runcible.discover().automatic)
  end, function()
    loop:run()
  end)
end

function TestOpening.test_cancel_and_an_error_of_progress_end_a_call()
  in_coroutine(function()
    local discovery = runcible.discover_async()
    discovery:cancel()
    -- The discovery may have been over before.
    local going, failure = pcall(discovery.wait, discovery)
    unit.assertTrue(going or runcible.errors.CancelledError:is(failure))
    local opening = runcible.Backend.open_async("cpu", {
      progress = function()
        error "enough"
      end,
    })
    unit.assertErrorMsgContains("enough", opening.wait, opening)
  end, uv.run)
end

function TestOpening.test_switch_async_runs_on_an_event_loop()
  local backend = runcible.Backend("cpu")
  local model = runcible.Model("builtin:fable", backend)
  unit.assertErrorMsgContains("there is no option", backend.switch, backend, "cpu", {threads = 1})
  in_coroutine(function()
    local fractions = {}
    local pending = backend:switch_async("reference", {
      wait = 60,
      progress = function(fraction)
        fractions[#fractions + 1] = fraction
      end,
    })
    unit.assertEquals(table.pack(pending:wait()).n, 0)
    unit.assertEquals(fractions[#fractions], 1)
    unit.assertEquals(model:report().device, "reference:0")
    local refused = backend:switch_async("cpu", {
      progress = function()
        error "not now"
      end,
    })
    unit.assertErrorMsgContains("not now", refused.wait, refused)
  end, uv.run)
end

function TestOpening.test_open_async_takes_a_tenant()
  in_coroutine(function()
    local tenant = runcible.Tenant {name = "Zoë 🦊"}
    local backend = runcible.Backend.open_async("cpu", {tenant = tenant}):wait()
    unit.assertEquals(tenant:usage().backends, 1)
    unit.assertEquals(tenant:metrics().tenants[1].name, "Zoë 🦊")
    backend:close()
    unit.assertEquals(tenant:usage().backends, 0)
    tenant:close()
    helpers.raises("ClosedError", runcible.Backend.open_async, "cpu", {tenant = tenant})
  end, uv.run)
end

function TestOpening.test_wrong_options_are_refused_at_once()
  unit.assertErrorMsgContains("progress must be", runcible.Backend.open_async, "cpu", {progress = 1})
  unit.assertErrorMsgContains("there is no option", runcible.Backend.open_async, "cpu", {nothing = 1})
  helpers.raises("InvalidArgumentError", runcible.Backend.open_async, "cpu", {threads = -1})
end

function TestOpening.test_program_ends_with_lost_calls_and_loops()
  local output, status = helpers.run [[
    local runcible = require "runcible"
    local loop = runcible.Loop.new()
    runcible.Backend.open_async("cpu", {loop = loop, progress = function() end})
    runcible.discover_async {loop = loop}
    collectgarbage()
    print "ends"
  ]]
  unit.assertEquals({output, status}, {"ends\n", 0})
end

return TestOpening
