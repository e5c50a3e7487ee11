// Options of requests, sessions and engines that are refused, with the value
// and the limit in the message, and the nearest that are taken.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine_util.h"
#include "expect_error.h"
#include "session_util.h"

namespace rc::engine::test {
namespace {

using rc::test::expect_error;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(RequestErrors, OptionsOutOfRangeAreNamed) {
  const auto file = small_model();
  const struct {
    const char* message;
    void (*refused)(RequestOptions& options);
    void (*taken)(RequestOptions& options);
  } cases[] = {
      {"max_tokens is -2; it must be a number of tokens, or -1 for as many as "
       "fit",
       [](auto& o) { o.max_tokens = -2; }, [](auto& o) { o.max_tokens = -1; }},
      {"max_tokens is -9223372036854775808; it must be a number of tokens, or "
       "-1 for as many as fit",
       [](auto& o) { o.max_tokens = -kMost - 1; },
       [](auto& o) { o.max_tokens = kMost; }},
      {"logprobs is -2; it must be -1 for none, or 0 to 64",
       [](auto& o) { o.logprobs = -2; }, [](auto& o) { o.logprobs = -1; }},
      {"logprobs is 65; it must be -1 for none, or 0 to 64",
       [](auto& o) { o.logprobs = 65; }, [](auto& o) { o.logprobs = 64; }},
      {"tokenize_flags are 4; only RC_TOKENIZE_* may be set",
       [](auto& o) { o.tokenize_flags = 4; },
       [](auto& o) { o.tokenize_flags = 3; }},
      {"tokenize_flags are 2147483649; only RC_TOKENIZE_* may be set",
       [](auto& o) { o.tokenize_flags = 0x80000001; },
       [](auto& o) { o.tokenize_flags = 0; }},
      {"stop[1] is empty; a stop string has at least one byte",
       [](auto& o) {
         o.stop = {"a", ""};
       },
       [](auto& o) {
         o.stop = {"a", "b"};
       }},
      {"prompt_tokens[2] is 272; the vocabulary has 272 tokens",
       [](auto& o) {
         o.prompt_tokens = {0, 271, 272};
       },
       [](auto& o) {
         o.prompt_tokens = {0, 271, 271};
       }},
      {"prompt_tokens[0] is -1; the vocabulary has 272 tokens",
       [](auto& o) { o.prompt_tokens = {-1}; },
       [](auto& o) { o.prompt_tokens = {0}; }},
      {"stop_tokens[0] is 272; the vocabulary has 272 tokens",
       [](auto& o) { o.stop_tokens = {272}; },
       [](auto& o) { o.stop_tokens = {271}; }},
  };
  for (const auto& c : cases) {
    RequestOptions options;
    c.refused(options);
    expect_error(RC_E_INVALID_ARGUMENT, c.message,
                 [&] { check(options, *file); });
    options = {};
    c.taken(options);
    EXPECT_NO_THROW(check(options, *file)) << c.message;
  }
}

TEST(RequestErrors, DeliversTheRequestedNumberOfLogprobs) {
  const auto engine = load();
  for (const int32_t count : {-1, 0, 64}) {
    RequestOptions options = greedy(some_tokens(5), 2);
    options.logprobs = count;
    const auto listener = std::make_shared<TestListener>();
    const auto session = engine->create_session({}, nullptr);
    const auto request = session->generate(options, listener);
    EXPECT_EQ(listener->wait().status, RC_OK) << listener->message;
    EXPECT_EQ(listener->logprobs.size(), count < 0 ? 0u : 2u);
    EXPECT_EQ(listener->top_logprobs.size(), count < 0 ? 0u : 2u * count);
  }
}

TEST(SessionErrors, KeptTokensMustLeaveTwoPositions) {
  const auto engine = load();
  const auto create = [&](int64_t context, bool shifts, int64_t keep) {
    SessionOptions options;
    options.context_length = context;
    options.shift_when_full = shifts;
    options.keep_tokens = keep;
    return engine->create_session(options, nullptr);
  };
  for (const bool shifts : {false, true}) {
    expect_error(RC_E_INVALID_ARGUMENT,
                 "keep_tokens is -1; with a context of 64 it must be 0 to 62",
                 [&] { create(64, shifts, -1); });
  }
  expect_error(RC_E_INVALID_ARGUMENT,
               "keep_tokens is 63; with a context of 64 it must be 0 to 62",
               [&] { create(64, true, 63); });
  expect_error(RC_E_INVALID_ARGUMENT,
               "keep_tokens is 1; with a context of 2 it must be 0 to 0",
               [&] { create(2, true, 1); });
  EXPECT_NO_THROW(create(64, false, 63));  // nothing is dropped there
  EXPECT_NO_THROW(create(2, true, 0));
  const auto session = create(64, true, 62);
  std::vector<TokenId> expected = some_tokens(62);
  session->append(expected);
  session->append({10, 11});
  session->append({12});
  session->append({13});
  expected.insert(expected.end(), {12, 13});
  EXPECT_EQ(session->tokens(), expected);
}

TEST(SessionErrors, ContextMustNotExceedThatOfTheModel) {
  const auto engine = load();
  const auto create = [&](int64_t context) {
    SessionOptions options;
    options.context_length = context;
    return engine->create_session(options, nullptr);
  };
  for (const int64_t context : {int64_t{-1}, int64_t{1}, int64_t{257}, kMost}) {
    expect_error(RC_E_INVALID_ARGUMENT,
                 "context_length of the session is " + std::to_string(context) +
                     "; the model was loaded for 2 to 256",
                 [&] { create(context); });
  }
  for (const int64_t context : {2, 256, 0}) {
    const auto session = create(context);
    const size_t most = context == 2 ? 2 : 256;
    session->append(some_tokens(most));
    EXPECT_EQ(session->position(), static_cast<int64_t>(most));
    EXPECT_THROW(session->append({3}), Error);
  }
}

TEST(SessionErrors, PositionMustBeWithinTheSession) {
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(5));
  for (const int64_t position : {int64_t{-1}, int64_t{6}, kMost}) {
    expect_error(RC_E_INVALID_ARGUMENT,
                 "position is " + std::to_string(position) +
                     "; the session has 5 tokens",
                 [&] { session->truncate(position); });
  }
  session->truncate(5);
  EXPECT_EQ(session->tokens(), some_tokens(5));
  session->truncate(1);
  EXPECT_EQ(session->tokens(), some_tokens(1));
  session->truncate(0);
  EXPECT_EQ(session->position(), 0);
}

TEST(SessionErrors, TruncateWithinASourceIsRefused) {
  const auto engine = load(small_options(), "cpu", 1, "t5");
  const auto session = session_with(*engine, {5, 6, 7, 8, 9});
  // The model's first token follows the source.
  session->append({20});
  ASSERT_EQ(session->position(), 7);
  for (const int64_t position : {1, 5}) {
    expect_error(RC_E_INVALID_ARGUMENT,
                 "position is " + std::to_string(position) +
                     ", but the session's source has 5 tokens and is read "
                     "whole; truncate to 0, for another source, or to 6 or "
                     "more",
                 [&] { session->truncate(position); });
  }
  const auto expected = decoded(*session_with(*engine, {5, 6, 7, 8, 9}));
  session->truncate(6);
  EXPECT_EQ(decoded(*session), expected);
  session->truncate(0);
  session->append({5, 6, 7, 8, 9});
  EXPECT_EQ(session->position(), 6);
  EXPECT_EQ(decoded(*session), expected);
}

TEST(EngineErrors, OptionsOutOfRangeAreNamed) {
  const auto file = small_model("llama3");  // whose cache may be Q8_0
  const auto device = open_device();
  constexpr int64_t kTokens = int64_t{1} << 30;
  const struct {
    const char* message;
    std::function<void(EngineOptions& options)> refused;
    std::function<void(EngineOptions& options)> taken;
  } cases[] = {
      {"context_length is -1; it must be 0 to 1073741824",
       [](auto& o) { o.context_length = -1; },
       [](auto& o) { o.context_length = 0; }},
      {"context_length is 1073741825; it must be 0 to 1073741824",
       [](auto& o) { o.context_length = kTokens + 1; },
       [](auto& o) { o.context_length = kTokens; }},
      {"context_length is 1; a token to begin with and one to generate need 2",
       [](auto& o) { o.context_length = 1; },
       [](auto& o) { o.context_length = 2; }},
      {"cache_tokens is -1; it must be 0 to 1073741824",
       [](auto& o) { o.cache_tokens = -1; },
       [](auto& o) { o.cache_tokens = 0; }},
      {"cache_tokens is 1073741825; it must be 0 to 1073741824",
       [](auto& o) { o.cache_tokens = kTokens + 1; },
       [](auto& o) { o.cache_tokens = kTokens; }},
      {"max_rows is -1; it must be 0 to 65536",
       [](auto& o) { o.max_rows = -1; }, [](auto& o) { o.max_rows = 0; }},
      {"max_rows is 65537; it must be 0 to 65536",
       [](auto& o) { o.max_rows = 65537; },
       [](auto& o) { o.max_rows = 65536; }},
      {"timeout_ms is -1; it must be 0 to 9223372036854775807",
       [](auto& o) { o.timeout_ms = -1; },
       [](auto& o) { o.timeout_ms = kMost; }},
      {"cache_dtype is BF16; it must be F16, F32 or Q8_0",
       [](auto& o) { o.cache_dtype = RC_DTYPE_BF16; },
       [](auto& o) { o.cache_dtype = RC_DTYPE_F16; }},
      {"cache_dtype is Q4_0; it must be F16, F32 or Q8_0",
       [](auto& o) { o.cache_dtype = RC_DTYPE_Q4_0; },
       [](auto& o) { o.cache_dtype = RC_DTYPE_Q8_0; }},
      {"cache_dtype is Q4_K; it must be F16, F32 or Q8_0",
       [](auto& o) { o.cache_dtype = RC_DTYPE_Q4_K; },
       [](auto& o) { o.cache_dtype = RC_DTYPE_F32; }},
  };
  for (const auto& c : cases) {
    EngineOptions options = small_options();
    c.refused(options);
    expect_error(RC_E_INVALID_ARGUMENT, c.message,
                 [&] { plan(*file, device, options); });
    options = small_options();
    c.taken(options);
    const Plan made = plan(*file, device, options);
    if (options.context_length != 0) {
      EXPECT_EQ(made.context_length, options.context_length) << c.message;
    }
  }
}

TEST(EngineErrors, ProgressCanCancelTheReuseOfALoadedModel) {
  const auto file = small_model();
  const auto device = open_device();
  const auto engine = Engine::load(file, device, small_options(), {});
  std::vector<double> fractions;
  expect_error(
      RC_E_CANCELLED, file->file().name() + ": loading was cancelled", [&] {
        Engine::load(file, device, small_options(), [&](double fraction) {
          fractions.push_back(fraction);
          return false;
        });
      });
  EXPECT_EQ(fractions, std::vector<double>{1.0});
  EXPECT_EQ(
      Engine::load(file, device, small_options(), [](double) { return true; }),
      engine);
}

}  // namespace
}  // namespace rc::engine::test
