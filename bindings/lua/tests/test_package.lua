-- Functions of the package that the cases of all languages do not test.
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"

local TestPackage = {}
local backend = runcible.Backend("cpu")

function TestPackage.test_model_returns_its_backend()
  unit.assertIs(runcible.Model("builtin:fable", backend):backend(), backend)
end

function TestPackage.test_text_is_bytes()
  local model = helpers.model()
  unit.assertStrContains(model:detokenize(model:tokenize "Gr\u{fc}\u{df}e"), "Gr\u{fc}\u{df}e")
  unit.assertStrContains(model:detokenize(model:tokenize "a\0b\xff"), "a\0b\xff")
end

function TestPackage.test_load_reports_progress()
  local fractions = {}
  local options = {
    progress = function(fraction)
      fractions[#fractions + 1] = fraction
    end,
  }
  runcible.Model("builtin:fable", "reference", options):close()
  unit.assertEquals(fractions[#fractions], 1)
  for i = 2, #fractions do unit.assertTrue(fractions[i - 1] <= fractions[i]) end
end

function TestPackage.test_seeds_have_64_bits()
  local generation = helpers.model():session():generate("A", {max_tokens = 1, seed = math.mininteger + 1})
  generation:text()
  unit.assertEquals(generation.report.seed, math.mininteger + 1)
end

function TestPackage.test_errors_have_classes_and_messages()
  local failure = helpers.raises("NotFoundError", runcible.Backend, "nosuch")
  unit.assertEquals(failure.status, -3)
  unit.assertEquals(failure.name, "NotFoundError")
  unit.assertStrContains(tostring(failure), "NotFoundError: ")
  unit.assertStrContains(tostring(failure), "nosuch")
  unit.assertTrue(runcible.errors.Error:is(failure))
  unit.assertFalse(runcible.errors.BusyError:is(failure))
  unit.assertFalse(runcible.errors.Error:is "a string")
  unit.assertIs(getmetatable(runcible.errors.of_status(-1000, "new")), runcible.errors.Error)
end

function TestPackage.test_tensors_have_operators()
  local x = runcible.Tensor({{1, -2, 3}, {-4, 5, -6}}, backend)
  unit.assertEquals({x:size()}, {6, 24})
  unit.assertEquals((x + x):read(), {2, -4, 6, -8, 10, -12})
  unit.assertEquals((x * x):read(), {1, 4, 9, 16, 25, 36})
end

function TestPackage.test_tensors_store_other_types()
  local row = {}
  for i = 1, 32 do row[i] = 1 end
  local packed = runcible.Tensor({row}, backend, {dtype = "q8_0"})
  unit.assertEquals(packed:dtype(), "q8_0")
  unit.assertEquals(#packed:bytes(), 34)
  local again = runcible.Tensor.from_bytes(packed:bytes(), {1, 32}, "q8_0", backend)
  for _, number in ipairs(again:read()) do unit.assertAlmostEquals(number, 1, 0.01) end
  local half = runcible.Tensor({1, 2.5}, backend, {dtype = "f16"})
  unit.assertEquals(#half:bytes(), 4)
  local whole = runcible.Tensor({1, -2, math.maxinteger}, backend, {dtype = "i64"})
  unit.assertEquals(whole:read(), {1, -2, math.maxinteger})
  local zeros = runcible.Tensor.zeros({300}, backend, {dtype = "f64"}):read()
  unit.assertEquals(#zeros, 300)
  unit.assertEquals(zeros[300], 0)
end

function TestPackage.test_examples_print_their_output()
  local folder = assert(os.getenv "RUNCIBLE_EXAMPLES")
  for _, name in ipairs {"story", "stories_luv", "stories_plain"} do
    local output, status = helpers.run(("arg = {}; dofile %q"):format(folder .. "/" .. name .. ".lua"))
    unit.assertEquals(status, 0, output)
    unit.assertTrue(#output > 40, output)
  end
  local output = helpers.run(("dofile %q"):format(folder .. "/silu_gate.lua"))
  unit.assertEquals(output, "-1.5379\n0.0000\n2.4621\n2.8808\n")
end

function TestPackage.test_chat_program_of_the_readme_prints_its_output()
  local file <close> = assert(io.open(assert(os.getenv "RUNCIBLE_EXAMPLES") .. "/../README.md"))
  local program = file:read("a"):match "<!%-%- tests: chat %-%->\n```lua\n(.-)```"
  local output, status = helpers.run(program)
  unit.assertEquals(status, 0, output)
  unit.assertEquals(output, "Who will not let go is held.\nIn it there is a bear and a bee.\n")
end

return TestPackage
