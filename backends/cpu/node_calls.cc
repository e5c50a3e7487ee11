// The system's part of nodes.h. The calls have no functions in the C library,
// and those of libnuma do nothing else.
#include <cerrno>

#include "cpu/nodes.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rc::cpu {
namespace {

#if defined(__linux__)

// linux/mempolicy.h, which not every C library comes with.
constexpr int kDefault = 0;
constexpr int kPreferred = 1;
constexpr int kInterleave = 3;
constexpr int kLocal = 4;
constexpr int kModes = 0xFF;  // without flags

// A mask of as many nodes as Linux can have.
class NodeMask {
 public:
  static constexpr unsigned long kBits = 1024;
  static constexpr unsigned long kWordBits = 8 * sizeof(unsigned long);

  void add(int node) {
    words_[static_cast<unsigned long>(node) / kWordBits] |=
        1ul << static_cast<unsigned long>(node) % kWordBits;
  }
  std::vector<int> nodes() const {
    std::vector<int> found;
    for (unsigned long i = 0; i < kBits; ++i) {
      if ((words_[i / kWordBits] >> i % kWordBits & 1) != 0) {
        found.push_back(static_cast<int>(i));
      }
    }
    return found;
  }
  unsigned long* words() { return words_; }

 private:
  unsigned long words_[kBits / kWordBits] = {};
};

// Refused where the process may not ask: then it has the default policy, for it
// may not set one either.
std::vector<int> system_policy() {
  NodeMask mask;
  int mode = kDefault;
  if (::syscall(SYS_get_mempolicy, &mode, mask.words(), NodeMask::kBits,
                nullptr, 0ul) != 0) {
    return {};
  }
  mode &= kModes;
  if (mode == kDefault || mode == kLocal) return {};
  return mask.nodes();
}

// The kernel takes one bit less than it is told of.
int system_bind(void* memory, uint64_t bytes, bool interleave,
                const std::vector<int>& nodes) {
  NodeMask mask;
  for (const int node : nodes) mask.add(node);
  return ::syscall(SYS_mbind, memory, static_cast<unsigned long>(bytes),
                   static_cast<long>(interleave ? kInterleave : kPreferred),
                   mask.words(), NodeMask::kBits + 1, 0ul) == 0
             ? 0
             : errno;
}

int system_stay(const std::vector<int>& processors) {
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

#else

std::vector<int> system_policy() { return {}; }
int system_bind(void*, uint64_t, bool, const std::vector<int>&) {
  return ENOSYS;
}
int system_stay(const std::vector<int>&) { return ENOSYS; }

#endif

}  // namespace

const NodeCalls& NodeCalls::of_system() {
  static const NodeCalls calls = {system_policy, system_bind, system_stay};
  return calls;
}

}  // namespace rc::cpu
