#include "api/model.h"

#include "api/backend.h"
#include "api/configured.h"
#include "api/guard.h"
#include "api/model_memory.h"
#include "api/model_path.h"
#include "api/options.h"
#include "api/progress.h"
#include "base/quote.h"
#include "files/convert.h"
#include "files/open_model.h"

namespace rc::api {
namespace {

constexpr int32_t kMostRows = 65536;

engine::EngineOptions engine_options(const rc_model_options& options) {
  need_at_least_zero(options.context_length, "options->context_length");
  need_at_least_zero(options.cache_tokens, "options->cache_tokens");
  need_range(options.max_rows, 0, kMostRows, "options->max_rows");
  need_flag(options.prefix_cache, "options->prefix_cache");
  need_flag(options.keep_mapped, "options->keep_mapped");
  need_flag(options.guard_mapped, "options->guard_mapped");
  need_flag(options.takes_embeddings, "options->takes_embeddings");
  need_range<int32_t>(options.reserved2, 0, 0, "options->reserved2");
  need_flag(options.experts_mapped, "options->experts_mapped");
  need_at_least_zero(options.resident_experts, "options->resident_experts");
  if (options.guard_mapped != 0 && options.keep_mapped == 0 &&
      options.experts_mapped == 0) {
    fail(RC_E_INVALID_ARGUMENT,
         "options->guard_mapped: 1, but nothing is mapped unless keep_mapped "
         "or experts_mapped is 1 too");
  }
  if (options.resident_experts != 0 && options.experts_mapped == 0) {
    fail(RC_E_INVALID_ARGUMENT,
         "options->resident_experts: ", options.resident_experts,
         ", but all are resident unless experts_mapped is 1");
  }
  need_flag(options.fit, "options->fit");
  need_at_least_zero(options.experts_on_layers, "options->experts_on_layers");
  const bool moves_experts =
      options.experts_on != nullptr && *options.experts_on != '\0';
  if (options.experts_on_layers != 0 && !moves_experts) {
    fail(RC_E_INVALID_ARGUMENT,
         "options->experts_on_layers: ", options.experts_on_layers,
         ", but no experts lie elsewhere unless experts_on says where");
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
  result.experts_mapped = options.experts_mapped != 0;
  result.resident_experts = options.resident_experts;
  result.takes_embeddings = options.takes_embeddings != 0;
  if (moves_experts) result.experts_on = options.experts_on;
  result.experts_on_layers = options.experts_on_layers;
  result.fit = options.fit != 0;
  return result;
}

std::optional<model::ForwardOutput> wanted_output(
    const rc_model_options& options) {
  need_range<int32_t>(options.output, RC_OUTPUT_AUTO, RC_OUTPUT_SCORES,
                      "options->output");
  switch (options.output) {
    case RC_OUTPUT_LOGITS:
      return model::ForwardOutput::kLogits;
    case RC_OUTPUT_HIDDEN_ROWS:
      return model::ForwardOutput::kHiddenRows;
    case RC_OUTPUT_SCORES:
      return model::ForwardOutput::kScores;
    default:
      return std::nullopt;
  }
}

std::string wanted_type(const rc_model_options& options) {
  if (options.quantize == nullptr || *options.quantize == '\0') return {};
  if (options.keep_mapped != 0 || options.experts_mapped != 0) {
    fail(RC_E_INVALID_ARGUMENT, "options->quantize: ", quote(options.quantize),
         ", but with ",
         options.keep_mapped != 0 ? "keep_mapped" : "experts_mapped",
         " weights stay as the file has them; quantize into a file "
         "(rc_model_quantize) and map that");
  }
  check_conversion({.type = options.quantize});
  return options.quantize;
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

}  // namespace

LoadedModel::Resident::Resident(std::shared_ptr<HandleAccount> account,
                                std::shared_ptr<engine::Engine> given,
                                HandleAccount::SetAside* from)
    : engine(std::move(given)),
      charge(std::move(account), engine, from),
      device(engine->device()->id()) {}

LoadedModel::LoadedModel(std::shared_ptr<HandleAccount> owner,
                         std::shared_ptr<const model::ModelFile> model_file,
                         std::shared_ptr<const Resident> resident,
                         engine::EngineOptions options,
                         std::unique_ptr<Tenant::Slot> slot)
    : account(std::move(owner)),
      file(std::move(model_file)),
      parameters(count_parameters(file->file())),
      asked(std::move(options)),
      slot_(std::move(slot)),
      resident_(std::move(resident)) {}

std::shared_ptr<LoadedModel> LoadedModel::create(
    std::shared_ptr<HandleAccount> account,
    std::shared_ptr<const model::ModelFile> file,
    std::shared_ptr<engine::Engine> engine, engine::EngineOptions asked,
    std::unique_ptr<Tenant::Slot> slot) {
  auto resident = std::make_shared<const Resident>(account, std::move(engine));
  const std::shared_ptr<LoadedModel> made(
      new LoadedModel(std::move(account), std::move(file), std::move(resident),
                      std::move(asked), std::move(slot)));
  made->account->add(made);
  return made;
}

std::shared_ptr<engine::Engine> LoadedModel::engine() const {
  const std::lock_guard lock(mutex_);
  return resident_->engine;
}

const char* LoadedModel::device() const {
  const std::lock_guard lock(mutex_);
  return names_.insert(resident_->device).first->c_str();
}

std::shared_ptr<engine::Session> LoadedModel::make_session(
    const std::function<std::shared_ptr<engine::Session>(engine::Engine&)>&
        function) const {
  for (;;) {
    const std::shared_ptr<engine::Engine> here = engine();
    std::shared_ptr<engine::Session> session = function(*here);
    const std::lock_guard lock(sessions_->mutex());
    // Unless the others have moved meanwhile.
    if (engine() != here) continue;
    session->join(sessions_);
    return session;
  }
}

std::shared_ptr<const LoadedModel::Resident> LoadedModel::exchange(
    std::shared_ptr<const Resident> next) noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(resident_, std::move(next));
}

LoadRequest::LoadRequest(rc_backend* backend, const char* file,
                         const rc_model_options* asked)
    : LoadRequest(backend, asked) {
  path = need_model_path(file);
}

LoadRequest::LoadRequest(rc_backend* backend,
                         std::shared_ptr<const gguf::File> file,
                         const rc_model_options* asked)
    : LoadRequest(backend, asked) {
  given = std::move(file);
}

LoadRequest::LoadRequest(rc_backend* backend, const rc_model_options* asked)
    : chain(need(backend, "backend").opened()->chain),
      account(backend->account) {
  options.timeout_ms = backend->options.timeout_ms;
  take(asked);
}

void LoadRequest::take(const rc_model_options* asked) {
  std::string type;
  bool is_cache_dtype_open = false;
  const rc_model_options read = configured(asked, type, is_cache_dtype_open);
  const int64_t timeout_ms = options.timeout_ms;
  options = engine_options(read);
  options.fits_cache_dtype = options.fit && is_cache_dtype_open;
  options.timeout_ms = timeout_ms;
  output = wanted_output(read);
  quantize = wanted_type(read);
  progress = read.progress;
  progress_user = read.progress_user;
}

std::shared_ptr<const model::ModelFile> LoadRequest::open() const {
  return model::ModelFile::open(
      given != nullptr ? given : open_model(model::file_of(path)), output,
      quantize);
}

std::unique_ptr<rc_model> LoadRequest::load(
    const std::function<bool()>& go_on) const {
  auto slot = std::make_unique<Tenant::Slot>(account->tenant(),
                                             Tenant::Counted::kModels);
  const std::shared_ptr<const model::ModelFile> file = open();
  const auto report = [&](double fraction) {
    if (go_on && !go_on()) return false;
    return report_progress(progress, progress_user, fraction);
  };
  std::shared_ptr<engine::Engine> engine = engine::Engine::load(
      file, chain, limited_options(), report,
      [&](const engine::Engine& resident) { return account->holds(resident); });
  return std::make_unique<rc_model>(LoadedModel::create(
      account, file, std::move(engine), options, std::move(slot)));
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;

void rc_model_options_init(rc_model_options* options, size_t size) {
  rc::api::initialise_options(options, size);
}

rc_status rc_model_load(rc_backend* backend, const char* path,
                        const rc_model_options* options, rc_model** model) {
  return guard_handle(model, "model", [&] {
    const rc::api::LoadRequest request(backend, path, options);
    return rc::api::add_handle(request.load({}));
  });
}

rc_status rc_model_load_memory(rc_backend* backend,
                               const rc_model_memory* memory,
                               const rc_model_options* options,
                               rc_model** model) {
  using rc::api::ModelMemory;
  return rc::api::guard_memory(
      memory, model, "model", [&](const ModelMemory& given) {
        need(backend, "backend");
        const rc::api::LoadRequest request(backend, given.keep(), options);
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
    const std::shared_ptr<rc::engine::Engine> held = loaded.engine();
    const rc::engine::Engine& engine = *held;
    const rc::model::HyperParameters& hyper = loaded.file->hyper_parameters();
    rc_model_report result = RC_MODEL_REPORT_INIT;
    result.architecture = hyper.architecture.c_str();
    result.name = hyper.name.c_str();
    result.device = loaded.device();
    result.context_length = engine.options().context_length;
    result.trained_context_length = hyper.context_length;
    result.vocabulary = hyper.vocabulary;
    result.width = hyper.width;
    result.layers = hyper.layer_count();
    result.parameters = loaded.parameters;
    result.weight_bytes = engine.memory().weights;
    result.cache_bytes = engine.memory().cache + engine.memory().states;
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
        std::make_unique<rc_tokenizer>(file->tokenizer(), file->file()));
  });
}
