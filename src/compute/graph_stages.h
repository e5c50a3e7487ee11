// A graph in stages: programs, and the custom ops between them. Without custom
// ops that is one program.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/graph_program.h"
#include "compute/graph_recording.h"

namespace rc::compute {

class GraphStages {
 public:
  // As for GraphProgram; throws what way_of throws, too.
  GraphStages(const std::shared_ptr<Context>& context, Recorded recorded,
              std::span<const int32_t> results);
  GraphStages(const GraphStages&) = delete;
  GraphStages& operator=(const GraphStages&) = delete;

  // As GraphProgram::run. What lies between stages is of the run.
  void run(std::span<const Tensor> inputs, std::span<const Tensor> results,
           const runtime::RunArguments& arguments, int64_t timeout_ms);

  size_t op_count() const { return op_count_; }
  uint64_t memory() const;

 private:
  // A program with the bases that it reads and writes, or a custom op.
  struct Stage {
    std::unique_ptr<GraphProgram> program;
    std::vector<int32_t> inputs, results;  // bases
    std::shared_ptr<const CustomCall> call;
    CustomWay way;
    std::vector<int32_t> operands;  // of the call: values; -1: no elements
  };

  void add_custom(const RecordedOp& op);
  // The ops from `first` to before `end`.
  void add_program(size_t first, size_t end);
  bool read_from(size_t op, int32_t base) const;
  void run_custom(const Stage& stage, std::span<const Tensor> bases,
                  const runtime::RunArguments& arguments,
                  int64_t timeout_ms) const;
  // Of a base, or of a view of one.
  Tensor tensor_of(const rc_plugin_value& value,
                   std::shared_ptr<Storage> storage) const;

  const std::shared_ptr<Context> context_;
  Recorded recorded_;  // without ops once everything is compiled
  std::vector<int32_t> results_;
  size_t op_count_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace rc::compute
