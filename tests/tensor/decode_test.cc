// Decoding against what ggml's scalar code made of the same blocks, and
// against values worked out by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "tensor/blocks.h"
#include "tensor/dtype.h"
#include "tensor/formats/formats.h"
#include "test_data.h"

namespace rc {
namespace {

std::vector<char> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Decodes NAME.blocks and compares with NAME.deq.f32, bit for bit.
void expect_golden(const std::filesystem::path& folder, const std::string& name,
                   DType dtype, int64_t count) {
  const auto blocks = read_bytes(folder / (name + ".blocks"));
  const auto wanted = read_bytes(folder / (name + ".deq.f32"));
  ASSERT_EQ(row_bytes(dtype, count), blocks.size()) << name;
  std::vector<float> decoded(static_cast<size_t>(count));
  ASSERT_EQ(wanted.size(), decoded.size() * sizeof(float)) << name;
  decode_row(dtype, blocks.data(), decoded.data(), count);
  for (size_t i = 0; i < decoded.size(); ++i) {
    ASSERT_EQ(std::memcmp(&decoded[i], &wanted[i * 4], 4), 0)
        << name << " element " << i << ": " << decoded[i];
  }
}

std::optional<DType> find_type(const std::string& name) {
  for (DType dtype = 0; dtype <= RC_DTYPE_Q1_0; ++dtype) {
    if (name == dtype_name(dtype)) return dtype;
  }
  return std::nullopt;
}

TEST(Decode, EqualsTheGoldenBlocksBitForBit) {
  const auto folder = test::source_path("tests/golden/blocks");
  std::ifstream index(folder / "index.json");
  std::set<std::string> compared;
  for (const auto& record : nlohmann::json::parse(index)) {
    const std::string name = record["name"];
    const auto dtype = find_type(name);
    ASSERT_TRUE(dtype) << name;
    const DTypeInfo* info = dtype_info(*dtype);
    EXPECT_EQ(info->block_size, record["values_per_block"]) << name;
    EXPECT_EQ(info->block_bytes, record["bytes_per_block"]) << name;
    expect_golden(folder, name, *dtype, record["values"]);
    compared.insert(name);
  }
  // Every decoder but those of plain types is covered.
  for (DType dtype = 0; dtype <= RC_DTYPE_Q1_0; ++dtype) {
    if (find_decoder(dtype) == nullptr) continue;
    if (dtype_info(dtype)->block_size == 1) continue;
    EXPECT_TRUE(compared.contains(dtype_name(dtype))) << dtype_name(dtype);
  }
}

TEST(Decode, EqualsGgmlBitForBit) {
  const auto folder = test::shared_path("golden/dequant");
  RC_NEED_SHARED(folder);
  std::ifstream index(folder / "index.jsonl");
  int compared = 0;
  for (std::string line; std::getline(index, line);) {
    const auto record = nlohmann::json::parse(line);
    const DType dtype = record["type"];
    const std::string name = record["name"];
    const DTypeInfo* info = dtype_info(dtype);
    ASSERT_NE(info, nullptr) << name;
    EXPECT_EQ(info->block_size, record["blck_size"]) << name;
    EXPECT_EQ(info->block_bytes, record["type_size"]) << name;
    expect_golden(folder, name, dtype, record["n"]);
    ++compared;
  }
  EXPECT_EQ(compared, 26);
}

TEST(Decode, DecodesQ8_1) {
  BlockQ8_1 block{};
  block.scale = f32_to_f16(0.5f);
  block.sum = f32_to_f16(100.0f);
  block.quants[0] = -128;
  block.quants[31] = 127;
  float values[32];
  decode_row(RC_DTYPE_Q8_1, &block, values, 32);
  EXPECT_EQ(values[0], -64.0f);
  EXPECT_EQ(values[1], 0.0f);
  EXPECT_EQ(values[31], 63.5f);
}

TEST(Decode, DecodesQ8_K) {
  BlockQ8_K block{};
  block.scale = -0.25f;
  block.quants[0] = 127;
  block.quants[255] = -127;
  float values[256];
  decode_row(RC_DTYPE_Q8_K, &block, values, 256);
  EXPECT_EQ(values[0], -31.75f);
  EXPECT_EQ(values[128], 0.0f);
  EXPECT_EQ(values[255], 31.75f);
}

TEST(Decode, DecodesPlainTypes) {
  float values[2];
  const double doubles[] = {0.1, -1e300};
  decode_row(RC_DTYPE_F64, doubles, values, 2);
  EXPECT_EQ(values[0], 0.1f);
  EXPECT_EQ(values[1], -std::numeric_limits<float>::infinity());
  const int8_t bytes[] = {-128, 127};
  decode_row(RC_DTYPE_I8, bytes, values, 2);
  EXPECT_EQ(values[0], -128.0f);
  EXPECT_EQ(values[1], 127.0f);
  const int16_t shorts[] = {-32768, 1};
  decode_row(RC_DTYPE_I16, shorts, values, 2);
  EXPECT_EQ(values[0], -32768.0f);
  const int32_t ints[] = {16777217, -5};
  decode_row(RC_DTYPE_I32, ints, values, 2);
  EXPECT_EQ(values[0], 16777216.0f);
  EXPECT_EQ(values[1], -5.0f);
  const int64_t longs[] = {std::numeric_limits<int64_t>::min(), 7};
  decode_row(RC_DTYPE_I64, longs, values, 2);
  EXPECT_EQ(values[0], -0x1p63f);
  EXPECT_EQ(values[1], 7.0f);
  const float floats[] = {1.5f, -0.0f};
  decode_row(RC_DTYPE_F32, floats, values, 2);
  EXPECT_EQ(std::memcmp(floats, values, sizeof(values)), 0);
}

TEST(Decode, ReadsBlocksAtAnyAddress) {
  BlockQ4_K block;
  std::memset(&block, 0x35, sizeof(block));
  float aligned[256], shifted[256];
  decode_row(RC_DTYPE_Q4_K, &block, aligned, 256);
  char buffer[sizeof(block) + 1];
  std::memcpy(buffer + 1, &block, sizeof(block));
  decode_row(RC_DTYPE_Q4_K, buffer + 1, shifted, 256);
  EXPECT_EQ(std::memcmp(aligned, shifted, sizeof(aligned)), 0);
}

TEST(Decode, RefusesPartsOfBlocksAndUnknownTypes) {
  char bytes[256] = {};
  float values[256];
  const auto status = [&](DType dtype, int64_t columns) -> rc_status {
    try {
      decode_row(dtype, bytes, values, columns);
    } catch (const Error& error) {
      return error.status();
    }
    return RC_OK;
  };
  EXPECT_EQ(status(RC_DTYPE_Q4_K, 128), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_Q4_0, -32), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(RC_DTYPE_NVFP4, 32), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status(kExpandedIQ2, 256), RC_E_UNSUPPORTED);
  EXPECT_EQ(status(31, 32), RC_E_UNSUPPORTED);
  EXPECT_EQ(status(RC_DTYPE_Q4_K, 0), RC_OK);
}

}  // namespace
}  // namespace rc
