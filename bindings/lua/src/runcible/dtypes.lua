--- Types of elements, by their names in lower case: "f32", "q4_k".
local handle = require "runcible.handle"
local native = require "runcible.native"

local numbers, names = {}, {}
for constant, number in pairs(native) do
  local name = constant:match "^DTYPE_(.*)"
  if name then
    numbers[name:lower()] = number
    names[number] = name:lower()
  end
end

return {
  number = function(name)
    return handle.chosen(numbers, "dtype", name)
  end,
  name = function(number)
    return names[number] or tostring(number)
  end,
}
