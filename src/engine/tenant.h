// Who pays for what sessions do: known by its address, with a weight in the
// sharing of devices and a meter. Shared by all sessions of models that were
// loaded through one backend handle.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/turn_queue.h"

namespace rc::engine {

// What requests have used. The engine adds to it.
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
