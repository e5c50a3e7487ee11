// A request: evaluates its prompt, then chooses token after token and reports
// to the listener.
//
// Made and cancelled on any thread, its prompt tokenized and its masks computed
// on any other, everything else on the engine thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/constraint.h"
#include "engine/job.h"
#include "engine/mask_pool.h"
#include "engine/sampler.h"
#include "text/stop_matcher.h"
#include "text/stream_decoder.h"

namespace rc::engine {

class Generation final : public Job, public Request, public SlicedTask {
 public:
  // Throws std::bad_alloc only.
  Generation(const model::ModelFile& file,
             std::shared_ptr<SessionState> session, RequestOptions options,
             std::shared_ptr<Listener> listener);

  void cancel() noexcept override { cancel_job(); }

  // Not until a prompt of text has been read, nor while a mask is computed.
  bool ready() const noexcept override { return ready_.load(); }
  // Makes or tokenizes the prompt, until the job is overdue; once, by one
  // thread.
  void read_prompt() noexcept;
  // Does what is left for the next choice under the grammar, which makes the
  // job ready in the end.
  Slice run_slice(uint64_t steps, bool waits) noexcept override;
  void report_done() noexcept override { wake_engine(); }
  void catch_up() noexcept override;

  std::optional<End> begin(Core& core) override;
  std::optional<End> take(Core& core, const RowLogits& logits) override;
  void ended(const End& end, const char* message) noexcept override;
  int32_t priority() const override { return options_.priority; }
  bool decoding() const override { return generated_ > 0; }
  bool in_flight() const override { return true; }
  bool counts_as_request() const override { return true; }

 private:
  // Drops what the session holds beyond the prompt, and of the prompt what the
  // session holds.
  void keep_shared_prefix(Core& core);
  // Keeps the exception being handled for the engine thread.
  void keep_failure() noexcept;
  void throw_failure();
  // Tokens that the session must have room for after the prompt.
  int64_t room() const { return options_.max_tokens == 0 ? 0 : 1; }
  void tell_prompt();
  std::optional<End> begin_constraint(Core& core);
  // As take(), under the grammar.
  std::optional<End> take_constrained(Core& core,
                                      std::span<const float> logits);
  // As Constraint::advance(), as far as it is a matter of microseconds.
  void advance_here();
  void request_mask(Core& core);
  // Adds the token just chosen, or forced.
  std::optional<End> add(Core& core, TokenId token,
                         std::span<const float> logits);
  // Reports the token just chosen; true if a stop string is complete.
  bool report(TokenId token, bool ends, std::span<const float> logits);
  bool is_end(TokenId token) const;

  RequestOptions options_;
  std::shared_ptr<Listener> listener_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;  // may be nullptr

  // While it is ready, of the engine thread: the prompt, all of what the
  // session is to hold if it was made by a prompt_maker, else without the
  // special tokens of a session's start; the constraint, or why there is none.
  std::atomic<bool> ready_{false};
  std::vector<TokenId> prompt_;
  std::optional<Constraint> constraint_;
  // Whether the last token took more than advance_here() does.
  bool advance_is_slow_ = false;
  std::optional<Error> failure_;
  bool out_of_memory_ = false;
  std::atomic<bool> ended_{false};

  const SessionOptions session_options_;
  const std::shared_ptr<Account> account_;  // of the session
  // Of the engine; not kept, as one of its threads may drop the generation.
  MaskPool* pool_ = nullptr;

  Sampler sampler_;
  std::optional<text::StreamDecoder> decoder_;
  text::StopMatcher stops_;
  int64_t generated_ = 0;
  int64_t forced_ = 0;  // of these
  Clock::time_point first_token_;
};

}  // namespace rc::engine
