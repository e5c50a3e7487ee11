#include "runcible/evaluate.h"

#include "api/async_work.h"
#include "api/evaluation_text.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "api/options.h"
#include "api/progress.h"
#include "engine/evaluation/choices.h"
#include "engine/evaluation/text_score.h"

namespace rc::api {
namespace {

constexpr rc_evaluate_options kEvaluateDefaults = RC_EVALUATE_OPTIONS_INIT;
constexpr rc_evaluate_report kEvaluateReport = RC_EVALUATE_REPORT_INIT;

uint64_t tensor_bytes(const LoadedModel& model) {
  uint64_t bytes = 0;
  for (const gguf::Tensor& tensor : model.file->file().tensors()) {
    bytes += tensor.bytes;
  }
  return bytes;
}

engine::EvaluatedModel evaluated(const LoadedModel* model) {
  if (model == nullptr) return {};
  return {model->engine(), model->account->engine_account()};
}

void write_text(const engine::TextScore& score, rc_evaluate_report& report) {
  report.windows = score.windows;
  report.context = score.context;
  report.tokens = score.tokens;
  report.bytes = score.bytes;
  report.perplexity = score.perplexity.value;
  report.perplexity_error = score.perplexity.error;
  report.bits_per_byte = score.bits_per_byte.value;
  report.bits_per_byte_error = score.bits_per_byte.error;
  report.tokens_per_second = score.tokens_per_second;
  if (!score.comparison) return;
  const engine::Comparison& compared = *score.comparison;
  report.against_perplexity = compared.perplexity.value;
  report.against_perplexity_error = compared.perplexity.error;
  report.perplexity_ratio = compared.ratio.value;
  report.perplexity_ratio_error = compared.ratio.error;
  report.divergence = compared.divergence.value;
  report.divergence_error = compared.divergence.error;
  report.divergence_99 = compared.divergence_99;
  report.divergence_max = compared.divergence_most;
  report.agreement = compared.agreement.value;
  report.agreement_error = compared.agreement.error;
  report.probability_difference = compared.difference.value;
  report.probability_difference_error = compared.difference.error;
}

// The arguments of the caller, checked and copied.
class EvaluateRequest {
 public:
  EvaluateRequest(rc_model* model, const rc_evaluate_options* given)
      : model_(need(model, "model").loaded),
        options_(read_options(given, kEvaluateDefaults, "options")),
        text_(options_.text, options_.text_length, options_.text_path, "text"),
        choices_(options_.choices, options_.choices_length,
                 options_.choices_path, "choices") {
    if (options_.against != nullptr) {
      against_ = need(options_.against, "options->against").loaded;
    }
    need_at_least_zero(options_.context, "options->context");
    need_at_least_zero(options_.stride, "options->stride");
    need_at_least_zero(options_.windows, "options->windows");
    if (!text_.given() && !choices_.given()) {
      fail(RC_E_INVALID_ARGUMENT,
           "options: neither text nor choices, in bytes or as a path; there is "
           "nothing to evaluate on");
    }
  }

  // `stopped` says whether to cancel, as does the progress callback.
  rc_evaluate_report run(const std::function<bool()>& stopped) const {
    rc_evaluate_report report = kEvaluateReport;
    report.model_bytes = tensor_bytes(*model_);
    if (model_->parameters > 0) {
      report.bits_per_weight = 8.0 * static_cast<double>(report.model_bytes) /
                               static_cast<double>(model_->parameters);
    }
    if (against_ != nullptr) report.against_bytes = tensor_bytes(*against_);
    // Questions are read first, so that a mistake in them is found at once.
    std::vector<engine::Question> questions;
    if (choices_.given()) {
      questions = engine::read_questions(choices_.read(), choices_.label());
    }
    const bool both = text_.given() && choices_.given();
    const auto progress = [&](double from, double share) {
      return [this, &stopped, from, share](double fraction) {
        return !(stopped && stopped()) &&
               report_progress(options_.progress, options_.progress_user,
                               from + share * fraction);
      };
    };
    const engine::EvaluatedModel model = evaluated(model_.get());
    if (text_.given()) {
      write_text(engine::score_text(
                     model, evaluated(against_.get()), text_.read(),
                     {options_.context, options_.stride, options_.windows},
                     progress(0.0, both ? 0.5 : 1.0)),
                 report);
    }
    if (choices_.given()) {
      const engine::ChoiceScore score =
          engine::score_choices(model, questions, choices_.label(),
                                progress(both ? 0.5 : 0.0, both ? 0.5 : 1.0));
      report.questions = score.questions;
      report.accuracy = score.accuracy.value;
      report.accuracy_error = score.accuracy.error;
      report.accuracy_by_length = score.accuracy_by_length.value;
      report.accuracy_by_length_error = score.accuracy_by_length.error;
    }
    report_progress(options_.progress, options_.progress_user, 1.0);
    return report;
  }

 private:
  const std::shared_ptr<const LoadedModel> model_;
  // Its pointers to texts and to a model are the caller's, and not followed
  // later.
  const rc_evaluate_options options_;
  const GivenText text_;
  const GivenText choices_;
  std::shared_ptr<const LoadedModel> against_;
};

class AsyncEvaluation final : public AsyncWork {
 public:
  AsyncEvaluation(EvaluateRequest request, std::shared_ptr<engine::Loop> loop,
                  rc_evaluate_callback callback, void* user)
      : AsyncWork(std::move(loop), "evaluating", "rc_model_evaluate_async"),
        request_(std::move(request)),
        callback_(callback),
        user_(user) {}

 private:
  void work() override {
    report_ = request_.run([this] { return stopped(); });
  }

  void deliver(rc_status status, const char* message) override {
    callback_(user_, status, message, status == RC_OK ? &report_ : nullptr);
  }

  const EvaluateRequest request_;
  const rc_evaluate_callback callback_;
  void* const user_;
  rc_evaluate_report report_ = kEvaluateReport;
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need_pointer;

void rc_evaluate_options_init(rc_evaluate_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kEvaluateDefaults);
}

void rc_evaluate_report_init(rc_evaluate_report* report, size_t size) {
  rc::api::initialise(report, size, rc::api::kEvaluateReport);
}

rc_status rc_model_evaluate(rc_model* model, const rc_evaluate_options* options,
                            rc_evaluate_report* report) {
  return guard([&] {
    need_pointer(report, "report");
    const rc::api::EvaluateRequest request(model, options);
    rc::api::write_report(report, request.run({}), "report");
  });
}

rc_status rc_model_evaluate_async(rc_model* model,
                                  const rc_evaluate_options* options,
                                  rc_loop* loop, rc_evaluate_callback callback,
                                  void* user) {
  using rc::api::AsyncEvaluation;
  return guard([&] {
    rc::api::EvaluateRequest request(model, options);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<AsyncEvaluation>(
        std::move(request), rc::api::loop_or_own(loop), callback, user));
  });
}
