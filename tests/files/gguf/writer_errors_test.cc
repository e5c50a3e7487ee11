// Each misuse of a writer by its message, and the nearest use that is none.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "files/gguf/writer.h"

namespace rc::gguf {
namespace {

const Writer::Producer kNone = [](const Writer::Put&) {};

// "" if nothing is thrown.
std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << error.message();
    return error.message();
  }
  return "";
}

TEST(GgufWriterErrors, NameInvalidTensors) {
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
    const std::string message = refusal_of(
        [&] { writer.add_tensor(item.name, item.dtype, item.shape, kNone); });
    if (item.message.empty()) {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_NE(message.find(item.message), std::string::npos) << message;
    }
  }
}

TEST(GgufWriterErrors, NameDuplicatesAndWrongSizes) {
  Writer writer;
  const int64_t shape[] = {32};
  const std::vector<float> values(33);
  const std::span<const float> floats(values);
  writer.add("k", true);
  writer.add_tensor("t", RC_DTYPE_F32, shape, floats.first(32));
  const auto add = [&](DType dtype, size_t count) {
    return refusal_of(
        [&] { writer.add_tensor("u", dtype, shape, floats.first(count)); });
  };
  EXPECT_EQ(refusal_of([&] { writer.add("k", false); }),
            "key 'k' is already there");
  EXPECT_EQ(refusal_of([&] { writer.add("general.alignment", uint32_t{32}); }),
            "key 'general.alignment' is already there");
  EXPECT_EQ(refusal_of([&] {
              writer.add_tensor("t", RC_DTYPE_F32, shape, floats.first(32));
            }),
            "tensor 't' is already there");
  EXPECT_EQ(add(RC_DTYPE_F32, 31), "tensor 'u' has 32 elements, 31 were given");
  EXPECT_EQ(add(RC_DTYPE_F32, 33), "tensor 'u' has 32 elements, 33 were given");
  EXPECT_EQ(refusal_of([&] {
              writer.add_tensor("u", RC_DTYPE_F32, shape,
                                std::as_bytes(floats.first(33)));
            }),
            "tensor 'u' has 128 bytes, 132 were given");
  EXPECT_EQ(refusal_of([&] { writer.add("", true); }),
            "key '' must be UTF-8 of 1 to 65535 bytes");
  EXPECT_NE(refusal_of([&] {
              writer.add(std::string(65536, 'k'), true);
            }).find("must be UTF-8 of 1 to 65535 bytes"),
            std::string::npos);
  EXPECT_EQ(refusal_of([&] { writer.add(std::string(65535, 'k'), true); }), "");
  EXPECT_EQ(refusal_of([] { Writer odd(0); }),
            "alignment 0 is not a power of two");
  EXPECT_EQ(refusal_of([] { Writer odd(3); }),
            "alignment 3 is not a power of two");
  EXPECT_EQ(refusal_of([] { Writer even(1); }), "");
}

TEST(GgufWriterErrors, NameTheBytesOfAProducer) {
  const int64_t shape[] = {32};
  for (const size_t given : {0, 31, 32, 33}) {
    Writer writer;
    writer.add_tensor("t", RC_DTYPE_I8, shape, [given](const Writer::Put& put) {
      put(std::vector<std::byte>(given));
    });
    EXPECT_EQ(refusal_of([&] { writer.write_memory(); }),
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
    return refusal_of(
        [&] { writer->add_tensor(name, RC_DTYPE_F64, shape, kNone); });
  };
  const auto size = [](const Writer& writer) {
    return refusal_of([&] { writer.size(); });
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

}  // namespace
}  // namespace rc::gguf
