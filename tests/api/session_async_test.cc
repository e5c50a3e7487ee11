// Decoding and tokenizing without waiting: the same results, one end each.
#include <atomic>
#include <string>
#include <vector>

#include "api/api_util.h"

namespace rc::test {
namespace {

struct SessionEnd {
  int count = 0;
  rc_status status = RC_E_INTERNAL;
  std::string message;
  std::vector<int32_t> tokens;

  static void decoded(void* user, rc_status status, const char* message) {
    static_cast<SessionEnd*>(user)->set(status, message);
  }
  static void tokenized(void* user, rc_status status, const char* message,
                        const int32_t* tokens, size_t count) {
    SessionEnd& end = *static_cast<SessionEnd*>(user);
    end.tokens.assign(tokens, tokens + count);
    end.set(status, message);
  }
  void set(rc_status given, const char* text) {
    ++count;
    status = given;
    message = text;
  }
};

class SessionAsync : public ::testing::Test {
 protected:
  SessionAsync() {
    rc_loop* loop = nullptr;
    EXPECT_OK(rc_loop_create(&loop));
    loop_.reset(loop);
  }
  void wait_for(const SessionEnd& end) const {
    while (end.count == 0) {
      ASSERT_OK(rc_loop_wait(loop_.get(), 60000));
      ASSERT_OK(rc_loop_dispatch(loop_.get(), 0, nullptr));
    }
    EXPECT_EQ(end.count, 1);
  }
  static std::vector<float> logits(rc_session* session) {
    const float* values = nullptr;
    size_t rows = 0, vocabulary = 0;
    EXPECT_OK(rc_session_logits(session, &values, &rows, &vocabulary));
    return {values, values + rows * vocabulary};
  }
  Tokenizer tokenizer() const {
    rc_tokenizer* made = nullptr;
    EXPECT_OK(rc_model_get_tokenizer(model_.get(), &made));
    return Tokenizer(made);
  }

