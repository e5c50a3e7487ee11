#include "runcible/convert.h"

#include "api/async_work.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model_path.h"
#include "api/options.h"
#include "api/progress.h"
#include "base/cat.h"
#include "files/convert.h"
#include "files/open_model.h"
#include "files/quantize/mixes.h"

namespace rc::api {
namespace {

constexpr rc_quantize_options kQuantizeDefaults = RC_QUANTIZE_OPTIONS_INIT;
constexpr int32_t kMostConvertThreads = 1024;
constexpr size_t kMostTensorTypes = 256;

// The arguments of the caller, checked and copied.
struct ConvertRequest {
  std::string from;
  std::string to;
  Conversion conversion;

  ConvertRequest(const char* source, const char* target)
      : from(need_model_path(source, "from")) {
    need_pointer(target, "to");
    if (*target == '\0') fail(RC_E_INVALID_ARGUMENT, "to: empty");
    to = target;
  }

  void report_to(rc_progress_callback progress, void* user) {
    conversion.progress = [progress, user](double fraction) {
      return report_progress(progress, user, fraction);
    };
  }

  void run() const {
    convert_model(*open_model(model::file_of(from)), to, conversion);
  }
};

ConvertRequest convert_request(const char* from, const char* to,
                               const char* type, rc_progress_callback progress,
                               void* user) {
  ConvertRequest request(from, to);
  if (type != nullptr) {
    if (*type == '\0') fail(RC_E_INVALID_ARGUMENT, "type: empty");
    request.conversion.type = type;
  }
  check_conversion(request.conversion);
  request.report_to(progress, user);
  return request;
}

ConvertRequest quantize_request(const char* from, const char* to,
                                const rc_quantize_options* given) {
  ConvertRequest request(from, to);
  const rc_quantize_options options =
      read_options(given, kQuantizeDefaults, "options");
  need_pointer(options.type, "options->type");
  if (*options.type == '\0') {
    fail(RC_E_INVALID_ARGUMENT, "options->type: empty");
  }
  need_range(options.threads, 0, kMostConvertThreads, "options->threads");
  if (options.tensor_count > kMostTensorTypes) {
    fail(RC_E_INVALID_ARGUMENT, "options->tensor_count: ", options.tensor_count,
         " is above ", kMostTensorTypes);
  }
  Conversion& conversion = request.conversion;
  conversion.type = options.type;
  if (options.importance != nullptr) conversion.importance = options.importance;
  if (options.tensor_count > 0)
    need_pointer(options.tensors, "options->tensors");
  for (size_t i = 0; i < options.tensor_count; ++i) {
    need_pointer(options.tensors[i], cat("options->tensors[", i, "]").c_str());
    conversion.tensors.emplace_back(options.tensors[i]);
  }
  conversion.threads = options.threads;
  conversion.requantizes = true;
  check_conversion(conversion);
  request.report_to(options.progress, options.progress_user);
  return request;
}

class AsyncConvert final : public AsyncWork {
 public:
  AsyncConvert(ConvertRequest request, std::shared_ptr<engine::Loop> loop,
               const char* name, const char* function,
               rc_convert_callback callback, void* user)
      : AsyncWork(std::move(loop), name, function),
        request_(std::move(request)),
        callback_(callback),
        user_(user) {
    ConvertProgress& progress = request_.conversion.progress;
    progress = [this, report = std::move(progress)](double fraction) {
      return !stopped() && report(fraction);
    };
  }

 private:
  void work() override { request_.run(); }

  void deliver(rc_status status, const char* message) override {
    callback_(user_, status, message);
  }

  ConvertRequest request_;
  const rc_convert_callback callback_;
  void* const user_;
};

void start_converting(ConvertRequest request, rc_loop* loop, const char* name,
                      const char* function, rc_convert_callback callback,
                      void* user) {
  need_pointer(reinterpret_cast<const void*>(callback), "callback");
  AsyncWork::start(std::make_unique<AsyncConvert>(
      std::move(request), loop_or_own(loop), name, function, callback, user));
}

}  // namespace
}  // namespace rc::api

const char* rc_conversion_type(size_t i) { return rc::quantize::mix_name(i); }

rc_status rc_model_convert(const char* from, const char* to, const char* type,
                           rc_progress_callback progress, void* user) {
  return rc::api::guard(
      [&] { rc::api::convert_request(from, to, type, progress, user).run(); });
}

rc_status rc_model_convert_async(const char* from, const char* to,
                                 const char* type,
                                 rc_progress_callback progress,
                                 void* progress_user, rc_loop* loop,
                                 rc_convert_callback callback, void* user) {
  return rc::api::guard([&] {
    rc::api::start_converting(
        rc::api::convert_request(from, to, type, progress, progress_user), loop,
        "converting", "rc_model_convert_async", callback, user);
  });
}

void rc_quantize_options_init(rc_quantize_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kQuantizeDefaults);
}

rc_status rc_model_quantize(const char* from, const char* to,
                            const rc_quantize_options* options) {
  return rc::api::guard(
      [&] { rc::api::quantize_request(from, to, options).run(); });
}

rc_status rc_model_quantize_async(const char* from, const char* to,
                                  const rc_quantize_options* options,
                                  rc_loop* loop, rc_convert_callback callback,
                                  void* user) {
  return rc::api::guard([&] {
    rc::api::start_converting(rc::api::quantize_request(from, to, options),
                              loop, "quantizing", "rc_model_quantize_async",
                              callback, user);
  });
}
