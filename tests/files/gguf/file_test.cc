#include "files/gguf/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>

#include "files/gguf/bytes.h"
#include "test_data.h"

namespace rc::gguf {
namespace {

using test::Bytes;

#define EXPECT_REFUSED(bytes, text)                              \
  do {                                                           \
    const std::string message = (bytes).refusal();               \
    EXPECT_NE(message.find(text), std::string::npos) << message; \
  } while (false)

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    return error.message();
  }
  return "no error";
}

TEST(File, ReadsEveryTypeOfMetadata) {
  const auto file = Bytes()
                        .header(0, 12, 2)
                        .key("u8", ValueType::kU8)
                        .number<uint8_t>(255)
                        .key("i8", ValueType::kI8)
                        .number<int8_t>(-128)
                        .key("u16", ValueType::kU16)
                        .number<uint16_t>(65535)
                        .key("i16", ValueType::kI16)
                        .number<int16_t>(-32768)
                        .key("u32", ValueType::kU32)
                        .number<uint32_t>(4294967295)
                        .key("i32", ValueType::kI32)
                        .number<int32_t>(-1)
                        .key("f32", ValueType::kF32)
                        .number<float>(1.5f)
                        .key("bool", ValueType::kBool)
                        .number<uint8_t>(2)
                        .key("string", ValueType::kString)
                        .text("a\0b")
                        .key("u64", ValueType::kU64)
                        .number<uint64_t>(uint64_t{1} << 63)
                        .key("i64", ValueType::kI64)
                        .number<int64_t>(std::numeric_limits<int64_t>::min())
                        .key("f64", ValueType::kF64)
                        .number<double>(0.1)
                        .open();
  EXPECT_EQ(file->version(), 2u);
  EXPECT_EQ(file->get_int("u8"), 255);
  EXPECT_EQ(file->get_int("i8"), -128);
  EXPECT_EQ(file->get_int("u16"), 65535);
  EXPECT_EQ(file->get_int("i16"), -32768);
  EXPECT_EQ(file->get_int("u32"), 4294967295);
  EXPECT_EQ(file->get_int("i32"), -1);
  EXPECT_EQ(file->get_int("i64"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(file->get_float("f32"), 1.5);
  EXPECT_EQ(file->get_float("f64"), 0.1);
  EXPECT_EQ(file->find_bool("bool"), true);
  EXPECT_EQ(file->get_string("string"), "a");
  EXPECT_EQ(message_of([&] { file->find_int("u64"); }),
            "test: key 'u64': 9223372036854775808 exceeds 2^63-1");
  EXPECT_EQ(message_of([&] { file->find_int("f32"); }),
            "test: key 'f32' has type f32, not an integer");
  EXPECT_EQ(message_of([&] { file->get_int("bool"); }),
            "test: key 'bool' has type bool, not an integer");
  EXPECT_EQ(message_of([&] { file->find_strings("string"); }),
            "test: key 'string' has type string, not an array of strings");
  EXPECT_EQ(message_of([&] { file->get_string("nothing"); }),
            "test: key 'nothing' is missing");
  EXPECT_EQ(file->find_int("nothing"), std::nullopt);
  EXPECT_EQ(file->find("nothing"), nullptr);
  EXPECT_EQ(file->entries()[8].key, "string");
}

TEST(File, ReadsArrays) {
  const auto file = Bytes()
                        .header(0, 7)
                        .key("u16", ValueType::kArray)
                        .array(ValueType::kU16, 2)
                        .number<uint16_t>(7)
                        .number<uint16_t>(65535)
                        .key("bools", ValueType::kArray)
                        .array(ValueType::kBool, 2)
                        .number<uint8_t>(0)
                        .number<uint8_t>(9)
                        .key("f64", ValueType::kArray)
                        .array(ValueType::kF64, 1)
                        .number<double>(2.5)
                        .key("strings", ValueType::kArray)
                        .array(ValueType::kString, 3)
                        .text("one")
                        .text("")
                        .text("\xFF")
                        .key("bytes", ValueType::kArray)
                        .array(ValueType::kI8, 2)
                        .number<int16_t>(-1)
                        .key("empty", ValueType::kArray)
                        .array(ValueType::kString, 0)
                        .key("nested", ValueType::kArray)
                        .array(ValueType::kArray, 2)
                        .array(ValueType::kU8, 1)
                        .number<uint8_t>(1)
                        .array(ValueType::kString, 1)
                        .text("x")
                        .open();
  EXPECT_EQ(file->find_ints("u16"), (std::vector<int64_t>{7, 65535}));
  EXPECT_EQ(file->find_ints("bools"), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(file->find_floats("f64"), (std::vector<float>{2.5f}));
  EXPECT_EQ(file->find_strings("strings"),
            (std::vector<std::string_view>{"one", "", "\xFF"}));
  EXPECT_EQ(file->find_bytes("bytes")->size(), 2u);
  EXPECT_EQ(file->find_strings("empty"), std::vector<std::string_view>());
  EXPECT_EQ(file->find("nested")->count, 2u);
  EXPECT_EQ(file->find("nested")->bytes.size(), 13u + 21u);
  EXPECT_EQ(message_of([&] { file->find_ints("f64"); }),
            "test: key 'f64' has type array of f64, not an array of integers");
  EXPECT_EQ(message_of([&] { file->find_int("u16"); }),
            "test: key 'u16' has type array of u16, not an integer");
  EXPECT_EQ(message_of([&] { file->find_ints("nested"); }),
            "test: key 'nested' has type array of array, not an array of "
            "integers");
}

TEST(File, ReadsTensors) {
  const auto file = Bytes()
                        .header(2, 0)
                        .tensor("weights", {64, 3}, RC_DTYPE_Q4_0, 32)
                        .tensor("bias", {2}, RC_DTYPE_F32, 0)
                        .align()
                        .number<float>(1)
                        .number<float>(2)
                        .align()
                        .zeros(3 * 36)
                        .open();
  ASSERT_EQ(file->tensors().size(), 2u);
  const Tensor& weights = file->tensors()[0];
  EXPECT_EQ(weights.shape, (std::vector<int64_t>{3, 64}));
  EXPECT_EQ(weights.bytes, 108u);
  const Tensor* bias = file->find_tensor("bias");
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(bias->offset % 32, 0u);
  float values[2];
  std::memcpy(values, file->read(*bias).data(), sizeof(values));
  EXPECT_EQ(values[1], 2.0f);
  file->read(*bias, 4, std::as_writable_bytes(std::span(values)).first(4));
  EXPECT_EQ(values[0], 2.0f);
  EXPECT_EQ(file->find_tensor("weight"), nullptr);
}

TEST(File, RefusesBadHeaders) {
  EXPECT_REFUSED(Bytes(), "it begins with ''");
  EXPECT_REFUSED(Bytes().number<uint32_t>(0x67676D6C), "'lmgg'");
  EXPECT_REFUSED(Bytes().header(0, 0, 1), "version 1");
  EXPECT_REFUSED(Bytes().header(0, 0, 0), "version 0");
  EXPECT_REFUSED(Bytes().header(0, 0, 4), "version 4");
  EXPECT_REFUSED(Bytes().header(0, 0, 0x03000000), "big-endian");
  EXPECT_REFUSED(Bytes().header(uint64_t(-1), 0), "18446744073709551615");
  EXPECT_REFUSED(Bytes().header(0, uint64_t{1} << 40), "metadata entries");
  EXPECT_REFUSED(Bytes().header(kMaxTensors + 1, 0).zeros(10'000'000),
                 "at most 131072");
  EXPECT_REFUSED(Bytes().header(0, kMaxEntries + 1).zeros(10'000'000),
                 "at most 65536");
}

TEST(File, RefusesBadEntries) {
  const auto entry = [](std::string_view key) {
    return Bytes().header(0, 1).key(key, ValueType::kU8).number<uint32_t>(0);
  };
  EXPECT_EQ(entry("k").refusal(), "");
  EXPECT_EQ(entry(std::string(65535, 'k')).refusal(), "");
  EXPECT_REFUSED(entry(std::string(65536, 'k')), "65536 bytes");
  EXPECT_REFUSED(entry(""), "empty");
  EXPECT_REFUSED(entry("\xC3("), "'\\xc3(': the key is not valid UTF-8");
  EXPECT_REFUSED(entry({"a\0b", 3}), "'a\\x00b': the key contains a zero byte");
  EXPECT_REFUSED(Bytes().header(0, 1).key("k", ValueType(13)).zeros(8),
                 "value type 13");
  EXPECT_REFUSED(
      Bytes().header(0, 1).key("k", ValueType::kArray).array(ValueType(13), 0),
      "value type 13");
  EXPECT_REFUSED(Bytes()
                     .header(0, 1)
                     .key("k", ValueType::kArray)
                     .array(ValueType::kF64, uint64_t{1} << 61)
                     .zeros(64),
                 "2305843009213693952 elements");
  Bytes nested;
  nested.header(0, 1).key("k", ValueType::kArray);
  for (int i = 0; i < kMaxArrayDepth - 1; ++i) {
    nested.array(ValueType::kArray, 1);
  }
  EXPECT_EQ(Bytes(nested).array(ValueType::kU8, 0).refusal(), "");
  EXPECT_REFUSED(
      Bytes(nested).array(ValueType::kArray, 1).array(ValueType::kU8, 0),
      "nested deeper than 4");
}

TEST(File, RefusesBadAlignment) {
  const auto aligned = [](uint32_t alignment) {
    return Bytes()
        .header(0, 1)
        .key("general.alignment", ValueType::kU32)
        .number(alignment);
  };
  EXPECT_EQ(aligned(1).refusal(), "");
  EXPECT_EQ(aligned(0x80000000).open()->alignment(), 0x80000000u);
  EXPECT_REFUSED(aligned(0), "0 is not a power of two");
  EXPECT_REFUSED(aligned(48), "48 is not a power of two");
  EXPECT_REFUSED(Bytes()
                     .header(0, 1)
                     .key("general.alignment", ValueType::kI32)
                     .number<int32_t>(32),
                 "type i32, not u32");
}

TEST(File, RefusesBadTensors) {
  const auto file = [](std::string_view name,
                       const std::vector<uint64_t>& dimensions, DType dtype,
                       uint64_t offset) {
    return Bytes()
        .header(1, 0)
        .tensor(name, dimensions, dtype, offset)
        .align()
        .zeros(256);
  };
  EXPECT_EQ(file("t", {64}, RC_DTYPE_F32, 0).refusal(), "");
  EXPECT_EQ(file("t", {2, 2, 2, 2}, RC_DTYPE_F32, 64).refusal(), "");
  EXPECT_EQ(file(std::string(64, 't'), {1}, RC_DTYPE_I8, 0).refusal(), "");
  EXPECT_REFUSED(file(std::string(65, 't'), {1}, RC_DTYPE_I8, 0), "65 bytes");
  EXPECT_REFUSED(file("", {1}, RC_DTYPE_I8, 0), "name is empty");
  EXPECT_REFUSED(file("\xED\xA0\x80", {1}, RC_DTYPE_I8, 0), "UTF-8");
  EXPECT_REFUSED(file({"a\0b", 3}, {1}, RC_DTYPE_I8, 0),
                 "'a\\x00b': the name contains a zero byte");
  EXPECT_REFUSED(file("t", {}, RC_DTYPE_F32, 0), "0 dimensions");
  EXPECT_REFUSED(file("t", {1, 1, 1, 1, 1}, RC_DTYPE_F32, 0), "5 dimensions");
  EXPECT_REFUSED(file("t", {0}, RC_DTYPE_F32, 0), "dimension 0 is 0");
  EXPECT_REFUSED(file("t", {1, uint64_t(-1)}, RC_DTYPE_F32, 0),
                 "dimension 1 is 18446744073709551615");
  EXPECT_REFUSED(file("t", {1u << 30, 1u << 30, 1u << 30}, RC_DTYPE_F32, 0),
                 "elements exceeds");
  EXPECT_REFUSED(file("t", {uint64_t{1} << 62}, RC_DTYPE_F64, 0),
                 "elements of");
  EXPECT_REFUSED(file("t", {65}, RC_DTYPE_F32, 0), "beyond the end");
  EXPECT_REFUSED(file("t", {64}, RC_DTYPE_F32, 32), "beyond the end");
  EXPECT_REFUSED(file("t", {1}, RC_DTYPE_F32, uint64_t(-32)), "beyond the end");
  EXPECT_REFUSED(file("t", {1}, RC_DTYPE_F32, 16), "multiple of the alignment");
  EXPECT_REFUSED(file("t", {16}, RC_DTYPE_Q8_0, 0), "block of Q8_0");
  EXPECT_REFUSED(file("t", {32}, 4, 0), "type 4");
  EXPECT_REFUSED(file("t", {32}, 42, 0), "type 42");
  EXPECT_REFUSED(file("t", {32}, -1, 0), "type -1");
}

TEST(File, RefusesOverlapsButNotGapsOrDisorder) {
  const auto file = [](uint64_t first, uint64_t second) {
    return Bytes()
        .header(2, 0)
        .tensor("a", {12}, RC_DTYPE_F32, first)
        .tensor("b", {12}, RC_DTYPE_F32, second)
        .align()
        .zeros(256);
  };
  EXPECT_EQ(file(0, 64).refusal(), "");
  EXPECT_EQ(file(64, 0).refusal(), "");
  EXPECT_EQ(file(0, 192).refusal(), "");
  EXPECT_REFUSED(file(0, 32), "'a' and 'b' overlap");
  EXPECT_REFUSED(file(96, 64), "'b' and 'a' overlap");
  EXPECT_REFUSED(file(64, 64), "overlap");
}

TEST(File, ViewsLiveAsLongAsTheFile) {
  auto owner = std::make_shared<std::string>(Bytes().header(0, 0).data());
  const std::weak_ptr<std::string> watch = owner;
  auto file = File::from_memory(owner, std::as_bytes(std::span(*owner)), "x");
  owner.reset();
  EXPECT_FALSE(watch.expired());
  file.reset();
  EXPECT_TRUE(watch.expired());
}

// Returns the number of bytes that a file needs: it may end with padding.
size_t needed_bytes(const File& file, std::span<const std::byte> bytes) {
  size_t needed = 0;
  for (const Entry& entry : file.entries()) {
    needed = std::max<size_t>(
        needed, entry.bytes.data() + entry.bytes.size() - bytes.data());
  }
  for (const Tensor& tensor : file.tensors()) {
    needed = std::max<size_t>(needed, tensor.offset + tensor.bytes);
  }
  return needed;
}

TEST(File, TruncationsOfEveryFixtureAreRefused) {
  int files = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(
           rc::test::source_path("tests/golden"))) {
    if (item.path().extension() != ".gguf") continue;
    const auto source = OpenFile::open(item.path().string());
    std::vector<std::byte> bytes(source->size());
    source->read(0, bytes, "all");
    const size_t needed =
        needed_bytes(*File::from_memory(nullptr, bytes, "whole"), bytes);
    // Each cut reads all that is left of the file.
    const size_t step = std::max<size_t>(64, needed / 200);
    for (size_t size = 0; size < needed; size += step) {
      // A copy, so that reading beyond its end is noticed by a sanitizer.
      const auto copy = std::make_shared<std::vector<std::byte>>(
          bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
      ASSERT_NE(message_of([&] { File::from_memory(copy, *copy, "cut"); }),
                "no error")
          << item.path() << " cut at " << size;
    }
    ++files;
  }
  EXPECT_GT(files, 20);
}

TEST(File, RealModelsAreRead) {
  const auto file =
      File::open(rc::test::source_path("examples/model/fable.gguf").string());
  EXPECT_EQ(file->get_string("general.architecture"), "llama");
  EXPECT_EQ(file->get_int("llama.block_count"), 4);
  EXPECT_EQ(file->find_strings("tokenizer.ggml.tokens")->size(), 2048u);
  const Tensor* embeddings = file->find_tensor("token_embd.weight");
  ASSERT_NE(embeddings, nullptr);
  EXPECT_EQ(embeddings->shape, (std::vector<int64_t>{2048, 192}));
  EXPECT_NO_THROW(file->check_unchanged());
}

}  // namespace
}  // namespace rc::gguf
