// Parts of a model that do not belong together, by the message, and the nearest
// ones that do.
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "files/gguf/parts.h"
#include "files/gguf/writer.h"
#include "temporary.h"

namespace rc::gguf {
namespace {

class GgufPartErrors : public testing::Test {
 protected:
  std::string path(int number, int count) const {
    const auto digits = [](int value) {
      std::string text = std::to_string(value);
      return std::string(5 - text.size(), '0') + text;
    };
    return (folder_.path() /
            cat("m-", digits(number), "-of-", digits(count), ".gguf"))
        .string();
  }
  void write(const std::string& path, int32_t number, int32_t count,
             int32_t total, int tensors, uint32_t alignment = 32) const {
    Writer writer(alignment);
    writer.add("split.no", number);
    writer.add("split.count", count);
    writer.add("split.tensors.count", total);
    const int64_t one[] = {1};
    const std::byte value[1] = {};
    for (int i = 0; i < tensors; ++i) {
      writer.add_tensor(cat("t", number, ".", i), RC_DTYPE_I8, one,
                        std::span(value));
    }
    writer.write_file(path);
  }
  // "" if they are joined.
  std::string refusal(const std::string& path, rc_status status) const {
    try {
      join_parts(File::open(path));
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.message();
      return error.message();
    }
    return "";
  }

  rc::test::TemporaryFolder folder_;
};

TEST_F(GgufPartErrors, NameInvalidPartNumbers) {
  const std::string file = path(1, 2);
  const auto expect = [&](int number, int count, rc_status status,
                          const std::string& message) {
    write(file, number, count, 2, 1);
    const std::string text = refusal(file, status);
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  expect(0, -1, RC_E_FORMAT, "split.count is -1; 0 to 4096 are possible");
  expect(0, 4097, RC_E_FORMAT, "split.count is 4097; 0 to 4096 are possible");
  expect(0, 4096, RC_E_FORMAT, ": it is part 1 of 4096 of a model; its name");
  expect(-1, 2, RC_E_FORMAT, "split.no is -1; with a split.count of 2, 0 to 1");
  expect(2, 2, RC_E_FORMAT, "split.no is 2; with a split.count of 2, 0 to 1");
  expect(1, 2, RC_E_FORMAT, ": it is part 2 of 2 of a model; its name must");
  expect(0, 2, RC_E_NOT_FOUND, " is missing, which belongs to " + file);
  write(file, 0, 0, 2, 1);
  EXPECT_EQ(refusal(file, RC_E_FORMAT), "");
}

TEST_F(GgufPartErrors, NamePartsWithAnotherAlignment) {
  write(path(1, 2), 0, 2, 2, 1);
  write(path(2, 2), 1, 2, 2, 1, 64);
  const std::string message = refusal(path(1, 2), RC_E_FORMAT);
  // The key for it differs, too.
  EXPECT_NE(message.find("00002.gguf: key 'general.alignment' is not in "),
            std::string::npos)
      << message;
  write(path(1, 2), 0, 2, 2, 1, 64);
  EXPECT_EQ(refusal(path(1, 2), RC_E_FORMAT), "");
  // Only the first one has the key.
  write(path(2, 2), 1, 2, 2, 1);
  const std::string other = refusal(path(2, 2), RC_E_FORMAT);
  EXPECT_NE(other.find("00002.gguf: its tensors are aligned to 32 bytes, "
                       "those of "),
            std::string::npos)
      << other;
  EXPECT_NE(
      other.find("00001-of-00002.gguf to 64; it belongs to another model"),
      std::string::npos)
      << other;
}

TEST_F(GgufPartErrors, NameMoreTensorsThanAFileHas) {
  constexpr int kHalf = static_cast<int>(kMaxTensors / 2);
  write(path(1, 2), 0, 2, 2 * kHalf, kHalf, 1);
  write(path(2, 2), 1, 2, 2 * kHalf, kHalf, 1);
  EXPECT_EQ(refusal(path(1, 2), RC_E_FORMAT), "");
  write(path(1, 2), 0, 2, 2 * kHalf + 1, kHalf, 1);
  write(path(2, 2), 1, 2, 2 * kHalf + 1, kHalf + 1, 1);
  const std::string message = refusal(path(1, 2), RC_E_FORMAT);
  EXPECT_NE(message.find(": its parts hold 131073 tensors; at most 131072"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace rc::gguf
