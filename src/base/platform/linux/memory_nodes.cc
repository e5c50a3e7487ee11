// The calls have no functions in the C library, and those of libnuma do nothing
// else.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/machine.h"

namespace rc {
namespace {

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

}  // namespace

// Refused where the process may not ask: then it has the default policy, for it
// may not set one either.
std::vector<int> memory_policy_nodes() {
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

// The kernel uses one bit less than the given count.
int bind_memory(void* memory, uint64_t bytes, bool interleave,
                const std::vector<int>& nodes) {
  NodeMask mask;
  for (const int node : nodes) mask.add(node);
  return ::syscall(SYS_mbind, memory, static_cast<unsigned long>(bytes),
                   static_cast<long>(interleave ? kInterleave : kPreferred),
                   mask.words(), NodeMask::kBits + 1, 0ul) == 0
             ? 0
             : errno;
}

}  // namespace rc
