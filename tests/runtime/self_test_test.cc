#include "runtime/self_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/plugin_list.h"
#include "runtime/program.h"
#include "runtime/registry.h"
#include "runtime/self_test_case.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;

class SelfTests : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const test::TemporaryVariable variable_{"XDG_CACHE_HOME", cache_.string()};
};

// One op of each kind that is tested.
ProgramDescription one_of_each() {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 32});
  const Value positions = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value sequences = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value pages = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 1});
  const Value normed = builder.rms_norm(
      x, builder.weight("norm", RC_DTYPE_F32, {32}, RC_USE_ELEMENTS), 1e-5f);
  const Value y = builder.linear(
      normed, builder.weight("w", RC_DTYPE_Q8_0, {32, 32}, RC_USE_LINEAR));
  const Value keys = builder.cache(RC_DTYPE_Q8_0, {1, 1, 4, 32});
  const Value values = builder.cache(RC_DTYPE_Q8_0, {1, 1, 4, 32});
  const Value seen =
      builder.attention(builder.reshape(y, {RC_DIM_ROWS, 1, 32}), keys, values,
                        positions, sequences, pages, 1, 0, 0);
  const Value lengths = builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES});
  const Value whole =
      builder.attention(seen, keys, values, positions, sequences, pages, 1, 0,
                        0, kAbsent, lengths);
  ProgramBuilder::GeneralAttention how = {};
  how.q = whole;
  how.key_cache = keys;
  how.value_cache = kAbsent;
  how.positions = positions;
  how.sequences = sequences;
  how.page_table = pages;
  how.value_size = 32;
  const Value general = builder.general_attention(how);
  const Value gated = builder.glu(builder.reshape(general, {RC_DIM_ROWS, 32}),
                                  x, RC_FUNCTION_GELU);
  const Value ungated = builder.unary(gated, RC_FUNCTION_GELU);
  builder.output(builder.layer_norm(ungated, kAbsent, kAbsent, 1e-5f));
  ProgramDescription made = std::move(builder).take();
  // Tensor ops.
  const auto value = [&](const std::vector<int64_t>& shape, DType dtype) {
    rc_plugin_value found = {};
    found.dtype = dtype;
    found.rank = static_cast<int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), found.shape);
    found.storage = RC_STORAGE_CACHE;
    made.values.push_back(found);
    return static_cast<Value>(made.values.size() - 1);
  };
  const auto op = [&](int32_t code, Value a, Value b, Value result) {
    Op found = {};
    found.code = code;
    std::fill(std::begin(found.inputs), std::end(found.inputs), kAbsent);
    std::fill(std::begin(found.outputs), std::end(found.outputs), kAbsent);
    found.inputs[0] = a;
    found.inputs[1] = b;
    found.outputs[0] = result;
    made.ops.push_back(found);
  };
  for (const int64_t n : {40, 20'000, 600'000}) {
    for (const int64_t inner : {1, 2}) {
      const Value line = value({1, n, inner}, RC_DTYPE_F32);
      const Value sum = value({1, inner}, RC_DTYPE_F32);
      op(RC_OP_REDUCE, line, kAbsent, sum);
      op(RC_OP_ARGMAX, line, kAbsent, value({1, inner}, RC_DTYPE_I32));
      op(RC_OP_SOFTMAX, line, kAbsent, line);
      op(RC_OP_CUMSUM, line, kAbsent, line);
      op(RC_OP_ORDER, line, kAbsent, value({1, n, inner}, RC_DTYPE_I32));
    }
    op(RC_OP_MATMUL, value({1, 2, n}, RC_DTYPE_F32),
       value({1, n, 20}, RC_DTYPE_F32), value({1, 2, 20}, RC_DTYPE_F32));
  }
  return made;
}

TEST_F(SelfTests, GoodDevicesPass) {
  for (const char* spec : {"cpu", "reference"}) {
    const auto device = select({spec, 0, {}}).device;
    SelfTest test(device, "no module");
    EXPECT_EQ(test.of_device(), "") << spec;
    EXPECT_FALSE(fs::is_empty(cache_ / "runcible"));
    EXPECT_EQ(test.of_device(), "") << spec;
    const ProgramDescription all = one_of_each();
    for (const Op& op : all.ops) {
      EXPECT_EQ(test.of_op(op, all.values.data()), "") << spec;
    }
  }
}

// Kernels that went wrong after the device was opened.
TEST_F(SelfTests, OpIsTestedOnceAndUnsupportedIfItFails) {
  test::WrappedState& state = test::wrap_backend("late_liar", "cpu");
  const auto device = test::open_wrapped("late_liar");
  device->test_with(std::make_unique<SelfTest>(device, "no module"));
  // Opening compiles only as much as is needed to find devices that do not
  // compute.
  state.runs = 0;
  EXPECT_EQ(SelfTest(device, "no module").of_device(), "");
  EXPECT_EQ(state.runs, 2);
  const ProgramDescription all = one_of_each();
  const auto reason_of = [&](const Op& op) -> std::string {
    Message message;
    const rc_status status =
        device->op_supported(op, all.values.data(), message);
    return status == RC_OK ? "" : message.text();
  };
  const Op& norm = all.ops.front();
  EXPECT_EQ(reason_of(norm), "");
  const int runs = state.runs;
  EXPECT_GT(runs, 0);
  state.on_run = [](const rc_plugin_run&, char*, const auto&) { return RC_OK; };
  state.on_wait = [](int64_t, char*, const auto&) { return RC_OK; };
  EXPECT_EQ(reason_of(norm), "");
  EXPECT_EQ(state.runs, runs);
  for (const Op& op : all.ops) {
    const bool tested = op.code != RC_OP_RMS_NORM;
    EXPECT_EQ(reason_of(op).find("it fails its self-test") == 0, tested)
        << op_name(op.code) << ": " << reason_of(op);
  }
}

