// Runs kernels: groups one after the other, and the work-items of a group in
// turns on the calling thread, each with a separate stack, from barrier to
// barrier. The order of the groups, and that of the items after each barrier,
// follow from a seed: the result of a kernel without a necessary barrier
// differs from seed to seed.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "work_item.h"

namespace rc::host {

struct Launch {
  std::string name;  // for messages
  HostKernel* kernel = nullptr;
  std::span<const uint64_t> arguments;
  uint64_t items[3] = {1, 1, 1};   // of a group
  uint64_t groups[3] = {1, 1, 1};  // that there are
  uint64_t first_row = 0;          // the place of the first in dimension 1
};

// One thread at a time.
class GroupRunner {
 public:
  explicit GroupRunner(uint64_t seed) : random_(seed) {}

  // Throws RC_E_DEVICE if not all items of a group come to the same barrier,
  // RC_E_INTERNAL if the kernel has other parameters.
  void run(const Launch& launch);

 private:
  struct Item : HostWorkItem {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack;
    GroupRunner* runner;
    bool ended;
    int barrier;     // the line of the one it waits at
    int parameters;  // that the kernel has
  };

  void run_group(const Launch& launch, uint64_t number);
  void begin(Item& item);
  // Until it ends or waits.
  void resume(Item& item);
  // After a turn of all. False: they have ended.
  bool meet(const Launch& launch);
  // Returns from an item to run_group; `kept` has the data that the sanitizer
  // needs to return to it, nullptr if that never happens.
  void leave(void** kept) const;
  void arrive(void* kept);

  static void enter();
  static void wait_at_barrier(HostWorkItem* item, int line);

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<uint32_t> order_;  // of the items of a group
  const Launch* launch_ = nullptr;
  ucontext_t context_;  // of run_group, and its stack
  const void* stack_ = nullptr;
  size_t stack_bytes_ = 0;
};

}  // namespace rc::host
