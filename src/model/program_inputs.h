// The inputs that one forward program has: those of kForwardInputs that its
// model and its layout need, with their numbers in the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/forward_inputs.h"
#include "runtime/program.h"
#include "tensor/value.h"

namespace rc::model {

// An input that a program has.
struct ProgramInput {
  const InputDescription* description;
  ForwardStages stages;
  std::vector<int64_t> shape;  // with RC_DIM_*
  size_t first;                // number in the program
  size_t copies;               // inputs of the program, from `first` on

  bool used_in(ForwardStage stage) const { return (stages >> stage & 1u) != 0; }
  // Returns the elements of the last dimension if there are several, else 1.
  size_t width() const {
    return shape.size() > 1 ? static_cast<size_t>(shape.back()) : 1;
  }
  // Returns the elements of all copies.
  size_t elements(const Rows& rows) const;
};

class ProgramInputs {
 public:
  ProgramInputs() = default;  // none
  explicit ProgramInputs(const ProgramSetup& of);

  // Returns the inputs in the order of the program.
  std::span<const ProgramInput> list() const { return list_; }
  // Returns nullptr if the program does not have it.
  const ProgramInput* find(ForwardInput input) const;
  bool has(ForwardInput input) const { return find(input) != nullptr; }
  size_t count() const { return count_; }  // with all copies

  // Declares all of them, before any other input; returns the values by number.
  std::vector<runtime::Value> declare(runtime::ProgramBuilder& builder) const;
  // Throws RC_E_INTERNAL naming the first input that differs from the
  // program's, given by number.
  void check(const gguf::File& file,
             std::span<const rc_plugin_value> of_program) const;

  // Makes room for rows of one more sequence, so that add() cannot fail.
  void reserve(Batch& batch, ForwardStage stage, size_t rows) const;
  // Adds rows of one more sequence to a batch for a stage.
  void add(Batch& batch, ForwardStage stage, const SequenceRows& rows) const;

 private:
  std::vector<ProgramInput> list_;
  std::array<size_t, kForwardInputCount> place_{};  // in list_, plus 1; 0: none
  size_t count_ = 0;
};

// Values of all inputs of a program, in its order. What the model makes is in
// memory that is kept from one batch to the next.
class InputValues {
 public:
  InputValues() = default;
  // Has room for the largest batch.
  InputValues(const ProgramInputs& inputs, const runtime::ProgramLimits& most);

  // Returns the values by number in the program, nullptr for an input that the
  // stage does not use. They are valid until the next call, and while the batch
  // is. Requires: check_batch has accepted the batch. Throws
  // as count_whole_lengths does.
  std::vector<const void*> of(const ProgramInputs& inputs,
                              const GivenBatch& given, ForwardStage stage);

 private:
  std::vector<std::vector<int32_t>> made_;  // by place in the list
};

}  // namespace rc::model
