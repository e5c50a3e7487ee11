// The program of a graph: its ops, compiled for the device of a context and,
// where that does not support some, for the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "compute/account.h"
#include "compute/graph_recording.h"
#include "runtime/program.h"

namespace rc::compute {

class GraphProgram {
 public:
  // `results`: bases of kind kResult, each once. Throws what assign, split and
  // Program::compile throw, and what memory costs.
  GraphProgram(std::shared_ptr<Context> context, Recorded recorded,
               std::span<const int32_t> results);
  GraphProgram(const GraphProgram&) = delete;
  GraphProgram& operator=(const GraphProgram&) = delete;

  // Reads inputs from the beginnings of their buffers, and writes results.
  // `arguments` says when to stop. Any thread, several at once.
  void run(std::span<const Tensor> inputs, std::span<const Tensor> results,
           runtime::RunArguments arguments, int64_t timeout_ms);

  // The number of ops given to the device.
  size_t op_count() const { return op_count_; }
  // Bytes of scratch and buffers, without constants.
  uint64_t memory() const;

 private:
  // A base that lives in a buffer.
  struct Cache {
    Base::Kind kind;
    size_t index;    // among the inputs, or among the results if `wanted`
    bool wanted;     // of kResult: else it is read in parts by later ops
    uint64_t bytes;  // from the beginning of the buffer
    std::shared_ptr<Storage> storage;  // what is on the account
    std::shared_ptr<runtime::Buffer> buffer;
  };

  runtime::ProgramDescription describe(const Recorded& recorded,
                                       std::span<const int32_t> results);
  void compile(runtime::ProgramDescription description);
  const std::shared_ptr<runtime::Buffer>& buffer_of(
      const Cache& cache, std::span<const Tensor> inputs,
      std::span<const Tensor> results) const;

  const std::shared_ptr<Context> context_;
  size_t op_count_ = 0;
  std::vector<Cache> caches_;
  // Each run uses the buffers of its tensors; otherwise tensors are copied to
  // and from the buffers of the caches.
  bool brings_buffers_ = false;
  std::mutex mutex_;  // of a run, unless it brings its buffers
  std::optional<Paid> scratch_;
  std::unique_ptr<runtime::Program> program_;
};

}  // namespace rc::compute