// Its kernels report success and leave the output as it was.
TEST_F(SelfTests, DeviceThatComputesNothingIsSkipped) {
  if (PluginList::instance().find("lies") == nullptr) {
    load_plugin(RC_MODULE_LIES);
  }
  const Selected selected = select({"lies,cpu", 0, {}});
  EXPECT_EQ(selected.device->id(), "cpu:0");
  ASSERT_FALSE(selected.candidates.empty());
  EXPECT_EQ(selected.candidates[0].id, "lies:0");
  EXPECT_NE(selected.candidates[0].reason.find("fails its self-test: LINEAR"),
            std::string::npos)
      << selected.candidates[0].reason;
  EXPECT_THROW(select({"lies", 0, {}}), Error);
}

std::string name_of(const SelfTest::Kind& kind) {
  std::string name = op_name(static_cast<int32_t>(kind[0]));
  for (size_t i = 1; i < kind.size(); ++i) name += cat(" ", kind[i]);
  return name;
}

// A kind without a case, or with that of another, would leave ops untested.
TEST(SelfTestKinds, EveryCaseContainsAnOpOfItsKind) {
  for (const SelfTest::Kind& kind : every_kind()) {
    const SelfTestCase made = case_of(kind);
    const rc_plugin_value* values = made.description.values.data();
    EXPECT_TRUE(
        std::any_of(made.description.ops.begin(), made.description.ops.end(),
                    [&](const Op& op) { return kind_of(op, values) == kind; }))
        << name_of(kind);
  }
}

TEST(SelfTestKinds, CoverEveryOpInBothForms) {
  std::set<std::pair<int32_t, bool>> covered;
  for (const SelfTest::Kind& kind : every_kind()) {
    const SelfTestCase made = case_of(kind);
    for (const Op& op : made.description.ops) {
      covered.emplace(op.code, is_tensor_op(op, made.description.values));
    }
  }
  int known = 0;
  for (int32_t code = 0; code < 256; ++code) {
    const OpSchema* schema = find_op(code);
    if (schema == nullptr) continue;
    ++known;
    const auto is_covered = [&](bool tensors) {
      EXPECT_TRUE(covered.contains({code, tensors}))
          << schema->name << (tensors ? " of tensors" : " of rows")
          << " has no kind in every_kind (self_test_kinds.cc)";
    };
    if (schema->rows.exists()) is_covered(false);
    if (schema->tensors.exists()) is_covered(true);
  }
  EXPECT_GT(known, 30);
}

TEST_F(SelfTests, EveryKindPassesOnGoodDevices) {
  for (const char* spec : {"cpu", "reference"}) {
    const auto device = select({spec, 0, {}}).device;
    double last = 0;
    const auto outcomes =
        SelfTest(device, "").of_everything([&](double fraction) {
          EXPECT_GE(fraction, last);
          last = fraction;
        });
    EXPECT_EQ(last, 1);
    EXPECT_EQ(outcomes.size(), every_kind().size());
    for (const SelfTest::Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.failure, "") << spec;
      EXPECT_FALSE(outcome.lacking) << spec << ": " << outcome.test;
    }
  }
  EXPECT_FALSE(fs::exists(cache_ / "runcible"));
}

// Kernels that are wrong beyond the last whole work-group.
TEST_F(SelfTests, OneWrongNumberAmongThousandsIsNoticed) {
  test::WrappedState& state = test::wrap_backend("edge_liar", "cpu");
  const auto device = test::open_wrapped("edge_liar");
  state.on_run = [](const rc_plugin_run& run, char*, const auto& inner) {
    const rc_status status = inner();
    // The fourth output of ADD has rows of 1031 numbers.
    auto* last = static_cast<float*>(run.outputs_data[3]);
    if (run.rows > 1) last[run.rows * 1031 - 1] += 2;
    return status;
  };
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 32});
  builder.output(builder.add(x, x));
  const ProgramDescription program = std::move(builder).take();
  const std::string reason = SelfTest(device, "no module")
                                 .of_op(program.ops[0], program.values.data());
  EXPECT_NE(reason.find("ADD of 11 rows is off in number 11340"),
            std::string::npos)
      << reason;
}

TEST_F(SelfTests, EverythingIsTestedOnceForADriver) {
  test::WrappedState& state = test::wrap_backend("whole", "cpu");
  const auto device = test::open_wrapped("whole");
  int calls = 0;
  const auto stop = [&](double) {
    if (++calls == 3) fail(RC_E_CANCELLED, "enough");
  };
  EXPECT_THROW(SelfTest(device, "no module").of_everything(stop), Error);
  SelfTest(device, "no module").of_everything([](double) {});
  state.runs = 0;
  const SelfTestCase add = case_of({RC_OP_ADD});
  EXPECT_EQ(SelfTest(device, "no module")
                .of_op(add.description.ops[0], add.description.values.data()),
            "");
  EXPECT_EQ(state.runs, 0);
  // An op that no tested case covers is tested.
  const SelfTestCase other = case_of({RC_OP_ATTENTION, RC_DTYPE_F16, 80, 0, 0});
  const auto attention =
      std::find_if(other.description.ops.begin(), other.description.ops.end(),
                   [](const Op& op) { return op.code == RC_OP_ATTENTION; });
  EXPECT_EQ(SelfTest(device, "no module")
                .of_op(*attention, other.description.values.data()),
            "");
  EXPECT_GT(state.runs, 0);
}

}  // namespace
}  // namespace rc::runtime
