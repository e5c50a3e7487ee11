#include "api/model.h"

#include <cstdio>

#include "api/backend.h"
#include "api/guard.h"
#include "api/model_path.h"
#include "api/options.h"
#include "base/callback.h"

namespace rc::api {
namespace {

constexpr rc_model_options kModelDefaults = RC_MODEL_OPTIONS_INIT;
constexpr int32_t kMostRows = 65536;

engine::EngineOptions engine_options(const rc_model_options& options) {
  need_at_least_zero(options.context_length, "options->context_length");
  need_at_least_zero(options.cache_tokens, "options->cache_tokens");
  need_range(options.max_rows, 0, kMostRows, "options->max_rows");
  need_flag(options.prefix_cache, "options->prefix_cache");
  need_flag(options.keep_mapped, "options->keep_mapped");
  need_flag(options.guard_mapped, "options->guard_mapped");
  if (options.guard_mapped != 0 && options.keep_mapped == 0) {
    fail(
        RC_E_INVALID_ARGUMENT,
        "options->guard_mapped: 1, but nothing is mapped unless keep_mapped is "
        "1 too");
  }
  if (options.cache_dtype != RC_DTYPE_F16 &&
      options.cache_dtype != RC_DTYPE_F32 &&
      options.cache_dtype != RC_DTYPE_Q8_0) {
    fail(RC_E_INVALID_ARGUMENT,
         "options->cache_dtype: ", dtype_name(options.cache_dtype),
         " is none of F16, F32 and Q8_0");
  }
  engine::EngineOptions result;
  result.context_length = options.context_length;
  result.cache_tokens = options.cache_tokens;
  result.cache_dtype = options.cache_dtype;
  if (options.max_rows != 0) result.max_rows = options.max_rows;
  result.prefix_cache = options.prefix_cache != 0;
  result.keep_mapped = options.keep_mapped != 0;
  result.guard_mapped = options.guard_mapped != 0;
  return result;
}

// While the tenant lives.
void limit_memory(const Tenant& tenant, engine::EngineOptions& options) {
  options.memory_limit = tenant.memory_left();
  options.has_weight = [&](const runtime::Weight& weight) {
    return tenant.holds(weight);
  };
}

uint64_t count_parameters(const gguf::File& file) {
  uint64_t parameters = 0;
  for (const gguf::Tensor& tensor : file.tensors()) {
    uint64_t elements = 1;
    for (int64_t dimension : tensor.shape) elements *= dimension;
    parameters += elements;
  }
  return parameters;
}

// The devices in use; the first one always is one of them.
void list_devices(const engine::Plan& plan, rc_model_plan_report& report) {
  for (size_t i = 0; i < plan.memory.devices.size(); ++i) {
    const model::DeviceMemory& here = plan.memory.devices[i];
    if (i > 0 && here.total() == 0) continue;
    if (report.device_count == RC_PLAN_DEVICES) break;
    rc_device_plan& target = report.devices[report.device_count++];
    std::snprintf(target.device, sizeof target.device, "%s",
                  here.device->id().c_str());
    target.weights = here.weights - here.shared;
    target.cache = here.cache;
    target.scratch = here.scratch;
    target.total = here.added();
    target.available = plan.device_available[i];
    target.first_layer = static_cast<int32_t>(here.first_layer);
    target.layers = static_cast<int32_t>(here.layers);
    target.embedding = here.embedding ? 1 : 0;
    target.output = here.output ? 1 : 0;
  }
}

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<Tenant> owner,
                         std::shared_ptr<const model::ModelFile> model_file,
                         std::shared_ptr<engine::Engine> model_engine)
    : tenant(std::move(owner)),
      file(std::move(model_file)),
      engine(std::move(model_engine)),
      charge(tenant, engine),
      device(engine->device()->id()),
      parameters(count_parameters(file->file())) {}

LoadRequest::LoadRequest(rc_backend* backend, const char* file,
                         const rc_model_options* given)
    : chain(need(backend, "backend").chain) {
  const rc_backend& handle = *backend;
  path = need_model_path(file);
  const rc_model_options read = read_options(given, kModelDefaults, "options");
  tenant = handle.tenant;
  options = engine_options(read);
  options.timeout_ms = handle.timeout_ms;
  progress = read.progress;
  progress_user = read.progress_user;
}

std::unique_ptr<rc_model> LoadRequest::load(
    const std::function<bool()>& go_on) const {
  const std::shared_ptr<const model::ModelFile> file =
      model::ModelFile::open(model::file_of(path));
  engine::EngineOptions limited = options;
  limit_memory(*tenant, limited);
  const auto report = [&](double fraction) {
    if (go_on && !go_on()) return false;
    if (progress == nullptr) return true;
    bool cancel = false;
    char failure[kCallbackMessage] = "";
    call_out(
        "the progress callback",
        [&] { cancel = progress(progress_user, fraction) != 0; },
        [&](const char* message) {
          std::snprintf(failure, sizeof failure, "%s", message);
        });
    if (*failure != '\0') throw Error(RC_E_INTERNAL, failure);
    return !cancel;
  };
  std::shared_ptr<engine::Engine> engine = engine::Engine::load(
      file, chain, limited, report,
      [&](const engine::Engine& resident) { return tenant->holds(resident); });
  return std::make_unique<rc_model>(
      std::make_shared<LoadedModel>(tenant, file, std::move(engine)));
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;

void rc_model_options_init(rc_model_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kModelDefaults);
}

void rc_model_plan_report_init(rc_model_plan_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_model_plan_report RC_MODEL_PLAN_REPORT_INIT);
}

