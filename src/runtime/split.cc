#include "runtime/split.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "runtime/block_plan.h"

namespace rc::runtime {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

// Values that show the same bytes: an input, an output, or scratch under all
// its shapes. Numbered by storage and index.
using Storage = std::pair<int32_t, int32_t>;

struct Crossing {
  size_t writer = kNobody;  // segments
  size_t last_reader = kNobody;
  uint64_t bytes = 0;
  size_t transfer = kNobody;  // of scratch that is read elsewhere
};

class Splitter {
 public:
  Splitter(const ProgramDescription& whole,
           std::span<const size_t> device_of_op, const ProgramLimits& limits,
           Split& result)
      : whole_(whole),
        device_of_op_(device_of_op),
        limits_(limits),
        result_(result) {}

  void run() {
    cut();
    find_crossings();
    place_transfers();
    for (size_t s = 0; s < result_.segments.size(); ++s) build(s);
  }

 private:
  Storage storage_of(Value value) const {
    const rc_plugin_value& v = whole_.values[static_cast<size_t>(value)];
    return {v.storage, v.index};
  }
  static bool lives_once(const Storage& storage) {
    return storage.first == RC_STORAGE_SCRATCH ||
           storage.first == RC_STORAGE_OUTPUT;
  }
  void cut();
  void find_crossings();
  void place_transfers();
  void build(size_t segment);

  const ProgramDescription& whole_;
  std::span<const size_t> device_of_op_;
  const ProgramLimits& limits_;
  Split& result_;
  std::map<Storage, Crossing> crossings_;
};

void Splitter::cut() {
  size_t stage = 0;
  for (size_t i = 0; i < whole_.ops.size(); ++i) {
    const size_t before = stage;
    while (stage < whole_.stages.size() && whole_.stages[stage] <= i) ++stage;
    if (i == 0 || stage != before || device_of_op_[i] != device_of_op_[i - 1]) {
      Split::Segment& segment = result_.segments.emplace_back();
      segment.device = device_of_op_[i];
      segment.stage = stage;
    }
    result_.segments.back().ops.push_back(i);
  }
}

void Splitter::find_crossings() {
  for (size_t s = 0; s < result_.segments.size(); ++s) {
    for (const size_t i : result_.segments[s].ops) {
      const Op& op = whole_.ops[i];
      for (const Value input : op.inputs) {
        if (input < 0 || !lives_once(storage_of(input))) continue;
        Crossing& crossing = crossings_[storage_of(input)];
        // No op has written it; plan_scratch reports that.
        if (crossing.writer != kNobody) crossing.last_reader = s;
      }
      for (const Value output : op.outputs) {
        if (output < 0 || !lives_once(storage_of(output))) continue;
        Crossing& crossing = crossings_[storage_of(output)];
        if (crossing.writer != kNobody && crossing.writer != s) {
          fail(RC_E_INVALID_ARGUMENT, op_name(op.code), " (op ", i,
               ") writes value ", output,
               ", which an op on another device has written before");
        }
        crossing.writer = s;
      }
    }
  }
  const Rows rows = {limits_.max_rows, limits_.max_outputs,
                     limits_.max_sequences};
  for (const rc_plugin_value& value : whole_.values) {
    const auto found = crossings_.find({value.storage, value.index});
    if (found == crossings_.end()) continue;
    const auto bytes = value_bytes(value, rows);
    const auto aligned =
        bytes ? checked_align(*bytes, Block::kAlignment) : std::nullopt;
    if (!aligned) {
      fail(RC_E_INVALID_ARGUMENT, "a value ", value_text(value),
           " is too large with ", rows.rows, " rows and ", rows.outputs,
           " outputs");
    }
    found->second.bytes = std::max(found->second.bytes, *aligned);
  }
}

void Splitter::place_transfers() {
  std::vector<Block> blocks;
  for (auto& [storage, crossing] : crossings_) {
    if (storage.first != RC_STORAGE_SCRATCH || crossing.writer == kNobody ||
        crossing.last_reader == kNobody ||
        crossing.last_reader == crossing.writer) {
      continue;
    }
    crossing.transfer = blocks.size();
    blocks.push_back({crossing.writer, crossing.last_reader, crossing.bytes});
  }
  std::vector<Block*> order;
  for (Block& block : blocks) order.push_back(&block);
  result_.transfer_bytes = place_blocks(order);
  for (const Block& block : blocks) {
    result_.transfers.push_back({block.bytes, block.offset});
  }
}

// Writes the description of a segment.
class SegmentWriter {
 public:
  SegmentWriter(const ProgramDescription& whole, Split::Segment& segment,
                Split::Share& share)
      : whole_(whole), segment_(segment), share_(share) {
    segment_.description.part_names = whole_.part_names;
  }

