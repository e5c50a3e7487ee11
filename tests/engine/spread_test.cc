// Models on several devices: layers that do not fit go to the next, ops that
// are lacking to the CPU. The wrapped device computes what the cpu computes, so
// every number must stay the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "expect_error.h"
#include "runtime/device_chain.h"
#include "runtime/registry.h"
#include "runtime/wrapped_plugin.h"
#include "test_data.h"

namespace rc::engine::test {
namespace {

using rc::test::expect_error_with;
using rc::test::open_wrapped;
using rc::test::wrap_backend;
using rc::test::WrappedState;
using runtime::DeviceChain;
using std::chrono::milliseconds;

// Text and logits of a greedy generation.
struct Greedy {
  std::vector<TokenId> tokens;
  uint64_t logits = 0;
  bool operator==(const Greedy&) const = default;
};

Greedy play_greedily(Session& session, const std::vector<TokenId>& prompt) {
  Greedy played;
  const Result result = generate(session, greedy(prompt, 20));
  EXPECT_EQ(result.report.status, RC_OK) << result.message;
  played.tokens = result.tokens;
  session.decode(false);
  played.logits = hash_logits(session);
  return played;
}

Greedy play_greedily(Engine& engine, const std::vector<TokenId>& prompt) {
  return play_greedily(*engine.create_session({}, nullptr), prompt);
}

EngineOptions tight_options() {
  EngineOptions options;
  options.context_length = 128;
  options.cache_tokens = 512;
  options.max_rows = 32;
  return options;
}

class DeviceSplit : public ::testing::Test {
 protected:
  // A chain of the wrapped device and the cpu.
  DeviceChain chain(bool strict = false) {
    return DeviceChain(open_wrapped("small"), {"cpu"}, strict);
  }
  // With a limit that leaves the first device just `layers` layers.
  EngineOptions room_for(int64_t layers) {
    EngineOptions options = tight_options();
    const model::MemoryPlan all = plan(*file_, chain(), options).memory;
    for (uint64_t limit = all.total() - 1;; limit -= limit / 64) {
      options.memory_limit = limit;
      const Plan tried = plan(*file_, chain(), options);
      if (tried.memory.devices[0].layers <= layers) {
        EXPECT_EQ(tried.memory.devices[0].layers, layers);
        EXPECT_TRUE(tried.fits);
        return options;
      }
    }
  }
  std::shared_ptr<Engine> load(const EngineOptions& options) {
    return Engine::load(file_, chain(), options, {});
  }

  std::shared_ptr<const model::ModelFile> file_ = small_model("gemma2");
  const std::vector<TokenId> prompt_ = some_tokens(50);
  WrappedState& state_ = wrap_backend("small", "cpu");
  const Greedy expected_ = play_greedily(
      *Engine::load(file_, open_device(), tight_options(), {}), prompt_);
};

TEST_F(DeviceSplit, ModelThatFitsIsNotSpread) {
  const auto engine = load(tight_options());
  ASSERT_EQ(engine->memory().devices.size(), 1u);
  EXPECT_EQ(engine->memory().devices[0].layers, 3);
  EXPECT_EQ(engine->memory().transfers, 0u);
  EXPECT_EQ(state_.programs, 1);
  EXPECT_EQ(play_greedily(*engine, prompt_), expected_);
}

TEST_F(DeviceSplit, LayersThatDoNotFitGoToTheNext) {
  for (const int64_t layers : {3, 2, 1, 0}) {
    const EngineOptions options = room_for(layers);
    const Plan planned = plan(*file_, chain(), options);
    const auto engine = load(options);
    ASSERT_EQ(planned.memory.devices.size(), 2u);
    const model::DeviceMemory& first = planned.memory.devices[0];
    const model::DeviceMemory& second = planned.memory.devices[1];
    EXPECT_EQ(first.layers, layers);
    EXPECT_EQ(second.device->id(), "cpu:0");
    EXPECT_EQ(second.layers, 3 - layers);
    EXPECT_TRUE(second.embedding && second.output);
    EXPECT_EQ(second.first_layer, layers < 3 ? layers : 0);
    // Exactly as planned.
    EXPECT_LE(first.total(), options.memory_limit);
    EXPECT_EQ(state_.weights, first.weights);
    EXPECT_EQ(state_.buffers, first.cache);
    EXPECT_EQ(state_.scratch, first.scratch);
    EXPECT_EQ(state_.programs, layers > 0 ? 1 : 0);
    EXPECT_EQ(engine->memory().total(), planned.memory.total());
    EXPECT_EQ(play_greedily(*engine, prompt_), expected_) << layers;
  }
  EXPECT_EQ(state_.weights + state_.buffers + state_.scratch, 0u);
}

TEST_F(DeviceSplit, PlanOfTheSecondDeviceIsExact) {
  WrappedState& next = wrap_backend("large", "cpu");
  const EngineOptions options = room_for(1);
  const DeviceChain both(open_wrapped("small"), {"large"}, false);
  const auto engine = Engine::load(file_, both, options, {});
  const model::DeviceMemory& second = engine->memory().devices.at(1);
  EXPECT_EQ(second.device->id(), "large:0");
  EXPECT_EQ(next.weights, second.weights);
  EXPECT_EQ(next.buffers, second.cache);
  EXPECT_EQ(next.scratch, second.scratch);
  EXPECT_EQ(next.programs, 2);  // before the first device, and after it
  EXPECT_EQ(play_greedily(*engine, prompt_), expected_);
}

TEST_F(DeviceSplit, UsesThreeDevices) {
  const uint64_t limit = room_for(1).memory_limit;
  wrap_backend("large", "cpu").free_memory = limit;
  EngineOptions options = tight_options();
  options.memory_limit = limit;
  const DeviceChain three(open_wrapped("small"), {"large", "nothere", "cpu"},
                          false);
  const auto engine = Engine::load(file_, three, options, {});
  const auto& devices = engine->memory().devices;
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].layers, 1);
  EXPECT_GE(devices[1].layers, 1);
  EXPECT_EQ(devices[0].layers + devices[1].layers + devices[2].layers, 3);
  EXPECT_EQ(devices[1].first_layer, 1);
  EXPECT_LE(devices[1].total(), limit);
  EXPECT_EQ(play_greedily(*engine, prompt_), expected_);
}

