#include "limits.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rc::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Results go here, so that no compiler may leave out the work.
std::atomic<uint64_t> sink;

void keep(const void* result) {
  uint64_t bits;
  std::memcpy(&bits, result, sizeof bits);
  sink += bits;
}

// The shortest of several times that `work(thread)` took on all threads at
// once, in seconds: other programs can only make it longer.
double best_time(int threads, int repeats,
                 const std::function<void(int)>& work) {
  std::vector<Clock::time_point> begins(static_cast<size_t>(repeats));
  std::vector<Clock::time_point> ends(static_cast<size_t>(repeats));
  std::barrier start(threads);
  const auto body = [&](int thread) {
    for (size_t i = 0; i < begins.size(); ++i) {
      start.arrive_and_wait();
      if (thread == 0) begins[i] = Clock::now();
      work(thread);
      start.arrive_and_wait();
      if (thread == 0) ends[i] = Clock::now();
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) {
    others.emplace_back(body, thread);
  }
  body(0);
  for (std::thread& other : others) other.join();
  double best = 1e30;
  for (size_t i = 0; i < begins.size(); ++i) {
    best = std::min(best,
                    std::chrono::duration<double>(ends[i] - begins[i]).count());
  }
  return best;
}

using Vector = uint64_t __attribute__((vector_size(16)));

template <bool kPrefetch>
void read_all(const Vector* data, size_t count) {
  constexpr size_t kLine = 64 / sizeof(Vector);
  Vector sums[kLine] = {};
  for (size_t i = 0; i < count; i += 2 * kLine) {
    if constexpr (kPrefetch) {
      __builtin_prefetch(data + i + 4096 / sizeof(Vector));
      __builtin_prefetch(data + i + (4096 + 64) / sizeof(Vector));
    }
    for (size_t j = 0; j < kLine; ++j) {
      sums[j] += data[i + j] ^ data[i + kLine + j];
    }
  }
  const Vector sum = sums[0] + sums[1] + sums[2] + sums[3];
  keep(&sum);
}

double measure_read_rate(int threads) {
  // Beyond what any last-level cache keeps from one repeat to the next.
  constexpr size_t kBytes = size_t{192} << 20;
  constexpr size_t kCount = kBytes / sizeof(Vector);
  std::vector<std::unique_ptr<Vector[]>> areas(static_cast<size_t>(threads));
  // Touched by many threads, so that on a machine with several memory nodes
  // the areas are spread over them.
  best_time(threads, 1, [&](int thread) {
    auto& area = areas[static_cast<size_t>(thread)];
    area.reset(new Vector[kCount]);
    std::memset(area.get(), thread + 1, kBytes);
  });
  const auto rate = [&](auto read) {
    const double seconds = best_time(threads, 4, [&](int thread) {
      read(areas[static_cast<size_t>(thread)].get(), kCount);
    });
    return static_cast<double>(kBytes) * threads / seconds;
  };
  // Which of the two is faster depends on the machine's own prefetching.
  return std::max(rate(read_all<false>), rate(read_all<true>));
}

// One thread's share of a measurement of arithmetic: `operations` per call.
struct Kernel {
  const char* name;
  void (*run)();
  double operations;
};

constexpr int kRounds = 2'000'000;

#if defined(__x86_64__)

__attribute__((target("avx512f,avx512vl,avx512vnni"))) void vnni_512() {
  constexpr int kSums = 16;
  __m512i sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_set1_epi32(i);
  const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-5);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
    }
  }
  for (int i = 1; i < kSums; ++i) {
    sums[0] = _mm512_add_epi32(sums[0], sums[i]);
  }
  keep(&sums[0]);
}

__attribute__((target("avx2"))) void maddubs_256() {
  constexpr int kSums = 8;
  __m256i sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = _mm256_set1_epi32(i);
  __m256i a = _mm256_set1_epi8(3);
  const __m256i b = _mm256_set1_epi8(-5);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int round = 0; round < kRounds; ++round) {
    // Else the product, equal in all rounds, would be taken out of the loop.
    asm volatile("" : "+x"(a));
    for (int i = 0; i < kSums; ++i) {
      __m256i products = _mm256_maddubs_epi16(a, b);
      asm volatile("" : "+x"(products));
      sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(products, ones));
    }
  }
  for (int i = 1; i < kSums; ++i) {
    sums[0] = _mm256_add_epi32(sums[0], sums[i]);
  }
  keep(&sums[0]);
}

__attribute__((target("avx512f"))) void fma_512() {
  constexpr int kSums = 16;
  __m512 sums[kSums];
  for (int i = 0; i < kSums; ++i) {
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  }
  const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(sums[i], a, b);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  keep(&sums[0]);
}

__attribute__((target("avx2,fma"))) void fma_256() {
  constexpr int kSums = 12;
  __m256 sums[kSums];
  for (int i = 0; i < kSums; ++i) {
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  }
  const __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, b);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  keep(&sums[0]);
}

#endif

// A multiplication and an addition for each lane, with what every compiler has.
void multiply_add_128() {
  using Floats = float __attribute__((vector_size(16)));
  constexpr int kSums = 12;
  Floats sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = Floats{} + static_cast<float>(i);
  const Floats a = Floats{} + 0.5f, b = Floats{} + 0.25f;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * a + b;
  }
  for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
  keep(&sums[0]);
}

Kernel int8_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512vl")) {
    return {"avx512vnni", vnni_512, 16.0 * 128 * kRounds};
  }
  if (__builtin_cpu_supports("avx2")) {
    return {"avx2", maddubs_256, 8.0 * 64 * kRounds};
  }
#endif
  return {"", nullptr, 0};
}

Kernel f32_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return {"avx512f", fma_512, 16.0 * 32 * kRounds};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2 fma", fma_256, 12.0 * 16 * kRounds};
  }
#endif
  return {"128 bit", multiply_add_128, 12.0 * 8 * kRounds};
}

double measure_rate(const Kernel& kernel, int threads) {
  if (kernel.run == nullptr) return 0;
  const double seconds = best_time(threads, 8, [&](int) { kernel.run(); });
  return kernel.operations * threads / seconds;
}

}  // namespace

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Limits measure_limits(int threads) {
  Limits limits;
  limits.threads = threads > 0 ? threads : available_threads();
  const Kernel int8 = int8_kernel(), f32 = f32_kernel();
  limits.int8_instruction = int8.name;
  limits.f32_instruction = f32.name;
  limits.read_rate = measure_read_rate(limits.threads);
  limits.int8_rate = measure_rate(int8, limits.threads);
  limits.f32_rate = measure_rate(f32, limits.threads);
  return limits;
}

}  // namespace rc::bench