  // The number in the segment of a value of the whole program.
  Value value(Value number, const Crossing* crossing, size_t segment);
  void op(size_t number, Op op) {
    segment_.description.ops.push_back(op);
    if (number < whole_.parts.size()) {
      segment_.description.parts.push_back(whole_.parts[number]);
    }
  }

 private:
  Value append(Value number, rc_plugin_value value) {
    segment_.description.values.push_back(value);
    const auto own = static_cast<Value>(segment_.description.values.size() - 1);
    numbers_.emplace(number, own);
    return own;
  }
  template <class T>
  static int32_t index_in(std::vector<T>& list, const T& element) {
    const auto found = std::find(list.begin(), list.end(), element);
    const auto index = static_cast<int32_t>(found - list.begin());
    if (found == list.end()) list.push_back(element);
    return index;
  }

  const ProgramDescription& whole_;
  Split::Segment& segment_;
  Split::Share& share_;
  std::map<Value, Value> numbers_;
};

Value SegmentWriter::value(Value number, const Crossing* crossing,
                           size_t segment) {
  if (const auto known = numbers_.find(number); known != numbers_.end()) {
    return known->second;
  }
  rc_plugin_value value = whole_.values[static_cast<size_t>(number)];
  const auto index = static_cast<size_t>(value.index);
  ProgramDescription& own = segment_.description;
  using Endpoint = Split::Endpoint;
  switch (value.storage) {
    case RC_STORAGE_WEIGHT: {
      const size_t before = segment_.weights.size();
      value.index = index_in(segment_.weights, index);
      if (segment_.weights.size() > before) {
        own.weights.push_back(whole_.weights[index]);
      }
      break;
    }
    case RC_STORAGE_CACHE: {
      const size_t before = segment_.caches.size();
      value.index = index_in(segment_.caches, index);
      if (segment_.caches.size() > before) {
        own.caches.push_back(whole_.caches[index]);
      }
      share_.caches[index] = true;
      break;
    }
    case RC_STORAGE_INPUT:
      value.index =
          index_in(segment_.inputs, Endpoint{Endpoint::kInput, index});
      break;
    default: {  // scratch and outputs
      const bool output = value.storage == RC_STORAGE_OUTPUT;
      if (!output && crossing->transfer == kNobody) {
        // A view of another value needs that one's number.
        if (value.index != number) {
          value.index = this->value(value.index, crossing, segment);
        } else {
          value.index = static_cast<int32_t>(own.values.size());
        }
        break;
      }
      const Endpoint place =
          output ? Endpoint{Endpoint::kOutput, index}
                 : Endpoint{Endpoint::kTransfer, crossing->transfer};
      const bool writer = crossing->writer == segment;
      value.storage = writer ? RC_STORAGE_OUTPUT : RC_STORAGE_INPUT;
      value.index =
          index_in(writer ? segment_.outputs : segment_.inputs, place);
    }
  }
  return append(number, value);
}

void Splitter::build(size_t number) {
  Split::Segment& segment = result_.segments[number];
  Split::Share& share = result_.devices[segment.device];
  SegmentWriter writer(whole_, segment, share);
  const auto crossing_of = [&](Value value) -> const Crossing* {
    const auto found = crossings_.find(storage_of(value));
    return found == crossings_.end() ? nullptr : &found->second;
  };
  for (const size_t i : segment.ops) {
    Op op = whole_.ops[i];
    for (int slot = 0; slot < kMaxInputs; ++slot) {
      Value& input = op.inputs[slot];
      if (input < 0) continue;
      if (storage_of(input).first == RC_STORAGE_WEIGHT) {
        share.weight_uses[static_cast<size_t>(storage_of(input).second)] |=
            weight_use(op, slot);
      }
      input = writer.value(input, crossing_of(input), number);
    }
    for (Value& output : op.outputs) {
      if (output < 0) continue;
      output = writer.value(output, crossing_of(output), number);
    }
    writer.op(i, op);
  }
  segment.description.input_count = segment.inputs.size();
  segment.description.output_count = segment.outputs.size();
  segment.scratch_bytes = plan_scratch(segment.description, limits_);
  share.scratch_bytes += segment.scratch_bytes;
}

// The usual case: everything on one device, as it was described.
void keep_whole(const ProgramDescription& whole, size_t device,
                const ProgramLimits& limits, Split& result) {
  Split::Segment& segment = result.segments.emplace_back();
  segment.device = device;
  segment.description = whole;
  segment.scratch_bytes = plan_scratch(segment.description, limits);
  const auto all = [](std::vector<size_t>& list, size_t count) {
    list.resize(count);
    std::iota(list.begin(), list.end(), size_t{0});
  };
  all(segment.ops, whole.ops.size());
  all(segment.weights, whole.weights.size());
  all(segment.caches, whole.caches.size());
  for (size_t i = 0; i < whole.input_count; ++i) {
    segment.inputs.push_back({Split::Endpoint::kInput, i});
  }
  for (size_t i = 0; i < whole.output_count; ++i) {
    segment.outputs.push_back({Split::Endpoint::kOutput, i});
  }
  Split::Share& share = result.devices[device];
  for (size_t i = 0; i < whole.weights.size(); ++i) {
    share.weight_uses[i] = whole.weights[i].uses;
  }
  share.caches.assign(whole.caches.size(), true);
  share.scratch_bytes = segment.scratch_bytes;
}

}  // namespace

