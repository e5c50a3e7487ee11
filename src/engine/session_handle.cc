#include "engine/session_handle.h"

#include <utility>

#include "engine/decoding.h"
#include "engine/generation.h"
#include "engine/prompt_readers.h"
#include "engine/saved_session.h"
#include "engine/session_list.h"
#include "engine/session_move.h"
#include "engine/session_tokens.h"

namespace rc::engine {
namespace {

[[noreturn]] void fail_busy(int64_t count) {
  fail(RC_E_BUSY, "the session has ", count,
       count == 1 ? " request" : " requests",
       " in flight; wait for the end or cancel");
}

}  // namespace

SessionHandle::SessionHandle(std::shared_ptr<SessionState> state)
    : state_(std::move(state)), farewell_(std::make_unique<Farewell>()) {
  farewell_->state = state_;
}

SessionHandle::~SessionHandle() {
  state_->home->post(*farewell_.release());
  // This may be the last reference to the engine.
  state_->home->release();
}

void SessionHandle::Farewell::execute(Core&) noexcept {
  state->open = false;
  delete this;
}

void SessionHandle::check_idle() const {
  const int64_t count = state_->in_flight.load();
  if (count > 0) fail_busy(count);
}

template <class Function>
void SessionHandle::call(Function&& function) {
  const std::lock_guard lock(mutex_);
  check_idle();
  call_engine([&](Command& command) { state_->home->post(command); },
              [&](Core& core) {
                // A request may have come in between.
                check_idle();
                function(core, *state_);
              });
}

void SessionHandle::join(const std::shared_ptr<SessionList>& list) {
  list->add(state_);
  state_->change_list(list);
}

void SessionHandle::append(std::vector<TokenId> tokens) {
  check_tokens("tokens", tokens,
               engine()->file().hyper_parameters().vocabulary);
  call([&](Core& core, SessionState& state) {
    add_tokens(core.pages(), state, tokens, 0);
  });
}

void SessionHandle::append_text(std::string_view text, uint32_t flags) {
  const std::shared_ptr<Engine> kept = engine();
  const text::Tokenizer& tokenizer = tokenizer_of(kept->file());
  check_length(tokenizer, text.size(), options(), 0);
  std::vector<TokenId> tokens = tokenize(tokenizer, text, flags);
  call([&](Core& core, SessionState& state) {
    if (state.items.empty()) add_special(tokenizer, flags, &tokens);
    add_tokens(core.pages(), state, tokens, 0);
  });
}

void SessionHandle::append_embeddings(
    std::shared_ptr<const model::EmbeddingRows> rows) {
  check_takes_embeddings(*engine(), "rows");
  call([&](Core& core, SessionState& state) {
    add_embeddings(core.pages(), state, rows);
  });
}

void SessionHandle::decode(bool all_logits) {
  const std::lock_guard lock(mutex_);
  check_idle();
  const auto job = std::make_shared<Decoding>(state_, all_logits);
  job->submit();
  job->wait();
}

Session::Logits SessionHandle::logits() {
  Logits result = {};
  call([&](Core& core, SessionState& state) {
    if (state.logits_rows == 0) {
      fail(RC_E_NOT_FOUND,
           "there are no logits: decode the session first, and again after "
           "every change");
    }
    result = {state.logits.data(), state.logits_rows, core.vocabulary()};
  });
  return result;
}

int64_t SessionHandle::position() {
  check_idle();
  return state_->position.load();
}

std::vector<TokenId> SessionHandle::tokens() {
  std::vector<TokenId> result;
  call([&](Core&, SessionState& state) {
    const std::span<const TokenId> tokens = state.items.tokens();
    result.assign(tokens.begin(), tokens.end());
  });
  return result;
}

void SessionHandle::truncate(int64_t position) {
  call([&](Core& core, SessionState& state) {
    if (position < 0 || position > state.size()) {
      fail(RC_E_INVALID_ARGUMENT, "position is ", position,
           "; the session has ", state.size(), " tokens");
    }
    if (position > 0 && position <= state.source) {
      fail(RC_E_INVALID_ARGUMENT, "position is ", position,
           ", but the session's source has ", state.source,
           " tokens and is read whole; truncate to 0, for another source, or "
           "to ",
           state.source + 1, " or more");
    }
    truncate_tokens(core.pages(), state, position);
  });
}

std::shared_ptr<Session> SessionHandle::fork() {
  auto state = std::make_shared<SessionState>();
  state->home = std::make_shared<Home>(*state_->home);
  auto handle = std::make_shared<SessionHandle>(state);
  call([&](Core& core, SessionState& from) {
    state->home->follow(*from.home);
    state->options = from.options;
    state->account = from.account;
    state->first_token = from.first_token;
    state->items = from.items;
    state->source = from.source;
    state->metered = from.metered;
    if (const std::shared_ptr<SessionList> list = from.list()) {
      const std::lock_guard lock(list->mutex());
      list->add(state);
      state->change_list(list);
    }
    core.prepare(*state);
    core.pages().add(state);
    core.pages().share(from, *state);
    state->residence.last_used = core.step_number();
    state->changed();
  });
  return handle;
}

void SessionHandle::move(const Destination& destination,
                         const std::function<bool()>& should_stop,
                         const std::function<void()>& decided) {
  move_session(state_, destination, should_stop, decided);
}

std::vector<std::byte> SessionHandle::save() {
  SavedSession saved;
  call([&](Core& core, SessionState& state) {
    core.pages().settle(state);
    saved = take_snapshot(core.model(), state);
  });
  return session_writer(engine()->file(), saved).write_memory();
}

void SessionHandle::save(const std::string& path) {
  SavedSession saved;
  call([&](Core& core, SessionState& state) {
    core.pages().settle(state);
    saved = take_snapshot(core.model(), state);
  });
  // A slow disk holds up only the caller.
  session_writer(engine()->file(), saved).write_file(path);
}

// Counts a request of the session until it is submitted.
class SessionHandle::Entry {
 public:
  // Throws RC_E_BUSY if there is another and this one is to be alone.
  Entry(SessionState& state, bool alone) : state_(state) {
    if (!state_.begin_request(alone)) fail_busy(state_.in_flight.load());
  }
  ~Entry() {
    if (!submitted_) state_.end_request();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  void submit(Job& request) noexcept {
    submitted_ = true;
    request.submit();
  }

 private:
  SessionState& state_;
  bool submitted_ = false;
};

std::shared_ptr<Request> SessionHandle::generate(
    RequestOptions options, std::shared_ptr<Listener> listener) {
  const bool here = options.caller_waits;
  Entry entry(*state_, /*alone=*/options.prompt_maker != nullptr);
  auto request = std::make_shared<Generation>(
      engine()->file(), state_, std::move(options), std::move(listener));
  if (!request->ready() &&
      (here || !read_prompt_later(request, state_->account->tenant.get()))) {
    request->read_prompt();
  }
  entry.submit(*request);
  return request;
}

std::shared_ptr<Request> SessionHandle::decode_later(
    bool all_logits, std::shared_ptr<DecodeListener> listener) {
  Entry entry(*state_, /*alone=*/true);
  auto request =
      std::make_shared<Decoding>(state_, all_logits, std::move(listener));
  entry.submit(*request);
  return request;
}

}  // namespace rc::engine