TEST_F(DeviceSplit, WithoutASecondDeviceIsAnError) {
  EngineOptions options = tight_options();
  options.memory_limit = room_for(2).memory_limit;
  expect_error_with(RC_E_DEVICE_MEMORY, {"small:0"}, [&] {
    Engine::load(file_, open_wrapped("small"), options, {});
  });
}

TEST_F(DeviceSplit, DefaultContextShrinksToALimit) {
  EngineOptions options;
  options.max_rows = 32;
  const int64_t trained = file_->hyper_parameters().context_length;
  options.memory_limit = room_for(2).memory_limit;
  const Plan some = plan(*file_, chain(), options);
  EXPECT_EQ(some.context_length, std::min<int64_t>(trained, 4096));
  EXPECT_TRUE(some.fits);
  EXPECT_EQ(some.largest_context, trained);
}

TEST_F(DeviceSplit, TheLargestContextIsThatOfTheBestSpread) {
  WrappedState& next = wrap_backend("large", "cpu");
  const DeviceChain both(open_wrapped("small"), {"large"}, false);
  EngineOptions options = tight_options();
  options.cache_tokens = 0;
  options.memory_limit = room_for(1).memory_limit;
  next.free_memory = plan(*file_, both, options).memory.devices.at(1).total();
  const int64_t most = plan(*file_, both, options).largest_context;
  ASSERT_GE(most, options.context_length);
  options.context_length = most;
  EXPECT_TRUE(plan(*file_, both, options).fits);
  options.context_length = most + 1;
  const Plan beyond = plan(*file_, both, options);
  EXPECT_FALSE(beyond.fits);
  EXPECT_EQ(beyond.largest_context, most);
}

TEST_F(DeviceSplit, IsSharedOnlyByLoadsWithTheSameSplit) {
  const EngineOptions options = room_for(1);
  const auto engine = load(options);
  EXPECT_EQ(load(options), engine);
  EXPECT_NE(load(tight_options()), engine);
  EXPECT_NE(load(room_for(2)), engine);
  EngineOptions less = options;
  less.memory_limit = 1;
  EXPECT_EQ(Engine::load(file_, chain(), less, {},
                         [](const Engine&) { return true; }),
            engine);
}

TEST_F(DeviceSplit, SessionsAreSavedAndRestored) {
  const auto spread = load(room_for(1));
  const auto whole = Engine::load(file_, open_device(), tight_options(), {});
  for (const auto& [from, to] : {std::pair(spread, whole), {whole, spread}}) {
    const auto session = from->create_session({}, nullptr);
    session->append(prompt_);
    session->decode(false);
    const std::vector<std::byte> bytes = session->save();
    const auto saved = gguf::File::from_memory(nullptr, bytes, "saved");
    const auto restored = to->restore_session(*saved, {}, nullptr);
    EXPECT_EQ(play_greedily(*restored, {}), expected_);
  }
}

