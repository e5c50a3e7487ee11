// Evaluating models, through the C ABI: against what transformers and numpy
// make of the same models (golden/evaluation).
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/api_util.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

std::string golden_model(const std::string& name) {
  return source_path("tests/golden/architectures/" + name + ".gguf").string();
}

std::string evaluation_file(const std::string& name) {
  return source_path("tests/golden/evaluation/" + name).string();
}

Json expectation() {
  return Json::parse(std::ifstream(evaluation_file("expected.json")));
}

Model load_exact(rc_backend* backend, const std::string& path,
                 int32_t rows = 0) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 64;
  options.cache_dtype = RC_DTYPE_F32;
  options.max_rows = rows;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend, path.c_str(), &options, &model));
  return Model(model);
}

void expect_near(double value, double error, const Json& expected,
                 double tolerance) {
  const double wanted = expected[0];
  EXPECT_NEAR(value, wanted, tolerance * std::abs(wanted));
  EXPECT_NEAR(error, expected[1].get<double>(),
              10.0 * tolerance * expected[1].get<double>());
}

// `close` is for the model's own numbers, `apart` for differences of two.
void expect_score(const rc_evaluate_report& r, const Json& e, double close,
                  double apart) {
  EXPECT_EQ(r.context, e["context"]);
  EXPECT_EQ(r.tokens, e["tokens"]);
  EXPECT_EQ(r.bytes, e["tokens"]);
  EXPECT_GT(r.tokens_per_second, 0.0);
  expect_near(r.perplexity, r.perplexity_error, e["perplexity"], close);
  expect_near(r.bits_per_byte, r.bits_per_byte_error, e["bits_per_byte"],
              close);
  expect_near(r.against_perplexity, r.against_perplexity_error,
              e["against_perplexity"], close);
  expect_near(r.perplexity_ratio, r.perplexity_ratio_error,
              e["perplexity_ratio"], close);
  expect_near(r.divergence, r.divergence_error, e["divergence"], apart);
  EXPECT_NEAR(r.divergence_99, e["divergence_99"].get<double>(),
              apart * e["divergence_99"].get<double>());
  EXPECT_NEAR(r.divergence_max, e["divergence_max"].get<double>(),
              apart * e["divergence_max"].get<double>());
  expect_near(r.agreement, r.agreement_error, e["agreement"], 1e-12);
  expect_near(r.probability_difference, r.probability_difference_error,
              e["probability_difference"], apart);
}

class Evaluate : public ::testing::Test {
 protected:
  Evaluate()
      : backend_(open_backend()),
        model_(load_exact(backend_.get(), golden_model("llama2"))),
        text_(evaluation_file("text.txt")),
        questions_(evaluation_file("choices.jsonl")) {
    options_.text_path = text_.c_str();
    options_.context = 24;
  }

  rc_status evaluate(rc_model* model, rc_evaluate_report* report) const {
    return rc_model_evaluate(model, &options_, report);
  }
  rc_evaluate_report evaluate(rc_model* model) const {
    rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
    EXPECT_OK(evaluate(model, &report));
    return report;
  }
  void fails(rc_status status, const std::string& text) const {
    rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
    const rc_status got = evaluate(model_.get(), &report);
    EXPECT_STREQ(rc_status_name(got), rc_status_name(status));
    EXPECT_NE(std::string(rc_error_message()).find(text), std::string::npos)
        << rc_error_message();
  }

  const Backend backend_;
  const Model model_;
  const std::string text_, questions_;
  rc_evaluate_options options_ = RC_EVALUATE_OPTIONS_INIT;
};

TEST_F(Evaluate, ScoresMatchTransformers) {
  const Model other = load_exact(backend_.get(), golden_model("mistral"));
  options_.against = other.get();
  const Json all = expectation();
  for (const Json& expected : all["scores"]) {
    options_.context = expected["context"];
    options_.stride = expected["stride"];
    expect_score(evaluate(model_.get()), expected, 1e-6, 2e-6);
  }
}

TEST_F(Evaluate, MeasuresTheDivergenceOfRoundedWeights) {
  const TemporaryFolder folder;
  const std::string rounded = (folder.path() / "rounded.gguf").string();
  ASSERT_OK(rc_model_convert(golden_model("llama2").c_str(), rounded.c_str(),
                             "BF16", nullptr, nullptr));
  const Model model = load_exact(backend_.get(), rounded);
  options_.context = 16;
  options_.against = model_.get();
  const rc_evaluate_report report = evaluate(model.get());
  // Divergences are differences of nearly equal numbers.
  expect_score(report, expectation()["rounded"], 1e-6, 1e-3);
  EXPECT_LT(report.model_bytes, report.against_bytes);
  EXPECT_LT(report.bits_per_weight, 17.0);
}

