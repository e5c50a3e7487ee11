// Turns the ops of a program into steps.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/given_program.h"
#include "cpu/activations.h"
#include "cpu/choices.h"
#include "cpu/flow.h"
#include "cpu/op_row.h"
#include "cpu/program.h"

struct rc_plugin_buffer {
  explicit rc_plugin_buffer(uint64_t size)
      : bytes(size), own(size), memory(own->data()) {}
  // Of memory that the host keeps.
  rc_plugin_buffer(void* data, uint64_t size)
      : bytes(size), memory(static_cast<uint8_t*>(data)) {}
  const uint64_t bytes;
  const std::optional<rc::cpu::ZeroedMemory> own;
  uint8_t* const memory;
};

namespace rc::cpu {

// Elements that a thread takes at a time in ops of single elements: long rows
// are cut, too. The sizes of all blocks divide it.
inline constexpr int64_t kChunk = 4096;

// Bytes of a result from which on huge pages pay for the call that asks for
// them at each run.
inline constexpr uint64_t kLargeResult = uint64_t{4} << 20;

// Elements of a gate that are quantized as soon as they are computed.
inline constexpr int64_t kGateChunk = 512;

class Compiler {
 public:
  // Checks the whole program; fails with RC_E_INVALID_ARGUMENT or
  // RC_E_UNSUPPORTED.
  Compiler(const plugin::GivenProgram& program, rc_plugin_compiled& compiled,
           Pool& pool);
  void compile();

  const Kernels& kernels() const { return compiled_.kernels_; }
  std::span<const Op> ops() const { return program_.ops; }
  // The readers of each value and the op that wrote it; found at the first
  // call.
  const Flow& flow();
  const rc_plugin_value& value(int32_t i) const { return program_.values[i]; }
  std::span<const rc_plugin_value> values() const { return program_.values; }
  int64_t columns(int32_t i) const;  // last dimension
  // Elements of all dimensions but the first.
  int64_t row_elements(int32_t i) const;
  bool of_tensors(const Op& op) const {
    return is_tensor_op(op, program_.values);
  }
  int64_t max_rows(int64_t dimension) const;
  Place place(int32_t i) const;
  // The largest range of bytes of a value. Not for weights.
  Area area(int32_t i) const;
  const rc_plugin_weight& matrix(int32_t i) const;
  const float* elements(int32_t i) const;
  rc_plugin_buffer& cache(int32_t i) const;

  // Rows of value i (of `width` elements each) in a form that is not kFloats,
  // made by a step that is added unless the last one made them already.
  const uint8_t* quantized(int32_t i, int64_t width, ActivationForm form);
  Area activations_area() const;
  // In which forms later ops read value i, which the op being compiled makes in
  // pieces of `width` elements.
  struct OutputForm {
    uint8_t* blocks;      // where it is read quantized; NULL: nowhere
    ActivationForm form;  // of the blocks
    bool floats;
  };
  OutputForm output_form(int32_t i, int64_t width) const;
  // The last step left value i in the blocks, in that form.
  void set_quantized(int32_t i, ActivationForm form) {
    quantized_value_ = i;
    quantized_form_ = form;
  }
  // Cosines, then sines, of positions times frequencies: [row][2][pairs].
  const float* angles(int32_t positions, int32_t frequencies, float scale);
  // The sorted choices of experts in value `ids`, made by a step that is added
  // unless they are there already.
  const Choices* choices(int32_t ids, int64_t experts, int64_t chunk);
  // A copy of an input in the program's own memory, for steps that can be
  // repeated, made by a step that is added at the first call.
  Place kept(int32_t input);
  Area kept_area(int32_t input) const {
    return {Area::kKept, value(input).index, 0, UINT64_MAX};
  }
  // The result of the op being compiled for value i in memory of the program.
  Area own_area(int32_t i) const { return {Area::kOwn, i, 0, UINT64_MAX}; }
  ThreadScratch thread_scratch() const { return thread_scratch_; }
  // Another of at least so many bytes for a thread, there once the program is
  // compiled: for results that are not committed.
  const ThreadScratch* result_scratch(uint64_t bytes);
  // Memory of the program's own.
  uint8_t* area_of(uint64_t bytes);
  int threads() const { return pool_.threads(); }
  // Outlives the program.
  Pool& pool() const { return pool_; }

