// Sessions as others see them: every function goes through the queue of the
// engine where the session is and waits for its answer.
#pragma once

#include <memory>
#include <mutex>

#include "engine/core.h"

namespace rc::engine {

class SessionHandle final : public Session {
 public:
  // The state is made known to the engine thread by the caller. Its home keeps
  // the engine alive.
  explicit SessionHandle(std::shared_ptr<SessionState> state);
  ~SessionHandle() override;

  std::shared_ptr<Engine> engine() const override {
    return state_->home->engine();
  }
  void join(const std::shared_ptr<SessionList>& list) override;
  void append(std::vector<TokenId> tokens) override;
  void append_text(std::string_view text, uint32_t flags) override;
  void append_embeddings(
      std::shared_ptr<const model::EmbeddingRows> rows) override;
  void decode(bool all_logits) override;
  std::shared_ptr<Request> decode_later(
      bool all_logits, std::shared_ptr<DecodeListener> listener) override;
  Logits logits() override;
  int64_t position() override;
  std::vector<TokenId> tokens() override;
  void truncate(int64_t position) override;
  std::shared_ptr<Session> fork() override;
  void move(const Destination& destination,
            const std::function<bool()>& should_stop,
            const std::function<void()>& decided) override;
  std::vector<std::byte> save() override;
  void save(const std::string& path) override;
  SessionOptions options() const override { return state_->home->options(); }
  std::shared_ptr<Request> generate(
      RequestOptions options, std::shared_ptr<Listener> listener) override;

 private:
  class Entry;
  // Informs the engine thread that the last handle of the session is gone. Made
  // in time, so that a destructor need not allocate.
  struct Farewell final : Command {
    std::shared_ptr<SessionState> state;
    void execute(Core& core) noexcept override;
  };

  void check_idle() const;
  // Does function(core, state) on the engine thread, unless requests are in
  // flight.
  template <class Function>
  void call(Function&& function);

  const std::shared_ptr<SessionState> state_;
  std::unique_ptr<Farewell> farewell_;
  std::mutex mutex_;  // serialises calls
};

}  // namespace rc::engine
