#include "tensor/op_schema.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "tensor/op_rules.h"

namespace rc {
namespace {

using enum ValueType;

constexpr ValueSchema rows(const char* role, const char* pattern,
                           ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kRows};
}
constexpr ValueSchema weight(const char* role, const char* pattern,
                             ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kWeight};
}
constexpr ValueSchema cache(const char* role, const char* pattern,
                            ValueType type) {
  return {role, pattern, type, ValuePlace::kCache};
}
// Numbers of rows, sequences, pages and the like.
constexpr ValueSchema indices(const char* role, const char* pattern,
                              ValuePlace place = ValuePlace::kAnywhere) {
  return {role, pattern, kI32, place};
}
constexpr ValueSchema result(const char* role, const char* pattern,
                             ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kResult};
}
constexpr ValueSchema tensor(const char* role, const char* pattern,
                             ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kTensor};
}
constexpr ValueSchema tensor_result(const char* pattern,
                                    ValueType type = kF32) {
  return {"output", pattern, type, ValuePlace::kTensorResult};
}
constexpr ValueSchema optional(ValueSchema value) {
  value.optional = true;
  return value;
}

constexpr ParameterSchema number(
    const char* name, size_t offset,
    ParameterSchema::Kind kind = ParameterSchema::kFinite) {
  return {name, kind, offset};
}
constexpr ParameterSchema counted(const char* name, size_t offset) {
  return {name, ParameterSchema::kCount, offset};
}
constexpr ParameterSchema flag(const char* name, size_t offset) {
  return {name, ParameterSchema::kFlag, offset};
}
constexpr ParameterSchema choice(const char* name, size_t offset, int32_t least,
                                 int32_t most) {
  return {name, ParameterSchema::kFunction, offset, least, most};
}
// RC_FUNCTION_*; RC_FUNCTION_NONE only where it is the least.
constexpr ParameterSchema function(size_t offset, int32_t least) {
  return choice("function", offset, least, RC_FUNCTION_GELU_QUICK);
}

#define RC_PARAMETER(member) offsetof(rc_plugin_params, member)

