#include "model/program_inputs.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace rc::model {
namespace {

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += size == RC_DIM_ROWS        ? "rows"
            : size == RC_DIM_SEQUENCES ? "sequences"
            : size == RC_DIM_OUTPUTS   ? "outputs"
                                       : std::to_string(size);
  }
  return text + "]";
}

}  // namespace

size_t ProgramInput::elements(const Rows& rows) const {
  size_t count = copies;
  for (const int64_t size : shape) {
    count *= static_cast<size_t>(resolve_dimension(size, rows));
  }
  return count;
}

ProgramInputs::ProgramInputs(const ProgramSetup& of) {
  for (size_t i = 0; i < kForwardInputCount; ++i) {
    const InputDescription& description = kForwardInputs[i];
    const ForwardStages stages = description.stages(of);
    if (stages == kNeverUsed) continue;
    ProgramInput& input = list_.emplace_back();
    input.description = &description;
    input.stages = stages;
    for (const InputSize size : description.shape) {
      if (size != nullptr) input.shape.push_back(size(of));
    }
    input.first = count_;
    input.copies = description.of_each_layer
                       ? of.file.hyper_parameters().layers.size()
                       : 1;
    count_ += input.copies;
    place_[i] = list_.size();
  }
}

const ProgramInput* ProgramInputs::find(ForwardInput input) const {
  const size_t place = place_[static_cast<size_t>(input)];
  return place == 0 ? nullptr : &list_[place - 1];
}

std::vector<runtime::Value> ProgramInputs::declare(
    runtime::ProgramBuilder& builder) const {
  std::vector<runtime::Value> values;
  values.reserve(count_);
  for (const ProgramInput& input : list_) {
    for (size_t copy = 0; copy < input.copies; ++copy) {
      values.push_back(builder.input(input.description->dtype, input.shape));
    }
  }
  return values;
}

void ProgramInputs::check(const gguf::File& file,
                          std::span<const rc_plugin_value> of_program) const {
  for (const ProgramInput& input : list_) {
    for (size_t i = input.first; i < input.first + input.copies; ++i) {
      if (i >= of_program.size()) {
        fail(RC_E_INTERNAL, "values for a program of ", file.name(), ": input ",
             i, ", ", input.description->name, ", is not among its ",
             of_program.size(), "; make both from the same layout");
      }
      const rc_plugin_value& there = of_program[i];
      const std::span shape(there.shape, static_cast<size_t>(there.rank));
      if (there.dtype != input.description->dtype ||
          !std::ranges::equal(shape, input.shape)) {
        fail(RC_E_INTERNAL, "values for a program of ", file.name(), ": input ",
             i, ", ", input.description->name, ", has the shape ",
             shape_text(input.shape), ", but that of the program ",
             shape_text(shape), "; make both from the same layout");
      }
    }
  }
  if (of_program.size() > count_) {
    fail(RC_E_INTERNAL, "values for a program of ", file.name(), ": it has ",
         of_program.size(), " inputs, but there are values for ", count_,
         "; make both from the same layout");
  }
}

void ProgramInputs::reserve(Batch& batch, ForwardStage stage,
                            size_t rows) const {
  const auto count = static_cast<int64_t>(rows);
  const Rows added = {count, count, 1};
  for (const ProgramInput& input : list_) {
    const StatedValues& stated = input.description->stated;
    if (stated.field == nullptr || !input.used_in(stage)) continue;
    std::vector<int32_t>& values = batch.*stated.field;
    const size_t all = values.size() + input.elements(added) / input.copies;
    if (all > values.capacity()) {
      values.reserve(std::max(all, 2 * values.capacity()));
    }
  }
}

void ProgramInputs::add(Batch& batch, ForwardStage stage,
                        const SequenceRows& rows) const {
  RowsPlace place = {static_cast<int32_t>(batch.tokens.size()),
                     static_cast<int32_t>(batch.sequence_count++), 1};
  for (const ProgramInput& input : list_) {
    const StatedValues& stated = input.description->stated;
    if (stated.field == nullptr || !input.used_in(stage)) continue;
    place.width = input.width();
    stated.add(rows, place, batch.*stated.field);
  }
}

InputValues::InputValues(const ProgramInputs& inputs,
                         const runtime::ProgramLimits& most) {
  const Rows rows = {most.max_rows, most.max_outputs, most.max_sequences};
  for (const ProgramInput& input : inputs.list()) {
    std::vector<int32_t>& values = made_.emplace_back();
    if (input.description->make != nullptr) {
      values.reserve(input.elements(rows));
    }
  }
}

std::vector<const void*> InputValues::of(const ProgramInputs& inputs,
                                         const GivenBatch& given,
                                         ForwardStage stage) {
  // A backend may refuse NULL even where nothing is to be read.
  static constexpr int32_t kNothing = 0;
  std::vector<const void*> values(inputs.count());
  for (size_t i = 0; i < made_.size(); ++i) {
    const ProgramInput& input = inputs.list()[i];
    if (!input.used_in(stage)) continue;
    const InputDescription& description = *input.description;
    std::vector<int32_t>& made = made_[i];
    if (description.make != nullptr) description.make(given, made);
    const std::vector<int32_t>& all =
        description.make != nullptr ? made
                                    : given.batch.*description.stated.field;
    // Rows are as many in each copy; those of head numbers may be more.
    const size_t size = input.copies > 1 ? all.size() / input.copies : 0;
    for (size_t copy = 0; copy < input.copies; ++copy) {
      values[input.first + copy] =
          all.empty() ? &kNothing : all.data() + copy * size;
    }
  }
  return values;
}

}  // namespace rc::model
