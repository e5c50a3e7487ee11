#include "cpu/flow.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rc::cpu {
namespace {

// The ranges of memory that ops have written, which do not overlap.
class Written {
 public:
  struct Range {
    uint64_t begin, end;
    size_t op;
    bool whole;  // nothing of it has been overwritten
  };

  template <class Function>
  void for_each(uint64_t begin, uint64_t end, Function function) const {
    for (auto next = first_after(begin);
         next != ranges_.end() && next->second.begin < end; ++next) {
      function(next->second);
    }
  }
  void write(uint64_t begin, uint64_t end, size_t op) {
    auto next = first_after(begin);
    while (next != ranges_.end() && next->second.begin < end) {
      const Range old = next->second;
      next = ranges_.erase(next);
      if (old.begin < begin) put({old.begin, begin, old.op, false});
      if (old.end > end) put({end, old.end, old.op, false});
    }
    put({begin, end, op, true});
  }

 private:
  void put(const Range& range) { ranges_.insert_or_assign(range.end, range); }
  std::map<uint64_t, Range>::const_iterator first_after(uint64_t at) const {
    return ranges_.upper_bound(at);
  }

  std::map<uint64_t, Range> ranges_;  // by end
};

}  // namespace

Flow::Flow(std::span<const Op> ops, std::span<const rc_plugin_value> values,
           const std::function<uint64_t(int32_t value)>& bytes)
    : sources_(ops.size() * kOperands), last_readers_(ops.size()) {
  std::map<std::pair<int32_t, int32_t>, Written> memories;
  const auto memory_of = [&](const rc_plugin_value& value) -> Written& {
    const bool scratch = value.storage == RC_STORAGE_SCRATCH;
    return memories[{value.storage, scratch ? 0 : value.index}];
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    last_readers_[i] = i;
    for (int k = 0; k < kMaxInputs; ++k) {
      const int32_t number = ops[i].inputs[k];
      if (number < 0) continue;
      const rc_plugin_value& value = values[static_cast<size_t>(number)];
      if (value.storage == RC_STORAGE_WEIGHT) continue;
      const uint64_t end = value.offset + bytes(number);
      Source source;
      memory_of(value).for_each(
          value.offset, end, [&](const Written::Range& range) {
            last_readers_[range.op] = i;
            source.whole = source.op == kNobody && range.whole &&
                           range.begin == value.offset && range.end == end;
            source.op =
                source.op == kNobody ? range.op : std::max(source.op, range.op);
          });
      if (k < kOperands) {
        sources_[i * kOperands + static_cast<size_t>(k)] = source;
      }
    }
    for (const int32_t number : ops[i].outputs) {
      if (number < 0) continue;
      const rc_plugin_value& value = values[static_cast<size_t>(number)];
      memory_of(value).write(value.offset, value.offset + bytes(number), i);
    }
  }
}

}  // namespace rc::cpu
