// Nodes of memory (NUMA), as described by fake machines.
#include "cpu/nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "backends/cpu_util.h"
#include "base/log.h"
#include "cpu/huge_pages.h"
#include "cpu/plugin.h"
#include "temporary.h"

namespace rc::cpu {
namespace {

using test::TemporaryFolder;

// The files of a machine that describe its nodes, as `numactl --hardware` shows
// them.
class FakeMachine {
 public:
  FakeMachine() {
    calls.policy = [this] { return policy; };
  }

  void write(const std::string& path, const std::string& text) const {
    const auto file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void node(int number, const std::string& processors,
            const std::string& distances) const {
    const std::string folder =
        "sys/devices/system/node/node" + std::to_string(number);
    write(folder + "/cpulist", processors);
    write(folder + "/distance", distances);
  }
  void nodes(const std::string& online, const std::string& has_memory) const {
    write("sys/devices/system/node/online", online);
    write("sys/devices/system/node/has_memory", has_memory);
  }
  void allow(const std::string& processors, const std::string& memory) const {
    write("proc/self/status", "Name:\trun\nCpus_allowed_list:\t" + processors +
                                  "\nMems_allowed_list:\t" + memory);
  }
  // Each node with its processors, "0:0,1 1:2,3".
  std::string found() const {
    std::string text;
    for (const Node& node : usable_nodes(root(), calls)) {
      text += (text.empty() ? "" : " ") + std::to_string(node.number) + ":";
      for (size_t i = 0; i < node.processors.size(); ++i) {
        text += (i == 0 ? "" : ",") + std::to_string(node.processors[i]);
      }
    }
    return text;
  }
  std::string root() const { return folder_.path().string(); }

  std::vector<int> policy;
  NodeCalls calls;

 private:
  TemporaryFolder folder_;
};

// Two sockets of four processors.
FakeMachine& two_sockets(FakeMachine& machine) {
  machine.nodes("0-1", "0-1");
  machine.node(0, "0-1,4-5", "10 21");
  machine.node(1, "2-3,6-7", "21 10");
  machine.allow("0-7", "0-1");
  return machine;
}

TEST(Nodes, AreLimitedToThoseTheProcessMayUse) {
  FakeMachine machine;
  EXPECT_EQ(machine.found(), "") << "a system without node files";
  two_sockets(machine);
  EXPECT_EQ(machine.found(), "0:0,1,4,5 1:2,3,6,7");
  machine.allow("0-2,7", "0-1");  // taskset -c 0-2,7
  EXPECT_EQ(machine.found(), "0:0,1 1:2,7");
  machine.allow("0-1", "0-1");  // numactl --cpunodebind=0, or a small container
  EXPECT_EQ(machine.found(), "0:0,1");
  machine.allow("0-7", "1");  // a cpuset with the memory of one node
  EXPECT_EQ(machine.found(), "1:0,1,2,3,4,5,6,7");
  machine.allow("0-7", "0-1");
  machine.policy = {1};  // numactl --membind=1
  EXPECT_EQ(machine.found(), "1:0,1,2,3,4,5,6,7");
  machine.policy = {0, 1};  // numactl --interleave=all
  EXPECT_EQ(machine.found(), "0:0,1,4,5 1:2,3,6,7");
}

TEST(Nodes, OneNodeIsFound) {
  FakeMachine machine;
  machine.nodes("0", "0");
  machine.node(0, "0-1", "10");
  machine.allow("0-1", "0");
  EXPECT_EQ(machine.found(), "0:0,1");
}

// Processors without local memory belong to the nearest node that has some, and
// memory without processors (CXL) is ignored.
TEST(Nodes, WithoutMemoryOrProcessorsAreMerged) {
  FakeMachine machine;
  machine.nodes("0,2-4", "0,3-4");
  machine.node(0, "0-1", "10 30 21 30");
  machine.node(2, "2-3", "30 10 20 25");
  machine.node(3, "4-5", "21 20 10 25");
  machine.node(4, "", "30 25 25 10");
  machine.allow("0-5", "0-4");
  EXPECT_EQ(machine.found(), "0:0,1 3:2,3,4,5");
}

TEST(Nodes, MalformedFilesGiveNoNodes) {
  FakeMachine machine;
  two_sockets(machine);
  for (const char* list : {"", "x", "1-", "-1", "3-1", "0-4000000000",
                           "0-1,99999999999999999999"}) {
    machine.nodes("0-1", list);
    EXPECT_EQ(machine.found(), "") << list;
    machine.nodes("0-1", "0-1");
    machine.allow(list, "0-1");
    EXPECT_EQ(machine.found(), "") << list;
    machine.allow("0-7", "0-1");
  }
  machine.write("sys/devices/system/node/node0/distance", "near");
  EXPECT_EQ(machine.found(), "0:0,1,4,5 1:2,3,6,7");
}

// Records the calls to the system.
class Asked {
 public:
  struct Bound {
    const uint8_t* begin;
    uint64_t bytes;
    bool interleave;
    std::vector<int> nodes;
  };

