#include "runtime/self_test_plain.h"

#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "runtime/self_test_rows.h"
#include "tensor/dtype.h"
#include "tensor/op.h"
#include "tensor/op_schema.h"

namespace rc::runtime::self_test {
namespace {

using Kind = SelfTest::Kind;

// One output for each width; `make` gives it.
template <class Make>
SelfTestCase over_widths(std::string name, const Make& make) {
  RowsCase made(std::move(name), kOneAndSeveral);
  std::vector<Value> outputs;
  for (const int64_t width : kWidths) outputs.push_back(make(made, width));
  return made.take(outputs);
}

// Whether every value of the op is F32 rows of one shape.
bool is_elementwise(const OpSchema& schema) {
  if (!schema.rows.exists()) return false;
  for (int i = 0; i < schema.inputs(); ++i) {
    const ValueSchema& input = schema.rows.inputs[i];
    if (input.place != ValuePlace::kRows || input.type != ValueType::kF32 ||
        pattern_text(input.pattern) !=
            pattern_text(schema.rows.outputs[0].pattern)) {
      return false;
    }
  }
  return schema.outputs() == 1;
}

// The parameters of the kind of an elementwise op: its function, if it has one,
// and whether the others have the examples of the schema or none.
rc_plugin_params elementwise_params(const OpSchema& schema, const Kind& kind) {
  rc_plugin_params params = rc_plugin_params();
  const bool chosen = schema.parameters[0].kind == ParameterSchema::kFunction;
  for (const ParameterSchema& parameter : schema.parameters) {
    if (parameter.name == nullptr) break;
    auto* place = reinterpret_cast<char*>(&params) + parameter.offset;
    if (parameter.kind == ParameterSchema::kFunction) {
      const auto function = static_cast<int32_t>(kind[1]);
      std::memcpy(place, &function, sizeof function);
    } else if (parameter.is_float() && (!chosen || kind[2] != 0)) {
      std::memcpy(place, &parameter.example, sizeof parameter.example);
    }
  }
  return params;
}

SelfTestCase elementwise(const OpSchema& schema, const Kind& kind) {
  return over_widths(schema.name, [&](RowsCase& made, int64_t width) {
    std::vector<Value> inputs;
    for (int i = 0; i < schema.inputs(); ++i) {
      inputs.push_back(made.input({RC_DIM_ROWS, width}));
    }
    Op op = {.code = schema.code};
    op.params = elementwise_params(schema, kind);
    return made.builder.append(op, inputs)[0];
  });
}

SelfTestCase affine() {
  return over_widths("AFFINE", [](RowsCase& made, int64_t width) {
    const auto weight = [&] {
      return made.weight(RC_DTYPE_F32, {width}, RC_USE_ELEMENTS);
    };
    const Value x = made.input({RC_DIM_ROWS, width});
    const Value scaled = made.builder.affine(x, weight(), kAbsent);
    const Value moved = made.builder.affine(scaled, kAbsent, weight());
    return made.builder.affine(moved, weight(), weight());
  });
}

SelfTestCase norm(int32_t code) {
  return over_widths(op_name(code), [&](RowsCase& made, int64_t width) {
    ProgramBuilder& builder = made.builder;
    if (code == RC_OP_GROUP_NORM) {
      return builder.group_norm(
          made.input({RC_DIM_ROWS, 3, width}),
          made.weight(RC_DTYPE_F32, {3, width}, RC_USE_ELEMENTS), 1e-5f);
    }
    const Value x = made.input({RC_DIM_ROWS, width});
    const Value w = made.weight(RC_DTYPE_F32, {width}, RC_USE_ELEMENTS);
    if (code == RC_OP_RMS_NORM) return builder.rms_norm(x, w, 1e-5f);
    // Of one element less its mean nothing is left: then it is not taken away.
    if (width == 1) return builder.plain_norm(x, 1e-5f);
    const Value b = made.weight(RC_DTYPE_F32, {width}, RC_USE_ELEMENTS);
    return builder.layer_norm(builder.plain_norm(x, 1e-5f), w, b, 1e-5f);
  });
}

SelfTestCase join() {
  return over_widths("JOIN", [](RowsCase& made, int64_t width) {
    return made.builder.join(made.input({RC_DIM_ROWS, 3, width}),
                             made.input({RC_DIM_ROWS, 3, 17}));
  });
}

// Of more bytes than devices bring to their memory at a time.
constexpr int32_t kManyRows = 1200;
constexpr int64_t kLongRow = 4096;
constexpr DType kLargeType = RC_DTYPE_Q8_0;

// A table of this type, or the rows of an input.
SelfTestCase get_rows(DType dtype, bool of_rows) {
  RowsCase made(cat("GET_ROWS of ", of_rows ? "rows" : dtype_name(dtype)),
                kOneAndSeveral);
  std::vector<Value> outputs;
  // From the last row on backwards, so many rows at a time.
  const auto add_table = [&](int32_t rows, int64_t width, size_t step) {
    std::vector<int32_t> ids(static_cast<size_t>(made.most_rows()));
    for (size_t i = 0; i < ids.size(); ++i) {
      ids[i] =
          rows - 1 - static_cast<int32_t>(i * step % static_cast<size_t>(rows));
    }
    const Value table = made.weight(dtype, {rows, width}, RC_USE_ROWS);
    outputs.push_back(
        made.builder.get_rows(table, made.indices({RC_DIM_ROWS}, ids)));
  };
  const int64_t block = dtype_info(dtype)->block_size;
  for (const int64_t blocks : {1, 3}) {
    const int64_t width = block == 1 ? blocks * 129 : blocks * block;
    if (of_rows) {
      // The first row is the only one of the first run.
      std::vector<int32_t> ids(static_cast<size_t>(made.most_rows()));
      for (size_t i = 1; i < ids.size(); ++i) {
        ids[i] = static_cast<int32_t>(ids.size() - i);
      }
      const Value rows = made.input({RC_DIM_ROWS, width});
      outputs.push_back(
          made.builder.get_rows(rows, made.indices({RC_DIM_ROWS}, ids)));
      continue;
    }
    add_table(37, width, 5);
  }
  if (!of_rows && dtype == kLargeType) add_table(kManyRows, kLongRow, 107);
  return made.take(outputs);
}

SelfTestCase rope(int32_t style) {
  RowsCase made("ROPE", kOneAndSeveral);
  const Value positions = made.counted_rows();
  std::vector<Value> outputs;
  for (const auto& [width, pairs] : {std::pair(2, 1), {64, 32}, {131, 48}}) {
    const Value frequencies =
        made.weight(RC_DTYPE_F32, {pairs}, RC_USE_ELEMENTS);
    outputs.push_back(made.builder.rope(made.input({RC_DIM_ROWS, 3, width}),
                                        positions, frequencies, style, 1.25f));
  }
  return made.take(outputs);
}

SelfTestCase cache_store(DType dtype) {
  RowsCase made(cat("CACHE_STORE of ", dtype_name(dtype)), kOneAndSeveral);
  const Value positions = made.counted_rows();
  const Value sequences = made.one_sequence();
  const Value pages = made.indices({RC_DIM_SEQUENCES, 2}, {2, 1});
  const int64_t block = dtype_info(dtype)->block_size;
  for (const int64_t blocks : {1, 3}) {
    const int64_t width = block == 1 ? blocks * 43 : blocks * block;
    made.builder.cache_store(made.input({RC_DIM_ROWS, 2, width}), positions,
                             sequences, pages,
                             made.cache(dtype, {3, 2, 8, width}));
  }
  return made.take_caches();
}

// Experts, and how many of them are chosen. All in groups of one divisor.
constexpr std::pair<int64_t, int64_t> kChoices[] = {
    {1, 1}, {6, 2}, {64, 8}, {160, 6}};

SelfTestCase choice(const Kind& kind) {
  const auto code = static_cast<int32_t>(kind[0]);
  const auto score = static_cast<int32_t>(kind[1]);
  const bool normalize = kind[2] != 0;
  RowsCase made(op_name(code), kOneAndSeveral);
  ProgramBuilder& builder = made.builder;
  std::vector<Value> outputs;
  for (const auto& [experts, k] : kChoices) {
    const Value x = made.input({RC_DIM_ROWS, experts});
    const auto bias = [&, experts = experts] {
      return made.weight(RC_DTYPE_F32, {experts}, RC_USE_ELEMENTS);
    };
    ProgramBuilder::Route route = {};
    if (code == RC_OP_ROUTE) {
      route = builder.route(x, k, normalize);
    } else if (code == RC_OP_SPARSE_MIX) {
      Op op = {.code = RC_OP_SPARSE_MIX};
      op.params.sparse_mix.margin = 0.02f;
      const std::vector<Value> chosen = builder.append(op, {x}, {{"k", k}});
      route = {chosen[0], chosen[1]};
    } else if (code == RC_OP_CHOOSE) {
      route = builder.choose(x, bias(), k, score, normalize);
    } else {
      ProgramBuilder::Groups groups;
      groups.count = experts == 1 ? 1 : experts == 6 ? 3 : 8;
      groups.used = experts == 1 ? 1 : experts == 6 ? 2 : 4;
      groups.best = experts == 1 ? 1 : static_cast<int>(kind[3]);
      route = builder.choose_in_groups(x, bias(), k, score, normalize, groups);
    }
    outputs.push_back(route.ids);
    outputs.push_back(route.weights);
  }
  return made.take(outputs);
}

SelfTestCase expert_linear(DType dtype) {
  RowsCase made(cat("EXPERT_LINEAR with ", dtype_name(dtype)), {1, 11, 67});
  constexpr int64_t kExperts = 5;
  constexpr int64_t kChosen = 2;
  constexpr int64_t kColumns = 512;
  constexpr int64_t kSize = 21;
  std::vector<int32_t> ids(static_cast<size_t>(made.most_rows() * kChosen));
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>((i / kChosen + i % kChosen * 3) % kExperts);
  }
  const Value chosen = made.indices({RC_DIM_ROWS, kChosen}, ids);
  const Value w =
      made.weight(dtype, {kExperts, kSize, kColumns}, RC_USE_EXPERTS);
  const Value bias =
      made.weight(RC_DTYPE_F32, {kExperts, kSize}, RC_USE_ELEMENTS);
  ProgramBuilder& builder = made.builder;
  const Value x = made.input({RC_DIM_ROWS, kColumns});
  const Value of_each = made.input({RC_DIM_ROWS, kChosen, kColumns});
  return made.take(
      std::vector<Value>{builder.expert_linear(x, w, chosen),
                         builder.expert_linear(of_each, w, chosen, bias)});
}

SelfTestCase expert_sum() {
  return over_widths("EXPERT_SUM", [](RowsCase& made, int64_t width) {
    return made.builder.expert_sum(made.input({RC_DIM_ROWS, 3, width}),
                                   made.input({RC_DIM_ROWS, 3}));
  });
}

}  // namespace

