// Counts of what was used: of requests and tokens, and of the time of devices.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rc::engine {

struct Counts {
  uint64_t requests = 0;       // that have ended
  uint64_t prompt_tokens = 0;  // evaluated or taken from the prefix cache
  uint64_t cached_tokens = 0;  // of these, taken from the prefix cache
  uint64_t generated_tokens = 0;

  Counts& operator+=(const Counts& other) {
    requests += other.requests;
    prompt_tokens += other.prompt_tokens;
    cached_tokens += other.cached_tokens;
    generated_tokens += other.generated_tokens;
    return *this;
  }
  Counts& operator-=(const Counts& other) {
    requests -= other.requests;
    prompt_tokens -= other.prompt_tokens;
    cached_tokens -= other.cached_tokens;
    generated_tokens -= other.generated_tokens;
    return *this;
  }
};

// How long requests waited for their first step.
struct Waits {
  // Upper bounds of the buckets in seconds; the last bucket has none.
  static constexpr std::array<double, 10> kBounds = {
      0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30};

  std::array<uint64_t, kBounds.size() + 1> buckets{};
  double seconds = 0;  // the sum

  void add(double waited) {
    size_t bucket = 0;
    while (bucket < kBounds.size() && waited > kBounds[bucket]) ++bucket;
    ++buckets[bucket];
    seconds += waited;
  }
  Waits& operator+=(const Waits& other) {
    for (size_t i = 0; i < buckets.size(); ++i) buckets[i] += other.buckets[i];
    seconds += other.seconds;
    return *this;
  }
};

// For how long a device has worked.
struct DeviceUsage {
  std::string device;  // "vulkan:0"
  bool is_gpu = false;
  double seconds = 0;
};

// The use of devices by one model, or by work without a model.
struct ModelUsage {
  std::string model;                 // its file; "": ops of tensors and graphs
  std::vector<DeviceUsage> devices;  // on which it lies
  Counts counts;
  Waits waits;
};

// The use of one backend handle. Thread-safe.
struct Meter {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> prompt_tokens{0};
  std::atomic<uint64_t> cached_tokens{0};
  std::atomic<uint64_t> generated_tokens{0};
  std::atomic<uint64_t> compute_us{0};

  void add(const Counts& counts) noexcept {
    requests += counts.requests;
    prompt_tokens += counts.prompt_tokens;
    cached_tokens += counts.cached_tokens;
    generated_tokens += counts.generated_tokens;
  }
};

}  // namespace rc::engine
