#include "common/machine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/cat.h"
#include "base/machine.h"
#include "base/threads.h"
#include "base/words.h"
#include "common/system_files.h"

namespace rc::plugin {
namespace {

std::optional<double> number_in(const std::string& path) {
  const std::string file = contents(path);
  std::string_view text = file;
  return take_number<double>(text);
}

// The folders of this process's control group and of those above it, for one
// controller ("" in the unified hierarchy), the process's own first. Inside a
// container the path may be that of the host; then only the mounted root
// exists, which the list ends with.
std::vector<std::string> control_groups(const std::string& root,
                                        const std::string& controller) {
  std::vector<std::string> folders;
  const std::string file = contents("/proc/self/cgroup");
  std::string_view rest = file;
  while (const auto line = take_line(rest)) {
    const size_t first = line->find(':');
    const size_t second =
        first == line->npos ? first : line->find(':', first + 1);
    if (second == line->npos) continue;
    const std::string names =
        cat(",", line->substr(first + 1, second - first - 1), ",");
    if (names.find("," + controller + ",") == std::string::npos) continue;
    std::string path(line->substr(second + 1));
    while (path.size() > 1) {
      folders.push_back(root + path);
      path.resize(path.rfind('/'));
    }
  }
  folders.push_back(root);
  return folders;
}

// Processors' worth of time that control groups grant; infinity if unlimited.
double quota() {
  double cores = INFINITY;
  for (const std::string& folder : control_groups("/sys/fs/cgroup", "")) {
    // "max 100000" or "50000 100000"
    const std::string file = contents(folder + "/cpu.max");
    std::string_view text = file;
    const auto limit = take_number<double>(text);
    const auto period = take_number<double>(text);
    if (limit && period && *period > 0) {
      cores = std::min(cores, *limit / *period);
    }
  }
  for (const std::string& folder :
       control_groups("/sys/fs/cgroup/cpu", "cpu")) {
    const auto limit = number_in(folder + "/cpu.cfs_quota_us");
    const auto period = number_in(folder + "/cpu.cfs_period_us");
    if (limit && period && *limit > 0 && *period > 0) {
      cores = std::min(cores, *limit / *period);
    }
  }
  return cores;
}

}  // namespace

std::string processor_name() {
  for (const char* key : {"model name", "Model", "Hardware"}) {
    const auto name = field("/proc/cpuinfo", key);
    if (name && !name->empty()) return *name;
  }
#if defined(__aarch64__)
  return "aarch64 processor";
#elif defined(__wasm__)
  return "WebAssembly";
#else
  return "x86-64 processor";
#endif
}

int usable_cores() {
  if constexpr (!kThreads) return 1;
  const int cores = std::max(1, usable_processors());
  const double granted = quota();
  if (granted >= cores) return cores;
  return std::max(1, static_cast<int>(std::ceil(granted)));
}

namespace {

uint64_t kibibytes(const char* key) {
  const std::string text = field("/proc/meminfo", key).value_or("");
  std::string_view rest = text;
  return take_number<uint64_t>(rest).value_or(0) * 1024;
}

void limit_memory(Memory& memory, const std::string& limit_path,
                  const std::string& used_path) {
  const auto limit = number_in(limit_path);
  const auto used = number_in(used_path);
  if (!limit || !used || *limit <= 0 ||
      *limit >= static_cast<double>(memory.total)) {
    return;
  }
  memory.total = static_cast<uint64_t>(*limit);
  const uint64_t left = static_cast<uint64_t>(std::max(0.0, *limit - *used));
  memory.free = std::min(memory.free, left);
}

}  // namespace

Memory machine_memory() {
  if (const auto module = module_memory()) return {module->total, module->free};
  Memory memory{kibibytes("MemTotal"), kibibytes("MemAvailable")};
  for (const auto& folder : control_groups("/sys/fs/cgroup", "")) {
    limit_memory(memory, folder + "/memory.max", folder + "/memory.current");
  }
  for (const auto& folder : control_groups("/sys/fs/cgroup/memory", "memory")) {
    limit_memory(memory, folder + "/memory.limit_in_bytes",
                 folder + "/memory.usage_in_bytes");
  }
  return memory;
}

}  // namespace rc::plugin