std::optional<Kind> plain_kind(const Op& op, const rc_plugin_value* values) {
  const auto input = [&](int slot) -> const rc_plugin_value& {
    return values[op.inputs[slot]];
  };
  const int32_t deciding = deciding_value(op);
  if (deciding >= 0 && is_tensor_op(op, &values[deciding])) {
    return std::nullopt;
  }
  switch (op.code) {
    case RC_OP_RMS_NORM:
    case RC_OP_GROUP_NORM:
    case RC_OP_LAYER_NORM:
    case RC_OP_AFFINE:
    case RC_OP_JOIN:
    case RC_OP_SPARSE_MIX:
    case RC_OP_EXPERT_SUM:
      return Kind{op.code};
    case RC_OP_UNARY:
      return Kind{op.code, op.params.unary.function};
    case RC_OP_GLU:
      return Kind{op.code, op.params.glu.function,
                  op.params.glu.limit > 0 || op.params.glu.offset != 0};
    case RC_OP_GET_ROWS:
      if (find_decoder(input(0).dtype) == nullptr) return std::nullopt;
      return Kind{op.code, input(0).dtype,
                  input(0).storage != RC_STORAGE_WEIGHT};
    case RC_OP_ROPE:
      return Kind{op.code, op.params.rope.style};
    case RC_OP_CACHE_STORE:
      return Kind{op.code, input(4).dtype};
    case RC_OP_ROUTE:
      return Kind{op.code, 0, op.params.route.normalize};
    case RC_OP_CHOOSE:
      return Kind{op.code, op.params.choose.score, op.params.choose.normalize};
    case RC_OP_CHOOSE_IN_GROUPS:
      return Kind{op.code, op.params.choose_in_groups.score,
                  op.params.choose_in_groups.normalize,
                  op.params.choose_in_groups.best};
    case RC_OP_EXPERT_LINEAR:
      if (find_decoder(input(1).dtype) == nullptr) return std::nullopt;
      return Kind{op.code, input(1).dtype};
  }
  const OpSchema* schema = find_op(op.code);
  if (schema == nullptr || !is_elementwise(*schema)) return std::nullopt;
  return Kind{op.code};
}

