// The dispatches for which each one waits, found by the parts of buffers that
// they use.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "gpu/dispatch.h"

namespace rc::gpu {
namespace {

struct Touch {
  Region region;
  uint32_t dispatch;
};

// Of one buffer, by dispatches whose end nothing has waited for so far that
// wrote all of the region.
struct Touched {
  std::vector<Touch> reads, writes;
};

bool contains(const Region& outer, const Region& inner) {
  return outer.offset <= inner.offset &&
         inner.offset + inner.bytes <= outer.offset + outer.bytes;
}

void wait_for(const std::vector<Touch>& touches, const Region& region,
              std::vector<uint32_t>* waits) {
  for (const Touch& touch : touches) {
    if (touch.region.overlaps(region)) waits->push_back(touch.dispatch);
  }
}

class Waits {
 public:
  explicit Waits(std::span<Dispatch> dispatches) : dispatches_(dispatches) {}

  // Those of a stage wait for what stages before it touched.
  void find_stage(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) find(dispatches_[i]);
    for (size_t i = first; i < last; ++i) {
      drop_overwritten(dispatches_[i], first);
      add(dispatches_[i], static_cast<uint32_t>(i));
    }
  }

 private:
  void find(Dispatch& dispatch) {
    std::vector<uint32_t>& waits = dispatch.waits;
    waits.clear();
    for (const Binding& binding : dispatch.bindings) {
      const Touched& touched = buffers_[binding.region.buffer];
      wait_for(touched.writes, binding.region, &waits);
      if (!reads(dispatch, binding)) {
        wait_for(touched.reads, binding.region, &waits);
      }
    }
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  }

  // A dispatch that waits for this one waits for those whose bytes it
  // overwrites.
  void drop_overwritten(const Dispatch& dispatch, size_t stage) {
    for (const Binding& binding : dispatch.bindings) {
      if (reads(dispatch, binding)) continue;
      Touched& touched = buffers_[binding.region.buffer];
      for (std::vector<Touch>* touches : {&touched.reads, &touched.writes}) {
        std::erase_if(*touches, [&](const Touch& touch) {
          return touch.dispatch < stage &&
                 contains(binding.region, touch.region);
        });
      }
    }
  }

  void add(const Dispatch& dispatch, uint32_t number) {
    for (const Binding& binding : dispatch.bindings) {
      Touched& touched = buffers_[binding.region.buffer];
      (reads(dispatch, binding) ? touched.reads : touched.writes)
          .push_back({binding.region, number});
    }
  }

  const std::span<Dispatch> dispatches_;
  std::unordered_map<const Buffer*, Touched> buffers_;
};

}  // namespace

bool reads(const Dispatch& dispatch, const Binding& binding) {
  return (slots_of(dispatch.kernel).inputs >> binding.slot & 1) != 0;
}

bool begins_stage(std::span<const Dispatch> dispatches, size_t number) {
  return number == 0 || dispatches[number].after ||
         dispatches[number - 1].op != dispatches[number].op;
}

void find_waits(std::span<Dispatch> dispatches) {
  Waits waits(dispatches);
  for (size_t first = 0; first < dispatches.size();) {
    size_t last = first + 1;
    while (last < dispatches.size() && !begins_stage(dispatches, last)) ++last;
    waits.find_stage(first, last);
    first = last;
  }
}

}  // namespace rc::gpu
