#include "runtime/program.h"

#include <utility>

#include "base/error.h"
#include "runtime/segment.h"
#include "runtime/split.h"

namespace rc::runtime {
namespace {

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

// Of the values of the whole program those that a segment uses.
template <class Pointer>
void check_pointers(const char* what, Split::Endpoint::Kind kind,
                    const std::vector<Split::Endpoint>& used,
                    const std::vector<rc_plugin_value>& values,
                    const std::vector<Pointer>& given, const Rows& rows) {
  for (const Split::Endpoint& endpoint : used) {
    const size_t i = endpoint.index;
    if (endpoint.kind == kind && given[i] == nullptr &&
        value_bytes(values[i], rows).value_or(0) > 0) {
      fail(RC_E_INVALID_ARGUMENT, what, " ", i, " of a run is NULL");
    }
  }
}

template <class T>
std::vector<std::shared_ptr<T>> chosen(
    const std::vector<std::shared_ptr<T>>& all,
    const std::vector<size_t>& indices, const char* what) {
  std::vector<std::shared_ptr<T>> list;
  for (const size_t index : indices) {
    if (index >= all.size() || all[index] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "a program was not given ", what, " ", index);
    }
    list.push_back(all[index]);
  }
  return list;
}

std::vector<rc_plugin_value> by_index(
    const std::vector<rc_plugin_value>& values, int storage, size_t count) {
  std::vector<rc_plugin_value> found(count);
  for (const rc_plugin_value& value : values) {
    if (value.storage == storage) found.at(value.index) = value;
  }
  return found;
}

}  // namespace

const std::string& ProgramDescription::part_name(size_t op) const {
  static const std::string none;
  if (op >= parts.size()) return none;
  const auto part = static_cast<size_t>(parts[op]);
  return part < part_names.size() ? part_names[part] : none;
}

const WeightInfo* ProgramDescription::weight_of(size_t op) const {
  const WeightInfo* first = nullptr;
  for (const Value input : ops[op].inputs) {
    if (input < 0 || values[input].storage != RC_STORAGE_WEIGHT) continue;
    const WeightInfo& weight = weights[values[input].index];
    if (values[input].rank > 1) return &weight;
    if (first == nullptr) first = &weight;
  }
  return first;
}

std::vector<rc_plugin_value> ProgramDescription::inputs() const {
  return by_index(values, RC_STORAGE_INPUT, input_count);
}

std::vector<rc_plugin_value> ProgramDescription::outputs() const {
  return by_index(values, RC_STORAGE_OUTPUT, output_count);
}

Program::Program() = default;
Program::~Program() = default;

std::unique_ptr<Program> Program::compile(
    std::shared_ptr<Device> device, ProgramDescription description,
    const ProgramLimits& limits, std::vector<std::shared_ptr<Weight>> weights,
    std::vector<std::shared_ptr<Buffer>> caches) {
  if (weights.size() != description.weights.size() ||
      caches.size() != description.caches.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a program of ", description.weights.size(),
         " weights and ", description.caches.size(), " caches was given ",
         weights.size(), " and ", caches.size());
  }
  const std::vector<size_t> all_on_one(description.ops.size(), 0);
  return compile(split(description, all_on_one, 1, limits),
                 {{std::move(device), std::move(weights), std::move(caches)}});
}

std::unique_ptr<Program> Program::compile(
    Split split, const std::vector<DeviceContents>& contents) {
  std::unique_ptr<Program> program(new Program);
  program->transfers_.resize(split.transfer_bytes);
  for (Split::Segment& segment : split.segments) {
    const DeviceContents& here = contents.at(segment.device);
    program->segments_.push_back(
        Segment::compile(here.device, std::exchange(segment.description, {}),
                         segment.scratch_bytes, split.limits,
                         chosen(here.weights, segment.weights, "weight"),
                         chosen(here.caches, segment.caches, "cache")));
  }
  program->split_ = std::make_unique<const Split>(std::move(split));
  return program;
}

uint64_t Program::scratch_bytes() const {
  uint64_t bytes = 0;
  for (const auto& segment : segments_) bytes += segment->scratch_bytes();
  return bytes;
}

void Program::check_arguments(const RunArguments& arguments) const {
  const Split& split = *split_;
  check_count("rows", arguments.rows, split.limits.max_rows);
  check_count("outputs", arguments.outputs, split.limits.max_outputs);
  check_count("sequences", arguments.sequences, split.limits.max_sequences);
  if (arguments.inputs.size() != split.inputs.size() ||
      arguments.outputs_data.size() != split.outputs.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a run with ", arguments.inputs.size(),
         " inputs and ", arguments.outputs_data.size(),
         " outputs of a program with ", split.inputs.size(), " and ",
         split.outputs.size());
  }
  const Rows rows = {arguments.rows, arguments.outputs, arguments.sequences};
  bool any = false;
  for (const Split::Segment& segment : split.segments) {
    if (segment.stage != arguments.stage) continue;
    any = true;
    check_pointers("input", Split::Endpoint::kInput, segment.inputs,
                   split.inputs, arguments.inputs, rows);
    check_pointers("output", Split::Endpoint::kOutput, segment.outputs,
                   split.outputs, arguments.outputs_data, rows);
  }
  if (!any && !split.segments.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "a run of stage ", arguments.stage,
         ", which the program does not have");
  }
}

void Program::give_up_caches() { segments_[0]->give_up_caches(); }

void Program::run(const RunArguments& arguments, int64_t timeout_ms) {
  check_arguments(arguments);
  TimeLimit time = {timeout_ms, timeout_ms};
  TimeLimit* limit = timeout_ms >= 0 ? &time : nullptr;
  if (segments_.size() == 1) return segments_[0]->run(arguments, limit);

  const auto place = [&](const Split::Endpoint& wanted) -> void* {
    switch (wanted.kind) {
      case Split::Endpoint::kInput:
        // Segments only read what is their input.
        return const_cast<void*>(arguments.inputs[wanted.index]);
      case Split::Endpoint::kOutput:
        return arguments.outputs_data[wanted.index];
      case Split::Endpoint::kTransfer:
        break;
    }
    return transfers_.data() + split_->transfers[wanted.index].offset;
  };
  bool first = true;
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (split_->segments[i].stage != arguments.stage) continue;
    Segment& segment = *segments_[i];
    if (!std::exchange(first, false)) {
      if (arguments.should_stop != nullptr &&
          arguments.should_stop(arguments.user) != 0) {
        fail(RC_E_CANCELLED, "a run was asked to stop before its part on ",
             segment.device().id());
      }
      if (limit != nullptr && limit->left_ms == 0) {
        fail(RC_E_TIMEOUT, "a run of ", arguments.rows,
             " rows was not over after ", limit->whole_ms,
             " ms, when its part on ", segment.device().id(),
             " was about to begin");
      }
    }
    RunArguments part = arguments;
    part.inputs.clear();
    part.outputs_data.clear();
    for (const Split::Endpoint& input : split_->segments[i].inputs) {
      part.inputs.push_back(place(input));
    }
    for (const Split::Endpoint& output : split_->segments[i].outputs) {
      part.outputs_data.push_back(place(output));
    }
    segment.run(part, limit);
  }
}

}  // namespace rc::runtime
