// Products with weights, and tables, of every type at every level.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cpu_util.h"
#include "cpu/plugin.h"
#include "labels.h"
#include "tensor/dtype.h"

namespace rc::cpu_test {
namespace {

class CpuLinear : public testing::TestWithParam<std::string> {};

// Weights of F16 and BF16 are multiplied as 16-bit quants where their rows are
// whole blocks of so many columns, and as floats elsewhere.
constexpr int64_t kBlock16 = 64;
bool is_half(rc_dtype dtype) {
  return dtype == RC_DTYPE_F16 || dtype == RC_DTYPE_BF16;
}

// A width of `odd` columns and, where that makes a difference, one of whole
// blocks beyond it.
std::vector<int64_t> widths(rc_dtype dtype, int64_t odd) {
  if (!is_half(dtype)) return {odd};
  return {odd, (odd / kBlock16 + 1) * kBlock16};
}

TEST_P(CpuLinear, EveryTypeAndShapeMatchesDoubles) {
  const Device device(2, GetParam());
  for (rc_dtype dtype : decodable_types()) {
    const int64_t block = dtype_info(dtype)->block_size;
    const int64_t shapes[][3] = {
        // rows, n, k or less
        {1, 16, block == 1 ? 1 : block},
        {3, 1, 2 * block},
        {17, 37, block == 1 ? 97 : 3 * block},
        {33, 130, block == 1 ? 333 : 5 * block},
    };
    for (const auto& [rows, n, odd] : shapes) {
      for (const int64_t k : widths(dtype, odd)) {
        SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " rows " << rows
                                        << " n " << n << " k " << k);
        const auto weight = random_weight(dtype, n, k, 1);
        const auto x = random_floats(rows * k, 2);
        const auto bias = random_floats(n, 3);
        const auto residual = random_floats(rows * n, 4);
        Program program(device);
        const int32_t px =
            program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x.data());
        const int32_t pr =
            program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, residual.data());
        const int32_t pw =
            program.weight(dtype, {n, k}, weight.data(), RC_USE_LINEAR);
        const int32_t pb =
            program.weight(RC_DTYPE_F32, {n}, bias.data(), RC_USE_ELEMENTS);
        const int32_t plain = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
        const int32_t full = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
        program.op(RC_OP_LINEAR, {px, pw}, {plain});
        program.op(RC_OP_LINEAR, {px, pw, pb, pr}, {full});
        ASSERT_EQ(program.run(rows), RC_OK) << program.message();

        const auto w = decoded(dtype, weight, n, k);
        const auto y = program.result(plain);
        // Terms may cancel out: errors are measured by the size of the terms.
        double error = 0, power = 0;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < n; ++i) {
            double expected = 0;
            for (int64_t j = 0; j < k; ++j) {
              const double term = double{x[r * k + j]} * w[i * k + j];
              expected += term;
              power += term * term;
            }
            error += std::pow(y[r * n + i] - expected, 2);
          }
        }
#if defined(__EMSCRIPTEN__)
        // The error of few outputs is a sample, and a different one with the
        // random numbers of another C++ library.
        const double few = 1 + 3 / std::sqrt(static_cast<double>(rows * n));
#else
        constexpr double few = 1;
#endif
        const bool of_quants16 = is_half(dtype) && k % kBlock16 == 0;
        EXPECT_LT(error / power, few * (quantized_activations(dtype) ? 1e-4
                                        : of_quants16                ? 1e-7
                                                                     : 1e-11));
        for (int64_t i = 0; i < rows * n; ++i) {
          ASSERT_EQ(program.result(full)[i], y[i] + bias[i % n] + residual[i]);
        }
      }
    }
  }
}

