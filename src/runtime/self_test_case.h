// Small programs that use the kernels of an op, for SelfTest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/program.h"
#include "runtime/self_test.h"

namespace rc::runtime {

// A program and what it is run on.
struct SelfTestCase {
  using Bytes = std::vector<std::byte>;

  std::string name;
  ProgramDescription description;
  std::vector<Bytes> weights;
  std::vector<Bytes> caches;
  std::vector<Bytes> inputs;  // of the most rows
  // One run for each.
  std::vector<int64_t> row_counts;
  // F32 numbers of a row of the output. 0: the result is the last cache.
  int64_t columns = 0;
  // Of its integers every one has to be right.
  bool integers = false;

  int64_t most_rows() const { return row_counts.back(); }
};

// For the opening of a device: what compiles quickly.
SelfTestCase opening_case();

// What chooses the kernels of the op; nothing for ops without a test.
std::optional<SelfTest::Kind> kind_of(const Op& op,
                                      const rc_plugin_value* values);

SelfTestCase case_of(const SelfTest::Kind& kind);

// The results of each run on a device.
std::vector<std::vector<double>> results_of(
    const SelfTestCase& test, const std::shared_ptr<Device>& device);

}  // namespace rc::runtime
