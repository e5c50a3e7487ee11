// Plans of programs, made at random and of the shape of a model, against the
// rule itself: no two values that live at the same time share bytes, except an
// op's output and an input that it may overwrite.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "runtime/program.h"

namespace rc::runtime {
namespace {

constexpr ProgramLimits kScratchLimits = {7, 3, 2};
constexpr Rows kRows = {7, 3, 2};

struct Life {
  uint64_t begin = 0;
  uint64_t end = 0;
  size_t first = 0;
  size_t last = 0;
};

// For every group of reshapes: bytes and ops, without the planner's help.
std::vector<Life> lives(const ProgramDescription& description) {
  std::vector<Life> result;
  for (size_t v = 0; v < description.values.size(); ++v) {
    if (description.values[v].storage != RC_STORAGE_SCRATCH) continue;
    if (description.values[v].index != static_cast<int32_t>(v)) continue;
    Life life;
    life.begin = description.values[v].offset;
    life.end = life.begin + *value_bytes(description.values[v], kRows);
    bool seen = false;
    for (size_t i = 0; i < description.ops.size(); ++i) {
      const auto touches = [&](Value value) {
        return value >= 0 &&
               description.values[value].storage == RC_STORAGE_SCRATCH &&
               description.values[value].index == static_cast<int32_t>(v);
      };
      const Op& op = description.ops[i];
      if (!std::any_of(std::begin(op.inputs), std::end(op.inputs), touches) &&
          !std::any_of(std::begin(op.outputs), std::end(op.outputs), touches)) {
        continue;
      }
      if (!seen) life.first = i;
      life.last = i;
      seen = true;
    }
    if (seen) result.push_back(life);
  }
  return result;
}

// Whether the op lets its output take exactly these bytes of an input, and
// reads them through no input that it must not overwrite.
bool in_place(const ProgramDescription& description, size_t op,
              const Life& input) {
  bool allowed = false;
  for (int slot = 0; slot < kMaxInputs; ++slot) {
    const Value value = description.ops[op].inputs[slot];
    if (value < 0 || description.values[value].storage != RC_STORAGE_SCRATCH ||
        description.values[value].offset != input.begin) {
      continue;
    }
    const int32_t code = description.ops[op].code;
    const bool may = code == RC_OP_GLU || code == RC_OP_ADD ? slot < 2
                     : code == RC_OP_LINEAR                 ? slot == 3
                     : code == RC_OP_RMS_NORM || code == RC_OP_ROPE ||
                             code == RC_OP_SCALE || code == RC_OP_SOFTCAP
                         ? slot == 0
                         : false;
    if (!may) return false;
    allowed = true;
  }
  return allowed;
}

void verify(const ProgramDescription& description, uint64_t bytes) {
  const std::vector<Life> all = lives(description);
  for (const rc_plugin_value& value : description.values) {
    if (value.storage != RC_STORAGE_SCRATCH) continue;
    EXPECT_EQ(value.offset % 64, 0u);
    EXPECT_EQ(value.offset, description.values[value.index].offset);
    EXPECT_LE(value.offset + *value_bytes(value, kRows), bytes);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      const Life& a = all[i];
      const Life& b = all[j];
      if (i == j || a.end <= b.begin || b.end <= a.begin) continue;
      if (a.last < b.first || b.last < a.first) continue;
      // They share bytes and time: one must be made of the other in place.
      const Life& older = a.first < b.first ? a : b;
      const Life& younger = a.first < b.first ? b : a;
      EXPECT_EQ(older.last, younger.first);
      EXPECT_EQ(older.begin, younger.begin);
      EXPECT_EQ(older.end, younger.end);
      EXPECT_TRUE(in_place(description, younger.first, older))
          << op_name(description.ops[younger.first].code);
    }
  }
}

// A program of random ops on values of a few widths; some become outputs, some
// are reshaped, some are never read.
ProgramDescription random_program(std::mt19937& random) {
  ProgramBuilder builder;
  const int64_t widths[] = {12, 24, 36, 60};
  const auto pick = [&](int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(random);
  };
  std::vector<Value> values;
  for (int64_t width : widths) {
    values.push_back(
        builder.scale(builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, width}), 2));
  }
  const Value ids = builder.input(RC_DTYPE_I32, {RC_DIM_OUTPUTS});
  const int64_t ops = 1 + pick(40);
  for (int64_t i = 0; i < ops; ++i) {
    const Value x = values[pick(static_cast<int64_t>(values.size()))];
    const auto shape = builder.shape(x);
    std::vector<Value> alike;
    for (Value value : values) {
      if (builder.shape(value) == shape) alike.push_back(value);
    }
    const Value other = alike[pick(static_cast<int64_t>(alike.size()))];
    const int64_t last = shape.back();
    const auto weight = [&](int64_t rows) {
      return builder.weight(
          "w" + std::to_string(rows) + "x" + std::to_string(last), RC_DTYPE_F32,
          {rows, last}, RC_USE_LINEAR);
    };
    switch (pick(9)) {
      case 0:
        values.push_back(builder.add(x, other));
        break;
      case 1:
        values.push_back(builder.glu(x, other, RC_FUNCTION_SILU));
        break;
      case 2:
        values.push_back(builder.softcap(x, 3));
        break;
      case 3:
        if (shape.size() == 2) {
          values.push_back(builder.linear(x, weight(widths[pick(4)])));
        }
        break;
      case 4:
        // The residual may be x itself.
        if (shape.size() == 2) {
          values.push_back(builder.linear(x, weight(last), kAbsent, other));
        }
        break;
      case 5:
        if (shape.size() == 2) {
          values.push_back(builder.reshape(x, {shape[0], shape[1] / 4, 4}));
        } else {
          values.push_back(builder.reshape(x, {shape[0], shape[1] * shape[2]}));
        }
        break;
      case 6:
        if (shape.size() == 2 && shape[0] == RC_DIM_ROWS) {
          values.push_back(builder.get_rows(x, ids));
        }
        break;
      case 7:
        if (shape.size() == 2) {
          const ProgramBuilder::Route route = builder.route(x, 4, true);
          values.push_back(route.weights);
        }
        break;
      case 8:
        builder.output(x);
        break;
    }
  }
  return std::move(builder).take();
}

