#include "engine/generation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/deep_stack.h"
#include "base/utf8.h"
#include "engine/core.h"
#include "engine/session_tokens.h"
#include "text/chat/shared_prefix.h"

namespace rc::engine {
namespace {

// Steps of a grammar's work (text::grammar::Work) that the engine thread does
// for one token: a fraction of a millisecond.
constexpr uint64_t kStepsHere = 2000;

// Ends the work for a job that is over, or overdue.
struct Stopped {};

int64_t microseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from)
      .count();
}

// The caller's options and what the model's file forbids.
SamplingOptions sampling_of(const model::ModelFile& file,
                            SamplingOptions options) {
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  for (const TokenId token : file.suppressed_tokens()) {
    options.biases.push_back({token, kForbidden});
  }
  return options;
}

}  // namespace

Generation::Generation(const model::ModelFile& file,
                       std::shared_ptr<SessionState> session,
                       RequestOptions options,
                       std::shared_ptr<Listener> listener)
    : Job(std::move(session)),
      options_(std::move(options)),
      listener_(std::move(listener)),
      tokenizer_(file.tokenizer()),
      session_options_(this->session().home->options()),
      account_(this->session().account),
      sampler_(sampling_of(file, options_.sampling),
               static_cast<size_t>(file.hyper_parameters().vocabulary),
               file.tokenizer()),
      stops_(options_.stop) {
  deadline_ = options_.deadline;
  std::sort(options_.stop_tokens.begin(), options_.stop_tokens.end());
  prompt_ = options_.prompt_tokens;
  if (options_.prompt_maker != nullptr) return;
  if (!prompt_.empty() || options_.prompt.empty()) {
    ready_.store(true);
    return;
  }
  try {
    check_length(tokenizer_of(file), options_.prompt.size(), session_options_,
                 room());
  } catch (const Error&) {
    keep_failure();
    ready_.store(true);
  }
}

void Generation::read_prompt() noexcept {
  try {
    const auto should_stop = [this] {
      End end;
      return ended_.load() || overdue(Clock::now(), &end);
    };
    if (options_.prompt_maker != nullptr) {
      WholePrompt made = on_deep_stack([&] {
        return options_.prompt_maker->make(session_options_, room(),
                                           should_stop);
      });
      prompt_ = std::move(made.tokens);
      if (options_.grammar == nullptr) {
        options_.grammar = std::move(made.grammar);
      }
    } else {
      prompt_ = tokenize(*tokenizer_, options_.prompt, options_.tokenize_flags,
                         should_stop);
    }
  } catch (...) {
    keep_failure();
  }
  ready_.store(true);
}

void Generation::keep_shared_prefix(Core& core) {
  SessionState& session = this->session();
  const auto [kept, next] =
      text::chat::shared_prefix(*tokenizer_, session.items.tokens(), prompt_);
  prompt_.erase(prompt_.begin(),
                prompt_.begin() + static_cast<ptrdiff_t>(next));
  if (const auto size = static_cast<int64_t>(kept); size < session.size()) {
    truncate_tokens(core.pages(), session, size);
  }
}

void Generation::keep_failure() noexcept {
  try {
    throw;
  } catch (Error& error) {
    failure_.emplace(std::move(error));
  } catch (...) {
    // Tokenizers, templates and grammars throw nothing else.
    out_of_memory_ = true;
  }
}

void Generation::throw_failure() {
  if (failure_) throw Error(std::move(*failure_));
  if (out_of_memory_) throw std::bad_alloc();
}

