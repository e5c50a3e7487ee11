#include <gtest/gtest.h>

#include <algorithm>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

// Half a step of the type, squared and relative: f16 has 2^-11; a block of
// Q8_0 the 127th part of its largest element.
double tolerance(DType dtype) {
  return dtype == RC_DTYPE_F32 ? 0 : dtype == RC_DTYPE_F16 ? 1e-7 : 1e-4;
}

void run_cache_store(DType dtype, int64_t heads, int64_t d, int64_t page_size) {
  OpTest test("CACHE_STORE", dtype_name(dtype), {5, 0, 2});
  const int64_t pages = 5;
  const std::vector<int32_t> table = {4, 0, 1, 2};
  const auto last = static_cast<int32_t>(2 * page_size - 1);
  const std::vector<int32_t> positions = {0, 1, 2, last - 1, last};
  const std::vector<int32_t> sequences = {0, 0, 0, 1, 1};
  const Data x = random_f32(5 * heads * d);
  const Data cache = random_data(dtype, pages * heads * page_size, d);
  // The cache as it was, but for the encoded rows.
  std::vector<double> expected = cache.values;
  const int64_t block = row_bytes(dtype, d).value();
  std::vector<std::byte> encoded(block);
  std::vector<float> decoded(d);
  for (int64_t r = 0; r < 5; ++r) {
    for (int64_t h = 0; h < heads; ++h) {
      encode_row(
          dtype,
          reinterpret_cast<const float*>(x.bytes.data()) + (r * heads + h) * d,
          encoded.data(), d);
      decode_row(dtype, encoded.data(), decoded.data(), d);
      const int64_t page = table[sequences[r] * 2 + positions[r] / page_size];
      const int64_t vector =
          (page * heads + h) * page_size + positions[r] % page_size;
      std::copy(decoded.begin(), decoded.end(), expected.begin() + vector * d);
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d}, x);
  const Value p = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(positions));
  const Value s = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(sequences));
  const Value t =
      test.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2}, numbers(table));
  const Value c = test.cache(dtype, {pages, heads, page_size, d}, cache);
  test.builder.cache_store(xv, p, s, t, c);
  test.expect_cache(c, expected);
  test.run(tolerance(dtype));
}

TEST(CacheStore, WritesWhereThePageTableSays) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    run_cache_store(dtype, 1, 32, 3);
    run_cache_store(dtype, 3, 64, 16);
    run_cache_store(dtype, 8, 128, 7);
  }
  run_cache_store(RC_DTYPE_F32, 3, 5, 4);
  run_cache_store(RC_DTYPE_F16, 3, 5, 4);
}

}  // namespace
}  // namespace rc::test