  // Adds a step that comes in pieces(run) pieces.
  template <class Cost, class Pieces, class Work>
  void add(std::vector<Area> reads, std::vector<Area> writes, Cost cost,
           Pieces pieces, Work work) {
    const auto one = [](const Run&) { return int64_t{1}; };
    append(make_step(std::move(cost), std::move(pieces), one, std::move(work)),
           std::move(reads), std::move(writes));
  }
  // Adds one that can be repeated, of at most `most` pieces; see step.h. If it
  // turns out to read what is the caller's it cannot.
  template <class Cost, class Pieces, class Multiple, class Work>
  void add_repeatable(std::vector<Area> reads, std::vector<Area> writes,
                      Cost cost, Pieces pieces, Multiple multiple, int64_t most,
                      Work work) {
    auto step = make_step(std::move(cost), std::move(pieces),
                          std::move(multiple), std::move(work));
    const bool of_caller =
        std::any_of(reads.begin(), reads.end(), [](const Area& area) {
          return area.kind == Area::kInput || area.kind == Area::kOutput;
        });
    step->repeatable = of_caller ? 0 : most;
    append(std::move(step), std::move(reads), std::move(writes));
  }

 private:
  template <class Cost, class Pieces, class Multiple, class Work>
  static std::unique_ptr<Step> make_step(Cost cost, Pieces pieces,
                                         Multiple multiple, Work work) {
    struct FunctionStep final : Step {
      FunctionStep(Cost c, Pieces p, Multiple m, Work w)
          : cost_(std::move(c)),
            pieces_(std::move(p)),
            multiple_(std::move(m)),
            work_(std::move(w)) {}
      int64_t cost(const Run& run) const override { return cost_(run); }
      int64_t pieces(const Run& run) const override { return pieces_(run); }
      int64_t multiple(const Run& run) const override { return multiple_(run); }
      void work(Run& run, const Share& share) const override {
        work_(run, share);
      }
      Cost cost_;
      Pieces pieces_;
      Multiple multiple_;
      Work work_;
    };
    return std::make_unique<FunctionStep>(std::move(cost), std::move(pieces),
                                          std::move(multiple), std::move(work));
  }
  void append(std::unique_ptr<Step> step, std::vector<Area> reads,
              std::vector<Area> writes);

  const OpRow& row_of(const Op& op) const;
  void note_result(int32_t i);
  void check_program() const;
  void measure();
  ThreadScratch scratch_of(uint64_t bytes);
  uint64_t max_bytes(int32_t i) const;
  // Whether two values are the same numbers.
  bool same(int32_t a, int32_t b) const;
  // The form in which an op multiplies rows of its first input; kFloats of ops
  // that are no products, too.
  ActivationForm form_of(const Op& op) const;

  const plugin::GivenProgram& program_;
  rc_plugin_compiled& compiled_;
  Pool& pool_;
  int32_t op_ = 0;  // being compiled
  uint8_t* activations_ = nullptr;
  uint64_t activation_bytes_ = 0;
  ThreadScratch thread_scratch_;
  uint64_t result_bytes_ = 0;  // of each thread
  // The value in the activation area; -1: none.
  int32_t quantized_value_ = -1;
  ActivationForm quantized_form_ = ActivationForm::kFloats;
  struct Angles {
    int32_t positions, frequencies;
    float scale;
    float* table;
    bool valid;
  };
  std::vector<Angles> angles_;
  struct KnownChoices {
    int32_t ids;
    int64_t experts, chunk;
    Choices* choices;
    bool valid;
  };
  std::vector<KnownChoices> choices_;
  std::vector<uint8_t*> kept_;  // by input; NULL: not yet
  std::unique_ptr<const Flow> flow_;
};

// a * b, within what memory can hold.
uint64_t product(uint64_t a, uint64_t b);

// Adds the steps of COPY `first` and of the MATMUL after it, which then reads
// the copied tensor in place. Returns false, without adding any, if that is not
// possible or does not pay.
bool compile_across(Compiler& compiler, size_t first);

uint64_t conv2d_scratch(const Compiler& compiler, const Op& op);

}  // namespace rc::cpu
