#include "cpu/nodes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/machine.h"
#include "base/words.h"
#include "common/system_files.h"
#include "cpu/huge_pages.h"

namespace rc::cpu {
namespace {

// Linux has no more nodes, and no more processors.
constexpr int kMostNodes = 1024;
constexpr int kMostProcessors = 1 << 20;

// Smaller weights are allocated from the heap: a separate mapping for each
// gains nothing, and a process may have only about 65000.
constexpr uint64_t kLeastPlaced = 1 << 20;
// Whole pages of every size that systems have.
constexpr uint64_t kPages = 1 << 16;

// Parses a list such as "0-3,8,10-11"; empty if it is malformed.
std::vector<int> numbers_of(std::string_view text, int most) {
  std::vector<int> numbers;
  text = take_word(text).value_or("");
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(range.size() + 1, text.size()));
    std::string_view first = range.substr(0, range.find('-'));
    std::string_view last =
        first.size() == range.size() ? first : range.substr(first.size() + 1);
    const auto begin = take_number<int>(first);
    const auto end = take_number<int>(last);
    if (!begin || !end || *begin < 0 || *end < *begin || *end >= most) {
      return {};
    }
    for (int i = *begin; i <= *end; ++i) numbers.push_back(i);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<int> both(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(common));
  return common;
}

// Returns the distances of the online nodes from one node, in their order.
std::vector<int> distances(const std::string& folder) {
  const std::string file = plugin::contents(folder + "/distance");
  std::string_view rest = file;
  std::vector<int> found;
  while (const auto number = take_number<int>(rest)) found.push_back(*number);
  return found;
}

// The node of `nodes` nearest to node `from`.
Node& nearest(std::vector<Node>& nodes, const std::vector<int>& online,
              const std::vector<int>& far) {
  const auto distance = [&](const Node& node) {
    const auto place =
        std::lower_bound(online.begin(), online.end(), node.number);
    const auto i = static_cast<size_t>(place - online.begin());
    return i < far.size() ? far[i] : INT32_MAX;
  };
  return *std::min_element(
      nodes.begin(), nodes.end(),
      [&](const Node& a, const Node& b) { return distance(a) < distance(b); });
}

}  // namespace

const NodeCalls& NodeCalls::of_system() {
  static const NodeCalls calls = {memory_policy_nodes, bind_memory,
                                  keep_on_processors};
  return calls;
}

std::vector<Node> usable_nodes(const std::string& root,
                               const NodeCalls& calls) {
  const std::string folder = root + "/sys/devices/system/node";
  const std::string status = root + "/proc/self/status";
  const auto list = [&](const std::string& name, int most) {
    return numbers_of(plugin::contents(folder + name), most);
  };
  const auto allowed = [&](const char* key, int most) {
    return numbers_of(plugin::field(status, key).value_or(""), most);
  };
  const std::vector<int> online = list("/online", kMostNodes);
  std::vector<int> memory = both(list("/has_memory", kMostNodes),
                                 allowed("Mems_allowed_list", kMostNodes));
  const std::vector<int> policy = calls.policy();
  if (!policy.empty()) memory = both(memory, policy);
  if (memory.empty()) return {};
  const std::vector<int> processors =
      allowed("Cpus_allowed_list", kMostProcessors);

  std::vector<Node> nodes;
  for (const int number : memory) nodes.push_back({number, {}});
  for (const int number : online) {
    const std::string of_node = cat("/node", number);
    const std::vector<int> here =
        both(list(of_node + "/cpulist", kMostProcessors), processors);
    if (here.empty()) continue;
    std::vector<int>& there =
        nearest(nodes, online, distances(folder + of_node)).processors;
    there.insert(there.end(), here.begin(), here.end());
    std::sort(there.begin(), there.end());
  }
  std::erase_if(nodes,
                [](const Node& node) { return node.processors.empty(); });
  return nodes;
}

Nodes::Nodes(rc_numa numa, std::vector<Node> nodes, int threads,
             const NodeCalls& calls)
    : nodes_(std::move(nodes)), threads_(threads), calls_(calls) {
  if (nodes_.size() < 2 || numa == RC_NUMA_AUTO) return;
  numa_ = numa;
  for (const Node& node : nodes_) numbers_.push_back(node.number);
}

size_t Nodes::node_of(int thread) const {
  size_t processors = 0;
  for (const Node& node : nodes_) processors += node.processors.size();
  size_t at =
      processors * static_cast<size_t>(thread) / static_cast<size_t>(threads_);
  size_t node = 0;
  while (at >= nodes_[node].processors.size()) {
    at -= nodes_[node++].processors.size();
  }
  return node;
}

void Nodes::keep_on_node(int thread) const {
  const Node& node = nodes_[node_of(thread)];
  const int failure = calls_.stay(node.processors);
  if (failure == 0 || stay_refused_.exchange(true)) return;
  log(RC_LOG_WARNING, "cpu: the system refuses to keep a thread on node ",
      node.number,
      " (sched_setaffinity: ", std::generic_category().message(failure),
      "); threads run where it likes");
}

Memory64 Nodes::allocate_placed(uint64_t bytes, int64_t matrices) const {
  if (bytes < kLeastPlaced) return cpu::allocate(bytes);
  Memory64 memory = allocate_pages(bytes);
  // It is not known which thread will use which expert.
  if (numa_ == RC_NUMA_INTERLEAVE || matrices > 1) {
    bind(memory.get(), bytes, true, numbers_);
  } else {
    share_out(memory.get(), bytes);
  }
  return memory;
}

// By whole huge pages, which a mapping that ended within would take apart;
// where there are only a few of them, by pages.
void Nodes::share_out(uint8_t* memory, uint64_t bytes) const {
  const uint64_t unit =
      bytes >= 8 * kHugePage * nodes_.size() ? kHugePage : kPages;
  const auto threads = static_cast<uint64_t>(threads_);
  uint64_t begin = 0;
  for (int thread = 0; thread < threads_;) {
    const size_t node = node_of(thread);
    while (thread < threads_ && node_of(thread) == node) ++thread;
    // The rows at which the next node's threads begin.
    const uint64_t end =
        thread == threads_
            ? bytes
            : bytes / threads * static_cast<uint64_t>(thread) / unit * unit;
    if (begin < end) {
      bind(memory + begin, end - begin, false, {nodes_[node].number});
    }
    begin = end;
  }
}

void Nodes::bind(void* memory, uint64_t bytes, bool interleave,
                 const std::vector<int>& nodes) const {
  const int failure = calls_.bind(memory, bytes, interleave, nodes);
  if (failure == 0 || bind_refused_.exchange(true)) return;
  log(RC_LOG_WARNING,
      "cpu: the system refuses to place weights on the nodes of memory "
      "(mbind: ",
      std::generic_category().message(failure),
      "); they lie where it puts them. A container may have to be allowed to "
      "(docker run --cap-add SYS_NICE), or start the program with numactl "
      "--interleave=all");
}

}  // namespace rc::cpu
