#include "runtime/self_test_case.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "runtime/self_test_data.h"
#include "runtime/self_test_plain.h"
#include "runtime/self_test_rows.h"
#include "runtime/self_test_states.h"
#include "runtime/self_test_tensors.h"
#include "tensor/dtype.h"

namespace rc::runtime {
namespace {

using self_test::bytes_of;
using self_test::count_of;
using self_test::encoded;
using self_test::kOneAndSeveral;
using self_test::numbers;
using self_test::RowsCase;

// Of a run that would hold up a GPU. A processor compiles kernels meanwhile, as
// one program of many.
constexpr int64_t kTimeLimitMs = 30'000;
constexpr int64_t kProcessorTimeLimitMs = 300'000;

using Bytes = SelfTestCase::Bytes;
using Kind = SelfTest::Kind;
using Shape = ProgramBuilder::Shape;

SelfTestCase linear(DType dtype, std::vector<int64_t> row_counts) {
  RowsCase made(cat("LINEAR with ", dtype_name(dtype)), std::move(row_counts));
  constexpr int64_t kColumns = 512;
  constexpr int64_t kSize = 43;
  const Value x = made.input({RC_DIM_ROWS, kColumns});
  const Value w = made.weight(dtype, {kSize, kColumns}, RC_USE_LINEAR);
  return made.take(made.builder.linear(x, w));
}

// Rotary embedding, and attention over a cache that the rows are put into.
SelfTestCase attention(DType dtype, int64_t head, bool with_sinks, bool whole) {
  RowsCase made(cat("ROPE, CACHE_STORE and ATTENTION with ", dtype_name(dtype),
                    " and heads of ", head, whole ? ", whole" : ""),
                kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  constexpr int64_t kKvHeads = 2;
  const Value q = made.input({RC_DIM_ROWS, kHeads, head});
  const Value k = made.input({RC_DIM_ROWS, kKvHeads, head});
  const Value positions = made.counted_rows();
  const Value sequences = made.one_sequence();
  const Value pages = made.indices({RC_DIM_SEQUENCES, 1}, {1});
  const Shape shape = {2, kKvHeads, 16, head};
  const Value keys = made.cache(dtype, shape);
  const Value values = made.cache(dtype, shape);
  ProgramBuilder& builder = made.builder;
  Value turned_k = k;
  Value turned_q = q;
  if (head > 1) {
    const Value frequencies =
        made.weight(RC_DTYPE_F32, {head / 2}, RC_USE_ELEMENTS);
    turned_k = builder.rope(k, positions, frequencies, RC_ROPE_HALVES, 1);
    turned_q = builder.rope(q, positions, frequencies, RC_ROPE_ADJACENT, 1);
  }
  builder.cache_store(turned_k, positions, sequences, pages, keys);
  builder.cache_store(k, positions, sequences, pages, values);
  const Value sinks = with_sinks
                          ? made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS)
                          : kAbsent;
  // One row sees what it stored and what is zero behind it.
  const Value lengths =
      whole ? made.indices({RC_DIM_SEQUENCES},
                           {static_cast<int32_t>(made.most_rows())})
            : kAbsent;
  return made.take(builder.attention(turned_q, keys, values, positions,
                                     sequences, pages, 0.2f, 0, 0, sinks,
                                     lengths));
}

// `value` 0: values are within keys. Placed: what depends on the position, too.
SelfTestCase general_attention(DType dtype, int64_t head, int64_t value,
                               bool placed) {
  RowsCase made(
      cat("GENERAL_ATTENTION with ", dtype_name(dtype), " and heads of ", head),
      kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  ProgramBuilder& builder = made.builder;
  ProgramBuilder::GeneralAttention how = {};
  how.q = made.input({RC_DIM_ROWS, kHeads, head});
  how.positions = made.counted_rows();
  how.sequences = made.one_sequence();
  how.page_table = made.indices({RC_DIM_SEQUENCES, 1}, {1});
  const auto stored = [&](int64_t size) {
    const Value x = made.input({RC_DIM_ROWS, 1, size});
    const Value cache = made.cache(dtype, {2, 1, 16, size});
    builder.cache_store(x, how.positions, how.sequences, how.page_table, cache);
    return cache;
  };
  how.key_cache = stored(head);
  how.value_cache = value > 0 ? stored(value) : kAbsent;
  how.value_size = head;
  how.scale = 0.2f;
  if (placed) {
    how.chunk = 3;
    how.temperature = 0.5f;
    how.temperature_length = 2;
    how.slopes = made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS);
    how.distances = made.weight(RC_DTYPE_F32, {kHeads, 3}, RC_USE_ELEMENTS);
  }
  return made.take(builder.general_attention(how));
}

// The numbers of a value; as bytes, if its type has no decoder.
SelfTestResult decoded(const rc_plugin_value& value, const Bytes& bytes) {
  SelfTestResult result;
  result.exact = value.dtype == RC_DTYPE_I32;
  const Decoder decode = find_decoder(value.dtype);
  if (result.exact) {
    std::vector<int32_t> integers(bytes.size() / sizeof(int32_t));
    std::memcpy(integers.data(), bytes.data(),
                integers.size() * sizeof(int32_t));
    result.numbers.assign(integers.begin(), integers.end());
  } else if (decode == nullptr) {
    result.exact = true;
    for (const std::byte one : bytes) {
      result.numbers.push_back(std::to_integer<int>(one));
    }
  } else {
    const DTypeInfo& info = *dtype_info(value.dtype);
    const auto blocks = static_cast<int64_t>(bytes.size()) / info.block_bytes;
    std::vector<float> floats(static_cast<size_t>(blocks * info.block_size));
    decode(bytes.data(), floats.data(), blocks * info.block_size);
    result.numbers.assign(floats.begin(), floats.end());
  }
  return result;
}

}  // namespace

SelfTestCase opening_case() { return linear(RC_DTYPE_F32, {1, 2}); }

std::optional<Kind> kind_of(const Op& op, const rc_plugin_value* values) {
  const auto input = [&](int slot) -> const rc_plugin_value& {
    return values[op.inputs[slot]];
  };
  switch (op.code) {
    case RC_OP_LINEAR:
      if (find_decoder(input(1).dtype) == nullptr) return std::nullopt;
      return Kind{op.code, input(1).dtype};
    case RC_OP_ATTENTION:
      return Kind{op.code, input(1).dtype, input(1).shape[3], op.inputs[6] >= 0,
                  op.inputs[7] >= 0};
    case RC_OP_GENERAL_ATTENTION: {
      const auto& params = op.params.general_attention;
      return Kind{op.code, input(1).dtype, input(1).shape[3],
                  op.inputs[2] < 0 ? 0 : input(2).shape[3],
                  params.chunk > 0 || params.temperature > 0 ||
                      op.inputs[8] >= 0 || op.inputs[9] >= 0};
    }
    case RC_OP_SHORT_CONV:
      return Kind{op.code, input(1).shape[1], op.params.short_conv.function};
    case RC_OP_SELECTIVE_SCAN:
      return Kind{op.code, input(2).shape[2]};
    case RC_OP_CHANNEL_SCAN:
      return Kind{op.code, input(2).shape[1]};
    case RC_OP_DELTA_RULE:
      return Kind{op.code, input(1).shape[2], op.params.delta_rule.interleaved};
    case RC_OP_COLUMN_DELTA_RULE:
      return Kind{op.code, input(1).shape[2]};
    case RC_OP_FADING_STATE:
      return Kind{op.code, input(1).shape[2], op.inputs[4] >= 0};
  }
  if (const auto kind = self_test::plain_kind(op, values)) return kind;
  return self_test::tensor_kind(op, values);
}

SelfTestCase case_of(const Kind& kind) {
  const auto detail = [&](size_t i) { return static_cast<int32_t>(kind[i]); };
  switch (kind[0]) {
    case RC_OP_LINEAR:
      return linear(detail(1), self_test::kUpToTiles);
    case RC_OP_ATTENTION:
      return attention(detail(1), kind[2], kind[3] != 0, kind[4] != 0);
    case RC_OP_GENERAL_ATTENTION:
      return general_attention(detail(1), kind[2], kind[3], kind[4] != 0);
    case RC_OP_SHORT_CONV:
      return self_test::short_conv(kind[1], detail(2));
    case RC_OP_SELECTIVE_SCAN:
      return self_test::selective_scan(kind[1]);
    case RC_OP_CHANNEL_SCAN:
      return self_test::channel_scan(kind[1]);
    case RC_OP_DELTA_RULE:
      return self_test::delta_rule(kind[1], kind[2] != 0);
    case RC_OP_COLUMN_DELTA_RULE:
      return self_test::column_delta_rule(kind[1]);
    case RC_OP_FADING_STATE:
      return self_test::fading_state(kind[1], kind[2] != 0);
  }
  if (auto made = self_test::plain_case(kind)) return *std::move(made);
  return self_test::tensor_case(kind);
}

std::vector<std::vector<SelfTestResult>> results_of(
    const SelfTestCase& test, const std::shared_ptr<Device>& device) {
  const ProgramDescription& description = test.description;
  std::vector<std::shared_ptr<Weight>> weights;
  for (size_t i = 0; i < test.weights.size(); ++i) {
    weights.push_back(
        device->create_weight(description.weights[i], test.weights[i].data()));
  }
  std::vector<std::shared_ptr<Buffer>> caches;
  for (const SelfTestCase::Bytes& bytes : test.caches) {
    caches.push_back(device->create_buffer(bytes.size()));
    caches.back()->upload(0, bytes.data(), bytes.size());
  }
  const auto program =
      Program::compile(device, description, {test.most_rows(), 0, 1},
                       std::move(weights), caches);
  const rc_device_kind kind = device->info().kind;
  const int64_t time_limit_ms =
      kind == RC_DEVICE_CPU || kind == RC_DEVICE_SOFTWARE
          ? kProcessorTimeLimitMs
          : kTimeLimitMs;
  const std::vector<rc_plugin_value> outputs = description.outputs();
  std::vector<size_t> results = test.results;
  if (outputs.empty() && results.empty()) results = {caches.size() - 1};
  std::vector<std::vector<SelfTestResult>> all;
  for (const int64_t rows : test.row_counts) {
    std::vector<Bytes> written;
    RunArguments arguments;
    arguments.rows = rows;
    arguments.sequences = 1;
    for (const SelfTestCase::Bytes& input : test.inputs) {
      arguments.inputs.push_back(input.data());
    }
    for (const rc_plugin_value& output : outputs) {
      written.emplace_back(*value_bytes(output, {rows, 0, 1}));
      arguments.outputs_data.push_back(written.back().data());
    }
    program->run(arguments, time_limit_ms);
    std::vector<SelfTestResult>& run = all.emplace_back();
    for (size_t i = 0; i < outputs.size(); ++i) {
      run.push_back(decoded(outputs[i], written[i]));
    }
    for (const size_t i : results) {
      Bytes bytes(caches[i]->bytes());
      caches[i]->download(0, bytes.data(), bytes.size());
      run.push_back(decoded(description.caches[i], bytes));
    }
  }
  return all;
}

}  // namespace rc::runtime
