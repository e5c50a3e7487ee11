// Products of the level amx, as compiled: on the processor or, without AMX,
// with emulated instructions. The other ops of the level are those of
// avx512vnni.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/amx_util.h"
#include "backends/cpu_util.h"
#include "cpu/level.h"
#include "cpu/tiles.h"
#include "labels.h"
#include "tensor/dtype.h"
#include "tensor/formats/formats.h"

#if defined(__x86_64__) && defined(__linux__)

namespace rc::cpu_test {
namespace {

std::vector<rc_dtype> packed_types() {
  std::vector<rc_dtype> types;
  for (const BlockFormat& format : kBlockFormats) {
    if (!format.of_activations && !format.is_expanded) {
      types.push_back(format.dtype);
    }
  }
  return types;
}
const std::vector<rc_dtype> kPackedTypes = packed_types();

// NULL if this build does not have it.
const cpu::Level* find_level(std::string_view name) {
  for (const cpu::Level& each : cpu::levels()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

const cpu::Level& level(const std::string& name) {
  const cpu::Level* found = find_level(name);
  if (found == nullptr) throw std::runtime_error("no level " + name);
  return *found;
}

// Tiles of a weight, rows of activations and what is added to their products.
struct Operands {
  Operands(rc_dtype dtype, int n, int64_t k, int rows)
      : dtype(dtype), n(n), k(k), tiles((n + 15) / 16) {
    const auto weight = random_weight(dtype, n, k, 1);
    const uint64_t row_bytes = *rc::row_bytes(dtype, k);
    tile_bytes = 16 * row_bytes;
    packed.resize(tiles * tile_bytes);
    const cpu::Kernels& kernels = *level("avx512vnni").kernels;
    for (int t = 0; t < tiles; ++t) {
      cpu::pack_tile(kernels, dtype, dtype, weight.data() + t * tile_bytes,
                     row_bytes, std::min(16, n - 16 * t), k,
                     packed.data() + t * tile_bytes, nullptr);
    }
    const auto floats = random_floats(rows * k, 2);
    blocks.resize(rows * k / 32);
    kernels.quantize(floats.data(), rows * k, blocks.data());
    bias = random_floats(n, 3);
    residual = random_floats(rows * n, 4);
  }

  // Results of these rows, between numbers that stay as they were.
  std::vector<float> product(const std::string& name,
                             const std::vector<int>& rows, bool added) const {
    const size_t stride = n + 3;
    std::vector<float> y(rows.size() * stride + 1, -7);
    std::vector<const void*> xs;
    std::vector<float*> ys;
    std::vector<const float*> residuals;
    for (size_t i = 0; i < rows.size(); ++i) {
      xs.push_back(blocks.data() + rows[i] * (k / 32));
      ys.push_back(y.data() + 1 + i * stride);
      residuals.push_back(residual.data() + rows[i] * n);
    }
    cpu::LinearTask task;
    task.tile = packed.data();
    task.tile_bytes = tile_bytes;
    task.tiles = tiles;
    task.columns = k;
    task.x = xs.data();
    task.y = ys.data();
    task.residual = added ? residuals.data() : nullptr;
    task.bias = added ? bias.data() : nullptr;
    task.rows = static_cast<int>(rows.size());
    task.lanes = n;
    level(name).kernels->linear(dtype)(task);
    return y;
  }

  rc_dtype dtype;
  int n;
  int64_t k;
  int tiles;
  uint64_t tile_bytes;
  std::vector<uint8_t> packed;
  std::vector<cpu::ActivationBlock> blocks;
  std::vector<float> bias, residual;
};

std::vector<int> counted(int rows) {
  std::vector<int> all(rows);
  for (int i = 0; i < rows; ++i) all[i] = i;
  return all;
}

class CpuAmx : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"avx512vnni", "amx"}) {
      if (find_level(name) == nullptr) {
        GTEST_SKIP() << "there is no level " << name << " in this build";
      }
    }
    if (level("amx").available()) return;
    if (!level("avx512vnni").available()) {
      GTEST_SKIP() << "the level's kernels need AVX-512 VNNI";
    }
    emulator_.emplace();
  }

  // Rows that take matrices do so, and no registers are left in use.
  void expect_equal(const Operands& of, const std::vector<int>& rows,
                    bool added) {
    SCOPED_TRACE(testing::Message()
                 << dtype_name(of.dtype) << ", " << rows.size() << " rows, n "
                 << of.n << ", k " << of.k);
    const int64_t before = AmxEmulator::products();
    const auto y = of.product("amx", rows, added);
    const auto expected = of.product("avx512vnni", rows, added);
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), 4 * y.size()), 0);
    if (!emulator_) return;
    const bool halves = of.dtype == RC_DTYPE_Q2_K ||
                        of.dtype == RC_DTYPE_Q3_K || of.dtype == RC_DTYPE_Q6_K;
    const int64_t eights = rows.size() > 8 ? rows.size() / 8 : 0;
    ASSERT_EQ(AmxEmulator::products() - before,
              eights * of.tiles * (of.k / 32) * (halves ? 2 : 1));
    ASSERT_FALSE(AmxEmulator::configured());
  }

 private:
  std::optional<AmxEmulator> emulator_;
};

TEST_F(CpuAmx, BitsEqualThoseOfAvx512Vnni) {
  RC_TEST_LABELS(kSerial);
  for (rc_dtype dtype : kPackedTypes) {
    const int64_t block = dtype_info(dtype)->block_size;
    for (int n : {16, 37, 64}) {
      const Operands of(dtype, n, block, 40);
      for (int rows = 1; rows <= 40; ++rows) {
        expect_equal(of, counted(rows), rows % 2 == 0);
      }
    }
    const Operands most(dtype, 32, 3 * block, 128);
    expect_equal(most, counted(128), true);
  }
}

// Columns are unpacked in parts.
TEST_F(CpuAmx, BitsOfLongRowsEqualThoseOfAvx512Vnni) {
  RC_TEST_LABELS(kSerial);
  for (rc_dtype dtype : kPackedTypes) {
    const int64_t block = dtype_info(dtype)->block_size;
    const Operands of(dtype, 37, 4096 + block, 19);
    expect_equal(of, counted(19), true);
  }
}

// As experts get them.
TEST_F(CpuAmx, AcceptsUnalignedRows) {
  RC_TEST_LABELS(kSerial);
  for (rc_dtype dtype : kPackedTypes) {
    const Operands of(dtype, 33, 512, 40);
    expect_equal(of, {3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 9, 7, 39, 0}, true);
    expect_equal(of, {39, 37, 35, 33, 31, 29, 27, 25, 23, 21, 19, 17}, false);
    expect_equal(of, {7, 7, 7, 7, 7, 7, 7, 7, 7}, false);
  }
}

}  // namespace
}  // namespace rc::cpu_test

#endif