std::optional<SelfTestCase> plain_case(const Kind& kind) {
  const auto code = static_cast<int32_t>(kind[0]);
  const auto dtype = static_cast<DType>(kind[1]);
  switch (code) {
    case RC_OP_RMS_NORM:
    case RC_OP_GROUP_NORM:
      return norm(code);
    case RC_OP_LAYER_NORM:
      if (kind[1] != 0) return std::nullopt;
      return norm(code);
    case RC_OP_UNARY:
      if (kind[2] != 0) return std::nullopt;
      break;
    case RC_OP_AFFINE:
      return affine();
    case RC_OP_JOIN:
      return join();
    case RC_OP_GET_ROWS:
      if (kind[2] > 1) return std::nullopt;
      return get_rows(dtype, kind[2] != 0);
    case RC_OP_ROPE:
      if (kind[2] != 0) return std::nullopt;
      return rope(static_cast<int32_t>(kind[1]));
    case RC_OP_CACHE_STORE:
      return cache_store(dtype);
    case RC_OP_ROUTE:
    case RC_OP_CHOOSE:
    case RC_OP_CHOOSE_IN_GROUPS:
    case RC_OP_SPARSE_MIX:
      return choice(kind);
    case RC_OP_EXPERT_LINEAR:
      return expert_linear(dtype);
    case RC_OP_EXPERT_SUM:
      return expert_sum();
  }
  const OpSchema* schema = find_op(code);
  if (schema == nullptr || !is_elementwise(*schema)) return std::nullopt;
  return elementwise(*schema, kind);
}

std::vector<Kind> elementwise_kinds() {
  std::vector<Kind> kinds;
  for (int32_t code = 0; code < kMaxOpCodes; ++code) {
    const OpSchema* schema = find_op(code);
    if (schema == nullptr || !is_elementwise(*schema)) continue;
    if (schema->parameters[0].kind != ParameterSchema::kFunction) {
      kinds.push_back({code});
    }
  }
  return kinds;
}

}  // namespace rc::runtime::self_test
