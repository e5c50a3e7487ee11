// Texts that are generated while sessions move.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "api_util.h"
#include "switch_util.h"

namespace rc::test {

// The events of a request.
struct TextUnderWay {
  using Clock = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<Clock::time_point> times;
  int ends = 0;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;

  static void receive(void* user, const rc_event* event) {
    auto& text = *static_cast<TextUnderWay*>(user);
    const std::lock_guard lock(text.mutex);
    if (event->type == RC_EVENT_END) {
      ++text.ends;
      text.report = *event->report;
    } else {
      text.text.append(event->text, event->text_length);
      text.tokens.insert(text.tokens.end(), event->tokens,
                         event->tokens + event->token_count);
      text.times.push_back(Clock::now());
    }
    text.changed.notify_all();
  }
  bool ended() {
    const std::lock_guard lock(mutex);
    return ends > 0;
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ends > 0; });
  }
  void wait_for_tokens(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ends > 0 || tokens.size() >= count; });
  }
};

// The devices that can be opened here.
inline std::vector<std::string> devices_to_move_among() {
  std::vector<std::string> found;
  for (const char* spec : {"cpu", "reference", "opencl", "vulkan"}) {
    rc_backend* backend = nullptr;
    if (rc_backend_open(spec, nullptr, &backend) != RC_OK) continue;
    rc_backend_release(backend);
    found.emplace_back(spec);
  }
  return found;
}

// Models with other numbers of tokens in their caches share no engine.
inline Model load_with_cache(const Backend& backend, int64_t cache_tokens) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 256;
  options.cache_tokens = cache_tokens;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend.get(),
                          source_path("examples/model/fable.gguf").c_str(),
                          &options, &model));
  return Model(model);
}

// `seed` 0: without chance.
inline Request begin_text(const Session& session, TextUnderWay& text,
                          const std::string& prompt, int64_t tokens,
                          uint64_t seed = 0) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = prompt.data();
  options.prompt_length = prompt.size();
  options.max_tokens = tokens;
  options.temperature = seed == 0 ? 0.0f : 1.0f;
  options.seed = seed;
  options.ignore_eos = 1;
  rc_request* request = nullptr;
  EXPECT_OK(rc_generate_async(session.get(), &options, nullptr,
                              TextUnderWay::receive, &text, &request));
  return Request(request);
}

// So many tokens were generated, each exactly once, and the session has them.
inline void expect_whole(const Session& session, const TextUnderWay& text,
                         int64_t generated) {
  EXPECT_EQ(text.ends, 1);
  EXPECT_EQ(text.report.status, RC_OK);
  EXPECT_EQ(text.report.generated_tokens, generated);
  ASSERT_EQ(text.tokens.size(), static_cast<size_t>(generated));
  int32_t* tokens = nullptr;
  size_t count = 0;
  ASSERT_OK(rc_session_tokens(session.get(), &tokens, &count));
  const std::vector<int32_t> all(tokens, tokens + count);
  rc_free(tokens);
  EXPECT_EQ(static_cast<int64_t>(count),
            text.report.prompt_tokens + text.report.generated_tokens);
  EXPECT_TRUE(
      std::equal(text.tokens.rbegin(), text.tokens.rend(), all.rbegin()));
}

}  // namespace rc::test