TEST_P(CpuLinear, TableRowsAreDecodedExactly) {
  const Device device(2, GetParam());
  for (rc_dtype dtype : decodable_types()) {
    SCOPED_TRACE(dtype_name(dtype));
    const int64_t k = 3 * dtype_info(dtype)->block_size;
    const auto weight = random_weight(dtype, 21, k, 5);
    const std::vector<int32_t> ids = {0, 20, 7, 16, 15, 7};
    Program program(device);
    const int32_t table = program.weight(dtype, {21, k}, weight.data(),
                                         RC_USE_ROWS | RC_USE_LINEAR);
    const int32_t which =
        program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, ids.data());
    const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, k});
    program.op(RC_OP_GET_ROWS, {table, which}, {y});
    ASSERT_EQ(program.run(6), RC_OK) << program.message();
    const auto w = decoded(dtype, weight, 21, k);
    for (size_t r = 0; r < ids.size(); ++r) {
      for (int64_t i = 0; i < k; ++i) {
        ASSERT_EQ(program.result(y)[r * k + i], w[ids[r] * k + i])
            << "row " << ids[r] << " column " << i;
      }
    }
    const std::vector<int32_t> wrong = {0, 21, 7, 16, 15, 7};
    program.change_input(which, wrong.data());
    EXPECT_EQ(program.run(6), RC_E_INVALID_ARGUMENT);
    EXPECT_NE(program.message().find("21"), std::string::npos);
  }
}