std::optional<End> Generation::begin(Core& core) {
  SessionState& session = this->session();
  session.logits_rows = 0;
  throw_failure();
  if (options_.prompt_maker != nullptr) keep_shared_prefix(core);
  const bool at_start = session.items.empty();
  if (at_start && options_.prompt_maker == nullptr &&
      options_.prompt_tokens.empty() && !options_.prompt.empty()) {
    add_special(*tokenizer_, options_.tokenize_flags, &prompt_);
  }
  if (session.first_token >= 0 && !at_start && !prompt_.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "the session has read a source of ",
         session.source,
         " tokens, and a prompt is another: make another session for it, "
         "or truncate this one to 0; what an answer begins with is appended, "
         "not prompted");
  }
  if (session.first_token >= 0 && at_start && prompt_.empty()) {
    fail(RC_E_INVALID_ARGUMENT,
         "nothing to read: the session is empty, so is the prompt, and the "
         "model generates from a source");
  }
  if (at_start && prompt_.empty()) {
    if (tokenizer_ == nullptr || tokenizer_->bos() < 0) {
      fail(RC_E_INVALID_ARGUMENT,
           "nothing to begin with: the session is empty, so is the prompt, and "
           "the model has no BOS token");
    }
    prompt_ = {tokenizer_->bos()};
  }
  add_tokens(core.pages(), session, prompt_, room());
  if (tokenizer_ != nullptr) {
    // Only the first word of a text is delivered without the space before it.
    // A grammar is about every byte.
    const bool continues =
        options_.grammar != nullptr ||
        std::ranges::any_of(session.text(), [&](TokenId token) {
          return token == kNoToken ||
                 tokenizer_->token_type(token) != text::TokenType::kControl;
        });
    decoder_.emplace(tokenizer_, text::StreamDecoder::Options{
                                     .special = false, .continues = continues});
  }
  prompt_tokens = session.size() - session.metered;
  wants_prefix = true;
  if (options_.echo) tell_prompt();
  prompt_ = {};
  if (session.residence.evaluated == session.size()) {
    // Everything is evaluated, but the logits are gone.
    if (options_.max_tokens == 0) return End{RC_END_LENGTH, RC_OK};
    core.pages().truncate(session, session.size() - 1);
  }
  return options_.grammar != nullptr ? begin_constraint(core) : std::nullopt;
}

std::optional<End> Generation::take(Core& core, const RowLogits& logits) {
  throw_failure();
  if (options_.max_tokens == 0) return End{RC_END_LENGTH, RC_OK};
  if (constraint_) return take_constrained(core, logits.values);
  return add(core, sampler_.choose(logits.values, session().text()),
             logits.values);
}

std::optional<End> Generation::begin_constraint(Core& core) {
  constraint_.emplace(*options_.grammar, tokenizer_, core.vocabulary());
  if (options_.max_tokens == 0) return std::nullopt;
  advance_here();
  if (constraint_->known()) {
    if (constraint_->complete()) return End{RC_END_STOP, RC_OK};
    if (constraint_->forces()) return std::nullopt;
  }
  request_mask(core);
  return std::nullopt;
}

// A step gives the logits for one token; what the grammar then forces is added
// without any, unless its probabilities are asked for.
std::optional<End> Generation::take_constrained(Core& core,
                                                std::span<const float> logits) {
  if (constraint_->complete()) return End{RC_END_STOP, RC_OK};
  do {
    TokenId token = 0;
    if (constraint_->forces()) {
      token = constraint_->take_forced();
      ++forced_;
    } else {
      if (constraint_->exhausted()) return End{RC_END_STOP, RC_OK};
      token = sampler_.choose(logits, session().text(), constraint_->allowed());
      constraint_->accept(token);
    }
    if (const auto end = add(core, token, logits)) return end;
    advance_here();
    if (!constraint_->known()) break;
    if (constraint_->complete()) return End{RC_END_STOP, RC_OK};
  } while (constraint_->forces() && options_.logprobs < 0);
  if (!constraint_->known() || !constraint_->forces()) request_mask(core);
  return std::nullopt;
}

void Generation::advance_here() {
  if (constraint_->known() || advance_is_slow_) return;
  try {
    constraint_->work().begin_slice(kStepsHere, /*waits=*/false, nullptr);
    constraint_->advance();
  } catch (const Constraint::Work::Postponed&) {
    // The pool goes on.
  }
}

void Generation::request_mask(Core& core) {
  ready_.store(false);
  pool_ = core.masks().get();
  auto self = std::static_pointer_cast<Generation>(shared_from_this());
  if (!pool_->post(std::move(self), account_->tenant.get())) {
    run_slice(UINT64_MAX, /*waits=*/true);
  }
}

SlicedTask::Slice Generation::run_slice(uint64_t steps, bool waits) noexcept {
  try {
    Constraint::Work& work = constraint_->work();
    work.begin_slice(steps, waits, [this] {
      End end;
      if (ended_.load() || overdue(Clock::now(), &end)) throw Stopped();
    });
    constraint_->advance();
    advance_is_slow_ = work.in_slice() > kStepsHere;
    constraint_->compute_mask();
  } catch (const Constraint::Work::Postponed&) {
    return constraint_->work().in_slice() < steps ? Slice::kBusy : Slice::kMore;
  } catch (const Stopped&) {
    // The engine thread ends the job.
    return Slice::kDone;
  } catch (...) {
    keep_failure();
  }
  ready_.store(true);
  return Slice::kDone;
}