  const Backend backend_ = open_backend();
  const Model model_ = load_model(backend_.get());
  Loop loop_;
};

TEST_F(SessionAsync, LogitsEqualThoseOfDecode) {
  for (const uint32_t flags : {0U, uint32_t{RC_DECODE_ALL_LOGITS}}) {
    const Session waited = create_session(model_.get());
    const Session reported = create_session(model_.get());
    for (rc_session* session : {waited.get(), reported.get()}) {
      ASSERT_OK(rc_session_append_text(session, "a fox", 5, 0));
    }
    ASSERT_OK(rc_session_decode(waited.get(), flags));
    SessionEnd end;
    ASSERT_OK(rc_session_decode_async(reported.get(), flags, loop_.get(),
                                      SessionEnd::decoded, &end));
    wait_for(end);
    EXPECT_EQ(end.status, RC_OK) << end.message;
    EXPECT_EQ(logits(reported.get()), logits(waited.get()));
  }
}

TEST_F(SessionAsync, ErrorsEqualThoseOfDecode) {
  const Session session = create_session(model_.get());
  SessionEnd end;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_session_decode_async(session.get(), 2, loop_.get(),
                                       SessionEnd::decoded, &end),
               "flags: 2");
  ASSERT_OK(rc_session_decode_async(session.get(), 0, loop_.get(),
                                    SessionEnd::decoded, &end));
  wait_for(end);
  EXPECT_EQ(end.status, RC_E_INVALID_ARGUMENT);
  EXPECT_NE(end.message.find("the session is empty"), std::string::npos);
}

TEST_F(SessionAsync, DecodeIsInFlightUntilItsEnd) {
  const Session session = create_endless_session(model_.get());
  ASSERT_OK(rc_session_append_text(session.get(), "a", 1, 0));
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.ignore_eos = 1;
  rc_request* started = nullptr;
  ASSERT_OK(rc_generate_async(session.get(), &options, nullptr, nullptr,
                              nullptr, &started));
  const Request request(started);
  SessionEnd end;
  EXPECT_FAILS(RC_E_BUSY,
               rc_session_decode_async(session.get(), 0, loop_.get(),
                                       SessionEnd::decoded, &end),
               "1 request in flight");
  ASSERT_OK(rc_request_cancel(started));
  ASSERT_OK(rc_request_wait(started, -1));
  // The requests of a session come one after the other.
  ASSERT_OK(rc_session_decode_async(session.get(), 0, loop_.get(),
                                    SessionEnd::decoded, &end));
  options.max_tokens = 1;
  rc_request* next = nullptr;
  ASSERT_OK(rc_generate_async(session.get(), &options, nullptr, nullptr,
                              nullptr, &next));
  const Request second(next);
  ASSERT_OK(rc_request_wait(next, -1));
  wait_for(end);
  EXPECT_EQ(end.status, RC_OK) << end.message;
}

TEST_F(SessionAsync, EndIsDeliveredAfterTheLastHandle) {
  Session session = create_session(model_.get());
  ASSERT_OK(rc_session_append_text(session.get(), "a fox", 5, 0));
  SessionEnd end;
  ASSERT_OK(rc_session_decode_async(session.get(), 0, loop_.get(),
                                    SessionEnd::decoded, &end));
  session.reset();
  wait_for(end);
  EXPECT_EQ(end.status, RC_OK) << end.message;
}

TEST_F(SessionAsync, ClosingTheLoopCancels) {
  const Session session = create_session(model_.get());
  ASSERT_OK(rc_session_append_text(session.get(), "a fox", 5, 0));
  std::string text;
  while (text.size() < (8U << 20)) text += "once upon a time; ";
  const Tokenizer words = tokenizer();
  SessionEnd decode, tokenize;
  ASSERT_OK(rc_tokenize_async(words.get(), text.data(), text.size(), 0,
                              loop_.get(), SessionEnd::tokenized, &tokenize));
  ASSERT_OK(rc_session_decode_async(session.get(), 0, loop_.get(),
                                    SessionEnd::decoded, &decode));
  ASSERT_OK(rc_loop_close(loop_.get()));
  wait_for(tokenize);
  wait_for(decode);
  EXPECT_EQ(tokenize.status, RC_E_CANCELLED);
  EXPECT_TRUE(decode.status == RC_OK || decode.status == RC_E_CANCELLED);
  EXPECT_EQ(rc_session_decode_async(session.get(), 0, loop_.get(),
                                    SessionEnd::decoded, &decode),
            RC_E_CLOSED);
}

TEST_F(SessionAsync, TokensEqualThoseOfTokenize) {
  const std::string text = "once upon a time there was a fox";
  Tokenizer words = tokenizer();
  int32_t* tokens = nullptr;
  size_t count = 0;
  ASSERT_OK(rc_tokenize(words.get(), text.data(), text.size(),
                        RC_TOKENIZE_ADD_SPECIAL, &tokens, &count));
  const std::vector<int32_t> expected(tokens, tokens + count);
  rc_free(tokens);
  SessionEnd end, empty;
  ASSERT_OK(rc_tokenize_async(words.get(), text.data(), text.size(),
                              RC_TOKENIZE_ADD_SPECIAL, loop_.get(),
                              SessionEnd::tokenized, &end));
  ASSERT_OK(rc_tokenize_async(words.get(), nullptr, 0, 0, loop_.get(),
                              SessionEnd::tokenized, &empty));
  words.reset();
  wait_for(end);
  wait_for(empty);
  EXPECT_EQ(end.status, RC_OK) << end.message;
  EXPECT_EQ(end.tokens, expected);
  EXPECT_EQ(empty.status, RC_OK);
  EXPECT_TRUE(empty.tokens.empty());
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tokenize_async(nullptr, "a", 1, 0, loop_.get(),
                                 SessionEnd::tokenized, &end),
               "tokenizer");
}

}  // namespace
}  // namespace rc::test