TEST_F(DeviceSplit, ForksCopyPagesOnEveryDevice) {
  const auto engine = load(room_for(1));
  const auto session = engine->create_session({}, nullptr);
  session->append(prompt_);
  session->decode(false);
  const auto fork = session->fork();
  generate(*session, greedy(some_tokens(10, 7), 5));
  EXPECT_EQ(play_greedily(*fork, {}), expected_);
}

class Lacking : public DeviceSplit {};

TEST_F(Lacking, UnsupportedOpsRunOnTheCpu) {
  for (const std::set<int32_t>& missing :
       std::vector<std::set<int32_t>>{{RC_OP_ATTENTION},
                                      {RC_OP_CACHE_STORE},
                                      {RC_OP_GLU},
                                      {RC_OP_ROPE, RC_OP_RMS_NORM},
                                      {RC_OP_GET_ROWS},
                                      {RC_OP_LINEAR},
                                      {RC_OP_SOFTCAP, RC_OP_ADD}}) {
    state_.missing_ops = missing;
    const auto engine = load(tight_options());
    ASSERT_EQ(engine->memory().devices.size(), 2u);
    EXPECT_EQ(engine->memory().devices[1].device->id(), "cpu:0");
    EXPECT_EQ(engine->memory().devices[0].layers, 3);
    EXPECT_EQ(state_.weights, engine->memory().devices[0].weights);
    EXPECT_EQ(state_.buffers, engine->memory().devices[0].cache);
    EXPECT_EQ(state_.scratch, engine->memory().devices[0].scratch);
    EXPECT_GT(engine->memory().transfers, 0u);
    for (const int32_t op : missing) {
      const auto& fallbacks = engine->fallbacks();
      EXPECT_TRUE(
          std::any_of(fallbacks.begin(), fallbacks.end(),
                      [&](const auto& one) { return one.op == op_name(op); }));
    }
    EXPECT_EQ(play_greedily(*engine, prompt_), expected_) << *missing.begin();
  }
}

TEST_F(Lacking, StrictRefusesUnsupportedOps) {
  state_.missing_ops = {RC_OP_GLU};
  const auto lenient = load(tight_options());
  expect_error_with(
      RC_E_UNSUPPORTED, {"GLU", "small:0", "the test took it away"},
      [&] { Engine::load(file_, chain(true), tight_options(), {}); });
}

TEST_F(Lacking, UnsupportedOpsOfOneDeviceRunOnTheCpu) {
  state_.missing_ops = {RC_OP_ROPE};
  const auto engine = load(room_for(2));
  EXPECT_EQ(play_greedily(*engine, prompt_), expected_);
}

// A model whose rows see all of their sequence, which needs no engine.
class SpreadEncoder : public ::testing::Test {
 protected:
  // The hidden rows of two sequences.
  std::vector<float> rows_of(model::Placement placement) const {
    const auto model =
        model::ResidentModel::load(file_, std::move(placement), options_, {});
    model::Batch batch;
    batch.sequence_count = 2;
    batch.page_table = {0, 1, 2, 3};
    for (int32_t row = 0; row < 40; ++row) {
      batch.tokens.push_back(5 + row * 7 % 190);
      batch.positions.push_back(row < 23 ? row : row - 23);
      batch.sequences.push_back(row < 23 ? 0 : 1);
      batch.output_rows.push_back(row);
    }
    std::vector<float> rows(batch.output_rows.size() *
                            static_cast<size_t>(file_->output_size()));
    model->run(batch, rows.data(), nullptr, nullptr, -1);
    return rows;
  }

  const std::shared_ptr<const model::ModelFile> file_ = small_model("bert");
  const model::ResidentOptions options_ = {
      .cache = {.dtype = RC_DTYPE_F32,
                .page_size = 16,
                .pages = 4,
                .pages_per_sequence = 2},
      .limits = {.max_rows = 64, .max_outputs = 64, .max_sequences = 2}};
  WrappedState& state_ = wrap_backend("small", "cpu");
  const DeviceChain chain_ = DeviceChain(open_wrapped("small"), {"cpu"}, false);
  const std::vector<float> expected_ =
      rows_of(model::place(*file_, options_, open_device()));
};

TEST_F(SpreadEncoder, OpsRunOnTheCpu) {
  for (const std::set<int32_t>& missing :
       std::vector<std::set<int32_t>>{{RC_OP_ATTENTION},
                                      {RC_OP_LAYER_NORM},
                                      {RC_OP_UNARY, RC_OP_GET_ROWS}}) {
    state_.missing_ops = missing;
    model::Placement placement = model::place(*file_, options_, chain_);
    for (const int32_t op : missing) {
      const auto& all = placement.fallbacks;
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& one) {
        return one.op == op_name(op);
      }));
    }
    EXPECT_EQ(rows_of(std::move(placement)), expected_) << *missing.begin();
  }
}

