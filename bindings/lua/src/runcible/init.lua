--- Runcible: language models in your program, on your event loop.
--
--     local runcible = require "runcible"
--
--     local session = runcible.Model("builtin:fable"):session()
--     for piece in session:generate("Once upon a time", {max_tokens = 100}) do
--       io.write(piece)
--     end
--
-- Failures raise the errors of runcible.errors. Values of a wrong type or out of
-- range raise errors with a message, as those of Lua's own functions. The names
-- and their meaning are those of the C headers.
local backend = require "runcible.backend"
local model = require "runcible.model"
local tenant = require "runcible.tenant"

return {
  Backend = backend.Backend,
  CustomOp = require "runcible.custom",
  Graph = require "runcible.graph",
  Grammar = require "runcible.grammar",
  Loop = require "runcible.loop",
  Model = model.Model,
  Pinned = require "runcible.pinned",
  Session = require "runcible.session",
  Tenant = tenant.Tenant,
  Tensor = require "runcible.tensor",
  Tokenizer = require "runcible.tokenizer",
  discover = backend.discover,
  discover_async = backend.discover_async,
  errors = require "runcible.errors",
  metrics = tenant.metrics,
  open_metrics = tenant.open_metrics,
  plan = model.plan,
  verify = model.verify,
  version = require("runcible.native").version_string(),
}
