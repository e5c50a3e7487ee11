-- What the package gives, beside the cases of all languages.
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"

local TestPackage = {}
local backend = runcible.Backend("cpu")

function TestPackage.test_discover()
  local found = runcible.discover()
  local cpu
  for _, device in ipairs(found) do
    if device.id == "cpu:0" then cpu = device end
    unit.assertTrue(device.index >= 0 or device.reason ~= "")
  end
  unit.assertEquals(cpu.kind, "cpu")
  unit.assertTrue(cpu.total_memory > 0)
  unit.assertNotEquals(found.automatic, "")
end

function TestPackage.test_plan()
  local plan = runcible.plan("builtin:fable", backend, {context_length = 64})
  unit.assertTrue(plan.fits)
  unit.assertEquals(plan.context_length, 64)
  unit.assertEquals(#plan.devices, 1)
  unit.assertEquals(plan.devices[1].device, "cpu:0")
  unit.assertEquals(plan.devices[1].total, plan.total)
  unit.assertTrue(plan.devices[1].embedding and plan.devices[1].output)
  unit.assertEquals(plan.offers, {})
  local small = runcible.Backend("cpu", {memory_limit = 4500000})
  local tight = runcible.plan("builtin:fable", small, {context_length = 64})
  unit.assertFalse(tight.fits)
  local offered = {}
  for _, offer in ipairs(tight.offers) do offered[offer.option] = offer end
  unit.assertTrue(offered.keep_mapped.mapped > 0)
  unit.assertTrue(offered.keep_mapped.total <= 4500000)
end

function TestPackage.test_verify()
  runcible.verify "builtin:fable"
  helpers.raises("NotFoundError", runcible.verify, "/nothing.gguf")
end

function TestPackage.test_backend()
  local model = runcible.Model("builtin:fable", backend)
  model:session():generate("A", {max_tokens = 3}):text()
  unit.assertIs(model:backend(), backend)
  unit.assertEquals(backend:device().id, "cpu:0")
  unit.assertEquals(backend:explain().device.id, "cpu:0")
  unit.assertTrue(backend:usage().generated_tokens >= 3)
  helpers.raises("UnsupportedError", backend.trace, backend)
end

function TestPackage.test_metadata()
  local model = helpers.model()
  unit.assertEquals(model:metadata()["general.architecture"], "llama")
  unit.assertEquals(#model:metadata()["tokenizer.ggml.tokens"], 2048)
  unit.assertEquals(model:tokenizer():report().vocabulary, 2048)
  local opened = runcible.Tokenizer "builtin:fable"
  unit.assertEquals(opened:tokenize "A fox", model:tokenize "A fox")
end

function TestPackage.test_text_is_bytes()
  local model = helpers.model()
  unit.assertStrContains(model:detokenize(model:tokenize "Gr\u{fc}\u{df}e"), "Gr\u{fc}\u{df}e")
  unit.assertStrContains(model:detokenize(model:tokenize "a\0b\xff"), "a\0b\xff")
end

function TestPackage.test_progress()
  local told = {}
  local options = {
    progress = function(fraction)
      told[#told + 1] = fraction
    end,
  }
  runcible.Model("builtin:fable", "reference", options):close()
  unit.assertEquals(told[#told], 1)
  for i = 2, #told do unit.assertTrue(told[i - 1] <= told[i]) end
end

function TestPackage.test_pieces()
  local generation = helpers.model():session():generate("A", {max_tokens = 5, logprobs = 3})
  local count = 0
  for piece, tokens, logprobs, top in generation do
    unit.assertIsString(piece)
    unit.assertEquals(#logprobs, #tokens)
    unit.assertEquals(#top, #tokens)
    for i, token in ipairs(tokens) do
      unit.assertEquals(logprobs[i].token, token)
      unit.assertEquals(#top[i], 3)
      unit.assertTrue(top[i][1].logprob <= 0 and top[i][1].logprob >= top[i][2].logprob)
    end
    count = count + #tokens
  end
  unit.assertEquals(count, 5)
  unit.assertEquals(generation.report.generated_tokens, 5)
  unit.assertEquals(generation.report.reason, "length")
end

local function first_token(options)
  options.max_tokens, options.temperature = 1, 0
  local _, tokens = helpers.model():session():generate("A", options)()
  return tokens[1]
end

function TestPackage.test_options()
  local function text(options)
    options.seed = options.seed or 1
    return helpers.model():session():generate("A", options):text()
  end
  unit.assertEquals(text {max_tokens = 5}, text {max_tokens = 5})
  unit.assertEquals(text {max_tokens = 5, echo = true}, "A" .. text {max_tokens = 5})
  local whole = text {max_tokens = 20}
  local stop = whole:sub(11, 14)
  local begin = whole:find(stop, 1, true)
  unit.assertEquals(text {max_tokens = 20, stop = stop}, whole:sub(1, begin - 1))
  unit.assertEquals(text {max_tokens = 20, stop = {stop, "\1"}}, whole:sub(1, begin - 1))
  local token = first_token {}
  unit.assertNotEquals(first_token {logit_bias = {[token] = -math.huge}}, token)
  local stopped = helpers.model():session():generate("A", {temperature = 0, stop_tokens = {token}})
  unit.assertEquals(stopped:text(), "")
  unit.assertEquals(stopped.report.reason, "stop")
end

function TestPackage.test_seeds_have_64_bits()
  local generation = helpers.model():session():generate("A", {max_tokens = 1, seed = math.mininteger + 1})
  generation:text()
  unit.assertEquals(generation.report.seed, math.mininteger + 1)
end

function TestPackage.test_saved_in_memory()
  local model = helpers.model()
  local session = model:session()
  session:append "Once upon a time"
  session:decode()
  local restored = runcible.Session.restore_memory(model, session:save_memory())
  unit.assertEquals(restored:tokens(), session:tokens())
  session:append {5}
  unit.assertEquals(restored:position(), session:position() - 1)
  session:truncate(2)
  unit.assertEquals(session:position(), 2)
  unit.assertEquals(session:migrate(model):tokens(), session:tokens())
end

function TestPackage.test_errors()
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

function TestPackage.test_tensors()
  local x = runcible.Tensor({{1, -2, 3}, {-4, 5, -6}}, backend)
  unit.assertEquals(x:shape(), {2, 3})
  unit.assertEquals({x:size()}, {6, 24})
  unit.assertEquals((x + x):read(), {2, -4, 6, -8, 10, -12})
  unit.assertEquals((x * x):read(), {1, 4, 9, 16, 25, 36})
  unit.assertEquals(x:relu():read(), {1, 0, 3, 0, 5, 0})
  unit.assertEquals(x:sum():read(), {-3})
  unit.assertEquals(x:max(1):read(), {3, 5})
  unit.assertEquals(x:argmax(1, true):read(), {2, 1})
  unit.assertEquals(x:argmax(1, true):shape(), {2, 1})
  unit.assertEquals(x:transpose():read(), {1, -4, -2, 5, 3, -6})
  unit.assertEquals(x:reshape({3, -1}):shape(), {3, 2})
  unit.assertEquals(x:slice(1, 0, 3, 2):read(), {1, 3, -4, -6})
  unit.assertEquals(x:matmul_transposed(x):read(), {14, -32, -32, 77})
  local ids = runcible.Tensor({1, 0, 1}, backend, {dtype = "i32"})
  unit.assertEquals(x:gather_rows(ids):read(), {-4, 5, -6, 1, -2, 3, -4, 5, -6})
  local odds = runcible.Tensor({0, 0}, backend):softmax():read()
  unit.assertEquals(odds, {0.5, 0.5})
  unit.assertEquals(runcible.Tensor({3, 4}, backend):rms_norm(nil, 0):size(), 2)
  local image = runcible.Tensor.ones({1, 1, 3, 3}, backend)
  local window = runcible.Tensor.ones({1, 1, 2, 2}, backend)
  unit.assertEquals(image:conv2d(window):read(), {4, 4, 4, 4})
  unit.assertEquals(image:conv2d(window, {stride = {2, 2}, padding = {1, 1}}):read(), {1, 2, 2, 4})
  local heads = runcible.Tensor.random({2, 1, 4}, backend, {seed = 3})
  unit.assertEquals(heads:attention(heads, heads, {causal = true}):shape(), {2, 1, 4})
  local positions = runcible.Tensor({0, 1}, backend, {dtype = "i32"})
  local turned = heads:rope(positions, {style = "halves"}):read()
  unit.assertEquals(table.move(turned, 1, 4, 1, {}), table.move(heads:read(), 1, 4, 1, {}))
  local linear = x:fused_linear(runcible.Tensor({{1, 1, 1}}, backend), nil, "relu")
  unit.assertEquals(linear:read(), {2, 0})
end

function TestPackage.test_tensors_of_other_types()
  local row = {}
  for i = 1, 32 do row[i] = 1 end
  local packed = runcible.Tensor({row}, backend, {dtype = "q8_0"})
  unit.assertEquals(packed:dtype(), "q8_0")
  unit.assertEquals(#packed:bytes(), 34)
  local again = runcible.Tensor.from_bytes(packed:bytes(), {1, 32}, "q8_0", backend)
  for _, number in ipairs(again:read()) do unit.assertAlmostEquals(number, 1, 0.01) end
  local half = runcible.Tensor({1, 2.5}, backend, {dtype = "f16"})
  unit.assertEquals(#half:bytes(), 4)
  unit.assertEquals(half:read(), {1, 2.5})
  local whole = runcible.Tensor({1, -2, math.maxinteger}, backend, {dtype = "i64"})
  unit.assertEquals(whole:read(), {1, -2, math.maxinteger})
  local zeros = runcible.Tensor.zeros({300}, backend, {dtype = "f64"}):read()
  unit.assertEquals(#zeros, 300)
  unit.assertEquals(zeros[300], 0)
end

function TestPackage.test_examples()
  local folder = assert(os.getenv "RUNCIBLE_EXAMPLES")
  for _, name in ipairs {"story", "stories_luv", "stories_plain"} do
    local output, status = helpers.run(("arg = {}; dofile %q"):format(folder .. "/" .. name .. ".lua"))
    unit.assertEquals(status, 0, output)
    unit.assertTrue(#output > 40, output)
  end
  local output = helpers.run(("dofile %q"):format(folder .. "/silu_gate.lua"))
  unit.assertEquals(output, "-1.5379\n0.0000\n2.4621\n2.8808\n")
end

function TestPackage.test_the_program_of_the_readme_that_chats()
  local file <close> = assert(io.open(assert(os.getenv "RUNCIBLE_EXAMPLES") .. "/../README.md"))
  local program = file:read("a"):match "<!%-%- tests: chat %-%->\n```lua\n(.-)```"
  local output, status = helpers.run(program)
  unit.assertEquals(status, 0, output)
  unit.assertEquals(output, "Who will not let go is held.\nIn it there is a bear and a bee.\n")
end

return TestPackage
