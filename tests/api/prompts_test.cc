// Prompts that are too long, empty, or no text.
#include "api_util.h"

namespace rc::test {
namespace {

class Prompts : public testing::Test {
 protected:
  const Backend backend_ = open_backend();
  const Model model_ = load_model(backend_.get());
  const Session session_ = create_session(model_.get());
};

TEST_F(Prompts, LongerThanTheContextAreRefused) {
  const std::string text = generate(session_.get());
  ASSERT_OK(rc_session_truncate(session_.get(), 0));
  const std::vector<int32_t> tokens(65, 100);
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt_tokens = tokens.data();
  options.prompt_token_count = tokens.size();
  char* out = nullptr;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  EXPECT_FAILS(RC_E_CONTEXT_FULL,
               rc_generate(session_.get(), &options, &out, nullptr, &report),
               "65", "64");
  rc_free(out);
  EXPECT_EQ(report.status, RC_E_CONTEXT_FULL);
  EXPECT_EQ(report.generated_tokens, 0);
  EXPECT_FAILS(RC_E_CONTEXT_FULL,
               rc_session_append(session_.get(), tokens.data(), tokens.size()),
               "65", "64");
  int64_t position = -1;
  EXPECT_OK(rc_session_position(session_.get(), &position));
  EXPECT_EQ(position, 0);
  EXPECT_EQ(generate(session_.get()), text);
}

TEST_F(Prompts, MayFillTheContext) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.ignore_eos = 1;
  char* out = nullptr;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  EXPECT_OK(rc_generate(session_.get(), &options, &out, nullptr, &report));
  EXPECT_EQ(report.reason, RC_END_CONTEXT);
  EXPECT_EQ(report.status, RC_OK);
  EXPECT_GT(report.generated_tokens, 0);
  EXPECT_NE(out, nullptr);
  rc_free(out);

  // Where there is room for no token more is an error.
  options.prompt_length = 0;
  EXPECT_FAILS(RC_E_CONTEXT_FULL,
               rc_generate(session_.get(), &options, &out, nullptr, &report),
               "64");
  EXPECT_EQ(report.reason, RC_END_CONTEXT);
  EXPECT_EQ(report.generated_tokens, 0);
  rc_free(out);
}

TEST_F(Prompts, TokensBeyondTheContextAreRefused) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.ignore_eos = 1;
  options.max_tokens = 1000;
  char* out = nullptr;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  EXPECT_OK(rc_generate(session_.get(), &options, &out, nullptr, &report));
  EXPECT_EQ(report.reason, RC_END_CONTEXT);
  EXPECT_GT(report.generated_tokens, 0);
  rc_free(out);
}

TEST_F(Prompts, EmptyPromptsAreAccepted) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = 4;
  options.ignore_eos = 1;
  for (const char* prompt : {static_cast<const char*>(nullptr), ""}) {
    ASSERT_OK(rc_session_truncate(session_.get(), 0));
    options.prompt = prompt;
    char* out = nullptr;
    rc_generate_report report = RC_GENERATE_REPORT_INIT;
    EXPECT_OK(rc_generate(session_.get(), &options, &out, nullptr, &report));
    EXPECT_EQ(report.prompt_tokens, 1);  // BOS
    EXPECT_EQ(report.generated_tokens, 4);
    rc_free(out);
  }
}

TEST_F(Prompts, InvalidUtf8IsAccepted) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = 4;
  options.ignore_eos = 1;
  const std::string bytes("a\xFF\xC0\x80\0\xED\xA0\x80z", 9);
  options.prompt = bytes.data();
  options.prompt_length = bytes.size();
  char* out = nullptr;
  EXPECT_OK(rc_generate(session_.get(), &options, &out, nullptr, nullptr));
  rc_free(out);
  EXPECT_OK(
      rc_session_append_text(session_.get(), bytes.data(), bytes.size(), 0));
}

TEST_F(Prompts, BusySessionsReportBusy) {
  const Session session = create_endless_session(model_.get());
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.ignore_eos = 1;
  rc_request* request = nullptr;
  ASSERT_OK(rc_generate_async(session.get(), &options, nullptr, nullptr,
                              nullptr, &request));
  const Request owned(request);
  EXPECT_FAILS(RC_E_BUSY, rc_session_truncate(session.get(), 0));
  EXPECT_FAILS(RC_E_BUSY, rc_session_append(session.get(), nullptr, 0));
  EXPECT_FAILS(RC_E_BUSY, rc_session_decode(session.get(), 0));
  rc_session* fork = nullptr;
  EXPECT_FAILS(RC_E_BUSY, rc_session_fork(session.get(), &fork));
  EXPECT_FAILS(RC_E_TIMEOUT, rc_request_wait(request, 10));
  EXPECT_OK(rc_request_cancel(request));
  EXPECT_OK(rc_request_wait(request, -1));
  EXPECT_OK(rc_session_truncate(session.get(), 0));
}

}  // namespace
}  // namespace rc::test
