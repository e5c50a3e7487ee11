// Memory that functions which make tensors take before the limit of their
// handle allows it: none of the size of a result.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "failing_new.h"
#include "tensor_limit_cases.h"
#include "test_data.h"

namespace rc::test {
namespace {

// Far below the operands, far above what handles and messages take.
constexpr size_t kMostAtOnce = size_t{1} << 20;

uint64_t peak_memory(rc_backend* backend) {
  rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
  EXPECT_OK(rc_backend_usage(backend, &report));
  return report.peak_memory;
}

// Every function of the public headers that gives a tensor has a case.
TEST(TensorLimit, CoversEveryFunctionThatCreatesTensors) {
  std::set<std::string> known;
  for (const auto& [name, one] : tensor_limit_cases()) {
    known.insert(name.substr(0, name.find(',')));
  }
  std::set<std::string> declared = {"rc_pinned_create"};
  const std::regex declaration(
      "RC_API rc_status (rc_\\w+)\\(([^;]*)rc_tensor\\*\\* \\w+[^;]*;");
  for (const char* header : {"tensor", "op", "graph", "custom_op"}) {
    std::ifstream file(source_path("include/runcible/") /
                       (std::string(header) + ".h"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(text.empty()) << header;
    for (auto found =
             std::sregex_iterator(text.begin(), text.end(), declaration);
         found != std::sregex_iterator(); ++found) {
      declared.insert((*found)[1]);
    }
  }
  EXPECT_GT(declared.size(), 60u);
  EXPECT_EQ(known, declared);
}

TEST(TensorLimit, IsCheckedBeforeTheResultIsAllocated) {
  for (const auto& [name, one] : tensor_limit_cases()) {
    SCOPED_TRACE(name);
    Operands operands(Kind::kNumbers);
    const Call call = one.prepare(operands);
    const uint64_t before = peak_memory(operands.backend());
    rc_tensor* result = nullptr;
    static_cast<void>(take_largest_allocation());
    if (one.takes == Takes::kNothing) {
      EXPECT_OK(call(&result));
      EXPECT_EQ(peak_memory(operands.backend()), before);
    } else {
      EXPECT_FAILS(RC_E_DEVICE_MEMORY, call(&result), "tensor takes ",
                   " bytes of device memory",
                   "memory_limit of " + std::to_string(kLimit));
    }
    EXPECT_LT(take_largest_allocation(), kMostAtOnce);
    rc_tensor_release(result);
  }
}

// Nothing is computed for an outline, not even from operands with numbers.
TEST(TensorLimit, OutlinesTakeNoMemory) {
  for (const Kind kind : {Kind::kOutlines, Kind::kFirstOutline}) {
    for (const auto& [name, one] : tensor_limit_cases()) {
      SCOPED_TRACE(name + (kind == Kind::kOutlines ? "" : ", some numbers"));
      if (name == "rc_op_into, an op") continue;  // refuses outlines
      Operands operands(kind);
      const Call call = one.prepare(operands);
      if (operands.count() == 0) continue;
      const uint64_t before = peak_memory(operands.backend());
      rc_tensor* result = nullptr;
      static_cast<void>(take_largest_allocation());
      EXPECT_OK(call(&result));
      EXPECT_LT(take_largest_allocation(), kMostAtOnce);
      EXPECT_EQ(peak_memory(operands.backend()), before);
      rc_tensor_release(result);
    }
  }
}

// Filling takes many times as long on any machine.
TEST(TensorLimit, FillingEndsWithTheTimeout) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  options.timeout_ms = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  const Backend backend(opened);
  const int64_t size = int64_t{1} << 26;
  const Shape nothing = {size, 0};
  rc_tensor* made = nullptr;
  ASSERT_OK(rc_tensor_create(opened, RC_DTYPE_F32, nothing.data(), 2, &made));
  const Tensor empty(made);
  const std::vector<std::pair<const char*, Call>> calls = {
      {"arange",
       [&](rc_tensor** y) {
         return rc_tensor_arange(opened, RC_DTYPE_F32, 0,
                                 static_cast<double>(size), 1, y);
       }},
      {"ones",
       [&](rc_tensor** y) {
         return rc_tensor_ones(opened, RC_DTYPE_F32, &size, 1, y);
       }},
      {"random",
       [&](rc_tensor** y) {
         return rc_tensor_random(opened, &size, 1, nullptr, y);
       }},
      {"reduce_mean",
       [&](rc_tensor** y) { return rc_op_reduce_mean(empty.get(), 1, 0, y); }},
      {"pad",
       [&](rc_tensor** y) {
         rc_tensor* turned = nullptr;
         EXPECT_OK(rc_tensor_transpose(empty.get(), 0, 1, &turned));
         const Tensor kept(turned);
         return rc_op_pad(turned, 0, 1, 0, 1, y);
       }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    rc_tensor* result = nullptr;
    EXPECT_FAILS(RC_E_TIMEOUT, call(&result), std::to_string(4 * size),
                 " bytes was not filled after 1 ms", "timeout_ms");
    EXPECT_EQ(result, nullptr);
    rc_tensor_release(result);
  }
}

}  // namespace
}  // namespace rc::test
