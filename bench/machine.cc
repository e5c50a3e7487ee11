// Prints the machine and its measured limits as JSON.
//
//   machine [--threads N]

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "limits.h"

namespace {

// The first value of a key of /proc/cpuinfo; "" if there is none.
std::string cpu_info(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

// As the kernel says it, "32768K"; "" if it does not.
std::string last_level_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::string size;
  file >> size;
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 0;
  if (argc == 3 && std::strcmp(argv[1], "--threads") == 0) {
    threads = std::atoi(argv[2]);
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: machine [--threads N]\n");
    return 2;
  }
  const rc::bench::Limits limits = rc::bench::measure_limits(threads);
  utsname system{};
  uname(&system);
  const nlohmann::ordered_json json = {
      {"processor", cpu_info("model name")},
      {"family", cpu_info("cpu family")},
      {"model", cpu_info("model\t")},
      {"architecture", system.machine},
      {"threads", limits.threads},
      {"last_level_cache", last_level_cache()},
      {"memory_gb", static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e9},
      {"read_gb_per_s", limits.read_rate * 1e-9},
      {"int8_tera_ops", limits.int8_rate * 1e-12},
      {"int8_instruction", limits.int8_instruction},
      {"f32_tera_ops", limits.f32_rate * 1e-12},
      {"f32_instruction", limits.f32_instruction},
  };
  std::cout << json.dump(2) << "\n";
  return 0;
}