TEST_F(SpreadEncoder, LayersOnSeveralDevices) {
  for (size_t first = 0; first < model::part_count(*file_); ++first) {
    std::vector<size_t> device_of_part(model::part_count(*file_), 1);
    std::fill_n(device_of_part.begin(), first, 0);
    EXPECT_EQ(
        rows_of(model::place(*file_, options_, chain_,
                             {chain_.first(), open_device()}, device_of_part)),
        expected_)
        << first;
  }
}

// Faults on either device of a spread model during a run.
class SpreadFaults : public DeviceSplit {
 protected:
  SpreadFaults() : next_(wrap_backend("large", "cpu")) {
    EngineOptions options = room_for(1);
    options.timeout_ms = 600'000;
    engine_ = Engine::load(file_,
                           DeviceChain(open_wrapped("small"), {"large"}, false),
                           options, {});
  }
  ~SpreadFaults() override {
    for (WrappedState* state : {&state_, &next_}) {
      state->on_run = {};
      state->on_wait = {};
    }
  }
  WrappedState& next_;
  std::shared_ptr<Engine> engine_;
};

TEST_F(SpreadFaults, CancelReachesEachDevice) {
  for (WrappedState* state : {&state_, &next_}) {
    // The end is reported while the run is in flight, so the behaviour of the
    // device changes by a flag.
    std::atomic<bool> endless{true};
    std::atomic<bool> waiting{false};
    const rc_plugin_run* run = nullptr;
    state->on_run = [&](const rc_plugin_run& given, char*, const auto& inner) {
      run = &given;
      return endless ? RC_OK : inner();
    };
    state->on_wait = [&](int64_t, char*, const auto& inner) -> rc_status {
      if (!endless) return inner();
      waiting = true;
      while (run->should_stop(run->user) == 0) {
        std::this_thread::sleep_for(milliseconds(1));
      }
      endless = false;
      return RC_E_CANCELLED;
    };
    const auto session = engine_->create_session({}, nullptr);
    const auto listener = std::make_shared<TestListener>();
    const auto request = session->generate(greedy(prompt_, 5), listener);
    while (!waiting) std::this_thread::sleep_for(milliseconds(1));
    request->cancel();
    EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
    EXPECT_EQ(play_greedily(*engine_, prompt_), expected_);
    state->on_run = {};
    state->on_wait = {};
  }
}

TEST_F(SpreadFaults, LostSecondDeviceIsReportedAndTheModelLoadsAgain) {
  next_.on_run = [](const rc_plugin_run&, char*, const auto&) {
    return static_cast<rc_status>(RC_E_DEVICE_LOST);
  };
  const Result lost = generate(*engine_, greedy(prompt_, 5));
  EXPECT_EQ(lost.report.status, RC_E_DEVICE_LOST);
  EXPECT_NE(lost.message.find("large:0"), std::string::npos) << lost.message;
  next_.on_run = {};
  // Opened again, it is another device, and the model is loaded again.
  EngineOptions options = room_for(1);
  options.timeout_ms = 600'000;
  const auto again = Engine::load(
      file_, DeviceChain(open_wrapped("small"), {"large"}, false), options, {});
  EXPECT_NE(again, engine_);
  EXPECT_EQ(play_greedily(*again, prompt_), expected_);
}

TEST_F(SpreadFaults, TimeoutActsOnEachDevice) {
  for (WrappedState* state : {&next_, &state_}) {
    EngineOptions options = room_for(1);
    options.timeout_ms = 600'000;  // the device says when it is over
    const auto engine = Engine::load(
        file_, DeviceChain(open_wrapped("small"), {"large"}, false), options,
        {});
    const rc_plugin_run* run = nullptr;
    state->on_run = [&](const rc_plugin_run& given, char*, const auto&) {
      run = &given;
      return static_cast<rc_status>(RC_OK);
    };
    // Ends when it is asked to, after its time.
    state->on_wait = [&](int64_t, char*, const auto&) -> rc_status {
      return run->should_stop(run->user) != 0 ? RC_E_CANCELLED : RC_E_TIMEOUT;
    };
    const Result late = generate(*engine, greedy(prompt_, 5));
    EXPECT_EQ(late.report.status, RC_E_TIMEOUT) << late.message;
    EXPECT_NE(late.message.find(state == &next_ ? "large:0" : "small:0"),
              std::string::npos)
        << late.message;
    state->on_run = {};
    state->on_wait = {};
  }
}

}  // namespace
}  // namespace rc::engine::test