  NodeCalls calls() {
    return {[] { return std::vector<int>(); },
            [this](void* memory, uint64_t bytes, bool interleave,
                   const std::vector<int>& nodes) {
              const std::lock_guard lock(mutex);
              EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
              bound.push_back(
                  {static_cast<uint8_t*>(memory), bytes, interleave, nodes});
              return failure;
            },
            [this](const std::vector<int>& processors) {
              const std::lock_guard lock(mutex);
              ++stays[processors];
              return failure;
            }};
  }

  std::mutex mutex;
  std::vector<Bound> bound;
  std::map<std::vector<int>, int> stays;
  int failure = 0;
};

const std::vector<Node> kTwo = {{0, {0, 1, 4, 5}}, {3, {2, 3, 6, 7}}};
constexpr uint64_t kMebibyte = 1 << 20;

TEST(Nodes, InterleavedPagesUseAllNodesInTurn) {
  Asked asked;
  const Nodes nodes(RC_NUMA_INTERLEAVE, kTwo, 4, asked.calls());
  const Memory64 small = nodes.allocate(kMebibyte - 1, 1);
  EXPECT_TRUE(asked.bound.empty());
  for (const uint64_t bytes : {kMebibyte, 5 * kMebibyte + 77}) {
    asked.bound.clear();
    const Memory64 memory = nodes.allocate(bytes, 1);
    ASSERT_EQ(asked.bound.size(), 1u);
    EXPECT_EQ(asked.bound[0].begin, memory.get());
    EXPECT_EQ(asked.bound[0].bytes, bytes);
    EXPECT_TRUE(asked.bound[0].interleave);
    EXPECT_EQ(asked.bound[0].nodes, (std::vector<int>{0, 3}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kHugePage, 0u);
    std::memset(memory.get(), 1, bytes);
  }
}

// The whole of it, each part where the threads are that begin with it.
TEST(Nodes, LocalPartsAreOnTheNodesOfTheirThreads) {
  const std::vector<Node> uneven = {{1, {0}}, {2, {1, 2, 3}}};
  for (const uint64_t bytes : {3 * kMebibyte + 5, 80 * kMebibyte}) {
    Asked asked;
    const Nodes nodes(RC_NUMA_LOCAL, uneven, 8, asked.calls());
    const Memory64 memory = nodes.allocate(bytes, 1);
    ASSERT_EQ(asked.bound.size(), 2u) << bytes;
    const Asked::Bound& first = asked.bound[0];
    const Asked::Bound& second = asked.bound[1];
    EXPECT_EQ(first.begin, memory.get());
    EXPECT_EQ(second.begin, first.begin + first.bytes);
    EXPECT_EQ(first.bytes + second.bytes, bytes);
    EXPECT_EQ(first.nodes, std::vector<int>{1});
    EXPECT_EQ(second.nodes, std::vector<int>{2});
    EXPECT_FALSE(first.interleave || second.interleave);
    // Two of eight threads.
    EXPECT_NEAR(static_cast<double>(first.bytes), bytes / 4.0, 2e6);
    const bool by_huge_pages = bytes > 32 * kMebibyte;
    EXPECT_EQ(first.bytes % (by_huge_pages ? kHugePage : 1 << 16), 0u);
  }
  // Any thread may use any expert.
  Asked asked;
  const Nodes nodes(RC_NUMA_LOCAL, uneven, 8, asked.calls());
  const Memory64 memory = nodes.allocate(8 * kMebibyte, 16);
  ASSERT_EQ(asked.bound.size(), 1u);
  EXPECT_TRUE(asked.bound[0].interleave);
}

// A node whose threads begin with less than a page has no part.
TEST(Nodes, PartsHaveAPageAtLeast) {
  std::vector<int> others(63);
  std::iota(others.begin(), others.end(), 1);
  Asked asked;
  const Nodes nodes(RC_NUMA_LOCAL, {{0, {0}}, {1, others}}, 64, asked.calls());
  const Memory64 memory = nodes.allocate(kMebibyte, 1);
  ASSERT_EQ(asked.bound.size(), 1u);
  EXPECT_EQ(asked.bound[0].begin, memory.get());
  EXPECT_EQ(asked.bound[0].bytes, kMebibyte);
  EXPECT_EQ(asked.bound[0].nodes, std::vector<int>{1});
  // Less than that is placed nowhere.
  const Memory64 little = nodes.allocate(kMebibyte - 1, 1);
  EXPECT_EQ(asked.bound.size(), 1u);
}

TEST(Nodes, ThreadsStayByTheirShareOfTheProcessors) {
  Asked asked;
  const std::vector<Node> uneven = {{0, {0, 1}}, {1, {2, 3, 4, 5, 6, 7}}};
  const Nodes nodes(RC_NUMA_INTERLEAVE, uneven, 8, asked.calls());
  for (int thread = 1; thread < 8; ++thread) nodes.settle(thread);
  // The first thread is the caller's.
  EXPECT_EQ(asked.stays[uneven[0].processors], 1);
  EXPECT_EQ(asked.stays[uneven[1].processors], 6);
  // More threads than processors, and fewer than nodes.
  Asked others;
  const Nodes many(RC_NUMA_LOCAL, kTwo, 17, others.calls());
  for (int thread = 0; thread < 17; ++thread) many.settle(thread);
  EXPECT_EQ(others.stays[kTwo[0].processors], 9);
  EXPECT_EQ(others.stays[kTwo[1].processors], 8);
  const Nodes one(RC_NUMA_LOCAL, kTwo, 1, others.calls());
  one.settle(0);
  EXPECT_EQ(others.stays[kTwo[0].processors], 10);
}

TEST(Nodes, OneNodeOrOffMakesNoSystemCalls) {
  Asked asked;
  const Nodes none;
  const Nodes off(RC_NUMA_OFF, kTwo, 4, asked.calls());
  const Nodes undecided(RC_NUMA_AUTO, kTwo, 4, asked.calls());
  const Nodes one(RC_NUMA_LOCAL, {kTwo[0]}, 4, asked.calls());
  for (const Nodes* nodes : {&none, &off, &undecided, &one}) {
    const Memory64 memory = nodes->allocate(4 * kMebibyte, 1);
    nodes->settle(1);
    EXPECT_EQ(memory.get_deleter().mapped, 0u);
  }
  EXPECT_TRUE(asked.bound.empty());
  EXPECT_TRUE(asked.stays.empty());
}

// The system's own calls, as far as this machine has nodes and lets us.
TEST(Nodes, WorkOnThisMachine) {
  const std::vector<Node> nodes = usable_nodes();
  if (nodes.empty()) GTEST_SKIP() << "the system reports no nodes";
  const NodeCalls& calls = NodeCalls::of_system();
  std::vector<int> numbers;
  for (const Node& node : nodes) {
    EXPECT_FALSE(node.processors.empty());
    numbers.push_back(node.number);
  }
  for (const bool interleave : {true, false}) {
    const Memory64 memory = allocate_pages(4 * kMebibyte);
    const int failure =
        calls.bind(memory.get(), 3 * kMebibyte, interleave,
                   interleave ? numbers : std::vector<int>{numbers[0]});
    EXPECT_TRUE(failure == 0 || failure == EPERM || failure == ENOSYS)
        << failure;
    std::memset(memory.get(), 7, 4 * kMebibyte);
  }
  const Memory64 memory = allocate_pages(kMebibyte);
  EXPECT_NE(calls.bind(memory.get(), kMebibyte, true, {}), 0);
  std::thread([&] {
    const int failure = calls.stay(nodes[0].processors);
    EXPECT_TRUE(failure == 0 || failure == EPERM) << failure;
  }).join();
}

struct Log {
  Log() { set_log(receive, this, RC_LOG_WARNING); }
  ~Log() { set_log(nullptr, nullptr, RC_LOG_NONE); }
  static void receive(void* user, rc_log_level, const char* message) {
    auto& log = *static_cast<Log*>(user);
    const std::lock_guard lock(log.mutex);
    log.messages.emplace_back(message);
  }
  std::mutex mutex;
  std::vector<std::string> messages;
};

rc_status open(rc_numa numa, const NodeCalls& calls, rc_plugin_device** device,
               char* message, int threads = 4) {
  rc_plugin_open_options options = {};
  options.struct_size = sizeof options;
  options.threads = threads;
  options.numa = numa;
  return open_on_nodes(kTwo, calls, &options, device, message);
}

// One product with a weight that is large enough to be placed.
std::vector<float> product_on(rc_plugin_device* opened) {
  const cpu_test::Device device(opened);
  constexpr int64_t kRows = 700, kColumns = 512;
  const auto weight = cpu_test::random_floats(kRows * kColumns, 1);
  const auto x = cpu_test::random_floats(5 * kColumns, 2);
  cpu_test::Program program(device);
  const int32_t px =
      program.input(RC_DTYPE_F32, {RC_DIM_ROWS, kColumns}, x.data());
  const int32_t pw = program.weight(RC_DTYPE_F32, {kRows, kColumns},
                                    weight.data(), RC_USE_LINEAR);
  const int32_t py = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, kRows});
  program.op(RC_OP_LINEAR, {px, pw}, {py});
  EXPECT_EQ(program.run(5), RC_OK) << program.message();
  return program.result(py);
}

TEST(Nodes, DevicesComputeTheSameBits) {
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  std::vector<float> expected;
  for (const rc_numa numa : {RC_NUMA_OFF, RC_NUMA_INTERLEAVE, RC_NUMA_LOCAL}) {
    Asked asked;
    rc_plugin_device* device = nullptr;
    ASSERT_EQ(open(numa, asked.calls(), &device, message), RC_OK) << message;
    const std::vector<float> result = product_on(device);
    if (expected.empty()) expected = result;
    EXPECT_EQ(result, expected) << numa;
    EXPECT_EQ(asked.bound.size(), static_cast<size_t>(numa) - 1);
    int threads = 0;
    for (const auto& [processors, count] : asked.stays) threads += count;
    EXPECT_EQ(threads, numa == RC_NUMA_OFF ? 0 : 3);
  }
}

// As a container refuses it: said once, and no harm done.
TEST(Nodes, RefusalOfTheSystemIsLoggedOnce) {
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  Log log;
  Asked asked;
  asked.failure = EPERM;
  rc_plugin_device* device = nullptr;
  ASSERT_EQ(open(RC_NUMA_LOCAL, asked.calls(), &device, message), RC_OK)
      << message;
  EXPECT_FALSE(product_on(device).empty());
  EXPECT_EQ(asked.bound.size(), 2u);
  ASSERT_EQ(log.messages.size(), 2u);
  std::sort(log.messages.begin(), log.messages.end());
  EXPECT_NE(log.messages[0].find("sched_setaffinity"), std::string::npos);
  EXPECT_NE(log.messages[1].find("mbind: Operation not permitted"),
            std::string::npos)
      << log.messages[1];
}

TEST(Nodes, InvalidModeIsRefused) {
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  for (const rc_numa numa : {-1, 4}) {
    rc_plugin_device* device = nullptr;
    Asked asked;
    EXPECT_EQ(open(numa, asked.calls(), &device, message),
              RC_E_INVALID_ARGUMENT);
    EXPECT_NE(std::string(message).find("numa is " + std::to_string(numa)),
              std::string::npos)
        << message;
    EXPECT_NE(std::string(message).find("0 to 3"), std::string::npos);
  }
}

TEST(HugePages, ModeFollowsTheSettingsOfTheSystem) {
  const FakeMachine machine;
  const auto mode = [&](bool disabled = false) {
    return huge_pages(machine.root(), disabled).mode;
  };
  EXPECT_EQ(mode(), RC_HUGE_PAGES_UNKNOWN);
  const std::string folder = "sys/kernel/mm/transparent_hugepage/";
  machine.write(folder + "enabled", "always [madvise] never");
  EXPECT_EQ(mode(), RC_HUGE_PAGES_MADVISE);
  EXPECT_EQ(huge_pages(machine.root(), false).bytes, 0u);
  machine.write(folder + "hpage_pmd_size", "2097152");
  EXPECT_EQ(huge_pages(machine.root(), false).bytes, kHugePage);
  EXPECT_EQ(mode(true), RC_HUGE_PAGES_NEVER);
  machine.write(folder + "enabled", "[always] madvise never");
  EXPECT_EQ(mode(), RC_HUGE_PAGES_ALWAYS);
  machine.write(folder + "enabled", "always madvise [never]");
  EXPECT_EQ(mode(), RC_HUGE_PAGES_NEVER);
  // Since Linux 6.8 each size has its own.
  machine.write(folder + "hugepages-2048kB/enabled",
                "always [inherit] madvise never");
  EXPECT_EQ(mode(), RC_HUGE_PAGES_NEVER);
  machine.write(folder + "hugepages-2048kB/enabled",
                "always inherit [madvise] never");
  EXPECT_EQ(mode(), RC_HUGE_PAGES_MADVISE);
  machine.write(folder + "enabled", "sometimes");
  EXPECT_EQ(mode(), RC_HUGE_PAGES_UNKNOWN);
}

TEST(HugePages, AreReportedInTheDeviceInfo) {
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  ASSERT_EQ(plugin()->device_info(0, &info, message), RC_OK) << message;
  EXPECT_EQ(info.huge_pages, huge_pages().mode);
  EXPECT_EQ(info.numa_nodes, static_cast<int32_t>(usable_nodes().size()));
}

}  // namespace
}  // namespace rc::cpu
