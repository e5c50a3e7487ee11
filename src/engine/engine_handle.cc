#include "engine/engine_handle.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/plan.h"
#include "engine/pool_job.h"
#include "engine/saved_session.h"
#include "engine/session_handle.h"
#include "engine/session_tokens.h"

namespace rc::engine {
namespace {

// No thread where there are none.
std::thread start(const std::shared_ptr<Core>& core) {
  if constexpr (!kThreads) {
    Turns::add(core);
    return {};
  }
  try {
    return std::thread([core] { core->run(); });
  } catch (const std::system_error& error) {
    fail(RC_E_OUT_OF_MEMORY,
         "the engine thread could not be started: ", error.what());
  }
}

}  // namespace

EngineHandle::EngineHandle(std::unique_ptr<model::ResidentModel> model,
                           const EngineOptions& options,
                           runtime::DeviceChain chain)
    : file_(model->shared_file()),
      chain_(std::move(chain)),
      memory_(model->memory()),
      resources_(model->resources()),
      fallbacks_(model->fallbacks()),
      layout_(model->options().cache),
      core_(std::make_shared<Core>(std::move(model), options)),
      thread_(start(core_)) {}

EngineHandle::~EngineHandle() {
  core_->commands()->stop();
  if constexpr (!kThreads) {
    Turns::end(*core_);
  } else if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool EngineHandle::broken() const {
  return core_->broken() ||
         std::any_of(memory_.devices.begin(), memory_.devices.end(),
                     [](const model::DeviceMemory& here) {
                       return here.total() > 0 && here.device->lost();
                     });
}

bool EngineHandle::spread() const {
  const model::DeviceMemory& first = memory_.devices.front();
  return !first.output ||
         first.layers != file_->hyper_parameters().layer_count();
}

SessionOptions EngineHandle::resolve(const SessionOptions& given) const {
  if (file_->output() != model::ForwardOutput::kLogits) {
    fail(RC_E_UNSUPPORTED, file_->file().name(), ": the model was loaded for ",
         file_->output() == model::ForwardOutput::kScores
             ? "scores of pairs of texts"
             : "hidden rows, of which embeddings are made",
         ", not for text, so there are no sessions of it; where models of "
         "architecture ",
         file_->hyper_parameters().architecture,
         " have logits, load it with output = RC_OUTPUT_LOGITS");
  }
  const int64_t most = this->options().context_length;
  SessionOptions options = given;
  int64_t& context = options.context_length;
  if (context == 0) context = most;
  if (context < 2 || context > most) {
    fail(RC_E_INVALID_ARGUMENT, "context_length of the session is ", context,
         "; the model was loaded for 2 to ", most);
  }
  if (file_->source() != nullptr && options.shift_when_full) {
    fail(RC_E_UNSUPPORTED, file_->file().name(),
         ": a session of a model that reads a source cannot shift, for the "
         "source is not cut; take RC_FULL_ERROR");
  }
  const int64_t keep = options.keep_tokens;
  if (keep < 0 || (options.shift_when_full && keep > context - 2)) {
    fail(RC_E_INVALID_ARGUMENT, "keep_tokens is ", keep, "; with a context of ",
         context, " it must be 0 to ", context - 2);
  }
  return options;
}

std::shared_ptr<SessionState> EngineHandle::make_state(
    const SessionOptions& options, std::shared_ptr<Account> account) {
  auto state = std::make_shared<SessionState>();
  state->options = resolve(options);
  if (file_->source() != nullptr) {
    state->first_token =
        static_cast<TokenId>(file_->hyper_parameters().first_token);
  }
  warn_beyond_training(*file_, options.context_length);
  state->account = account ? std::move(account) : std::make_shared<Account>();
  state->home = std::make_shared<Home>(shared_from_this(), core_->commands(),
                                       state->options);
  return state;
}

std::shared_ptr<Session> EngineHandle::create_session(
    const SessionOptions& options, std::shared_ptr<Account> account) {
  const auto state = make_state(options, std::move(account));
  auto handle = std::make_shared<SessionHandle>(state);
  // No call of the engine thread: a caller that begins a stream on an event
  // loop must not wait for the step under way. The first job makes the session
  // known.
  core_->prepare(*state);
  return handle;
}

int64_t EngineHandle::longest_text() const {
  const int64_t context =
      std::min(options().context_length, file_->position_limit());
  if (file_->causal()) return context;
  // A step has all of its rows, and their pages.
  return std::min({context, options().max_rows, options().cache_tokens});
}

std::shared_ptr<Request> EngineHandle::pool(
    PoolOptions options, std::shared_ptr<PoolListener> listener,
    std::shared_ptr<Account> account) {
  auto state = std::make_shared<SessionState>();
  state->options.context_length = this->options().context_length;
  state->account = account ? std::move(account) : std::make_shared<Account>();
  state->home = std::make_shared<Home>(shared_from_this(), core_->commands(),
                                       state->options);
  state->items.append(options.tokens);
  state->second_text = options.second_text;
  // There is no handle: it is forgotten as soon as its job has ended.
  state->open = false;
  core_->prepare(*state);
  const std::shared_ptr<Home> home = state->home;
  auto job = std::make_shared<PoolJob>(*this, std::move(state), options,
                                       std::move(listener));
  job->submit();
  home->release();
  return job;
}

std::shared_ptr<Session> EngineHandle::restore_session(
    const gguf::File& file, const SessionOptions& options,
    std::shared_ptr<Account> account) {
  const auto state = make_state(options, std::move(account));
  SavedSession saved =
      read_session(file, *file_, layout_, state->options.context_length);
  if (!saved.items.runs().empty()) {
    check_takes_embeddings(*this, file.name());
  }
  auto handle = std::make_shared<SessionHandle>(state);
  core_->call([&](Core& core) {
    check_source(core.pages(), saved.source);
    state->items = std::move(saved.items);
    state->source = saved.source;
    state->metered = saved.evaluated;
    state->changed();
    state->residence.last_used = core.step_number();
    core.prepare(*state);
    core.pages().adopt(*state, saved);
    try {
      core.pages().add(state);
    } catch (...) {
      core.pages().truncate(*state, 0);
      throw;
    }
  });
  return handle;
}

}  // namespace rc::engine
