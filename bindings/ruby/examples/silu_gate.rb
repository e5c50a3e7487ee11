# frozen_string_literal: true

# A custom op that runs as one op of a graph: silu(x) times a gate, which many
# models compute between two products: ruby silu_gate.rb
require "runcible"

# All three have one dimension, of the same size; with more dimensions the block
# receives nested Arrays.
silu_gate = Runcible::CustomOp.new(
  name: "silu_gate", signature: "x F32 [n], gate F32 [n] -> y F32 [n]"
) do |x, gate|
  x.zip(gate).map { |each, by| each / (1 + Math.exp(-each)) * by }
end

backend = Runcible::Backend.new("cpu")
x = Runcible::Tensor.new([-1, 0, 1, 2], backend)
gate = Runcible::Tensor.new([2, 2, 2, 0.5], backend)
# Recorded once; it runs with any numbers of these shapes.
graph = Runcible::Graph.record(backend, x, gate) do |given, by|
  silu_gate.call(given, by) + given
end
graph.run(x, gate).to_a.each { |y| puts format("%.4f", y) }
