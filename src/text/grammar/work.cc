#include "text/grammar/work.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::text::grammar {

thread_local constinit Work* Work::current_ = nullptr;

void Work::begin_slice(uint64_t steps, bool waits, std::function<void()> stop) {
  slice_ = 0;
  slice_end_ = steps;
  waits_ = waits;
  stop_ = std::move(stop);
  look_at_ = stop_ ? std::min(steps, kBetweenLooks) : steps;
}

void Work::end_slice() noexcept {
  slice_ = 0;
  slice_end_ = look_at_ = UINT64_MAX;
  waits_ = true;
  stop_ = nullptr;
}

void Work::look() {
  if (stop_) stop_();
  if (slice_ >= slice_end_) throw Postponed();
  look_at_ = std::min(slice_end_, slice_ + kBetweenLooks);
}

void Work::refuse() const {
  fail(RC_E_UNSUPPORTED, "the grammar: ", what_, " takes more than ", most_,
       " steps of work; use smaller numbers in multipleOf and in repetitions, "
       "fewer patterns that have to hold at once, and fewer alternatives that "
       "begin alike");
}

}  // namespace rc::text::grammar
