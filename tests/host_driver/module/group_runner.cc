#include "group_runner.h"

#include <dlfcn.h>

#include <algorithm>
#include <numeric>

#include "address_sanitizer.h"
#include "base/error.h"

namespace rc::host {
namespace {

constexpr size_t kStackBytes = 128 << 10;

// The C library's own. What the address sanitizer has in its place forgets
// which bytes of a stack are forbidden, since it knows of no other change of
// stacks.
int change_context(ucontext_t* from, const ucontext_t* to) {
  using Swap = int(ucontext_t*, const ucontext_t*);
  static Swap* const swap = [] {
    void* library = kAddressSanitizer
                        ? dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD)
                        : nullptr;
    void* found = library != nullptr ? dlsym(library, "swapcontext") : nullptr;
    return found != nullptr ? reinterpret_cast<Swap*>(found) : swapcontext;
  }();
  return swap(from, to);
}

// The function of makecontext has no argument that could hold a pointer.
thread_local void* t_entering = nullptr;

}  // namespace

void GroupRunner::run(const Launch& launch) {
  launch_ = &launch;
  const uint64_t count = launch.items[0] * launch.items[1] * launch.items[2];
  while (items_.size() < count) {
    items_.push_back(std::make_unique<Item>());
    items_.back()->stack =
        std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    items_.back()->runner = this;
    items_.back()->wait_at_barrier = wait_at_barrier;
  }
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  std::vector<uint64_t> numbers(launch.groups[0] * launch.groups[1] *
                                launch.groups[2]);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), random_);
  for (const uint64_t number : numbers) run_group(launch, number);
}

void GroupRunner::run_group(const Launch& launch, uint64_t number) {
  for (uint64_t i = 0; i < order_.size(); ++i) {
    Item& item = *items_[i];
    std::copy(std::begin(launch.groups), std::end(launch.groups), item.groups);
    item.group[0] = number % launch.groups[0];
    item.group[1] = number / launch.groups[0] % launch.groups[1];
    item.group[2] = number / launch.groups[0] / launch.groups[1];
    item.first_row = launch.first_row;
    std::copy(std::begin(launch.items), std::end(launch.items), item.items);
    item.item[0] = i % launch.items[0];
    item.item[1] = i / launch.items[0] % launch.items[1];
    item.item[2] = i / launch.items[0] / launch.items[1];
    begin(item);
  }
  do {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const uint32_t i : order_) resume(*items_[i]);
  } while (meet(launch));
}

void GroupRunner::begin(Item& item) {
  item.ended = false;
  item.barrier = 0;
  // One that waited in vain has left what it had on its stack.
  allow(item.stack.get(), kStackBytes);
  getcontext(&item.context);
  item.context.uc_stack.ss_sp = item.stack.get();
  item.context.uc_stack.ss_size = kStackBytes;
  item.context.uc_link = nullptr;
  makecontext(&item.context, enter, 0);
}

void GroupRunner::resume(Item& item) {
  void* kept = nullptr;
  t_entering = &item;
  start_switch(&kept, item.stack.get(), kStackBytes);
  change_context(&context_, &item.context);
  finish_switch(kept, nullptr, nullptr);
}

void GroupRunner::leave(void** kept) const {
  start_switch(kept, stack_, stack_bytes_);
}

void GroupRunner::arrive(void* kept) {
  finish_switch(kept, &stack_, &stack_bytes_);
}

void GroupRunner::enter() {
  Item& item = *static_cast<Item*>(t_entering);
  GroupRunner& runner = *item.runner;
  runner.arrive(nullptr);
  const Launch& launch = *runner.launch_;
  item.parameters = launch.kernel(&item, launch.arguments.data(),
                                  static_cast<int>(launch.arguments.size()));
  item.ended = true;
  runner.leave(nullptr);
  setcontext(&runner.context_);
}

void GroupRunner::wait_at_barrier(HostWorkItem* waiting, int line) {
  Item& item = *static_cast<Item*>(waiting);
  item.barrier = line;
  void* kept = nullptr;
  item.runner->leave(&kept);
  change_context(&item.context, &item.runner->context_);
  item.runner->arrive(kept);
}

bool GroupRunner::meet(const Launch& launch) {
  const Item& first = *items_.front();
  for (uint64_t i = 0; i < order_.size(); ++i) {
    const Item& item = *items_[i];
    if (item.ended == first.ended &&
        (item.ended || item.barrier == first.barrier)) {
      continue;
    }
    const auto place = [](const Item& at) {
      return at.ended ? std::string("has ended")
                      : cat("waits at the barrier in line ", at.barrier);
    };
    fail(RC_E_DEVICE, "the kernel ", launch.name, ": work-item 0 ",
         place(first), ", and work-item ", i, " of ", order_.size(), " ",
         place(item));
  }
  const auto arguments = static_cast<int>(launch.arguments.size());
  if (first.ended && first.parameters != arguments) {
    fail(RC_E_INTERNAL, "the kernel ", launch.name, " has ", first.parameters,
         " parameters, but ", arguments, " arguments");
  }
  return !first.ended;
}

}  // namespace rc::host
