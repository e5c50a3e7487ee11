#include "compute/custom/kernel_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace rc::compute {
namespace {

TEST(KernelText, LineDirectivesMatchTheLinesOfTheBody) {
  const CustomSignature signature("x F32 [n] -> y F32 [n]", "");
  const DType types[] = {RC_DTYPE_F32, RC_DTYPE_F32};
  const std::string text = opencl_c_text(
      "twice", {"y[0] = z;", "#define z 2\n"}, signature, types, {1, 1, 1});
  const auto line = [&](const std::string& what) {
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(text.find(what));
    return std::to_string(1 + std::count(text.begin(), end, '\n'));
  };
  const std::string said = where_lines_begin(
      "twice", text, "twice on opencl:0: <kernel>:9:1: error");
  EXPECT_EQ(said, "\nline " + line("#define z") +
                      " of what was compiled is line 1 of twice head\nline " +
                      line("y[0]") +
                      " of what was compiled is line 1 of twice");
  EXPECT_EQ(where_lines_begin("twice", text, "twice:1:9: error"), "");
  EXPECT_EQ(where_lines_begin("twice", text, "twice head:1:9: error"), "");
}

}  // namespace
}  // namespace rc::compute
