# frozen_string_literal: true

# Language models, on this thread or under a Fiber scheduler. See README.md.
module Runcible
end

require_relative "runcible/version"
require_relative "runcible/native"
require_relative "runcible/error"
require_relative "runcible/cooperation"
require_relative "runcible/members"
require_relative "runcible/json_text"
require_relative "runcible/handle"
require_relative "runcible/dtypes"
require_relative "runcible/reports"
require_relative "runcible/tenant"
require_relative "runcible/backend"
require_relative "runcible/tokenizer"
require_relative "runcible/model"
require_relative "runcible/mailbox"
require_relative "runcible/generation"
require_relative "runcible/grammar"
require_relative "runcible/chat"
require_relative "runcible/session"
require_relative "runcible/pinned"
require_relative "runcible/tensor"
require_relative "runcible/graph"
require_relative "runcible/custom_op"
