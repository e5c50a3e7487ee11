# frozen_string_literal: true

# Generates two texts at once on one thread, under a Fiber scheduler: that of the
# gem async, or any other. ruby together.rb
require "async"
require "runcible"

Async do |task|
  model = Runcible::Model.new("builtin:fable")
  tales = ["A fox", "A goose"].map do |beginning|
    task.async do
      model.session.generate(beginning, echo: true, max_tokens: 60).text
    end
  end
  tales.each { |tale| puts tale.wait, "" }
end
