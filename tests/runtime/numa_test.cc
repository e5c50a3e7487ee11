// The placement of weights and threads on NUMA nodes: the requested mode, and
// the mode with which a device is opened.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "fake_plugin.h"
#include "runtime/explain.h"
#include "runtime/registry.h"
#include "temporary.h"

namespace rc::runtime {
namespace {

using test::FakePlugin;
using test::TemporaryVariable;

// CPUs with one node, with two, and with an unknown number, during a test.
class Numa : public testing::Test {
 protected:
  Numa() {
    for (const int32_t nodes : {1, 2, 0}) {
      test::FakeDevice device;
      device.kind = RC_DEVICE_CPU;
      device.numa_nodes = nodes;
      cpu.devices.push_back(device);
    }
  }
  ~Numa() override { cpu.devices.clear(); }

  static test::FakeState& registered() {
    static const FakePlugin plugin = [] {
      FakePlugin made = test::make_fake_plugin("sockets");
      register_plugin(made.table);
      return made;
    }();
    return plugin.state;
  }

  test::FakeState& cpu = registered();
};

std::string explained(const char* spec, rc_numa numa) {
  DeviceOptions options;
  options.numa = numa;
  const auto account = nlohmann::json::parse(
      Explanation(select({spec, 0, options})).text({}, {}, "null"));
  return account["numa"];
}

TEST_F(Numa, IsInterleavedOnSeveralNodes) {
  const struct {
    const char* spec;
    rc_numa asked, opened;
    const char* name;
  } cases[] = {
      {"sockets:0", RC_NUMA_AUTO, RC_NUMA_OFF, "off"},
      {"sockets:0", RC_NUMA_LOCAL, RC_NUMA_OFF, "off"},
      {"sockets:1", RC_NUMA_AUTO, RC_NUMA_INTERLEAVE, "interleave"},
      {"sockets:1", RC_NUMA_OFF, RC_NUMA_OFF, "off"},
      {"sockets:1", RC_NUMA_INTERLEAVE, RC_NUMA_INTERLEAVE, "interleave"},
      {"sockets:1", RC_NUMA_LOCAL, RC_NUMA_LOCAL, "local"},
      {"sockets:2", RC_NUMA_AUTO, RC_NUMA_OFF, "off"},
  };
  for (const auto& c : cases) {
    cpu.numa = -1;
    EXPECT_EQ(explained(c.spec, c.asked), c.name) << c.spec << " " << c.asked;
    EXPECT_EQ(cpu.numa, c.opened) << c.spec << " " << c.asked;
  }
}

// Modes with the same effect share a device; one node has one mode.
TEST_F(Numa, EqualModesShareADevice) {
  const auto open = [](const char* spec, rc_numa numa) {
    DeviceOptions options;
    options.numa = numa;
    return select({spec, 0, options}).device;
  };
  const auto undecided = open("sockets:1", RC_NUMA_AUTO);
  EXPECT_EQ(undecided, open("sockets:1", RC_NUMA_INTERLEAVE));
  EXPECT_NE(undecided, open("sockets:1", RC_NUMA_LOCAL));
  EXPECT_EQ(open("sockets:0", RC_NUMA_OFF), open("sockets:0", RC_NUMA_LOCAL));
}

// The options of a device hold; RC_NUMA_AUTO is a value, too.
TEST_F(Numa, ConfigurationDoesNotOverrideOptions) {
  const TemporaryVariable local("RUNCIBLE_BACKEND_NUMA", "local");
  EXPECT_EQ(explained("sockets:1", RC_NUMA_AUTO), "interleave");
  EXPECT_EQ(explained("sockets:1", RC_NUMA_OFF), "off");
}

TEST_F(Numa, InvalidModeIsRefused) {
  for (const rc_numa numa : {-1, 4}) {
    try {
      explained("sockets:1", numa);
      FAIL() << "it was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find("numa is " + std::to_string(numa)),
                std::string::npos)
          << error.message();
    }
  }
}

}  // namespace
}  // namespace rc::runtime
