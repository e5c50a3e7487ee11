# frozen_string_literal: true

# Prints a text as it is generated: ruby story.rb [beginning]
require "runcible"

model = Runcible::Model.new("builtin:fable")
session = model.session
beginning = ARGV.fetch(0, "Once upon a time")
report = session.generate(beginning, echo: true, max_tokens: 100) do |piece|
  print piece
end
puts
warn "#{report.generated_tokens} tokens, #{report.reason}"