// The promise on which sessions stand: what a row gives does not depend on
// which rows are in the call or on how many threads share the work.
TEST_P(CpuLinear, BitsDoNotDependOnBatchOrThreads) {
  RC_TEST_LABELS(kNumbers);
  constexpr int64_t n = 133;
  for (rc_dtype dtype : decodable_types()) {
    const int64_t block = dtype_info(dtype)->block_size;
    for (const int64_t k : widths(dtype, block == 1    ? 300
                                         : block < 256 ? 384
                                                       : 512)) {
      const auto weight = random_weight(dtype, n, k, 6);
      const auto x = random_floats(300 * k, 7);
      std::vector<float> expected;
      for (int threads : {1, 2, 3}) {
        const Device device(threads, GetParam());
        Program program(device);
        const int32_t px =
            program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x.data());
        const int32_t pw =
            program.weight(dtype, {n, k}, weight.data(), RC_USE_LINEAR);
        const int32_t py = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
        program.op(RC_OP_LINEAR, {px, pw}, {py});
        if (expected.empty()) {
          for (int64_t r = 0; r < 300; ++r) {
            program.change_input(px, x.data() + r * k);
            ASSERT_EQ(program.run(1), RC_OK) << program.message();
            const auto& row = program.result(py);
            expected.insert(expected.end(), row.begin(), row.begin() + n);
          }
        }
        for (int64_t rows : {2, 5, 17, 64, 263}) {
          for (int64_t first : {0, 1, 37}) {
            // Many rows begin in one place: they take long where emulated.
            if (rows == 263 && first != 37) continue;
            program.change_input(px, x.data() + first * k);
            ASSERT_EQ(program.run(rows), RC_OK) << program.message();
            ASSERT_EQ(std::memcmp(program.result(py).data(),
                                  expected.data() + first * n,
                                  rows * n * sizeof(float)),
                      0)
                << dtype_name(dtype) << ", width " << k << ", " << rows
                << " rows from " << first << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

// Columns are unpacked in parts where rows are many.
TEST_P(CpuLinear, BitsOfLongRowsDoNotDependOnBatch) {
  constexpr int64_t n = 21, k = 4096 + 256, most = 37;
  for (rc_dtype dtype : {RC_DTYPE_Q8_0, RC_DTYPE_Q5_1, RC_DTYPE_Q4_K,
                         RC_DTYPE_Q6_K, RC_DTYPE_IQ4_XS, RC_DTYPE_F16}) {
    const auto weight = random_weight(dtype, n, k, 6);
    const auto x = random_floats(most * k, 7);
    const Device device(1, GetParam());
    Program program(device);
    const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x.data());
    const int32_t pw =
        program.weight(dtype, {n, k}, weight.data(), RC_USE_LINEAR);
    const int32_t py = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
    program.op(RC_OP_LINEAR, {px, pw}, {py});
    ASSERT_EQ(program.run(most), RC_OK) << program.message();
    const std::vector<float> all = program.result(py);
    for (int64_t r = 0; r < most; ++r) {
      program.change_input(px, x.data() + r * k);
      ASSERT_EQ(program.run(1), RC_OK) << program.message();
      ASSERT_EQ(std::memcmp(program.result(py).data(), all.data() + r * n,
                            n * sizeof(float)),
                0)
          << dtype_name(dtype) << ", row " << r;
    }
  }
}

TEST_P(CpuLinear, ExpertsEqualPlainProducts) {
  constexpr int64_t experts = 5, n = 37, k = 256, chosen = 2, rows = 19;
  std::vector<int32_t> ids(rows * chosen);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(i * 7 / 3 % 4);  // expert 4 has no work
  }
  const auto x = random_floats(rows * chosen * k, 8);
  for (rc_dtype dtype :
       {RC_DTYPE_F32, RC_DTYPE_BF16, RC_DTYPE_Q4_K, RC_DTYPE_Q8_0}) {
    const auto weight = random_weight(dtype, experts * n, k, 9);
    const uint64_t bytes = *row_bytes(dtype, k) * n;
    for (bool shared : {true, false}) {
      for (int threads : {1, 3}) {
        const Device device(threads, GetParam());
        Program program(device);
        const int32_t px =
            shared ? program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x.data())
                   : program.input(RC_DTYPE_F32, {RC_DIM_ROWS, chosen, k},
                                   x.data());
        const int32_t pi =
            program.input(RC_DTYPE_I32, {RC_DIM_ROWS, chosen}, ids.data());
        const int32_t pw = program.weight(dtype, {experts, n, k}, weight.data(),
                                          RC_USE_EXPERTS);
        const int32_t py =
            program.output(RC_DTYPE_F32, {RC_DIM_ROWS, chosen, n});
        program.op(RC_OP_EXPERT_LINEAR, {px, pw, pi}, {py});
        ASSERT_EQ(program.run(rows), RC_OK) << program.message();
        const auto all = program.result(py);
        for (int64_t i = 0; i < rows * chosen; ++i) {
          Program one(device);
          const float* row = x.data() + (shared ? i / chosen : i) * k;
          const int32_t ox = one.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, row);
          const int32_t ow = one.weight(
              dtype, {n, k}, weight.data() + ids[i] * bytes, RC_USE_LINEAR);
          const int32_t oy = one.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
          one.op(RC_OP_LINEAR, {ox, ow}, {oy});
          ASSERT_EQ(one.run(1), RC_OK) << one.message();
          ASSERT_EQ(std::memcmp(all.data() + i * n, one.result(oy).data(),
                                n * sizeof(float)),
                    0)
              << dtype_name(dtype) << " choice " << i;
        }
        auto wrong = ids;
        wrong[5] = experts;
        program.change_input(pi, wrong.data());
        EXPECT_EQ(program.run(rows), RC_E_INVALID_ARGUMENT);
      }
    }
  }
}

// Tiles of mapped weights are made when they are used, of rows at any address.
TEST_P(CpuLinear, MappedWeightsGiveTheSameBits) {
  constexpr int64_t experts = 3, n = 53, chosen = 2, most = 37;
  const Device device(2, GetParam());
  for (rc_dtype dtype : decodable_types()) {
    SCOPED_TRACE(dtype_name(dtype));
    const int64_t block = dtype_info(dtype)->block_size;
    for (const int64_t k : widths(dtype, block == 1    ? 109
                                         : block < 256 ? 2176
                                                       : 2304)) {
      auto weight = random_weight(dtype, experts * n, k, 12);
      weight.insert(weight.begin(), 0);
      const auto x = random_floats(most * k, 13);
      std::vector<int32_t> ids(most * chosen);
      for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<int32_t>(i * 7 % experts);
      }
      std::vector<float> results[2];
      for (bool mapped : {false, true}) {
        for (int64_t rows : {int64_t{1}, int64_t{6}, int64_t{15}, most}) {
          Program program(device);
          program.map_weights = mapped;
          const int32_t px =
              program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x.data());
          const int32_t pi =
              program.input(RC_DTYPE_I32, {RC_DIM_ROWS, chosen}, ids.data());
          const int32_t pr =
              program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, ids.data());
          const int32_t matrix =
              program.weight(dtype, {n, k}, weight.data() + 1, RC_USE_LINEAR);
          const int32_t table =
              program.weight(dtype, {n, k}, weight.data() + 1, RC_USE_ROWS);
          const int32_t all = program.weight(dtype, {experts, n, k},
                                             weight.data() + 1, RC_USE_EXPERTS);
          const int32_t products =
              program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
          const int32_t found = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, k});
          const int32_t of_experts =
              program.output(RC_DTYPE_F32, {RC_DIM_ROWS, chosen, n});
          program.op(RC_OP_LINEAR, {px, matrix}, {products});
          program.op(RC_OP_GET_ROWS, {table, pr}, {found});
          program.op(RC_OP_EXPERT_LINEAR, {px, all, pi}, {of_experts});
          ASSERT_EQ(program.run(rows), RC_OK) << program.message();
          const auto keep = [&](int32_t value, int64_t columns) {
            const auto& y = program.result(value);
            results[mapped].insert(results[mapped].end(), y.begin(),
                                   y.begin() + rows * columns);
          };
          keep(products, n);
          keep(found, k);
          keep(of_experts, chosen * n);
        }
      }
      ASSERT_EQ(results[0].size(), results[1].size());
      EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(),
                            results[0].size() * sizeof(float)),
                0);
    }
  }
}

