#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

std::vector<double> rows_of(const Data& table, int64_t columns,
                            const std::vector<int32_t>& ids) {
  std::vector<double> expected;
  for (int32_t id : ids) {
    const auto row = table.values.begin() + id * columns;
    expected.insert(expected.end(), row, row + columns);
  }
  return expected;
}

TEST(GetRows, EveryTypeMatchesDoubles) {
  for (DType dtype : decodable_types()) {
    const OnDrivers devices(dtype);
    for (int64_t d : column_counts(dtype)) {
      const std::vector<int32_t> ids = {0, 12, 5, 5, 1};
      OpTest test("GET_ROWS", dtype_name(dtype), {5, 0, 0});
      const Data table = random_data(dtype, 13, d);
      const Value t = test.weight(dtype, {13, d}, RC_USE_ROWS, table);
      const Value i = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(ids));
      test.expect(test.builder.get_rows(t, i), rows_of(table, d, ids));
      // Decoding leaves no choice.
      test.run(0);
    }
  }
}

// Weights are brought to devices in parts, of a few megabytes.
TEST(GetRows, LargeTablesMatchDoubles) {
  constexpr int64_t kRows = 1400;
  constexpr int64_t kColumns = 4096;
  for (const DType dtype : {RC_DTYPE_Q8_0, RC_DTYPE_Q6_K}) {
    const std::vector<int32_t> ids = {0, kRows - 1, kRows - 8, 700};
    OpTest test("GET_ROWS", std::string(dtype_name(dtype)) + " large",
                {4, 0, 0});
    const Data table = random_data(dtype, kRows, kColumns);
    const Value t = test.weight(dtype, {kRows, kColumns}, RC_USE_ROWS, table);
    const Value i = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(ids));
    test.expect(test.builder.get_rows(t, i), rows_of(table, kColumns, ids));
    test.run(0);
  }
}

// The rows of which the logits are wanted, out of the rows of the batch.
TEST(GetRows, RowsOfScratchMatchDoubles) {
  const std::vector<int32_t> ids = {6, 0, 3};
  OpTest test("GET_ROWS", "scratch", {7, 3, 0});
  const Data x = random_f32(7 * 33);
  const Value t =
      test.builder.scale(test.input(RC_DTYPE_F32, {RC_DIM_ROWS, 33}, x), 1);
  const Value i = test.input(RC_DTYPE_I32, {RC_DIM_OUTPUTS}, numbers(ids));
  test.expect(test.builder.get_rows(t, i), rows_of(x, 33, ids));
  test.run(0);
}

}  // namespace
}  // namespace rc::test
