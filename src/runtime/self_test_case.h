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

// A program and what it is run on. Its results are its outputs and, of those of
// tensor ops and caches, the ones that `results` names.
struct SelfTestCase {
  using Bytes = std::vector<std::byte>;

  std::string name;
  ProgramDescription description;
  std::vector<Bytes> weights;
  std::vector<Bytes> caches;
  std::vector<Bytes> inputs;  // of the most rows
  // One run for each.
  std::vector<int64_t> row_counts;
  // By index; where a program has no outputs and this is empty, the last one.
  std::vector<size_t> results;

  int64_t most_rows() const { return row_counts.back(); }
};

// For the opening of a device: what compiles quickly.
SelfTestCase opening_case();

// Returns the numbers that choose the kernels of the op; nothing for ops
// without a test.
std::optional<SelfTest::Kind> kind_of(const Op& op,
                                      const rc_plugin_value* values);

SelfTestCase case_of(const SelfTest::Kind& kind);

// Kinds that stand for all: each op with each type that it can have, at sizes
// of one, a few and many, odd ones among them.
std::vector<SelfTest::Kind> every_kind();

struct SelfTestResult {
  std::vector<double> numbers;
  bool exact = false;  // they are integers, and every one has to be right
};

// The results of each run on a device, by run.
std::vector<std::vector<SelfTestResult>> results_of(
    const SelfTestCase& test, const std::shared_ptr<Device>& device);

}  // namespace rc::runtime
