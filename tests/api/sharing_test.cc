// Handles that share a model or its weights: what is resident once is paid
// once.
#include "api_util.h"

namespace rc::test {
namespace {

uint64_t memory(const Backend& backend) {
  rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
  EXPECT_OK(rc_backend_usage(backend.get(), &report));
  return report.memory;
}

uint64_t bytes(const Model& model) {
  rc_model_report report = RC_MODEL_REPORT_INIT;
  EXPECT_OK(rc_model_describe(model.get(), &report));
  return report.weight_bytes + report.cache_bytes + report.scratch_bytes;
}

TEST(Sharing, OldestHandlePays) {
  const Backend backends[] = {open_backend(), open_backend(), open_backend()};
  Model models[] = {load_model(backends[0].get()),
                    load_model(backends[1].get()),
                    load_model(backends[2].get())};
  const uint64_t all = bytes(models[0]);
  const auto expect_payer = [&](size_t payer) {
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(memory(backends[i]), i == payer ? all : 0) << i;
    }
  };
  expect_payer(0);
  // A second one of the payer's own changes nothing, and keeps it paying.
  Model second = load_model(backends[0].get());
  expect_payer(0);
  models[0].reset();
  expect_payer(0);
  second.reset();
  expect_payer(1);
  // A handle that loads the model again is the last.
  models[0] = load_model(backends[0].get());
  expect_payer(1);
  models[2].reset();
  models[1].reset();
  expect_payer(0);
  models[0].reset();
  expect_payer(3);
  rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
  EXPECT_OK(rc_backend_usage(backends[1].get(), &report));
  EXPECT_EQ(report.peak_memory, all);
  EXPECT_OK(rc_backend_usage(backends[2].get(), &report));
  EXPECT_EQ(report.peak_memory, 0u);
}

// Models of one file that differ share their weights; the rest is each one's
// own.
TEST(Sharing, ModelsOfOneFileShareItsWeights) {
  const Backend backends[] = {open_backend(), open_backend(), open_backend()};
  Model models[3];
  uint64_t weights = 0;
  uint64_t own[3];
  for (int i = 0; i < 3; ++i) {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 64 << i;
    const rc_plan_report plan =
        report_of(plan_model(backends[i].get(), model_path(), &options).get());
    rc_model* model = nullptr;
    ASSERT_OK(rc_model_load(backends[i].get(), model_path().c_str(), &options,
                            &model));
    models[i].reset(model);
    rc_model_report report = RC_MODEL_REPORT_INIT;
    ASSERT_OK(rc_model_describe(model, &report));
    weights = report.weight_bytes;
    own[i] = report.cache_bytes + report.scratch_bytes;
    EXPECT_EQ(plan.weights, i == 0 ? weights : 0);
    EXPECT_EQ(plan.total, own[i] + plan.weights);
    EXPECT_EQ(plan.fits, 1);
  }
  EXPECT_EQ(memory(backends[0]), weights + own[0]);
  EXPECT_EQ(memory(backends[1]), own[1]);
  EXPECT_EQ(memory(backends[2]), own[2]);
  models[0].reset();
  EXPECT_EQ(memory(backends[0]), 0u);
  EXPECT_EQ(memory(backends[1]), weights + own[1]);
  EXPECT_EQ(memory(backends[2]), own[2]);
  // One of the same handle takes no weights either.
  const Model second = load_model(backends[2].get());
  EXPECT_EQ(memory(backends[2]), own[0] + own[2]);
  models[1].reset();
  EXPECT_EQ(memory(backends[2]), weights + own[0] + own[2]);
  models[2].reset();
  EXPECT_EQ(memory(backends[2]), weights + own[0]);
}

// A limit counts weights once that several models of the handle share.
TEST(Sharing, LimitCountsWeightsOnce) {
  rc_model_report report = RC_MODEL_REPORT_INIT;
  ASSERT_OK(rc_model_describe(load_model(open_backend().get()).get(), &report));
  const uint64_t own = report.cache_bytes + report.scratch_bytes;
  const Backend limited =
      open_limited("reference", report.weight_bytes + 2 * own);
  const Model one = load_model(limited.get());
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 64;
  options.prefix_cache = 0;
  rc_model* other = nullptr;
  ASSERT_OK(
      rc_model_load(limited.get(), model_path().c_str(), &options, &other));
  const Model two(other);
  options.max_rows = 1;
  EXPECT_FAILS(
      RC_E_DEVICE_MEMORY,
      rc_model_load(limited.get(), model_path().c_str(), &options, &other),
      "may be used");
}

// A limit counts weights that another handle pays for: it may have to pay.
TEST(Sharing, LimitCountsWeightsPaidByAnotherHandle) {
  const Backend first = open_backend();
  const Model model = load_model(first.get());
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 128;
  rc_model_report report = RC_MODEL_REPORT_INIT;
  ASSERT_OK(rc_model_describe(model.get(), &report));
  const Backend limited = open_limited("reference", report.weight_bytes);
  rc_model* none = nullptr;
  EXPECT_FAILS(
      RC_E_DEVICE_MEMORY,
      rc_model_load(limited.get(), model_path().c_str(), &options, &none),
      "are there");
  EXPECT_EQ(memory(limited), 0u);
}

// A session holds the model of the handle that it came from.
TEST(Sharing, SessionKeepsTheHandlePaying) {
  const Backend first = open_backend();
  const Backend second = open_backend();
  Model model = load_model(first.get());
  const uint64_t all = bytes(model);
  Session session = create_session(model.get());
  const Model other = load_model(second.get());
  model.reset();
  EXPECT_EQ(memory(first), all);
  EXPECT_EQ(memory(second), 0u);
  session.reset();
  EXPECT_EQ(memory(first), 0u);
  EXPECT_EQ(memory(second), all);
}

TEST(Sharing, HandleThatTakesOverPaysWithinItsLimit) {
  const Backend first = open_backend();
  Model model = load_model(first.get());
  const uint64_t all = bytes(model);
  const Backend limited = open_limited("reference", all);
  const Model shared = load_model(limited.get());
  // The handle has no other memory yet.
  const int64_t shape = 25;
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_create(limited.get(), RC_DTYPE_F32, &shape, 1, &tensor));
  EXPECT_EQ(memory(limited), 100u);
  model.reset();
  EXPECT_EQ(memory(limited), all + 100);
  rc_tensor* more = nullptr;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY,
               rc_tensor_create(limited.get(), RC_DTYPE_F32, &shape, 1, &more),
               std::to_string(all));
  rc_tensor_release(tensor);
  EXPECT_EQ(memory(limited), all);
}

}  // namespace
}  // namespace rc::test
