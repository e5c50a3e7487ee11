-- Runs every test.
-- luacheck: globals TestCases TestPackage TestStreams TestFaults TestGraphs TestOpening TestCustom
local unit = require "luaunit"

TestCases = require "test_cases"
TestPackage = require "test_package"
TestStreams = require "test_streams"
TestFaults = require "test_faults"
TestGraphs = require "test_graphs"
TestOpening = require "test_opening"
TestCustom = require "test_custom"

os.exit(unit.LuaUnit.run())
