-- Runs every test.
-- luacheck: globals TestCases TestPackage TestStreams TestFaults TestGraphs TestOpening TestCustom TestPinned TestJson
local unit = require "luaunit"

TestCases = require "test_cases"
TestPackage = require "test_package"
TestStreams = require "test_streams"
TestFaults = require "test_faults"
TestGraphs = require "test_graphs"
TestOpening = require "test_opening"
TestCustom = require "test_custom"
TestPinned = require "test_pinned"
TestJson = require "test_json"

os.exit(unit.LuaUnit.run())
