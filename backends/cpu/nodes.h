// The nodes of a machine whose processors do not reach all memory equally fast
// (NUMA), and what is put on them: the memory of weights and the threads of a
// pool.
//
// Work is dealt to the threads that are awake, so any thread may read any part
// of a weight. Interleaved pages therefore are the default where there are
// several nodes: without them a weight lies where the threads happened to run
// that filled it, often all on one node, whose memory then is read by all.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/memory.h"
#include "runcible/base.h"

namespace rc::cpu {

// Whether the system may have several.
#if defined(__linux__)
constexpr bool kMayHaveNodes = true;
#else
constexpr bool kMayHaveNodes = false;
#endif

// Memory that the process may use, and the usable processors nearest to it.
struct Node {
  int number = 0;               // of the system
  std::vector<int> processors;  // at least one, in rising order
};

// Calls of the system's; tests put others in their place.
struct NodeCalls {
  // memory_policy_nodes() of base/machine.h.
  std::function<std::vector<int>()> policy;
  // bind_memory().
  std::function<int(void* memory, uint64_t bytes, bool interleave,
                    const std::vector<int>& nodes)>
      bind;
  // keep_on_processors().
  std::function<int(const std::vector<int>& processors)> stay;

  static const NodeCalls& of_system();
};

// The nodes as the system reports them below `root`: in
// sys/devices/system/node, and in proc/self/status the part that the process
// may use. None if it reports none.
std::vector<Node> usable_nodes(const std::string& root, const NodeCalls& calls);
// Of this machine.
inline std::vector<Node> usable_nodes() {
  if constexpr (!kMayHaveNodes) return {};
  return usable_nodes("", NodeCalls::of_system());
}

// The memory that an opened device puts on nodes. Thread-safe.
class Nodes {
 public:
  // Nothing: as if there were one node.
  Nodes() = default;
  // `numa` is an RC_NUMA_*; RC_NUMA_AUTO counts as RC_NUMA_OFF.
  Nodes(rc_numa numa, std::vector<Node> nodes, int threads,
        const NodeCalls& calls);

  // As memory.h's, of a weight of `matrices` equal ones, where it is to lie.
  Memory64 allocate(uint64_t bytes, int64_t matrices) const {
    if (!kMayHaveNodes || numa_ == RC_NUMA_OFF) return cpu::allocate(bytes);
    return allocate_placed(bytes, matrices);
  }

  // Called by thread `thread` of the pool's, but never by the one that it was
  // given a job by, which may be the program's own.
  void settle(int thread) const {
    if (kMayHaveNodes && numa_ != RC_NUMA_OFF) keep_on_node(thread);
  }

 private:
  // The number in nodes_ of the node that a thread is on.
  size_t node_of(int thread) const;
  Memory64 allocate_placed(uint64_t bytes, int64_t matrices) const;
  void keep_on_node(int thread) const;
  void share_out(uint8_t* memory, uint64_t bytes) const;
  void bind(void* memory, uint64_t bytes, bool interleave,
            const std::vector<int>& nodes) const;

  rc_numa numa_ = RC_NUMA_OFF;
  std::vector<Node> nodes_;
  std::vector<int> numbers_;  // of the nodes
  int threads_ = 1;
  NodeCalls calls_;
  // A refusal of the system is logged once.
  mutable std::atomic<bool> bind_refused_{false};
  mutable std::atomic<bool> stay_refused_{false};
};

}  // namespace rc::cpu
