--- Models; see runcible/model.h.
local Backend = require("runcible.backend").Backend
local Tokenizer = require "runcible.tokenizer"
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

local function model_options(options)
  return handle.set_options(native.model_options(), options, {progress = true})
end

-- Loads a model, and reports the progress to the function `progress`.
local function load_with_progress(progress, backend, path, options)
  local failure
  local thread = coroutine.create(function(fraction)
    local going, problem = pcall(progress, fraction)
    if not going then failure = {problem} end
    return not going
  end)
  options:set_progress(thread)
  local loaded, result = pcall(native.model_load, backend, path, options)
  coroutine.close(thread) -- kept to here
  if failure then error(failure[1], 0) end
  if not loaded then error(result, 0) end
  return result
end

--- The weights and the tokenizer of a model on a device.
local Model = handle.class "Model"

--- Loads a file, or "builtin:NAME" for a model that comes with Runcible.
-- `backend` is a Backend, a chain such as "vulkan,cpu", or nil.
-- :api: members rc_model_options
-- A further option is `progress`, a function that receives the fraction done, 0
-- to 1; if it raises an error, the load is cancelled and raises the error.
function Model.new(path, backend, options)
  local opened = Backend.from(backend)
  local made = model_options(options)
  local handle_of_backend = need(opened, Backend, "backend")
  local progress = options and options.progress
  local model = Model.of(
    progress and load_with_progress(progress, handle_of_backend, path, made)
      or native.model_load(handle_of_backend, path, made)
  )
  model._backend = opened
  return model
end

--- Fetches the parts of a model on a hub that are not yet on this machine, and
-- loads the model. `source` is "OWNER/NAME", "OWNER/NAME:FILE" or
-- "OWNER/NAME:Q4_K_M", with or without the prefix "hf:". The rest is as for
-- Model; further options are `revision` and `cache`, a folder.
-- :header: rc_model_fetch
function Model.from_hub(source, backend, options)
  local named = source:find("^hf:") and source or "hf:" .. source
  local others, revision, cache = {}, "", ""
  for name, value in pairs(options or {}) do
    if name == "revision" then
      revision = value
    elseif name == "cache" then
      cache = value
    else
      others[name] = value
    end
  end
  return Model.new(native.model_fetch(named, revision, cache, ""), backend, others)
end

--- Returns the backend that the model was loaded through.
function Model:backend()
  need(self, Model, "self")
  return self._backend
end

-- :api: methods rc_model

--- Returns the model's tokenizer; raises UnsupportedError if it has none.
function Model:tokenizer()
  local proxy = need(self, Model, "self")
  if not self._tokenizer then
    self._tokenizer = Tokenizer.of(native.model_get_tokenizer(proxy))
  end
  return self._tokenizer
end

--- See Tokenizer:tokenize.
function Model:tokenize(text, options)
  return Model.tokenizer(self):tokenize(text, options)
end

--- See Tokenizer:detokenize.
function Model:detokenize(tokens, options)
  return Model.tokenizer(self):detokenize(tokens, options)
end

--- Returns the metadata of the model's file: a table of numbers, strings and
-- lists.
function Model:metadata()
  local info = native.model_get_info(need(self, Model, "self"))
  local metadata = {}
  for i = 0, native.model_info_metadata_count(info) - 1 do
    local key = native.model_info_metadata(info, i)
    metadata[key] = handle.decoded(native.model_info_value(info, key, 0))
  end
  return metadata
end

local POOLINGS = {auto = 0, mean = 1, cls = 2, last = 3}

-- Waits for an embedding or for scores, and returns the rows.
local function rows_of(embedding)
  native.embedding_wait(embedding, -1)
  local numbers, rows, columns = native.embedding_rows(embedding)
  local unpack = require("runcible.numbers").unpack
  local made = {}
  for row = 1, rows do
    made[row] = unpack(numbers, "f32", (row - 1) * columns, columns)
  end
  return made
end

local function list_of(texts, what)
  if type(texts) ~= "table" then
    error(what .. " must be a list of texts, not a " .. type(texts), 3)
  end
  local list = native.text_list()
  for _, text in ipairs(texts) do list:add(text) end
  return list
end

local function milliseconds(deadline) return deadline and math.ceil(deadline * 1000) or 0 end

local function known(options, names)
  for name in pairs(options) do
    if not names[name] then error("there is no option " .. tostring(name), 3) end
  end
end

local OF_EMBEDDINGS = {
  pooling = true, normalize = true, dimensions = true, truncate = true, prompt = true,
  prompt_name = true, priority = true, deadline = true,
}
local OF_SCORES = {
  raw_scores = true, truncate = true, prompt = true, priority = true, deadline = true,
}

--- Makes embeddings of texts: a list of rows, one for each text, each a list of
-- numbers. Options: `pooling`, "mean", "cls" or "last" (default: as the model's
-- file says); `normalize`, true or false (default: as the model's file says);
-- `dimensions`, to keep only the first numbers of each row; `truncate`, true to
-- truncate texts that are too long; `prompt`, put before each text, or
-- `prompt_name`, "query" or "document", one of the model's prompts; `priority`;
-- `deadline` in seconds. Models that generate text support it if they were loaded
-- with output = "hidden_rows".
function Model:embed(texts, options)
  options = options or {}
  known(options, OF_EMBEDDINGS)
  local pooling = POOLINGS[options.pooling or "auto"]
  if not pooling then error("pooling must be auto, mean, cls or last", 2) end
  local normalize = -1
  if options.normalize ~= nil then normalize = options.normalize and 1 or 0 end
  return rows_of(native.model_embed(
    need(self, Model, "self"), list_of(texts, "texts"), pooling, normalize,
    options.dimensions or 0, options.truncate and 1 or 0, options.prompt,
    options.prompt_name, options.priority or 0, milliseconds(options.deadline)
  ))
end

--- Returns how well each document answers the query: a list of probabilities, in
-- the order of the documents. Options: `raw_scores`, true for the logits of the
-- model instead of probabilities; `truncate`, `priority` and `deadline` as for
-- embed; `prompt`, the question for a model that generates text, with {query} and
-- {document}. Such models support it if they were loaded with output = "scores".
function Model:rerank(query, documents, options)
  options = options or {}
  known(options, OF_SCORES)
  local rows = rows_of(native.model_rerank(
    need(self, Model, "self"), query, list_of(documents, "documents"),
    options.raw_scores and 1 or 0, options.truncate and 1 or 0, options.prompt,
    options.priority or 0, milliseconds(options.deadline)
  ))
  local scores = {}
  for i, row in ipairs(rows) do scores[i] = row[1] end
  return scores
end

--- Makes an empty session; see Session.
function Model:session(options)
  return require("runcible.session").new(self, options)
end

--- Returns the memory that loading would take, without loading: a table with a
-- list of the memory on each device as `devices`, and of alternatives that would
-- fit as `offers`. Arguments as for Model.
local function plan(path, backend, options)
  local opened = Backend.from(backend)
  local planned = native.model_plan(path, model_options(options), need(opened, Backend, "backend"))
  local report = native.plan_report()
  native.plan_describe(planned, report)
  local copy = handle.copied(report)
  copy.devices = {}
  for i = 1, report.device_count do
    local device = native.plan_device_report()
    native.plan_device(planned, i - 1, device)
    copy.devices[i] = handle.copied(device)
  end
  copy.offers = {}
  for i = 1, report.offer_count do
    local offer = native.plan_offer_report()
    native.plan_offer(planned, i - 1, offer)
    copy.offers[i] = handle.copied(offer)
  end
  return copy
end

return {Model = Model, plan = plan, verify = native.model_verify}
