// Prompts of conversations, which are made on another thread: their bounds, and
// the changes of sessions and messages meanwhile.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <thread>

#include "base/error.h"
#include "conversation_util.h"

namespace rc::engine::test {
namespace {

class ConversationPrompts : public ConversationTest {};

// A deadline holds while the prompt is made, and a prompt that cannot fit is
// not tokenized: the request ends with the reason, and nothing has changed.
TEST_F(ConversationPrompts, PromptsAreBoundedByDeadlineAndContext) {
  const auto tokenizer = engine_->file().tokenizer();
  session_->append({1, 2, 3});
  const auto error_of = [&](const std::string& source, int64_t deadline_ms,
                            rc_end_reason reason) {
    ConversationOptions made;
    made.chat = text::chat::ChatTemplate::create(source, tokenizer);
    const auto conversation = Conversation::create(session_, std::move(made));
    conversation->add(json(R"({"role": "user", "content": "Tell me one."})"));
    RequestOptions request;
    request.deadline = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(deadline_ms);
    const auto listener = std::make_shared<EventRecorder>();
    static_cast<void>(conversation->answer(std::move(request), listener));
    listener->wait();
    EXPECT_EQ(listener->report.reason, reason) << listener->error;
    EXPECT_EQ(session_->position(), 3);
    EXPECT_EQ(conversation->messages().items.size(), 1u);
    return listener->error;
  };
  const std::string loops =
      "{% for i in range(100000) %}{% for j in range(90) %}"
      "{{ messages[0].content }}{% endfor %}{% endfor %}";
  const std::string large = "{{ 'a' * 60000000 }}";
  for (const std::string& source :
       {std::string("{{ messages[0].content }}"), loops, large}) {
    error_of(source, -1, RC_END_DEADLINE);
  }
  const int64_t context = session_->options().context_length;
  const size_t most = tokenizer->most_bytes(static_cast<size_t>(context - 1));
  ASSERT_LT(most, size_t{60000000});
  for (const std::string& source : {loops, large}) {
    const std::string error = error_of(source, 1 << 30, RC_END_CONTEXT);
    for (const std::string& part :
         {cat(most, " bytes"),
          cat(tokenizer->least_tokens(most + 1), " tokens"),
          cat("holds ", context)}) {
      EXPECT_NE(error.find(part), std::string::npos) << error;
    }
  }
}

// Makes its prompt when the test lets it go on.
class SlowMaker final : public PromptMaker {
 public:
  WholePrompt make(const SessionOptions&, int64_t,
                   const std::function<bool()>&) override {
    begun.count_down();
    go_on.wait();
    return {.tokens = {1, 20, 21}, .grammar = nullptr};
  }
  std::latch begun{1};
  std::latch go_on{1};
};

TEST_F(ConversationPrompts, SessionIsBusyDuringRendering) {
  session_->append({1, 20, 22, 23});
  const auto maker = std::make_shared<SlowMaker>();
  RequestOptions request;
  request.prompt_maker = maker;
  request.max_tokens = 0;
  const auto listener = std::make_shared<EventRecorder>();
  static_cast<void>(session_->generate(std::move(request), listener));
  maker->begun.wait();
  const auto status = [](const std::function<void()>& call) -> rc_status {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return RC_OK;
  };
  EXPECT_EQ(status([&] { session_->append({5}); }), RC_E_BUSY);
  EXPECT_EQ(status([&] { session_->truncate(0); }), RC_E_BUSY);
  EXPECT_EQ(status([&] {
              RequestOptions another;
              another.prompt_maker = std::make_shared<SlowMaker>();
              session_->generate(std::move(another),
                                 std::make_shared<EventRecorder>());
            }),
            RC_E_BUSY);
  maker->go_on.count_down();
  listener->wait();
  EXPECT_EQ(listener->report.status, RC_OK) << listener->error;
  EXPECT_EQ(session_->tokens(), (std::vector<TokenId>{1, 20, 21}));
}

// Changes of the session by another thread come before an answer, or are
// refused.
TEST_F(ConversationPrompts, ConcurrentAppendsDoNotMixWithAPrompt) {
  const auto conversation = begin();
  conversation->add(json(R"({"role": "user", "content": "Tell me one."})"));
  const std::string alone = answer(*conversation, 6)->texts[RC_EVENT_PIECE];
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over.load()) {
      try {
        session_->append({7, 8, 9});
        session_->truncate(std::max<int64_t>(session_->position() - 5, 0));
      } catch (const Error&) {
        std::this_thread::yield();
      }
    }
  });
  for (int i = 0; i < 30; ++i) {
    conversation->undo(1);
    EXPECT_EQ(answer(*conversation, 6)->texts[RC_EVENT_PIECE], alone);
  }
  over.store(true);
  other.join();
}

// The message that an answer is about may change while its prompt is made, once
// it was cancelled.
TEST_F(ConversationPrompts, CancelledPromptUsesTheMessagesOfItsStart) {
  ConversationOptions made;
  made.chat = text::chat::ChatTemplate::create(
      "{% for i in range(300) %}{% for j in range(300) %}{% for m in messages "
      "%}{% set x = m.content %}{% endfor %}{% endfor %}{% endfor %}"
      "{% for m in messages %}{{ m.content }}{% endfor %}",
      engine_->file().tokenizer());
  const auto conversation = Conversation::create(session_, std::move(made));
  for (int i = 0; i < 20; ++i) {
    conversation->add(json(R"({"role": "user", "content": "Tell me one."})"));
    const auto listener = std::make_shared<EventRecorder>();
    RequestOptions request;
    request.max_tokens = 1;
    const auto running = conversation->answer(std::move(request), listener);
    running->cancel();
    listener->wait();
    EXPECT_TRUE(listener->report.reason == RC_END_CANCELLED ||
                listener->report.reason == RC_END_LENGTH)
        << listener->error;
    const size_t there = conversation->messages().items.size();
    conversation->undo(there);
  }
}

}  // namespace
}  // namespace rc::engine::test
