#include "op_table.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

namespace cli {
namespace {

struct Line {
  uint64_t count = 0;
  double microseconds = 0;
  double bytes = 0;
  double operations = 0;
};

// By device, op and type.
using Key = std::tuple<std::string, std::string, std::string>;

std::map<Key, Line> lines_of(const nlohmann::json& trace) {
  std::map<int, std::string> devices;
  std::map<Key, Line> lines;
  for (const auto& event : trace.at("traceEvents")) {
    const int row = event.at("tid").get<int>();
    const auto& about = event.at("args");
    if (event.at("ph") == "M") {
      devices[row] = about.at("name").get<std::string>();
      continue;
    }
    // "Q4_K [2048, 5632]"
    const auto detail = about.at("detail").get<std::string>();
    Line& line = lines[{devices[row], event.at("name").get<std::string>(),
                        detail.substr(0, detail.find(' '))}];
    ++line.count;
    line.microseconds += event.at("dur").get<double>();
    line.bytes += about.at("bytes").get<double>();
    line.operations += about.at("operations").get<double>();
  }
  return lines;
}

}  // namespace

std::string op_table(const std::string& trace) {
  const std::map<Key, Line> lines = lines_of(nlohmann::json::parse(trace));
  if (lines.empty()) return "the device reports no times of ops\n";
  double whole = 0;
  for (const auto& [key, line] : lines) whole += line.microseconds;
  std::vector<const std::pair<const Key, Line>*> order;
  for (const auto& entry : lines) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.microseconds > b->second.microseconds;
  });
  char text[256];
  std::snprintf(text, sizeof text, "%-12s %-16s %-8s %9s %11s %7s %8s %9s\n",
                "device", "op", "type", "runs", "ms", "share", "GB/s",
                "GFLOP/s");
  std::string table = text;
  for (const auto* entry : order) {
    const auto& [device, op, type] = entry->first;
    const Line& line = entry->second;
    const double seconds = std::max(line.microseconds, 1e-3) * 1e-6;
    std::snprintf(
        text, sizeof text,
        "%-12s %-16s %-8s %9llu %11.3f %6.1f%% %8.2f %9.2f\n", device.c_str(),
        op.c_str(), type.c_str(), static_cast<unsigned long long>(line.count),
        line.microseconds * 1e-3, 100 * line.microseconds / whole,
        line.bytes / seconds * 1e-9, line.operations / seconds * 1e-9);
    table += text;
  }
  return table;
}

}  // namespace cli
