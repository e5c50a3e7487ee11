// Reports of commands on huge pages and nodes of memory.
#include <nlohmann/json.hpp>

#include "command.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

TEST(CommandNodes, PlanReportsHugePagesAndNumaOfWeights) {
  const std::vector<std::string> plan = {"plan", model(), "--backend", "cpu"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), plan.begin(), plan.end());
    return run(more);
  };
  const Json json = Json::parse(with({"--json"}).out);
  const Json& device = json["devices"][0];
  const std::string mode = device["huge_pages"];
  EXPECT_LE(device["huge_page_weights"], device["weights"]);
  const std::string text = with({}).out;
  EXPECT_EQ(text.find("huge pages") != std::string::npos, mode != "unknown");
  if (mode != "unknown") {
    EXPECT_NE(text.find("of the weights (" + mode + ")"), std::string::npos)
        << text;
  }
  // With one node NUMA is not mentioned.
  const Json off = Json::parse(with({"--json", "--numa", "off"}).out);
  EXPECT_EQ(off["devices"][0]["numa"], "off");
  EXPECT_EQ(with({"--numa", "off"}).out.find("NUMA"), std::string::npos);
  expect_failure(with({"--numa", "distribute"}), 2, "--numa");
}

TEST(CommandNodes, DevicesReportHugePagesAndNuma) {
  const Json json = Json::parse(run({"devices", "--json"}).out);
  const std::string text = run({"devices"}).out;
  for (const Json& device : json["devices"]) {
    if (!device["available"].get<bool>()) continue;
    EXPECT_GE(device["numa_nodes"], 0);
    EXPECT_TRUE(device["huge_pages"].is_string());
    if (device["id"] != "cpu:0") continue;
    EXPECT_EQ(text.find("of memory (NUMA)") != std::string::npos,
              device["numa_nodes"] > 1);
  }
}

}  // namespace
}  // namespace rc::test
