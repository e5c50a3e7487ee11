// The greatest and the least that a file may announce, and one more or less.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "files/gguf/bytes.h"
#include "files/gguf/parser.h"
#include "files/gguf/verify.h"
#include "files/gguf/writer.h"

namespace rc::gguf {
namespace {

using test::Bytes;

void expect_refused(const Bytes& bytes, const std::string& message) {
  EXPECT_NE(bytes.refusal().find(message), std::string::npos)
      << bytes.refusal();
}

// An entry has 14 bytes at least: a length, a letter, a type and a value.
TEST(GgufLimits, EntriesMustFitIntoTheFile) {
  const auto file = [](uint64_t announced, size_t more) {
    return Bytes()
        .header(0, announced)
        .key("a", ValueType::kU8)
        .number<uint8_t>(1)
        .key("b", ValueType::kU8)
        .number<uint8_t>(2)
        .zeros(more);
  };
  EXPECT_EQ(file(2, 0).refusal(), "");
  EXPECT_EQ(file(2, 0).data().size(), 24u + 2 * 14);
  expect_refused(file(3, 13),
                 "the header announces 3 metadata entries; at most 2 are "
                 "possible in a file of 65 bytes");
  expect_refused(file(3, 14), "metadata entry 2: its key is empty");
}

// A tensor has 33 bytes at least: a length, a letter, a rank, a dimension, a
// type and an offset.
TEST(GgufLimits, TensorsMustFitIntoTheFile) {
  const Bytes one = Bytes().header(1, 0).tensor("t", {1}, RC_DTYPE_I8, 0);
  EXPECT_EQ(one.data().size(), 24u + 33);
  const auto two = [](size_t more) {
    return Bytes().header(2, 0).tensor("t", {1}, RC_DTYPE_I8, 0).zeros(more);
  };
  expect_refused(two(32),
                 "the header announces 2 tensors; at most 1 are possible in a "
                 "file of 89 bytes");
  expect_refused(two(33), "tensor 1: its name is empty");
}

TEST(GgufLimits, TruncationErrorNamesThePart) {
  const struct {
    Bytes file;
    const char* message;
  } cases[] = {
      {Bytes().header(0, 0), ""},
      {Bytes().header(0, 1).key("k", ValueType::kU32).zeros(3),
       "key 'k': the file ends within the value: 4 bytes expected at byte 37, "
       "3 are left; the file is truncated or damaged"},
      {Bytes().header(0, 1).number<uint64_t>(7).zeros(6),
       "metadata entry 0: the file ends within its key: 7 bytes expected at "
       "byte 32, 6 are left"},
      {Bytes().header(0, 1).number<uint64_t>(6).zeros(6), "the key "},
  };
  for (const auto& item : cases) {
    if (*item.message == '\0') {
      EXPECT_EQ(item.file.refusal(), "");
    } else {
      expect_refused(item.file, item.message);
    }
  }
}

// The metadata of a file that is large enough for it.
TEST(GgufLimits, MetadataHasABoundedSize) {
  const Bytes start = Bytes().header(0, 1);
  const auto parse = [&](uint64_t key_bytes) {
    const std::string bytes = Bytes(start).number(key_bytes).data();
    Parser(std::as_bytes(std::span(bytes)), 2 * kMaxHeaderBytes, "big")
        .parse(nullptr, nullptr);
  };
  const uint64_t before = start.data().size() + sizeof(uint64_t);
  try {
    parse(kMaxHeaderBytes - before);
    FAIL() << "not enough bytes are there";
  } catch (const Parser::NeedsMore& more) {
    EXPECT_EQ(more.bytes, kMaxHeaderBytes);
  }
  try {
    parse(kMaxHeaderBytes - before + 1);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT);
    EXPECT_EQ(error.message(),
              "big: metadata entry 0: its key reaches to byte 268435457; "
              "metadata of at most 268435456 bytes are possible");
  }
}

TEST(GgufLimits, DataBeginsWithinTheFile) {
  const auto file = [](size_t size) {
    Bytes bytes = Bytes().header(1, 0).tensor("t", {1}, RC_DTYPE_I8, 0);
    return bytes.zeros(size - bytes.data().size());
  };
  expect_refused(file(63),
                 "the file ends at byte 63, before the data of its tensors");
  expect_refused(file(64),
                 "tensor 't': its 1 bytes at offset 0 reach beyond the end of "
                 "the file's 0 bytes of tensor data");
  EXPECT_EQ(file(65).refusal(), "");
}

TEST(GgufLimits, TensorsMayBeAdjacent) {
  const auto file = [](uint64_t columns) {
    return Bytes()
        .header(2, 0)
        .tensor("a", {columns}, RC_DTYPE_I8, 0)
        .tensor("b", {32}, RC_DTYPE_I8, 32)
        .align()
        .zeros(64);
  };
  EXPECT_EQ(file(32).refusal(), "");
  // Behind the header of 90 bytes the data begins at byte 96.
  expect_refused(file(33), "tensors 'a' and 'b' overlap at byte 128");
}

TEST(GgufLimits, LargestNumberOfTensorsIsWritten) {
  Writer writer(1);
  const int64_t one[] = {1};
  const std::byte value[1] = {};
  for (uint64_t i = 0; i < kMaxTensors; ++i) {
    writer.add_tensor(cat("t", i), RC_DTYPE_I8, one, std::span(value));
  }
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  EXPECT_EQ(File::from_memory(bytes, *bytes, "many")->tensors().size(),
            131072u);
  try {
    writer.add_tensor("more", RC_DTYPE_I8, one, std::span(value));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(), "a file has at most 131072 tensors");
  }
}

TEST(GgufLimits, VerifyStopsWhenProgressReturnsFalse) {
  Writer writer;
  const std::vector<float> values(1 << 20, 1.0f);
  const int64_t shape[] = {1 << 20};
  writer.add_tensor("t", RC_DTYPE_F32, shape, std::span(values));
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  const auto file = File::from_memory(bytes, *bytes, "whole");
  uint64_t last = 0;
  const auto progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GT(done, last);
    EXPECT_EQ(total, uint64_t{4} << 20);
    last = done;
    return done < 1 << 20;
  };
  try {
    verify(*file, progress);
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_CANCELLED);
    EXPECT_EQ(error.message(),
              cat("whole: stopped after ", last, " of 4194304 bytes"));
    EXPECT_GE(last, 1u << 20);
    EXPECT_LT(last, 2u << 20);
  }
}

}  // namespace
}  // namespace rc::gguf
