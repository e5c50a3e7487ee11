#include "base/machine.h"

#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace rc {

int usable_processors() noexcept {
  // The mask must be as large as the kernel's, which may have more processors
  // than cpu_set_t.
  for (int processors = 1024; processors <= 1 << 20; processors *= 2) {
    cpu_set_t* set = CPU_ALLOC(processors);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(processors);
    const int failed = sched_getaffinity(0, bytes, set);
    const int count = failed ? 0 : CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (!failed) return count;
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

int keep_on_processors(const std::vector<int>& processors) {
  const int most = processors.back() + 1;
  cpu_set_t* set = CPU_ALLOC(most);
  if (set == nullptr) return ENOMEM;
  const size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  for (const int processor : processors) CPU_SET_S(processor, bytes, set);
  const int failure = ::sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  return failure;
}

ProcessorFeatures processor_features() noexcept {
  return {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
}

bool may_use_matrix_registers() noexcept {
#if defined(SYS_arch_prctl)               // x86-64
  constexpr int kAskPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kMatrices = 18;           // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kAskPermission, kMatrices) == 0;
#else
  return false;
#endif
}

std::optional<ModuleMemory> module_memory() noexcept { return std::nullopt; }

bool huge_pages_disabled() noexcept {
  // Other values leave those that a program asks for.
  return ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1;
}

}  // namespace rc