rc_status rc_model_plan(const char* path, const rc_model_options* options,
                        rc_backend* backend, rc_model_plan_report* report) {
  return guard([&] {
    rc::api::LoadRequest request(backend, path, options);
    rc::api::limit_memory(*request.tenant, request.options);
    const rc::engine::Plan plan = rc::engine::plan(
        *rc::model::ModelFile::open(rc::model::file_of(request.path)),
        request.chain, request.options);
    rc_model_plan_report result = RC_MODEL_PLAN_REPORT_INIT;
    result.weights = plan.memory.weights - plan.memory.shared;
    result.cache = plan.memory.cache;
    result.scratch = plan.memory.scratch;
    result.total = plan.memory.added();
    result.available = plan.available;
    result.fits = plan.fits ? 1 : 0;
    result.context_length = plan.context_length;
    result.cache_tokens = plan.cache_tokens;
    result.largest_context = plan.largest_context;
    result.transfers = plan.memory.transfers;
    rc::api::list_devices(plan, result);
    rc::api::write_report(report, result, "report");
  });
}

rc_status rc_model_load(rc_backend* backend, const char* path,
                        const rc_model_options* options, rc_model** model) {
  return guard_handle(model, "model", [&] {
    const rc::api::LoadRequest request(backend, path, options);
    return rc::api::add_handle(request.load({}));
  });
}

rc_model* rc_model_retain(rc_model* model) {
  return rc::api::retain_handle(model, "model");
}

void rc_model_release(rc_model* model) {
  rc::api::release_handle(model, "model");
}

void rc_model_report_init(rc_model_report* report, size_t size) {
  rc::api::initialise(report, size, rc_model_report RC_MODEL_REPORT_INIT);
}

rc_status rc_model_describe(rc_model* model, rc_model_report* report) {
  return guard([&] {
    const rc::api::LoadedModel& loaded = *need(model, "model").loaded;
    const rc::engine::Engine& engine = *loaded.engine;
    const rc::model::HyperParameters& hyper = loaded.file->hyper_parameters();
    rc_model_report result = RC_MODEL_REPORT_INIT;
    result.architecture = hyper.architecture.c_str();
    result.name = hyper.name.c_str();
    result.device = loaded.device.c_str();
    result.context_length = engine.options().context_length;
    result.trained_context_length = hyper.context_length;
    result.vocabulary = hyper.vocabulary;
    result.width = hyper.width;
    result.layers = hyper.layers;
    result.parameters = loaded.parameters;
    result.weight_bytes = engine.memory().weights;
    result.cache_bytes = engine.memory().cache;
    result.scratch_bytes = engine.memory().scratch;
    result.cache_tokens = engine.options().cache_tokens;
    result.page_size = engine.page_size();
    rc::api::write_report(report, result, "report");
  });
}

rc_status rc_model_get_info(rc_model* model, rc_model_info** info) {
  return guard_handle(info, "info", [&] {
    const auto& file = need(model, "model").loaded->file;
    return rc::api::add_handle(std::make_unique<rc_model_info>(
        std::shared_ptr<const rc::gguf::File>(file, &file->file())));
  });
}

rc_status rc_model_get_tokenizer(rc_model* model, rc_tokenizer** tokenizer) {
  return guard_handle(tokenizer, "tokenizer", [&] {
    const auto& file = need(model, "model").loaded->file;
    if (file->tokenizer() == nullptr) {
      rc::fail(RC_E_UNSUPPORTED, file->file().name(),
               ": the model has no tokenizer");
    }
    return rc::api::add_handle(
        std::make_unique<rc_tokenizer>(file->tokenizer()));
  });
}
