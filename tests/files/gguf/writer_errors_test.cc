// Each misuse of a writer by its message, and the nearest use that is none.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "files/gguf/parts.h"
#include "files/gguf/writer.h"
#include "temporary.h"

namespace rc::gguf {
namespace {

const Writer::Producer kNone = [](const Writer::Put&) {};

// "" if nothing is thrown.
std::string message_of(const std::function<void()>& call,
                       rc_status status = RC_E_INVALID_ARGUMENT) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    return error.message();
  }
  return "";
}

TEST(GgufWriterErrors, NameTensorsThatCannotBe) {
  constexpr int64_t kHuge = int64_t{1} << 30;
  const std::string long_name(64, 'n');
  const struct {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::string message;
  } cases[] = {
      {"t", RC_DTYPE_F32, {1}, ""},
      {"", RC_DTYPE_F32, {1}, "tensor name '' must be UTF-8 of 1 to 64 bytes"},
      {"\xFF", RC_DTYPE_F32, {1}, "tensor name '\\xff' must be UTF-8"},
      {long_name, RC_DTYPE_F32, {1}, ""},
      {long_name + "n", RC_DTYPE_F32, {1}, "must be UTF-8 of 1 to 64 bytes"},
      {"t", RC_DTYPE_F32, {}, "tensor 't' has 0 dimensions; 1 to 4"},
      {"t", RC_DTYPE_F32, {1, 1, 1, 1}, ""},
      {"t", RC_DTYPE_F32, {1, 1, 1, 1, 1}, "tensor 't' has 5 dimensions"},
      {"t", RC_DTYPE_Q8_0, {32}, ""},
      {"t", RC_DTYPE_Q8_0, {2, 33}, "'t': rows of 33 elements cannot be Q8_0"},
      {"t", RC_DTYPE_Q8_0, {2, 31}, "'t': rows of 31 elements cannot be Q8_0"},
      {"t", RC_DTYPE_F32, {0, 2}, "tensor 't' has a dimension of 0"},
      {"t", RC_DTYPE_F32, {-1, 2}, "tensor 't' has a dimension of -1"},
      {"t", RC_DTYPE_F32, {2, 0}, "tensor 't' has a dimension of 0"},
      {"t", RC_DTYPE_F32, {kHuge, kHuge}, ""},
      {"t",
       RC_DTYPE_F32,
       {kHuge, kHuge, 4},
       "tensor 't' exceeds 2^63-1 elements"},
      {"t",
       RC_DTYPE_I8,
       {kHuge, kHuge, 8},
       "tensor 't' exceeds 2^63-1 elements"},
      {"t",
       RC_DTYPE_F64,
       {kHuge, 2 * kHuge},
       "'t' exceeds 2^63-1 elements or 2^64-1 bytes"},
      {"t",
       RC_DTYPE_F64,
       {kHuge, kHuge, 2},
       "'t' exceeds 2^63-1 elements or 2^64-1 bytes"},
      {"t", RC_DTYPE_F64, {kHuge, 2 * kHuge - 1}, ""},
  };
  for (const auto& item : cases) {
    Writer writer;
    const std::string message = message_of(
        [&] { writer.add_tensor(item.name, item.dtype, item.shape, kNone); });
    if (item.message.empty()) {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_NE(message.find(item.message), std::string::npos) << message;
    }
  }
}

