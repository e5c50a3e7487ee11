// Programs of one kind of op, for measuring: many ops in a row over so much
// memory that no cache keeps it, as in the forward pass of a model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device.h"
#include "runtime/program.h"

namespace rc::bench {

class OpProgram {
 public:
  // LINEAR with weights [n, k] of `dtype`; as many different weights as fill
  // kSpreadBytes, fewer where `max_rows` make that too much work.
  static std::unique_ptr<OpProgram> linear(
      std::shared_ptr<runtime::Device> device, DType dtype, int64_t n,
      int64_t k, int64_t max_rows);

  struct Attention {
    DType cache_dtype;
    int64_t heads, kv_heads, head_size;
    int64_t context;  // positions of the one sequence, those of the rows
                      // included, at its end
    int64_t layers;
  };
  static std::unique_ptr<OpProgram> attention(
      std::shared_ptr<runtime::Device> device, const Attention& shape,
      int64_t max_rows);

  // Ops between the products, `count` in a row on the same values.
  enum class Small { kRmsNorm, kRope, kGlu };
  static std::unique_ptr<OpProgram> small(
      std::shared_ptr<runtime::Device> device, Small op, int64_t width,
      int64_t count, int64_t max_rows);

  void run(int64_t rows);

  int64_t op_count() const { return op_count_; }
  // Bytes of weights or cache that one run reads, as they are in a file.
  double bytes() const { return bytes_; }
  // Multiplications and additions of one run, for each row.
  double operations_per_row() const { return operations_per_row_; }

 private:
  OpProgram() = default;
  void compile(std::shared_ptr<runtime::Device> device,
               runtime::ProgramDescription description, int64_t max_rows);

  std::unique_ptr<runtime::Program> program_;
  std::vector<std::shared_ptr<runtime::Weight>> weights_;
  std::vector<std::shared_ptr<runtime::Buffer>> caches_;
  std::vector<std::vector<float>> float_inputs_;
  std::vector<std::vector<int32_t>> int_inputs_;
  std::vector<float> output_;
  runtime::RunArguments arguments_;
  int64_t context_ = 0;  // of attention
  int64_t op_count_ = 0;
  double bytes_ = 0;
  double operations_per_row_ = 0;
};

}  // namespace rc::bench