// With many more threads than processors some come late: they may read what is
// the program's, but nothing of the caller's, who is gone (cpu_util.cc).
TEST_P(CpuLinear, LateThreadsDoNotTouchMemoryOfTheCaller) {
  constexpr int64_t experts = 3, n = 53, k = 512, chosen = 2, rows = 37;
  const Device device(16, GetParam());
  const auto weight = random_weight(RC_DTYPE_Q4_0, experts * n, k, 12);
  const auto x = random_floats(rows * k, 13);
  std::vector<int32_t> ids(rows * chosen);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(i * 7 % experts);
  }
  Program program(device);
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x.data());
  const int32_t pi =
      program.input(RC_DTYPE_I32, {RC_DIM_ROWS, chosen}, ids.data());
  const int32_t matrix =
      program.weight(RC_DTYPE_Q4_0, {n, k}, weight.data(), RC_USE_LINEAR);
  const int32_t all = program.weight(RC_DTYPE_Q4_0, {experts, n, k},
                                     weight.data(), RC_USE_EXPERTS);
  const int32_t products = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
  const int32_t of_experts =
      program.output(RC_DTYPE_F32, {RC_DIM_ROWS, chosen, n});
  program.op(RC_OP_LINEAR, {px, matrix}, {products});
  program.op(RC_OP_EXPERT_LINEAR, {px, all, pi}, {of_experts});
  std::vector<float> expected[2];
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(program.run(rows), RC_OK) << program.message();
    const std::vector<float>* results[] = {&program.result(products),
                                           &program.result(of_experts)};
    for (int y = 0; y < 2; ++y) {
      if (i == 0) expected[y] = *results[y];
      ASSERT_EQ(std::memcmp(results[y]->data(), expected[y].data(),
                            expected[y].size() * sizeof(float)),
                0);
    }
  }
}

TEST_P(CpuLinear, NanAndInfinityReachTheResult) {
  const Device device(1, GetParam());
  for (rc_dtype dtype :
       {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q4_0, RC_DTYPE_Q6_K}) {
    for (float bad : {NAN, INFINITY}) {
      const auto weight = random_weight(dtype, 16, 256, 10);
      auto x = random_floats(256, 11);
      x[100] = bad;
      Program program(device);
      const int32_t px =
          program.input(RC_DTYPE_F32, {RC_DIM_ROWS, 256}, x.data());
      const int32_t pw =
          program.weight(dtype, {16, 256}, weight.data(), RC_USE_LINEAR);
      const int32_t py = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, 16});
      program.op(RC_OP_LINEAR, {px, pw}, {py});
      ASSERT_EQ(program.run(1), RC_OK) << program.message();
      for (int i = 0; i < 16; ++i) {
        EXPECT_FALSE(std::isfinite(program.result(py)[i])) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, CpuLinear, testing::ValuesIn(level_names()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace rc::cpu_test
