--- Types of elements, by their names in lower case: "f32", "q4_k".
local handle = require "runcible.handle"
local members = require "runcible.members"

local names = {}
for name, number in pairs(members.choices.dtype) do names[number] = name end

return {
  number = function(name)
    return handle.choice("dtype", name)
  end,
  name = function(number)
    return names[number] or tostring(number)
  end,
}
