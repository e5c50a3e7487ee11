#include "cpu/ranges.h"

#include <algorithm>
#include <atomic>

namespace rc::cpu {
namespace {

// Each thread begins with a part of the ranges that is the same in every job of
// a size: in a loop over tensors of one size, what it reads and writes has
// stayed in its own caches. Who is done takes what is left of the others'
// parts, from the end.
class Ranges final : private Pool::Job {
 public:
  Ranges(Pool& pool, int64_t count, RangeFunction function, void* user,
         int ranges)
      : pool_(pool),
        count_(count),
        function_(function),
        user_(user),
        // In two steps: the sum must not overflow.
        step_((count - 1) / (int64_t{pool.threads()} * ranges) + 1),
        parts_(std::min(pool.threads(), kMostParts)) {
    const int64_t all = (count - 1) / step_ + 1;
    for (int p = 0; p < parts_; ++p) {
      left_[p].ranges = word(all * p / parts_, all * (p + 1) / parts_);
    }
  }

  void run(bool wake) {
    pool_.begin(this);
    pool_.call(wake);
    help(0);
    pool_.end();
    // Those who took a range before the last one may still be at it.
    if (!pool_.wait_until_left(this)) pool_.is_crowded();
  }

 private:
  static constexpr int kMostParts = 16;

  // The remaining ranges of a part: the first and the one after the last. Fills
  // a cache line.
  struct alignas(64) Left {
    std::atomic<uint64_t> ranges;
  };
  static uint64_t word(int64_t begin, int64_t end) {
    return static_cast<uint64_t>(begin) << 32 | static_cast<uint64_t>(end);
  }

  void help(int thread) override {
    const int own = thread % parts_;
    for (int i = 0; i < parts_; ++i) {
      take_all(left_[(own + i) % parts_].ranges, i == 0);
    }
  }

  void take_all(std::atomic<uint64_t>& left, bool own) {
    uint64_t state = left.load();
    for (;;) {
      const auto begin = static_cast<int64_t>(state >> 32);
      const auto end = static_cast<int64_t>(state & UINT32_MAX);
      if (begin == end) return;
      if (!left.compare_exchange_weak(
              state, own ? word(begin + 1, end) : word(begin, end - 1))) {
        continue;
      }
      const int64_t first = (own ? begin : end - 1) * step_;
      function_(user_, first, first + std::min(step_, count_ - first));
      state = left.load();
    }
  }

  Pool& pool_;
  const int64_t count_;
  const RangeFunction function_;
  void* const user_;
  const int64_t step_;
  const int parts_;
  Left left_[kMostParts];
};

}  // namespace

void run_ranges(Pool& pool, int64_t count, RangeFunction function, void* user,
                bool wake, int ranges) {
  if (count <= 0) return;
  if (pool.threads() == 1 || count == 1) return function(user, 0, count);
  Ranges(pool, count, function, user, ranges).run(wake);
}

}  // namespace rc::cpu