void Generation::catch_up() noexcept {
  if (pool_ != nullptr) pool_->run_here(*this, account_->tenant.get());
}

std::optional<End> Generation::add(Core& core, TokenId token,
                                   std::span<const float> logits) {
  SessionState& session = this->session();
  session.items.append(token);
  session.metered = session.size();
  session.changed();
  charge(session, {.generated_tokens = 1});
  if (++generated_ == 1) first_token_ = Clock::now();

  const bool ends = is_end(token);
  if (report(token, ends, logits)) return End{RC_END_STOP_STRING, RC_OK};
  if (ends) return End{RC_END_STOP, RC_OK};
  if (generated_ == options_.max_tokens) return End{RC_END_LENGTH, RC_OK};
  if (session.size() >= session.options.context_length) {
    if (!session.options.shift_when_full) {
      return End{RC_END_CONTEXT, RC_OK};
    }
    drop_oldest(core.pages(), session, session.options.context_length - 1);
    wants_prefix = true;
  }
  return std::nullopt;
}

bool Generation::is_end(TokenId token) const {
  if (std::binary_search(options_.stop_tokens.begin(),
                         options_.stop_tokens.end(), token)) {
    return true;
  }
  return !options_.ignore_eos && tokenizer_ != nullptr &&
         tokenizer_->is_end(token);
}

void Generation::tell_prompt() {
  Piece piece;
  if (!options_.prompt_tokens.empty()) {
    if (tokenizer_ != nullptr) {
      piece.text = valid_utf8(tokenizer_->detokenize(options_.prompt_tokens));
    }
  } else {
    piece.text = valid_utf8(options_.prompt);
  }
  listener_->piece(std::move(piece));
}

bool Generation::report(TokenId token, bool ends,
                        std::span<const float> logits) {
  Piece piece;
  piece.tokens.push_back(token);
  if (options_.logprobs >= 0) {
    const Logprobs logprobs(logits);
    piece.logprobs.push_back(logprobs.of(token));
    logprobs.append_top(static_cast<size_t>(options_.logprobs),
                        &piece.top_logprobs);
  }
  bool stopped = false;
  if (options_.control_divides && decoder_ &&
      tokenizer_->token_type(token) == text::TokenType::kControl) {
    auto before = stops_.push(decoder_->flush());
    piece.text = std::move(before.text) + stops_.finish();
    stopped = before.stopped;
  }
  // A token that ends the text is not part of it.
  if (decoder_ && !ends) {
    auto result = stops_.push(decoder_->push(token));
    piece.text += result.text;
    stopped = result.stopped;
  }
  listener_->piece(std::move(piece));
  return stopped;
}

void Generation::ended(const End& end, const char* message) noexcept {
  ended_.store(true);
  const Clock::time_point now = Clock::now();
  rc_status status = end.status;
  if (decoder_ && end.reason != RC_END_STOP_STRING) {
    // Text held back is certain now.
    try {
      Piece piece;
      auto rest = stops_.push(decoder_->finish());
      piece.text = std::move(rest.text);
      piece.text += stops_.finish();
      if (!piece.text.empty()) listener_->piece(std::move(piece));
    } catch (...) {
      if (status == RC_OK) {
        status = RC_E_OUT_OF_MEMORY;
        message = "out of memory: the end of the text is lost";
      }
    }
  }
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  report.reason =
      status != RC_OK && end.status == RC_OK ? RC_END_ERROR : end.reason;
  report.status = status;
  report.seed = options_.sampling.seed;
  report.prompt_tokens = prompt_tokens;
  report.cached_tokens = cached_tokens;
  report.generated_tokens = generated_;
  report.forced_tokens = forced_;
  const bool stepped = last_step != 0;
  report.queue_us = microseconds(submitted, stepped ? first_step : now);
  if (stepped) {
    report.prompt_us =
        microseconds(first_step, generated_ > 0 ? first_token_ : now);
  }
  if (generated_ > 0) report.generate_us = microseconds(first_token_, now);
  listener_->end(report, message);
  listener_.reset();
  decoder_.reset();
}

}  // namespace rc::engine
