// Ops whose shapes are about a limit of a device: what it computes has to be
// what the reference backend computes, and what it cannot do it refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/self_test_case.h"

namespace rc::test {

// Opens a device with a tuning variable of the test.
std::shared_ptr<runtime::Device> open_tuned(const std::string& backend,
                                            const std::string& variable,
                                            const std::string& value);

using runtime::SelfTestCase;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// Model ops of `rows` rows, with weights and activations that repeat.
SelfTestCase rms_norm_case(int64_t rows, int64_t heads, int64_t d);
SelfTestCase row_layer_norm_case(int64_t rows, int64_t heads, int64_t d);
SelfTestCase row_unary_case(int64_t rows, int64_t width);
SelfTestCase add_case(int64_t rows, int64_t width);
SelfTestCase linear_case(DType dtype, int64_t rows, int64_t n, int64_t k);
SelfTestCase expert_linear_case(int64_t rows, int64_t chosen, int64_t n);
SelfTestCase expert_sum_case(int64_t rows, int64_t chosen, int64_t n);
SelfTestCase route_case(int64_t rows, int64_t experts);
SelfTestCase rope_case(int64_t rows, int64_t heads, int64_t d);
SelfTestCase get_rows_case(int64_t rows, int64_t k, bool computed);
// Attention for the last positions of a sequence of `entries` pages of
// `page_size`, or for its first positions if they see all of it.
SelfTestCase attention_case(int64_t rows, int64_t heads, int64_t head,
                            int64_t entries, int64_t page_size,
                            bool whole = false);
// Cases with one sequence that has a state.
SelfTestCase short_conv_case(int64_t rows, int64_t d, int64_t width);
SelfTestCase scan_case(int64_t rows, int64_t heads, int64_t p, int64_t n);
SelfTestCase channel_scan_case(int64_t rows, int64_t d, int64_t n);
SelfTestCase delta_rule_case(int64_t rows, int64_t heads, int64_t p, int64_t n);

// Tensor ops.
SelfTestCase reduce_case(int32_t function, int64_t outer, int64_t n,
                         int64_t inner);
SelfTestCase argmax_case(int64_t outer, int64_t n, int64_t inner);
SelfTestCase softmax_case(int64_t outer, int64_t n, int64_t inner);
SelfTestCase matmul_case(int64_t m, int64_t n, int64_t k, bool transposed,
                         DType dtype = RC_DTYPE_F32);
SelfTestCase conv2d_case(int64_t channels, int64_t kernel);
SelfTestCase attend_case(int64_t positions, int64_t d);
SelfTestCase layer_norm_case(int64_t rows, int64_t d);
SelfTestCase unary_case(int64_t count);

// Fails unless the device computes it as the reference does.
void expect_right(const std::shared_ptr<runtime::Device>& device,
                  const SelfTestCase& test, double tolerance = 1e-8);
// Fails unless it answers RC_E_UNSUPPORTED with a message that has this text.
void expect_refused(const std::shared_ptr<runtime::Device>& device,
                    const SelfTestCase& test, const std::string& text);

}  // namespace rc::test
