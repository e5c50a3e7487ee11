#include "cpu/ranges.h"

#include <algorithm>
#include <atomic>

namespace rc::cpu {
namespace {

class Ranges final : private Pool::Job {
 public:
  Ranges(Pool& pool, int64_t count, RangeFunction function, void* user,
         int ranges)
      : pool_(pool),
        count_(count),
        function_(function),
        user_(user),
        // In two steps: the sum must not overflow.
        step_((count - 1) / (int64_t{pool.threads()} * ranges) + 1) {}

  void run(bool wake) {
    pool_.begin(this);
    pool_.call(wake);
    help(0);
    pool_.end();
    // Those who took a range before the last one may still be at it.
    if (!pool_.wait_until_left(this)) pool_.is_crowded();
  }

 private:
  void help(int) override {
    for (;;) {
      int64_t begin = next_.load();
      do {
        if (begin >= count_) return;
      } while (!next_.compare_exchange_weak(
          begin, begin + std::min(step_, count_ - begin)));
      function_(user_, begin, begin + std::min(step_, count_ - begin));
    }
  }

  Pool& pool_;
  const int64_t count_;
  const RangeFunction function_;
  void* const user_;
  const int64_t step_;
  std::atomic<int64_t> next_{0};
};

}  // namespace

void run_ranges(Pool& pool, int64_t count, RangeFunction function, void* user,
                bool wake, int ranges) {
  if (count <= 0) return;
  if (pool.threads() == 1 || count == 1) return function(user, 0, count);
  Ranges(pool, count, function, user, ranges).run(wake);
}

}  // namespace rc::cpu