TEST(ScratchPlan, NoTwoLiveValuesOverlapInRandomPrograms) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    ProgramDescription description = random_program(random);
    const uint64_t bytes = plan_scratch(description, kScratchLimits);
    verify(description, bytes);
    if (HasFailure()) FAIL() << "in program " << i;
  }
}

// A chain of layers takes no more than what lives at once in one of them.
TEST(ScratchPlan, MemoryDoesNotGrowWithTheNumberOfLayers) {
  const auto plan = [](int layers) {
    ProgramBuilder builder;
    Value x = builder.scale(builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 64}), 1);
    const Value norm =
        builder.weight("norm", RC_DTYPE_F32, {64}, RC_USE_ELEMENTS);
    const Value up =
        builder.weight("up", RC_DTYPE_F32, {256, 64}, RC_USE_LINEAR);
    const Value down =
        builder.weight("down", RC_DTYPE_F32, {64, 256}, RC_USE_LINEAR);
    for (int i = 0; i < layers; ++i) {
      const Value normed = builder.rms_norm(x, norm, 1e-5f);
      const Value hidden =
          builder.glu(builder.linear(normed, up), builder.linear(normed, up),
                      RC_FUNCTION_SILU);
      x = builder.linear(hidden, down, kAbsent, x);
    }
    ProgramDescription description = std::move(builder).take();
    const uint64_t bytes = plan_scratch(description, kScratchLimits);
    verify(description, bytes);
    return bytes;
  };
  const uint64_t row = 7 * sizeof(float);
  // x, its norm, and both halves of the gated unit.
  EXPECT_EQ(plan(1), row * (64 + 64 + 256 + 256));
  EXPECT_EQ(plan(30), plan(1));
}

TEST(ScratchPlan, ReusesInputsInPlace) {
  ProgramBuilder builder;
  Value x = builder.scale(builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 64}), 1);
  for (int i = 0; i < 5; ++i) x = builder.softcap(builder.add(x, x), 5);
  ProgramDescription description = std::move(builder).take();
  EXPECT_EQ(plan_scratch(description, kScratchLimits), 7 * 64 * sizeof(float));
}

TEST(ScratchPlan, OutputOfAProductDoesNotOverlapItsInput) {
  ProgramBuilder builder;
  const Value x =
      builder.scale(builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 64}), 1);
  const Value w = builder.weight("w", RC_DTYPE_F32, {64, 64}, RC_USE_LINEAR);
  const Value y = builder.linear(x, w, kAbsent, x);
  ProgramDescription description = std::move(builder).take();
  plan_scratch(description, kScratchLimits);
  EXPECT_NE(description.values[x].offset, description.values[y].offset);
}

TEST(ScratchPlan, RefusesImpossibleSizes) {
  const auto status = [](const ProgramLimits& limits) -> rc_status {
    ProgramBuilder builder;
    const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 1 << 30});
    builder.scale(x, 2);
    ProgramDescription description = std::move(builder).take();
    try {
      plan_scratch(description, limits);
    } catch (const Error& error) {
      return error.status();
    }
    return RC_OK;
  };
  EXPECT_EQ(status({1, 0, 0}), RC_OK);
  EXPECT_EQ(status({int64_t{1} << 40, 0, 0}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({-1, 0, 0}), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status({1, 0, -5}), RC_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace rc::runtime
