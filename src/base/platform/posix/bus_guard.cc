#include "base/bus_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>

#include "base/error.h"

namespace rc {

// Never freed, but used again: the handler may look at it at any time. `change`
// is odd while it is being changed, so that the handler never takes the
// beginning of one range and the end of another for a range; one that is
// guarded does not change.
struct BusGuard::Range {
  std::atomic<uint64_t> change{0};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> damaged{false};
  Range* next = nullptr;  // set before the list has it
  bool taken = false;     // under the mutex

  void set(uintptr_t new_begin, uintptr_t new_end) {
    change.fetch_add(1);
    begin.store(new_begin);
    end.store(new_end);
    damaged.store(false);
    change.fetch_add(1);
  }
};

namespace {

using Range = BusGuard::Range;

static_assert(std::atomic<uintptr_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

std::mutex mutex;  // of those who change the list
std::atomic<Range*> ranges{nullptr};
bool installed = false;
// The handler installed before ours; does not change once ours is installed.
struct sigaction before;

// Zeros in the place of the whole range: page by page would need as many
// mappings. Another thread that touches a page of it at the same time does the
// same.
bool put_zeros(uintptr_t address) {
  for (Range* range = ranges.load(); range != nullptr; range = range->next) {
    const uint64_t change = range->change.load();
    const uintptr_t begin = range->begin.load();
    const uintptr_t end = range->end.load();
    if (change % 2 != 0 || range->change.load() != change) continue;
    if (address < begin || address >= end) continue;
    // First: no thread may see the zeros but not the damage.
    range->damaged.store(true);
    return ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                  0) != MAP_FAILED;
  }
  return false;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else if (before.sa_handler == SIG_DFL || info->si_code > 0) {
    // The system ignores no fault. It ends the process as soon as this handler
    // returns and the signal is no longer held back.
    struct sigaction ending = {};
    ending.sa_handler = SIG_DFL;
    ::sigaction(signal, &ending, nullptr);
    ::raise(signal);
  }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  // One that another process has sent has no address.
  const bool fault = info->si_code > 0;
  if (!fault || !put_zeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    pass_on(signal, info, context);
  }
  errno = error;
}

// Under the mutex.
void install() {
  if (installed) return;
  // As the one before wants to be called; on another stack where a thread has
  // one, as Go's have to.
  if (::sigaction(SIGBUS, nullptr, &before) == 0) {
    struct sigaction ours = before;
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = (before.sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
    if (::sigaction(SIGBUS, &ours, nullptr) == 0) {
      installed = true;
      return;
    }
  }
  fail(RC_E_INTERNAL, "the handler of SIGBUS cannot be installed: ",
       std::generic_category().message(errno));
}

}  // namespace

BusGuard::BusGuard(std::span<const std::byte> memory) {
  const std::lock_guard lock(mutex);
  install();
  for (range_ = ranges.load(); range_ != nullptr && range_->taken;) {
    range_ = range_->next;
  }
  if (range_ == nullptr) {
    range_ = new Range;
    range_->next = ranges.load();
    ranges.store(range_);
  }
  range_->taken = true;
  const auto begin = reinterpret_cast<uintptr_t>(memory.data());
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  range_->set(begin, (begin + memory.size() + page - 1) / page * page);
}

BusGuard::~BusGuard() {
  const std::lock_guard lock(mutex);
  range_->set(0, 0);
  range_->taken = false;
}

bool BusGuard::damaged() const noexcept { return range_->damaged.load(); }

}  // namespace rc