TEST_F(Evaluate, ModelHasNoDivergenceFromItself) {
  options_.against = model_.get();
  const rc_evaluate_report report = evaluate(model_.get());
  EXPECT_EQ(report.perplexity_ratio, 1.0);
  EXPECT_EQ(report.divergence_max, 0.0);
  EXPECT_EQ(report.agreement, 1.0);
  EXPECT_EQ(report.probability_difference, 0.0);
  EXPECT_EQ(report.bits_per_weight, 32.0);
  EXPECT_EQ(report.questions, 0);
}

TEST_F(Evaluate, MatchesExpectedAccuracyOfChoices) {
  const Json expected = expectation()["choices"];
  options_ = RC_EVALUATE_OPTIONS_INIT;
  options_.choices_path = questions_.c_str();
  const rc_evaluate_report report = evaluate(model_.get());
  EXPECT_EQ(report.questions, 40);
  EXPECT_EQ(report.windows, 0);
  expect_near(report.accuracy, report.accuracy_error, expected["accuracy"],
              1e-12);
  expect_near(report.accuracy_by_length, report.accuracy_by_length_error,
              expected["accuracy_by_length"], 1e-12);
}

// Steps of few rows, and other requests at the same time, change no bit on a
// CPU device.
TEST_F(Evaluate, DoesNotDependOnStepSizeOrOtherRequests) {
  const Backend cpu = open_backend("cpu");
  options_.choices_path = questions_.c_str();
  const auto bits = [&](int32_t rows, bool busy) {
    const Model model = load_exact(cpu.get(), golden_model("llama2"), rows);
    std::atomic<bool> done = false;
    std::thread other([&] {
      while (busy && !done) {
        const Session session = create_session(model.get());
        generate(session.get());
      }
    });
    rc_evaluate_report report = evaluate(model.get());
    done = true;
    other.join();
    report.tokens_per_second = 0.0;
    return std::string(reinterpret_cast<const char*>(&report), sizeof report);
  };
  const std::string plain = bits(0, false);
  EXPECT_EQ(bits(3, false), plain);
  EXPECT_EQ(bits(7, true), plain);
}

TEST_F(Evaluate, ReportsProgress) {
  std::vector<double> ended;
  options_.progress = [](void* user, double fraction) -> int32_t {
    static_cast<std::vector<double>*>(user)->push_back(fraction);
    return 0;
  };
  options_.progress_user = &ended;
  options_.choices_path = questions_.c_str();
  options_.stride = 20;
  options_.against = model_.get();
  evaluate(model_.get());
  EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
  EXPECT_EQ(ended.front(), 0.0);
  EXPECT_EQ(ended.back(), 1.0);
  EXPECT_GT(ended.size(), 40u);
}

TEST_F(Evaluate, CanBeCancelled) {
  options_.choices_path = questions_.c_str();
  for (const double at : {0.0, 0.3, 0.9}) {
    double limit = at;
    options_.progress = [](void* user, double fraction) -> int32_t {
      return fraction >= *static_cast<double*>(user) ? 1 : 0;
    };
    options_.progress_user = &limit;
    fails(RC_E_CANCELLED, "cancelled");
  }
  options_.progress = [](void*, double) -> int32_t { throw 1; };
  fails(RC_E_INTERNAL, "the progress callback");
}

TEST_F(Evaluate, ErrorsNameTheOption) {
  const std::string many = "AB";
  options_.context = 65;
  fails(RC_E_INVALID_ARGUMENT, "4 to 64");
  options_.context = -1;
  fails(RC_E_INVALID_ARGUMENT, "options->context");
  options_.context = 24;
  options_.stride = 25;
  fails(RC_E_INVALID_ARGUMENT, "a stride of 25");
  options_.stride = 0;
  options_.text = many.data();
  options_.text_length = many.size();
  fails(RC_E_INVALID_ARGUMENT, "both text and text_path");
  options_.text_path = nullptr;
  fails(RC_E_INVALID_ARGUMENT, "too short");
  options_.text = nullptr;
  fails(RC_E_INVALID_ARGUMENT, "options->text: NULL");
  options_.text_length = 0;
  fails(RC_E_INVALID_ARGUMENT, "nothing to evaluate on");
  options_.text_path = "/no/such";
  fails(RC_E_NOT_FOUND, "/no/such");
  options_.text_path = "/";
  fails(RC_E_IO, "/: cannot be read");
  options_.text_path = nullptr;
  const std::string long_question =
      "{\"question\": \"" + std::string(70, 'A') +
      "\", \"choices\": [\"B\", \"C\"], \"answer\": 0}";
  options_.choices = long_question.data();
  options_.choices_length = long_question.size();
  fails(RC_E_CONTEXT_FULL, "choices, line 1: the question has");
  const std::string empty =
      "{\"question\": \"A \", \"choices\": [\"B\", \"\"], \"answer\": 0}";
  options_.choices = empty.data();
  options_.choices_length = empty.size();
  fails(RC_E_INVALID_ARGUMENT, "choices, line 1: choice 1 comes to no token");
  options_.choices_length = 3;
  fails(RC_E_FORMAT, "choices, line 1");
  rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, evaluate(nullptr, &report), "model");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, evaluate(model_.get(), nullptr),
               "report: NULL");
}

