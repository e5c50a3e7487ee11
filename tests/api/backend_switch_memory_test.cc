// The memory that handles ask for before they change their device.
#include <algorithm>

#include "switch_util.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

// A model with weights of a type that the devices store differently.
Model load_ternary(const Backend& backend) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 256;
  options.cache_tokens = 1024;
  options.quantize = "TQ1_0";
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend.get(),
                          source_path("examples/model/fable.gguf").c_str(),
                          &options, &model));
  return Model(model);
}

uint64_t peak_of(const Backend& backend) {
  rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
  EXPECT_OK(rc_backend_usage(backend.get(), &report));
  return report.peak_memory;
}

// Memory of two models on each of two devices.
struct Totals {
  std::string smaller, larger;  // the devices
  uint64_t least = 0, most = 0;
};

Totals totals() {
  const auto total = [](const char* spec) {
    const Backend backend = open_backend(spec);
    const Model first = load_model(backend.get());
    const Model second = load_ternary(backend);
    return memory_of(backend);
  };
  const uint64_t cpu = total("cpu");
  const uint64_t reference = total("reference");
  EXPECT_NE(cpu, reference);
  if (cpu < reference) return {"cpu", "reference", cpu, reference};
  return {"reference", "cpu", reference, cpu};
}

// The progress of a switch, and a function that is called with it.
struct Progress {
  double furthest = 0;
  std::function<void(double done)> look;

  static int32_t on_progress(void* user, double done) {
    auto& self = *static_cast<Progress*>(user);
    self.furthest = std::max(self.furthest, done);
    if (self.look) self.look(done);
    return 0;
  }
};

rc_status switch_watched(const Backend& backend, const std::string& spec,
                         Progress& progress) {
  rc_backend_switch_options options = RC_BACKEND_SWITCH_OPTIONS_INIT;
  options.progress = Progress::on_progress;
  options.progress_user = &progress;
  return rc_backend_switch(backend.get(), spec.c_str(), &options);
}

// The limit is enough for the models on one device; the switch counts the new
// device only.
TEST(BackendSwitchMemory, LimitAppliesToTheNewDeviceAlone) {
  const Totals two = totals();
  const Backend backend = open_limited(two.smaller, two.most);
  const Model first = load_model(backend.get());
  const Model second = load_ternary(backend);
  const Session session = create_session(first.get());
  const std::string text = generate(session.get());
  for (const std::string& spec : {two.larger, two.smaller, two.larger}) {
    ASSERT_OK(switch_to(backend, spec.c_str()));
    EXPECT_EQ(device_of(first), spec + ":0");
    EXPECT_EQ(device_of(second), spec + ":0");
    EXPECT_EQ(memory_of(backend), bytes_of(first) + bytes_of(second));
  }
  ASSERT_OK(switch_to(backend, two.smaller.c_str()));
  EXPECT_EQ(generate(session.get()), text);
}

// The missing memory of the second model is found before the first is loaded.
TEST(BackendSwitchMemory, ExceededLimitIsRefusedBeforeLoading) {
  const Totals two = totals();
  const Backend backend = open_limited(two.smaller, two.most);
  const Model first = load_model(backend.get());
  const Model second = load_ternary(backend);
  const Session session = create_session(first.get());
  const std::string text = generate(session.get());
  Tensor tensor = make(backend.get(), {1}, {1});
  const uint64_t memory = memory_of(backend);
  const uint64_t peak = peak_of(backend);
  Progress progress;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY,
               switch_watched(backend, two.larger, progress), two.larger,
               "next to the");
  EXPECT_LE(progress.furthest, 0.1) << "that is opening alone";
  EXPECT_EQ(device_of(backend), two.smaller);
  EXPECT_EQ(device_of(first), two.smaller + ":0");
  EXPECT_EQ(device_of(second), two.smaller + ":0");
  EXPECT_EQ(memory_of(backend), memory);
  EXPECT_EQ(peak_of(backend), peak);
  EXPECT_EQ(generate(session.get()), text);
  tensor.reset();
  ASSERT_OK(switch_watched(backend, two.larger, progress));
  EXPECT_EQ(device_of(second), two.larger + ":0");
}

// While the first model is loaded, other allocations cannot take the memory of
// the second.
TEST(BackendSwitchMemory, IsReservedForAllModels) {
  const Totals two = totals();
  const Backend backend = open_limited(two.smaller, two.most);
  const Model first = load_model(backend.get());
  const Model second = load_ternary(backend);
  int refused = 0;
  Progress progress;
  progress.look = [&](double done) {
    if (done <= 0.2 || refused > 0) return;
    const int64_t count = 1 << 15;
    rc_tensor* tensor = nullptr;
    EXPECT_FAILS(
        RC_E_DEVICE_MEMORY,
        rc_tensor_create(backend.get(), RC_DTYPE_F32, &count, 1, &tensor),
        std::to_string(two.most));
    ++refused;
  };
  ASSERT_OK(switch_watched(backend, two.larger, progress));
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(memory_of(backend), two.most);
  // The memory is released: a device that needs less has room again.
  ASSERT_OK(switch_to(backend, two.smaller.c_str()));
  EXPECT_EQ(memory_of(backend), two.least);
  const Tensor tensor = make(backend.get(), {1}, {1});
  EXPECT_EQ(memory_of(backend), two.least + sizeof(float));
}

// After a switch that failed while it loaded, too.
TEST(BackendSwitchMemory, IsReleasedAfterAFailure) {
  const Totals two = totals();
  const Backend backend = open_limited(two.smaller, two.most);
  const Model first = load_model(backend.get());
  const Model second = load_ternary(backend);
  rc_backend_switch_options cancelling = RC_BACKEND_SWITCH_OPTIONS_INIT;
  cancelling.progress = [](void*, double done) -> int32_t {
    return done > 0.7 ? 1 : 0;
  };
  EXPECT_FAILS(
      RC_E_CANCELLED,
      rc_backend_switch(backend.get(), two.larger.c_str(), &cancelling));
  EXPECT_EQ(memory_of(backend), two.least);
  const Tensor tensor = make(backend.get(), {1}, {1});
  EXPECT_EQ(memory_of(backend), two.least + sizeof(float));
}

// Models of one file share its weights, which are asked for once, and a model
// that was loaded twice is one.
TEST(BackendSwitchMemory, SharedWeightsAreCountedOnce) {
  const auto load_both = [](const Backend& backend) {
    std::vector<Model> models;
    for (const int64_t context : {16, 32, 32}) {
      rc_model_options options = RC_MODEL_OPTIONS_INIT;
      options.context_length = options.cache_tokens = context;
      rc_model* model = nullptr;
      EXPECT_OK(
          rc_model_load(backend.get(), model_path().c_str(), &options, &model));
      models.emplace_back(model);
    }
    return models;
  };
  uint64_t most = 0;
  uint64_t apart = 0;
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    const auto models = load_both(backend);
    most = std::max(most, memory_of(backend));
    apart = bytes_of(models[0]) + bytes_of(models[1]);
  }
  ASSERT_LT(most, apart);
  const Backend backend = open_limited("cpu", most);
  const auto models = load_both(backend);
  ASSERT_OK(switch_to(backend, "reference"));
  ASSERT_OK(switch_to(backend, "cpu"));
  for (const Model& model : models) EXPECT_EQ(device_of(model), "cpu:0");
  EXPECT_LE(memory_of(backend), most);
}

}  // namespace
}  // namespace rc::test
