// A request: evaluates its prompt, then chooses token after token and tells the
// listener.
//
// Made and cancelled on any thread, everything else on the engine thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/job.h"
#include "engine/sampler.h"
#include "text/stop_matcher.h"
#include "text/stream_decoder.h"

namespace rc::engine {

class Generation final : public Job, public Request {
 public:
  // Tokenizes the prompt for a session that is at the start or not, as it looks
  // now; begin() does it again if it was wrong. Throws std::bad_alloc only.
  Generation(std::shared_ptr<Engine> engine,
             std::shared_ptr<CommandQueue> commands,
             std::shared_ptr<SessionState> session, RequestOptions options,
             std::shared_ptr<Listener> listener);

  void cancel() noexcept override { cancel_job(); }

  std::optional<End> begin(Core& core) override;
  std::optional<End> take(Core& core, std::span<const float> logits,
                          size_t rows) override;
  void ended(const End& end, const char* message) noexcept override;
  int32_t priority() const override { return options_.priority; }
  bool decoding() const override { return generated_ > 0; }
  bool counts_as_request() const override { return true; }

 private:
  void tokenize(const model::ModelFile& file, bool at_start);
  void tell_prompt();
  // Tells the token just chosen; true if a stop string is complete.
  bool tell(TokenId token, bool ends, std::span<const float> logits);
  bool is_end(TokenId token) const;

  RequestOptions options_;
  std::shared_ptr<Listener> listener_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;  // may be nullptr

  std::vector<TokenId> prompt_;
  bool tokenized_at_start_ = false;
  std::optional<Error> tokenize_error_;

  Sampler sampler_;
  std::optional<text::StreamDecoder> decoder_;
  text::StopMatcher stops_;
  int64_t generated_ = 0;
  Clock::time_point first_token_;
};

}  // namespace rc::engine
