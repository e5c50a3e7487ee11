// The tenant that pays for the work of sessions: its weight in the sharing of
// devices, and its meter. All sessions of models that were loaded through one
// backend handle share it; its address identifies it.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/turn_queue.h"

namespace rc::engine {

// Counts of what requests have used. The engine adds to them.
struct Meter {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> prompt_tokens{0};
  std::atomic<uint64_t> cached_tokens{0};
  std::atomic<uint64_t> generated_tokens{0};
  std::atomic<uint64_t> compute_us{0};
};

struct Tenant : runtime::Payer {
  Meter meter;
};

}  // namespace rc::engine
