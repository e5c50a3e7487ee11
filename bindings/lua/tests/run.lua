-- Runs every test.
-- luacheck: globals TestCases TestPackage TestStreams TestFaults
local unit = require "luaunit"

TestCases = require "test_cases"
TestPackage = require "test_package"
TestStreams = require "test_streams"
TestFaults = require "test_faults"

os.exit(unit.LuaUnit.run())
