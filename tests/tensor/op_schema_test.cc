// The table of ops, and that values are held against it.
#include "tensor/op_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/op.h"
#include "tensor/shape_pattern.h"
#include "value_util.h"

namespace rc {
namespace {

std::vector<const OpSchema*> schemas() {
  std::vector<const OpSchema*> found;
  for (int32_t code = -3; code < 100; ++code) {
    if (const OpSchema* op = find_op(code)) found.push_back(op);
  }
  return found;
}

int roles(const auto& values) {
  return static_cast<int>(
      std::count_if(std::begin(values), std::end(values),
                    [](const ValueSchema& value) { return value.role; }));
}

TEST(OpSchema, HasEveryOpOnce) {
  std::set<std::string> names;
  for (const OpSchema* op : schemas()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_STREQ(op_name(op->code), op->name);
    EXPECT_GE(op->inputs(), 1);
    EXPECT_LE(op->inputs(), kMaxInputs);
    EXPECT_GE(op->outputs(), 0);
    EXPECT_LE(op->outputs(), kMaxOutputs);
    // Inputs that it has.
    EXPECT_EQ(op->may_share >> op->inputs(), 0u) << op->name;
    if (op->has_both_forms()) {
      EXPECT_EQ(roles(op->rows.inputs), roles(op->tensors.inputs));
      EXPECT_EQ(roles(op->rows.outputs), roles(op->tensors.outputs));
    }
  }
  EXPECT_EQ(names.size(), 46u);
  EXPECT_EQ(find_op(0), nullptr);
  EXPECT_EQ(find_op(RC_OP_GET_ROWS + 30), nullptr);
  EXPECT_EQ(find_op(RC_OP_TAKE + 1), nullptr);
  EXPECT_STREQ(op_name(99), "unknown op");
}

// The comment before each RC_OP_* in the headers, with single spaces.
std::string comment_of(const std::string& header, const std::string& name) {
  const size_t constant = header.find("RC_OP_" + name + " = ");
  if (constant == std::string::npos) return "";
  const size_t begin = header.rfind("/*", constant);
  std::istringstream words(header.substr(begin, constant - begin));
  std::string text;
  for (std::string word; words >> word;) {
    if (word == "/*" || word == "*" || word == "*/") continue;
    text += word + " ";
  }
  return text;
}

// Where one fails, its text is what the header has to say.
TEST(OpSchema, MatchesTheCommentsOfTheHeader) {
  std::stringstream header;
  for (const char* name : {"plugin_ops.h", "plugin_tensor_ops.h"}) {
    std::ifstream file(std::string(RC_SOURCE_DIR "/include/runcible/") + name);
    header << file.rdbuf();
  }
  for (const OpSchema* op : schemas()) {
    const std::string comment = comment_of(header.str(), op->name);
    for (const OpForm* form : {&op->rows, &op->tensors}) {
      if (!form->exists()) continue;
      const std::string prefix =
          form == &op->tensors && op->has_both_forms() ? "Of tensors: " : "";
      const std::string text = prefix + op_signature(*op, *form) + ". ";
      EXPECT_NE(comment.find(text), std::string::npos)
          << op->name << ": " << text << "\nis not in: " << comment;
    }
  }
}

// As plugin_ops.h says of them.
TEST(OpSchema, ListsInputsThatAnOutputMayShare) {
  EXPECT_TRUE(may_share(RC_OP_RMS_NORM, 0));
  EXPECT_FALSE(may_share(RC_OP_RMS_NORM, 1));
  EXPECT_TRUE(may_share(RC_OP_ADD, 0));
  EXPECT_TRUE(may_share(RC_OP_ADD, 1));
  EXPECT_FALSE(may_share(RC_OP_GET_ROWS, 0));
  for (int input = 0; input < 4; ++input) {
    EXPECT_EQ(may_share(RC_OP_LINEAR, input), input == 3) << input;
    EXPECT_FALSE(may_share(RC_OP_ATTENTION, input)) << input;
    EXPECT_FALSE(may_share(-1, input)) << input;
    EXPECT_FALSE(may_share(1'000'000, input)) << input;
  }
}

rc_plugin_value value_of(int32_t storage, DType dtype,
                         const std::vector<int64_t>& shape) {
  rc_plugin_value value = {};
  value.storage = storage;
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  return value;
}

rc_plugin_value floats(const std::vector<int64_t>& shape) {
  return value_of(RC_STORAGE_SCRATCH, RC_DTYPE_F32, shape);
}

std::string refusal(const Op& op, const std::vector<rc_plugin_value>& values) {
  try {
    check_op(op, values);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Op op_of(int32_t code, const std::vector<int32_t>& inputs, int32_t output) {
  Op op;
  op.code = code;
  std::copy(inputs.begin(), inputs.end(), op.inputs);
  op.outputs[0] = output;
  return op;
}

TEST(CheckOp, NamesActualAndExpectedShapes) {
  const auto weight = [](const std::vector<int64_t>& shape) {
    return value_of(RC_STORAGE_WEIGHT, RC_DTYPE_F32, shape);
  };
  const Op linear = op_of(RC_OP_LINEAR, {0, 1}, 2);
  const rc_plugin_value x = floats({RC_DIM_ROWS, 4});
  EXPECT_EQ(refusal(linear, {x, weight({3, 4}), floats({RC_DIM_ROWS, 3})}), "");
  EXPECT_EQ(refusal(linear, {x, weight({3, 5}), floats({RC_DIM_ROWS, 3})}),
            "LINEAR: weight is F32 [3, 5] where [n, 4] is needed; "
            "x is F32 [rows, 4]");
  EXPECT_EQ(refusal(linear, {x, x, floats({RC_DIM_ROWS, 3})}),
            "LINEAR: weight is scratch F32 [rows, 4] where a weight is needed");
  EXPECT_EQ(refusal(linear, {x, weight({3, 4}), floats({RC_DIM_OUTPUTS, 3})}),
            "LINEAR: output is F32 [outputs, 3] where F32 [rows, 3] is needed; "
            "x is F32 [rows, 4], weight is F32 [3, 4]");
  EXPECT_EQ(refusal(linear, {x, weight({3, 4})}),
            "LINEAR: output is value 2, but the program has 2");
  EXPECT_EQ(refusal(op_of(RC_OP_SCALE, {0, 0}, 0), {x}),
            "SCALE: takes 1 inputs at most");
  EXPECT_EQ(refusal(op_of(1000, {0}, 0), {x}), "op number 1000 is not known");
}

TEST(CheckOp, ChecksParameters) {
  const rc_plugin_value x = floats({RC_DIM_ROWS, 4});
  Op op = op_of(RC_OP_SOFTCAP, {0}, 0);
  op.params.softcap.cap = 2;
  EXPECT_EQ(refusal(op, {x}), "");
  op.params.softcap.cap = 0;
  EXPECT_EQ(refusal(op, {x}), "SOFTCAP: cap is 0");
  op = op_of(RC_OP_UNARY, {0}, 0);
  op.params.unary.function = RC_FUNCTION_NONE;
  EXPECT_NE(refusal(op, {x}).find("UNARY: function is number"),
            std::string::npos);
}

// Whether the values match the patterns, one after the other.
bool match(const std::vector<const char*>& patterns,
           const std::vector<std::vector<int64_t>>& shapes) {
  Dimensions dimensions;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!dimensions.match(patterns[i], floats(shapes[i]))) return false;
  }
  return true;
}

constexpr int64_t kOutputs = RC_DIM_OUTPUTS;

TEST(ShapePattern, EqualNamesMatchEqualNumbers) {
  EXPECT_TRUE(match({"n k", "k n"}, {{2, 3}, {3, 2}}));
  EXPECT_FALSE(match({"n k", "k n"}, {{2, 3}, {2, 3}}));
  EXPECT_FALSE(match({"n"}, {{kRows}}));
  EXPECT_FALSE(match({"n"}, {{2, 3}}));
  EXPECT_FALSE(match({"n k"}, {{2}}));
  EXPECT_TRUE(match({"R n", "R"}, {{kOutputs, 3}, {kOutputs}}));
  EXPECT_FALSE(match({"R n", "R"}, {{kOutputs, 3}, {kRows}}));
  EXPECT_FALSE(match({"R"}, {{RC_DIM_SEQUENCES}}));
  EXPECT_FALSE(match({"R"}, {{2}}));
}

TEST(ShapePattern, MatchesNumbersAndSymbols) {
  EXPECT_TRUE(match({"sequences 2"}, {{RC_DIM_SEQUENCES, 2}}));
  EXPECT_FALSE(match({"sequences 2"}, {{RC_DIM_SEQUENCES, 3}}));
  EXPECT_TRUE(match({"rows"}, {{kRows}}));
  EXPECT_FALSE(match({"rows"}, {{kOutputs}}));
  EXPECT_TRUE(match({"w", "w-1"}, {{4}, {3}}));
  EXPECT_FALSE(match({"w", "w-1"}, {{4}, {4}}));
  EXPECT_TRUE(match({"B n", "B|1 m"}, {{5, 2}, {5, 7}}));
  EXPECT_TRUE(match({"B n", "B|1 m"}, {{5, 2}, {1, 7}}));
  EXPECT_FALSE(match({"B n", "B|1 m"}, {{5, 2}, {2, 7}}));
  EXPECT_TRUE(match({"n|R' d"}, {{3, 4}}));
  EXPECT_TRUE(match({"n|R' d"}, {{kOutputs, 4}}));
}

TEST(ShapePattern, DimensionsMayBeMissing) {
  EXPECT_TRUE(match({"R h? d", "R h? d"}, {{kRows, 4}, {kRows, 4}}));
  EXPECT_TRUE(match({"R h? d", "R h? d"}, {{kRows, 2, 4}, {kRows, 2, 4}}));
  EXPECT_FALSE(match({"R h? d", "R h? d"}, {{kRows, 2, 4}, {kRows, 4}}));
  EXPECT_FALSE(match({"R h? d", "R h? d"}, {{kRows, 4}, {kRows, 2, 4}}));
  EXPECT_FALSE(match({"R h? d"}, {{kRows}}));
  EXPECT_FALSE(match({"R h? d"}, {{kRows, 1, 2, 3}}));
  // A missing one may be given by itself.
  EXPECT_TRUE(match({"R k? d", "R k"}, {{kRows, 4}, {kRows, 2}}));
  EXPECT_FALSE(match({"R k? d", "R k"}, {{kRows, 3, 4}, {kRows, 2}}));
}

TEST(ShapePattern, EllipsesMatchAnyNumberOfDimensions) {
  EXPECT_TRUE(match({"R ...", "R ..."}, {{kRows}, {kRows}}));
  EXPECT_TRUE(match({"R ...", "R ..."}, {{kRows, 2, 3}, {kRows, 2, 3}}));
  EXPECT_FALSE(match({"R ...", "R ..."}, {{kRows, 2, 3}, {kRows, 3, 2}}));
  EXPECT_FALSE(match({"R ...", "R ..."}, {{kRows, 2}, {kRows, 2, 1}}));
  EXPECT_TRUE(match({"...a", "...b"}, {{2, 3}, {4}}));
  EXPECT_TRUE(match({"... d", "d"}, {{2, 3, 4}, {4}}));
  EXPECT_TRUE(match({"... d", "d"}, {{4}, {4}}));
  EXPECT_FALSE(match({"... d"}, {{kRows, 4}}));
}

TEST(ShapePattern, ReturnsShapesAndTexts) {
  Dimensions dimensions;
  ASSERT_TRUE(dimensions.match("R heads? d", floats({kRows, 8})));
  ASSERT_TRUE(dimensions.match("B w ...", floats({6, 3, 5, 4})));
  rc_plugin_value made = {};
  dimensions.apply("R heads? d", made);
  EXPECT_EQ(made.rank, 2);
  EXPECT_EQ(made.shape[0], kRows);
  EXPECT_EQ(made.shape[1], 8);
  dimensions.apply("2 ... w", made);
  EXPECT_EQ(std::vector(made.shape, made.shape + made.rank),
            (std::vector<int64_t>{2, 5, 4, 3}));
  EXPECT_THROW(dimensions.apply("other", made), std::logic_error);
  EXPECT_EQ(dimensions.text("R heads? d"), "[rows, 8]");
  EXPECT_EQ(dimensions.text("B|1 w-1 k"), "[6 or 1, 2, k]");
  EXPECT_EQ(pattern_text("R heads? ..."), "[R, heads?, ...]");
  // A shape that does not match leaves nothing behind.
  EXPECT_FALSE(dimensions.match("new w", floats({9, 9})));
  EXPECT_EQ(dimensions.find("new"), nullptr);
}

}  // namespace
}  // namespace rc