uint32_t weight_use(const Op& op, int input) {
  switch (op.code) {
    case RC_OP_GET_ROWS:
      return RC_USE_ROWS;
    case RC_OP_LINEAR:
      return input == 1 ? RC_USE_LINEAR : RC_USE_ELEMENTS;
    case RC_OP_EXPERT_LINEAR:
      return input == 1 ? RC_USE_EXPERTS : RC_USE_ELEMENTS;
  }
  return RC_USE_ELEMENTS;
}

Split split(const ProgramDescription& description,
            std::span<const size_t> device_of_op, size_t device_count,
            const ProgramLimits& limits) {
  Split result;
  result.limits = limits;
  result.weights = description.weights;
  result.caches = description.caches;
  result.inputs = description.inputs();
  result.outputs = description.outputs();
  for (size_t i = 0; i < device_count; ++i) {
    Split::Share& share = result.devices.emplace_back();
    share.weight_uses.resize(description.weights.size());
    share.caches.resize(description.caches.size());
  }
  const bool one =
      description.stages.empty() &&
      std::adjacent_find(device_of_op.begin(), device_of_op.end(),
                         std::not_equal_to<>()) == device_of_op.end();
  if (one) {
    keep_whole(description, device_of_op.empty() ? 0 : device_of_op[0], limits,
               result);
  } else {
    Splitter(description, device_of_op, limits, result).run();
  }
  return result;
}

}  // namespace rc::runtime
