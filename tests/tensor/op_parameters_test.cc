#include "tensor/op_parameters.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rc {
namespace {

using Json = nlohmann::json;

Op op_of(int32_t code) {
  Op op;
  op.code = code;
  return op;
}

TEST(OpParameters, OpsWithoutParametersGiveAnEmptyObject) {
  EXPECT_EQ(parameters_json(op_of(RC_OP_ADD)), "{}");
  EXPECT_EQ(parameters_json(op_of(30000)), "{}");
}

TEST(OpParameters, NumbersRoundTrip) {
  Op op = op_of(RC_OP_RMS_NORM);
  for (const float epsilon : {1e-5f, 1e-6f, 0.1f, 1.0f / 3, 0.0f, 1e-45f}) {
    op.params.norm.epsilon = epsilon;
    EXPECT_EQ(Json::parse(parameters_json(op)).at("epsilon").get<float>(),
              epsilon);
  }
}

TEST(OpParameters, ChoicesAreNamed) {
  Op op = op_of(RC_OP_GLU);
  op.params.glu.function = RC_FUNCTION_GELU_TANH;
  op.params.glu.limit = 7;
  EXPECT_EQ(parameters_json(op),
            R"({"function":"gelu_tanh","limit":7,"offset":0})");
  op = op_of(RC_OP_UNARY);
  op.params.unary.function = RC_UNARY_SQRT;
  EXPECT_EQ(parameters_json(op), R"({"function":"sqrt"})");
  op.params.unary.function = RC_FUNCTION_TANH;
  EXPECT_EQ(parameters_json(op), R"({"function":"tanh"})");
  op = op_of(RC_OP_BINARY);
  op.params.binary.function = RC_BINARY_GREATER_EQUAL;
  EXPECT_EQ(parameters_json(op), R"({"function":"greater_equal"})");
  op.params.binary.function = 1000;
  EXPECT_EQ(parameters_json(op), R"({"function":1000})");
  op = op_of(RC_OP_REDUCE);
  op.params.reduce.function = RC_REDUCE_MAX;
  EXPECT_EQ(parameters_json(op), R"({"function":"max"})");
  op = op_of(RC_OP_ROPE);
  op.params.rope.style = RC_ROPE_HALVES;
  op.params.rope.scale = 1;
  EXPECT_EQ(parameters_json(op), R"({"style":"halves","scale":1})");
}

TEST(OpParameters, FlagsCountsAndListsAreWritten) {
  Op op = op_of(RC_OP_ATTENTION);
  op.params.attention.scale = 0.125f;
  op.params.attention.window = int64_t{1} << 40;
  EXPECT_EQ(parameters_json(op),
            R"({"scale":0.125,"softcap":0,"window":1099511627776})");
  op = op_of(RC_OP_CHOOSE_IN_GROUPS);
  op.params.choose_in_groups = {RC_SCORE_SIGMOID, 1, 8, 4, 2};
  EXPECT_EQ(Json::parse(parameters_json(op)),
            Json::parse(R"({"score":"sigmoid","best":2,"normalize":true,
                            "groups":8,"groups_used":4})"));
  op = op_of(RC_OP_CONV2D);
  op.params.conv2d = {{1, 2}, {3, 4}, {5, 6}, 7};
  EXPECT_EQ(Json::parse(parameters_json(op)),
            Json::parse(R"({"stride":[1,2],"padding":[3,4],"dilation":[5,6],
                            "groups":7})"));
  op = op_of(RC_OP_COPY);
  op.params.copy.strides[0] = -3;
  EXPECT_EQ(parameters_json(op), R"({"strides":[-3,0,0,0]})");
}

TEST(OpParameters, AllParametersOfTheSchemaAreWritten) {
  for (int32_t code = 1; code < 200; ++code) {
    const OpSchema* schema = find_op(code);
    if (schema == nullptr) continue;
    const Json written = Json::parse(parameters_json(op_of(code)));
    for (const ParameterSchema& parameter : schema->parameters) {
      if (parameter.name == nullptr) break;
      EXPECT_TRUE(written.contains(parameter.name))
          << schema->name << ": " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace rc