TEST(GgufWriterErrors, NameWhatIsThereTwiceOrOfAnotherSize) {
  Writer writer;
  const int64_t shape[] = {32};
  const std::vector<float> values(33);
  const std::span<const float> floats(values);
  writer.add("k", true);
  writer.add_tensor("t", RC_DTYPE_F32, shape, floats.first(32));
  const auto add = [&](DType dtype, size_t count) {
    return message_of(
        [&] { writer.add_tensor("u", dtype, shape, floats.first(count)); });
  };
  EXPECT_EQ(message_of([&] { writer.add("k", false); }),
            "key 'k' is already there");
  EXPECT_EQ(message_of([&] { writer.add("general.alignment", uint32_t{32}); }),
            "key 'general.alignment' is already there");
  EXPECT_EQ(message_of([&] {
              writer.add_tensor("t", RC_DTYPE_F32, shape, floats.first(32));
            }),
            "tensor 't' is already there");
  EXPECT_EQ(add(RC_DTYPE_F32, 31), "tensor 'u' has 32 elements, 31 were given");
  EXPECT_EQ(add(RC_DTYPE_F32, 33), "tensor 'u' has 32 elements, 33 were given");
  EXPECT_EQ(message_of([&] {
              writer.add_tensor("u", RC_DTYPE_F32, shape,
                                std::as_bytes(floats.first(33)));
            }),
            "tensor 'u' has 128 bytes, 132 were given");
  EXPECT_EQ(message_of([&] { writer.add("", true); }),
            "key '' must be UTF-8 of 1 to 65535 bytes");
  EXPECT_NE(message_of([&] {
              writer.add(std::string(65536, 'k'), true);
            }).find("must be UTF-8 of 1 to 65535 bytes"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { writer.add(std::string(65535, 'k'), true); }), "");
  EXPECT_EQ(message_of([] { Writer odd(0); }),
            "alignment 0 is not a power of two");
  EXPECT_EQ(message_of([] { Writer odd(3); }),
            "alignment 3 is not a power of two");
  EXPECT_EQ(message_of([] { Writer even(1); }), "");
}

TEST(GgufWriterErrors, NameWhatAProducerGave) {
  const int64_t shape[] = {32};
  for (const size_t given : {0, 31, 32, 33}) {
    Writer writer;
    writer.add_tensor("t", RC_DTYPE_I8, shape, [given](const Writer::Put& put) {
      put(std::vector<std::byte>(given));
    });
    EXPECT_EQ(message_of([&] { writer.write_memory(); }),
              given == 32
                  ? ""
                  : cat("tensor 't' has 32 bytes, its producer gave ", given));
  }
}

// Sizes near 2^64, of which only the description is written.
TEST(GgufWriterErrors, NameFilesThatAreTooLarge) {
  constexpr int64_t kHalf = int64_t{1} << 60;  // of F64: 2^63 bytes
  const char* exceeds = "the file exceeds 2^64 bytes";
  const auto add = [](Writer* writer, const char* name, int64_t columns) {
    const int64_t shape[] = {columns};
    return message_of(
        [&] { writer->add_tensor(name, RC_DTYPE_F64, shape, kNone); });
  };
  const auto size = [](const Writer& writer) {
    return message_of([&] { writer.size(); });
  };
  Writer two;
  EXPECT_EQ(add(&two, "a", kHalf), "");
  EXPECT_EQ(add(&two, "b", kHalf), exceeds);
  EXPECT_EQ(size(two), "");
  EXPECT_EQ(add(&two, "b", kHalf - 64), "");
  EXPECT_EQ(size(two), "");
  // Data that no aligned tensor can follow.
  Writer odd;
  EXPECT_EQ(add(&odd, "a", 2 * kHalf - 1), "");
  EXPECT_EQ(add(&odd, "b", 1), exceeds);
  EXPECT_EQ(size(odd), exceeds);
  // A header before it that does not fit.
  Writer full;
  EXPECT_EQ(add(&full, "a", 2 * kHalf - 4), "");
  EXPECT_EQ(size(full), exceeds);
}

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
  std::string refusal(const std::string& path, rc_status status) const {
    return message_of([&] { join_parts(File::open(path)); }, status);
  }

  test::TemporaryFolder folder_;
};

TEST_F(GgufPartErrors, NameNumbersThatCannotBe) {
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

TEST_F(GgufPartErrors, NamePartsThatAreAlignedInAnotherWay) {
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