TEST_F(Evaluate, RefusesModelsThatCannotBeCompared) {
  rc_model* loaded = nullptr;
  ASSERT_OK(rc_model_load(backend_.get(), "builtin:fable", nullptr, &loaded));
  const Model fable(loaded);
  options_.against = fable.get();
  fails(RC_E_INVALID_ARGUMENT, "different vocabularies");
  // Rows, not logits.
  const std::string words =
      "the fox and the lion of the fox in the lion to the fox and the lion";
  ASSERT_OK(rc_model_load(backend_.get(), golden_model("bert").c_str(), nullptr,
                          &loaded));
  const Model bert(loaded);
  options_ = RC_EVALUATE_OPTIONS_INIT;
  options_.text = words.data();
  options_.text_length = words.size();
  options_.context = 8;
  rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
  EXPECT_FAILS(RC_E_UNSUPPORTED, evaluate(bert.get(), &report), "hidden rows");
}

struct EvaluateEnd {
  std::atomic<int> calls{0};
  rc_status status = RC_OK;
  std::string message;
  rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
};

void on_evaluated(void* user, rc_status status, const char* message,
                  const rc_evaluate_report* report) {
  EvaluateEnd& ended = *static_cast<EvaluateEnd*>(user);
  ended.status = status;
  ended.message = message;
  if (report != nullptr) ended.report = *report;
  ++ended.calls;
}

TEST_F(Evaluate, EndIsDeliveredOnTheLoop) {
  const rc_evaluate_report expected = evaluate(model_.get());
  rc_loop* created = nullptr;
  ASSERT_OK(rc_loop_create(&created));
  const Loop loop(created);
  EvaluateEnd good, bad;
  {
    // The texts and the handle may go.
    const Model another = load_exact(backend_.get(), golden_model("llama2"));
    const std::string path = text_;
    options_.text_path = path.c_str();
    ASSERT_OK(rc_model_evaluate_async(another.get(), &options_, loop.get(),
                                      &on_evaluated, &good));
  }
  options_.text_path = "/no/such";
  ASSERT_OK(rc_model_evaluate_async(model_.get(), &options_, loop.get(),
                                    &on_evaluated, &bad));
  while (good.calls == 0 || bad.calls == 0) {
    ASSERT_OK(rc_loop_wait(loop.get(), -1));
    ASSERT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  }
  EXPECT_EQ(good.calls, 1);
  EXPECT_EQ(good.status, RC_OK) << good.message;
  EXPECT_EQ(good.report.perplexity, expected.perplexity);
  EXPECT_EQ(bad.status, RC_E_NOT_FOUND);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_model_evaluate_async(model_.get(), &options_, loop.get(),
                                       nullptr, nullptr),
               "callback: NULL");
}

TEST_F(Evaluate, ClosingTheLoopCancels) {
  // Too long to finish during the test.
  std::string text;
  for (int i = 0; i < 400000; ++i) text += static_cast<char>('A' + i % 23);
  options_ = RC_EVALUATE_OPTIONS_INIT;
  options_.text = text.data();
  options_.text_length = text.size();
  rc_loop* created = nullptr;
  ASSERT_OK(rc_loop_create(&created));
  const Loop loop(created);
  EvaluateEnd ended;
  ASSERT_OK(rc_model_evaluate_async(model_.get(), &options_, loop.get(),
                                    &on_evaluated, &ended));
  EXPECT_OK(rc_loop_close(loop.get()));
  while (ended.calls == 0) {
    ASSERT_OK(rc_loop_wait(loop.get(), -1));
    ASSERT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  }
  EXPECT_EQ(ended.status, RC_E_CANCELLED) << ended.message;
}

}  // namespace
}  // namespace rc::test
