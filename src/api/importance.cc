// The part of evaluate.h that measures importance.
#include "engine/evaluation/importance.h"

#include "api/async_work.h"
#include "api/evaluation_text.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "api/options.h"
#include "api/progress.h"
#include "runcible/evaluate.h"

namespace rc::api {
namespace {

constexpr rc_importance_options kImportanceDefaults =
    RC_IMPORTANCE_OPTIONS_INIT;
constexpr rc_importance_report kImportanceReport = RC_IMPORTANCE_REPORT_INIT;

// The arguments of the caller, checked and copied.
class ImportanceRequest {
 public:
  ImportanceRequest(rc_model* model, const char* to,
                    const rc_importance_options* given)
      : model_(need(model, "model").loaded),
        options_(read_options(given, kImportanceDefaults, "options")),
        text_(options_.text, options_.text_length, options_.text_path, "text") {
    need_pointer(to, "to");
    if (*to == '\0') fail(RC_E_INVALID_ARGUMENT, "to: empty");
    to_ = to;
    need_at_least_zero(options_.context, "options->context");
    need_at_least_zero(options_.windows, "options->windows");
    if (!text_.given()) {
      fail(RC_E_INVALID_ARGUMENT,
           "options: neither text nor text_path; there is nothing to measure "
           "importance on");
    }
    dataset_ = options_.dataset != nullptr ? options_.dataset : text_.label();
  }

  // `stopped` says whether to cancel, as does the progress callback.
  rc_importance_report run(const std::function<bool()>& stopped) const {
    const std::shared_ptr<engine::Engine> held = model_->engine();
    const engine::Engine& engine = *held;
    engine::EngineOptions options = engine.options();
    options.memory_limit = model_->account->memory_left();
    options.has_weight = [this](const runtime::Weight& weight) {
      return model_->account->holds(weight);
    };
    const auto progress = [&](double fraction) {
      return !(stopped && stopped()) &&
             report_progress(options_.progress, options_.progress_user,
                             fraction);
    };
    const auto pay = [account = model_->account](uint64_t bytes) {
      try {
        return std::make_shared<compute::Paid>(account, bytes);
      } catch (const Error&) {
        fail(RC_E_DEVICE_MEMORY, "measuring importance takes ", bytes,
             " bytes of device memory in addition to the model, more than is "
             "left of "
             "the backend handle's memory_limit; ask for a shorter context");
      }
    };
    engine::Importance measured = engine::measure_importance(
        engine, options, model_->file, text_.read(),
        {options_.context, 0, options_.windows}, pay, progress);
    measured.data.datasets = {dataset_};
    write_importance(measured.data, to_);
    report_progress(options_.progress, options_.progress_user, 1.0);
    rc_importance_report report = kImportanceReport;
    report.windows = measured.windows;
    report.context = measured.context;
    report.tokens = measured.tokens;
    report.tensors = static_cast<int64_t>(measured.data.tensors.size());
    report.tokens_per_second = measured.tokens_per_second;
    return report;
  }

 private:
  const std::shared_ptr<const LoadedModel> model_;
  // Its pointers to texts are the caller's, and not followed later.
  const rc_importance_options options_;
  const GivenText text_;
  std::string to_;
  std::string dataset_;
};

class AsyncImportance final : public AsyncWork {
 public:
  AsyncImportance(ImportanceRequest request, std::shared_ptr<engine::Loop> loop,
                  rc_importance_callback callback, void* user)
      : AsyncWork(std::move(loop), "measuring", "rc_model_importance_async"),
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

  const ImportanceRequest request_;
  const rc_importance_callback callback_;
  void* const user_;
  rc_importance_report report_ = kImportanceReport;
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need_pointer;

void rc_importance_options_init(rc_importance_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kImportanceDefaults);
}

void rc_importance_report_init(rc_importance_report* report, size_t size) {
  rc::api::initialise(report, size, rc::api::kImportanceReport);
}

rc_status rc_model_importance(rc_model* model, const char* to,
                              const rc_importance_options* options,
                              rc_importance_report* report) {
  return guard([&] {
    const rc::api::ImportanceRequest request(model, to, options);
    const rc_importance_report result = request.run({});
    if (report != nullptr) rc::api::write_report(report, result, "report");
  });
}

rc_status rc_model_importance_async(rc_model* model, const char* to,
                                    const rc_importance_options* options,
                                    rc_loop* loop,
                                    rc_importance_callback callback,
                                    void* user) {
  using rc::api::AsyncImportance;
  return guard([&] {
    rc::api::ImportanceRequest request(model, to, options);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<AsyncImportance>(
        std::move(request), rc::api::loop_or_own(loop), callback, user));
  });
}
