// A fixture and a listener for tests of conversations.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/conversation.h"
#include "engine_util.h"
#include "test_data.h"
#include "text/chat/known_templates.h"

namespace rc::engine::test {

inline JsonValue json(std::string_view text) {
  return parse_json(text, "test", 100);
}

// All that an answer reports.
class EventRecorder final : public Listener {
 public:
  void piece(Piece piece) override {
    if (on_piece) on_piece();
    tokens += piece.tokens.size();
    texts[piece.type] += piece.text;
  }
  void end(const rc_generate_report& given,
           const char* message) noexcept override {
    const std::lock_guard lock(mutex_);
    report = given;
    error = message;
    ended_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
  }

  std::function<void()> on_piece;  // on the engine thread
  std::map<rc_event_type, std::string> texts;
  size_t tokens = 0;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  std::string error;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

class ConversationTest : public ::testing::Test {
 protected:
  ConversationOptions options(std::string_view name) const {
    ConversationOptions made;
    made.chat = text::chat::ChatTemplate::create(
        text::chat::known_template(name), engine_->file().tokenizer());
    made.now = {2024, 7, 26, 14, 5, 9, 0};
    return made;
  }
  std::shared_ptr<Conversation> begin() const {
    return Conversation::create(session_, options("zephyr"));
  }
  static std::shared_ptr<EventRecorder> answer(Conversation& conversation,
                                               int64_t tokens = 12) {
    RequestOptions request;
    request.max_tokens = tokens;
    request.sampling.seed = 7;
    const auto listener = std::make_shared<EventRecorder>();
    static_cast<void>(conversation.answer(std::move(request), listener));
    listener->wait();
    EXPECT_EQ(listener->report.status, RC_OK) << listener->error;
    return listener;
  }
  static std::string said(const Conversation& conversation) {
    return json_text(conversation.messages());
  }

  const std::shared_ptr<Engine> engine_ = Engine::load(
      model::ModelFile::open(
          rc::test::source_path("examples/model/fable.gguf").string()),
      open_device(), {}, {});
  const std::shared_ptr<Session> session_ =
      engine_->create_session({}, nullptr);
};

}  // namespace rc::engine::test