constexpr OpSchema kOps[] = {
    {.code = RC_OP_GET_ROWS,
     .name = "GET_ROWS",
     .rows = {{{"table", "n|R' d", kAny, ValuePlace::kWeightOrRows},
               indices("ids", "R")},
              {result("output", "R d")}},
     .tensors = {{tensor("table", "n d", kDecodable), tensor("ids", "r", kI32)},
                 {tensor_result("r d", kD)},
                 check_gathering},
     .deciding_input = 1},
    {.code = RC_OP_RMS_NORM,
     .name = "RMS_NORM",
     .parameters = {number("epsilon", RC_PARAMETER(norm.epsilon),
                           ParameterSchema::kNotNegative)},
     .rows = {{rows("x", "R heads? d"), weight("weight", "d")},
              {result("output", "R heads? d")}},
     .may_share = 0b1},
    {.code = RC_OP_LINEAR,
     .name = "LINEAR",
     .rows = {{rows("x", "R k"), weight("weight", "n k", kAny),
               optional(weight("bias", "n")),
               optional(rows("residual", "R n"))},
              {result("output", "R n")}},
     .may_share = 0b1000},
    {.code = RC_OP_ROPE,
     .name = "ROPE",
     .parameters = {choice("style", RC_PARAMETER(rope.style), RC_ROPE_ADJACENT,
                           RC_ROPE_HALVES),
                    number("scale", RC_PARAMETER(rope.scale))},
     .rows = {{rows("x", "R heads d"), indices("positions", "R"),
               weight("frequencies", "pairs")},
              {result("output", "R heads d")},
              check_pairs},
     .tensors = {{tensor("x", "r heads d"), tensor("positions", "r", kI32),
                  tensor("frequencies", "pairs")},
                 {tensor_result("r heads d")},
                 check_pairs},
     .may_share = 0b1},
    {.code = RC_OP_CACHE_STORE,
     .name = "CACHE_STORE",
     .rows = {{rows("x", "R kv_heads d"), indices("positions", "R"),
               indices("sequences", "R"), indices("page_table", "sequences m"),
               cache("cache", "pages kv_heads page_size d", kCache)}}},
    {.code = RC_OP_ATTENTION,
     .name = "ATTENTION",
     .parameters = {number("scale", RC_PARAMETER(attention.scale)),
                    number("softcap", RC_PARAMETER(attention.softcap)),
                    counted("window", RC_PARAMETER(attention.window))},
     .rows = {{rows("q", "R heads d"),
               cache("key cache", "pages kv_heads page_size d", kCache),
               cache("value cache", "pages kv_heads page_size d", kCache),
               indices("positions", "R"), indices("sequences", "R"),
               indices("page_table", "sequences m"),
               optional(weight("sinks", "heads")),
               optional(indices("lengths", "sequences", ValuePlace::kInput))},
              {result("output", "R heads d")},
              check_attention}},
    {.code = RC_OP_GLU,
     .name = "GLU",
     .parameters = {function(RC_PARAMETER(glu.function), RC_FUNCTION_RELU),
                    number("limit", RC_PARAMETER(glu.limit),
                           ParameterSchema::kNotNegative),
                    number("offset", RC_PARAMETER(glu.offset))},
     .rows = {{rows("gate", "R ..."), rows("up", "R ...")},
              {result("output", "R ...")}},
     .may_share = 0b11},
    {.code = RC_OP_ADD,
     .name = "ADD",
     .rows = {{rows("a", "R ..."), rows("b", "R ...")},
              {result("output", "R ...")}},
     .may_share = 0b11},
    {.code = RC_OP_SCALE,
     .name = "SCALE",
     .parameters = {number("factor", RC_PARAMETER(scale.factor))},
     .rows = {{rows("x", "R ...")}, {result("output", "R ...")}},
     .may_share = 0b1},
    {.code = RC_OP_SOFTCAP,
     .name = "SOFTCAP",
     .parameters = {number("cap", RC_PARAMETER(softcap.cap),
                           ParameterSchema::kPositive)},
     .rows = {{rows("x", "R ...")}, {result("output", "R ...")}},
     .may_share = 0b1},
    {.code = RC_OP_ROUTE,
     .name = "ROUTE",
     .rows = {{rows("x", "R experts")},
              {result("ids", "R k", kI32), result("weights", "R k")},
              check_choices}},
    {.code = RC_OP_EXPERT_LINEAR,
     .name = "EXPERT_LINEAR",
     .rows = {{rows("x", "R k? d"), weight("weight", "experts n d", kAny),
               rows("ids", "R k", kI32), optional(weight("bias", "experts n"))},
              {result("output", "R k n")}}},
    {.code = RC_OP_EXPERT_SUM,
     .name = "EXPERT_SUM",
     .rows = {{rows("x", "R k n"), rows("weights", "R k")},
              {result("output", "R n")}}},
    {.code = RC_OP_SHORT_CONV,
     .name = "SHORT_CONV",
     .parameters = {function(RC_PARAMETER(short_conv.function),
                             RC_FUNCTION_NONE)},
     .rows = {{rows("x", "rows d"), weight("weight", "d w"),
               optional(weight("bias", "d")), indices("sequences", "rows"),
               indices("state_slots", "sequences 2"),
               cache("cache", "slots w-1 d", kF32)},
              {result("output", "rows d")}}},
    {.code = RC_OP_SELECTIVE_SCAN,
     .name = "SELECTIVE_SCAN",
     .rows = {{rows("x", "rows heads p"), rows("steps", "rows heads"),
               rows("b", "rows groups n"), rows("c", "rows groups n"),
               weight("step_bias", "heads"), weight("decay", "heads"),
               weight("skip", "heads"), indices("sequences", "rows"),
               indices("state_slots", "sequences 2"),
               cache("cache", "slots heads p n", kF32)},
              {result("output", "rows heads p")},
              check_groups}},
    {.code = RC_OP_CHOOSE,
     .name = "CHOOSE",
     .parameters = {choice("score", RC_PARAMETER(choose.score),
                           RC_SCORE_SOFTMAX, RC_SCORE_SIGMOID)},
     .rows = {{rows("x", "R experts"), weight("bias", "experts")},
              {result("ids", "R k", kI32), result("weights", "R k")},
              check_choices}},
    {.code = RC_OP_GENERAL_ATTENTION,
     .name = "GENERAL_ATTENTION",
     .parameters = {number("scale", RC_PARAMETER(general_attention.scale)),
                    number("softcap", RC_PARAMETER(general_attention.softcap)),
                    counted("window", RC_PARAMETER(general_attention.window)),
                    counted("chunk", RC_PARAMETER(general_attention.chunk)),
                    number("temperature",
                           RC_PARAMETER(general_attention.temperature),
                           ParameterSchema::kNotNegative),
                    counted(
                        "temperature_length",
                        RC_PARAMETER(general_attention.temperature_length))},
     .rows = {{rows("q", "R heads d"),
               cache("key cache", "pages kv_heads page_size d", kCache),
               optional(
                   cache("value cache", "pages kv_heads page_size v", kCache)),
               indices("positions", "R"), indices("sequences", "R"),
               indices("page_table", "sequences m"),
               optional(weight("sinks", "heads")),
               optional(indices("lengths", "sequences", ValuePlace::kInput)),
               optional(weight("slopes", "heads")),
               optional(weight("distances", "heads span"))},
              {result("output", "R heads v")},
              check_general_attention}},
    {.code = RC_OP_CHOOSE_IN_GROUPS,
     .name = "CHOOSE_IN_GROUPS",
     .parameters = {choice("score", RC_PARAMETER(choose_in_groups.score),
                           RC_SCORE_SOFTMAX, RC_SCORE_SIGMOID),
                    choice("best", RC_PARAMETER(choose_in_groups.best), 1, 2)},
     .rows = {{rows("x", "R experts"), optional(weight("bias", "experts"))},
              {result("ids", "R k", kI32), result("weights", "R k")},
              check_grouped_choices}},
    {.code = RC_OP_JOIN,
     .name = "JOIN",
     .rows = {{rows("a", "R heads m"), rows("b", "R heads n")},
              {result("output", "R heads s")},
              check_joined}},
    {.code = RC_OP_CHANNEL_SCAN,
     .name = "CHANNEL_SCAN",
     .rows = {{rows("x", "rows d"), rows("steps", "rows d"),
               rows("b", "rows n"), rows("c", "rows n"), weight("decay", "d n"),
               weight("skip", "d"), indices("sequences", "rows"),
               indices("state_slots", "sequences 2"),
               cache("cache", "slots d n", kF32)},
              {result("output", "rows d")}}},
    {.code = RC_OP_DELTA_RULE,
     .name = "DELTA_RULE",
     .parameters = {flag("interleaved", RC_PARAMETER(delta_rule.interleaved))},
     .rows = {{rows("v", "rows heads p"), rows("q", "rows groups n"),
               rows("k", "rows groups n"), rows("steps", "rows heads"),
               rows("rates", "rows heads"), weight("step_bias", "heads"),
               weight("decay", "heads"), indices("sequences", "rows"),
               indices("state_slots", "sequences 2"),
               cache("cache", "slots heads p n", kF32)},
              {result("output", "rows heads p")},
              check_key_groups}},
    {.code = RC_OP_GROUP_NORM,
     .name = "GROUP_NORM",
     .parameters = {number("epsilon", RC_PARAMETER(norm.epsilon),
                           ParameterSchema::kNotNegative)},
     .rows = {{rows("x", "R groups d"), weight("weight", "groups d")},
              {result("output", "R groups d")}},
     .may_share = 0b1},
    {.code = RC_OP_MULTIPLY,
     .name = "MULTIPLY",
     .rows = {{rows("a", "R ..."), rows("b", "R ...")},
              {result("output", "R ...")}},
     .may_share = 0b11},
    {.code = RC_OP_CLAMP,
     .name = "CLAMP",
     .parameters = {number("limit", RC_PARAMETER(clamp.limit),
                           ParameterSchema::kPositive)},
     .rows = {{rows("x", "R ...")}, {result("output", "R ...")}},
     .may_share = 0b1},
    {.code = RC_OP_AFFINE,
     .name = "AFFINE",
     .rows = {{rows("x", "R heads? d"), optional(weight("weight", "heads? d")),
               optional(weight("bias", "heads? d"))},
              {result("output", "R heads? d")}},
     .may_share = 0b1},
    {.code = RC_OP_SPARSE_MIX,
     .name = "SPARSE_MIX",
     .parameters = {number("margin", RC_PARAMETER(sparse_mix.margin),
                           ParameterSchema::kNotNegative)},
     .rows = {{rows("x", "R experts")},
              {result("ids", "R k", kI32), result("weights", "R k")},
              check_choices}},
    {.code = RC_OP_XIELU,
     .name = "XIELU",
     .parameters = {number("alpha_p", RC_PARAMETER(xielu.alpha_p)),
                    number("alpha_n", RC_PARAMETER(xielu.alpha_n)),
                    number("beta", RC_PARAMETER(xielu.beta)),
                    number("epsilon", RC_PARAMETER(xielu.epsilon))},
     .rows = {{rows("x", "R ...")}, {result("output", "R ...")}},
     .may_share = 0b1},
    {.code = RC_OP_FADING_STATE,
     .name = "FADING_STATE",
     .rows = {{rows("v", "rows heads p"), rows("q", "rows heads n"),
               rows("k", "rows heads n"), rows("decays", "rows heads n"),
               optional(rows("a", "rows heads n")),
               optional(rows("b", "rows heads n")), weight("bonus", "heads n"),
               indices("sequences", "rows"),
               indices("state_slots", "sequences 2"),
               cache("cache", "slots heads p n", kF32)},
              {result("y", "rows heads p"), result("own", "rows heads p")},
              check_fading}},
    {.code = RC_OP_COLUMN_DELTA_RULE,
     .name = "COLUMN_DELTA_RULE",
     .rows = {{rows("v", "rows heads p"), rows("q", "rows heads n"),
               rows("k", "rows heads n"), rows("steps", "rows heads n"),
               rows("rates", "rows heads"), weight("step_bias", "heads n"),
               weight("decay", "heads"), indices("sequences", "rows"),
               indices("state_slots", "sequences 2"),
               cache("cache", "slots heads p n", kF32)},
              {result("output", "rows heads p")}}},
    {.code = RC_OP_COPY,
     .name = "COPY",
     .tensors = {{tensor("x", "n", kAny)},
                 {tensor_result("...", kAny)},
                 check_view}},
    {.code = RC_OP_CONVERT,
     .name = "CONVERT",
     .tensors = {{tensor("x", "...", kAny)},
                 {tensor_result("...", kAny)},
                 check_conversion}},
    {.code = RC_OP_UNARY,
     .name = "UNARY",
     .parameters = {choice("function", RC_PARAMETER(unary.function),
                           RC_FUNCTION_RELU, RC_UNARY_NEG)},
     .rows = {{rows("x", "R ...")},
              {result("output", "R ...")},
              check_row_function},
     .tensors = {{tensor("x", "...", kT)},
                 {tensor_result("...", kT)},
                 check_function}},
    {.code = RC_OP_BINARY,
     .name = "BINARY",
     .parameters = {choice("function", RC_PARAMETER(binary.function),
                           RC_BINARY_ADD, RC_BINARY_GREATER_EQUAL)},
     .tensors = {{tensor("a", "...a", kT), tensor("b", "...b", kT)},
                 {tensor_result("...c", kT)},
                 check_repeats}},
    {.code = RC_OP_LAYER_NORM,
     .name = "LAYER_NORM",
     .parameters = {number("epsilon", RC_PARAMETER(layer_norm.epsilon),
                           ParameterSchema::kNotNegative),
                    flag("center", RC_PARAMETER(layer_norm.center))},
     .rows = {{rows("x", "R heads? d"), optional(weight("weight", "d")),
               optional(weight("bias", "d"))},
              {result("output", "R heads? d")}},
     .tensors = {{tensor("x", "... d", kD), optional(tensor("weight", "d", kD)),
                  optional(tensor("bias", "d", kD))},
                 {tensor_result("... d", kD)}}},
    {.code = RC_OP_SOFTMAX,
     .name = "SOFTMAX",
     .tensors = {{tensor("x", "outer n inner", kD)},
                 {tensor_result("outer n inner", kD)}}},
    {.code = RC_OP_REDUCE,
     .name = "REDUCE",
     .parameters = {choice("function", RC_PARAMETER(reduce.function),
                           RC_REDUCE_SUM, RC_REDUCE_MAX)},
     .tensors = {{tensor("x", "outer n inner", kD)},
                 {tensor_result("outer inner", kD)}}},
    {.code = RC_OP_ARGMAX,
     .name = "ARGMAX",
     .tensors = {{tensor("x", "outer n inner", kD)},
                 {tensor_result("outer inner", kI32)},
                 check_places}},
    {.code = RC_OP_MATMUL,
     .name = "MATMUL",
     .parameters = {flag("transposed", RC_PARAMETER(matmul.transposed)),
                    function(RC_PARAMETER(matmul.function), RC_FUNCTION_NONE)},
     .tensors = {{tensor("a", "B m k", kT), tensor("b", "B|1 p q", kDecodable),
                  optional(tensor("bias", "n", kT))},
                 {tensor_result("B m n", kT)},
                 check_product}},
    {.code = RC_OP_CONV2D,
     .name = "CONV2D",
     .tensors = {{tensor("x", "batch channels height width"),
                  tensor("weight", "outputs C kh kw"),
                  optional(tensor("bias", "outputs"))},
                 {tensor_result("batch outputs oh ow")},
                 check_convolution}},
    {.code = RC_OP_ATTEND,
     .name = "ATTEND",
     .parameters = {number("scale", RC_PARAMETER(attend.scale)),
                    number("softcap", RC_PARAMETER(attend.softcap)),
                    flag("causal", RC_PARAMETER(attend.causal))},
     .tensors = {{tensor("q", "B r heads d"), tensor("k", "B p kv_heads d"),
                  tensor("v", "B p kv_heads d")},
                 {tensor_result("B r heads d")},
                 check_attend}},
    {.code = RC_OP_WHERE,
     .name = "WHERE",
     .tensors = {{tensor("condition", "...a", kT), tensor("a", "...b", kT),
                  tensor("b", "...c", kT)},
                 {tensor_result("...d", kT)},
                 check_repeats}},
    {.code = RC_OP_CONCAT,
     .name = "CONCAT",
     .tensors = {{tensor("a", "outer n0", kAny),
                  optional(tensor("b", "outer n1", kAny)),
                  optional(tensor("c", "outer n2", kAny)),
                  optional(tensor("d", "outer n3", kAny)),
                  optional(tensor("e", "outer n4", kAny)),
                  optional(tensor("f", "outer n5", kAny)),
                  optional(tensor("g", "outer n6", kAny)),
                  optional(tensor("h", "outer n7", kAny))},
                 {tensor_result("outer s", kAny)},
                 check_concat}},
    {.code = RC_OP_PAD,
     .name = "PAD",
     .parameters = {counted("before", RC_PARAMETER(pad.before))},
     .tensors = {{tensor("x", "outer n inner", kT)},
                 {tensor_result("outer m inner", kT)},
                 check_padding}},
    {.code = RC_OP_CUMSUM,
     .name = "CUMSUM",
     .tensors = {{tensor("x", "outer n inner", kD)},
                 {tensor_result("outer n inner", kD)}}},
    {.code = RC_OP_ORDER,
     .name = "ORDER",
     .parameters = {flag("falling", RC_PARAMETER(order.falling))},
     .tensors = {{tensor("x", "outer n inner", kD)},
                 {tensor_result("outer k inner", kI32)},
                 check_order}},
    {.code = RC_OP_TAKE,
     .name = "TAKE",
     .tensors = {{tensor("x", "outer n inner", kT),
                  tensor("places", "outer k inner", kI32)},
                 {tensor_result("outer k inner", kT)}}},
};

// Where the op of each number is; every call of a tensor op asks several times.
constexpr size_t kMostCodes = 64;
constexpr auto kPlaces = [] {
  std::array<int8_t, kMostCodes> places = {};
  places.fill(-1);
  for (size_t i = 0; i < std::size(kOps); ++i) {
    places[static_cast<size_t>(kOps[i].code)] = static_cast<int8_t>(i);
  }
  return places;
}();

#undef RC_PARAMETER

int count(const auto& values) {
  return static_cast<int>(std::count_if(
      std::begin(values), std::end(values),
      [](const ValueSchema& value) { return value.role != nullptr; }));
}

}  // namespace

int OpSchema::inputs() const {
  return count(rows.exists() ? rows.inputs : tensors.inputs);
}

int OpSchema::outputs() const {
  return count(rows.exists() ? rows.outputs : tensors.outputs);
}

const OpSchema* find_op(int32_t code) {
  if (code < 0 || code >= static_cast<int32_t>(kMostCodes)) return nullptr;
  const int8_t place = kPlaces[static_cast<size_t>(code)];
  return place < 0 ? nullptr : &kOps[place];
}

}  // namespace rc
