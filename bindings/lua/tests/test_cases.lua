-- The cases that every language runs, and the report of them.
local conformance = require "conformance"

local TestCases = {}
local lines = {"language\tLua"}

for i, case in ipairs(conformance.document.cases) do
  TestCases[("test_%02d_%s"):format(i, case.name)] = function()
    conformance.run(case)
    lines[#lines + 1] = "passed\t" .. case.name
  end
end

-- Runs last, by its name.
function TestCases.test_report()
  local path = os.getenv "RUNCIBLE_CASES_REPORT"
  if not path then return end
  local file <close> = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
end

return TestCases
