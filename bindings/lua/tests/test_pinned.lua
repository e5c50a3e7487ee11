-- Memory that devices copy numbers from and to by themselves.
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"

local TestPinned = {}

local backend = runcible.Backend("cpu")

function TestPinned.test_tensors_move_to_and_from_pinned_memory()
  for _, device in ipairs {"cpu", "reference", "opencl", "vulkan"} do
    local opened, other = pcall(runcible.Backend, device)
    if opened then
      local from, to = runcible.Pinned(other, 400), runcible.Pinned(other, 408)
      unit.assertEquals({from:size(), to:read()}, {400, ("\0"):rep(408)})
      local numbers, negated = {}, {}
      for i = 1, 100 do
        numbers[i], negated[i] = i - 1, 1 - i
        from:write(string.pack("f", i - 1), 4 * (i - 1))
      end
      local x = runcible.Tensor.from_bytes(from, {10, 10}, "f32", other)
      from:write(("\0"):rep(400)) -- the tensor has a copy
      unit.assertEquals(x:read(), numbers)
      x:neg():read_into(to)
      for i = 1, 100 do
        unit.assertEquals((string.unpack("f", to:read(4 * (i - 1), 4))), negated[i])
      end
      unit.assertEquals(to:read(400), ("\0"):rep(8))
    end
  end
end

function TestPinned.test_memory_has_an_address()
  unit.assertEquals(type(runcible.Pinned(backend, 12, "cpu"):address()), "userdata")
end

function TestPinned.test_closed_memory_raises_closed_error()
  local memory <close> = runcible.Pinned(backend, 12)
  local x = runcible.Tensor({1, 2, 3}, backend)
  memory:close()
  for _, wrong in ipairs {
    function() memory:read() end,
    function() memory:write("1234") end,
    function() memory:size() end,
    function() memory:address() end,
    function() x:read_into(memory) end,
    function() runcible.Tensor.borrow(memory, {3}, "f32", backend) end,
    function() runcible.Tensor.from_bytes(memory, {3}, "f32", backend) end,
  } do
    helpers.raises("ClosedError", wrong)
  end
end

function TestPinned.test_invalid_arguments_raise_errors()
  helpers.raises("InvalidArgumentError", runcible.Pinned, backend, -1)
  local memory = runcible.Pinned(backend, 8)
  for _, wrong in ipairs {{-1, 2}, {0, 9}, {9, 0}, {7, 2}, {0, -1}, {1, math.maxinteger}, {0.5, 1}} do
    unit.assertErrorMsgContains("not within the 8", memory.read, memory, table.unpack(wrong))
  end
  unit.assertErrorMsgContains("not within the 8", memory.write, memory, "12345", 4)
  unit.assertErrorMsgContains("must be a string", memory.write, memory, 5)
  local x = runcible.Tensor({1, 2, 3}, backend)
  unit.assertErrorMsgContains("memory must be a Pinned", x.read_into, x, "text")
end

return TestPinned
