// A backend handle that is switched between all devices while texts are
// generated: nothing is lost, and nothing comes twice.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "api_util.h"
#include "labels.h"
#include "switch_util.h"

namespace rc::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTokens = 120;

// The events of a request.
struct Text {
  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<Clock::time_point> times;
  int ends = 0;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;

  static void receive(void* user, const rc_event* event) {
    auto& text = *static_cast<Text*>(user);
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
};

double milliseconds_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// The devices that can be opened here.
std::vector<std::string> devices() {
  std::vector<std::string> found;
  for (const char* spec : {"cpu", "reference", "opencl", "vulkan"}) {
    rc_backend* backend = nullptr;
    if (rc_backend_open(spec, nullptr, &backend) != RC_OK) continue;
    rc_backend_release(backend);
    found.emplace_back(spec);
  }
  return found;
}

Model load_for(const Backend& backend, int sessions) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 256;
  options.cache_tokens = 192 * sessions;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend.get(),
                          source_path("examples/model/fable.gguf").c_str(),
                          &options, &model));
  return Model(model);
}

Request begin(const Session& session, Text& text, const std::string& prompt) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = prompt.data();
  options.prompt_length = prompt.size();
  options.max_tokens = kTokens;
  options.temperature = 0;
  options.ignore_eos = 1;
  rc_request* request = nullptr;
  EXPECT_OK(rc_generate_async(session.get(), &options, nullptr, Text::receive,
                              &text, &request));
  return Request(request);
}

void expect_whole(const Session& session, const Text& text) {
  EXPECT_EQ(text.ends, 1);
  EXPECT_EQ(text.report.status, RC_OK);
  EXPECT_EQ(text.report.generated_tokens, kTokens);
  ASSERT_EQ(text.tokens.size(), static_cast<size_t>(kTokens));
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

// Generates texts while the handle is switched, and again when they are all
// over, until it has been switched so often.
void switch_under_load(int sessions, int switches) {
  const std::vector<std::string> specs = devices();
  const Backend backend = open_backend("cpu");
  const Model model = load_for(backend, sessions);
  // Models stay loaded on each device, so that a switch takes little time.
  std::vector<Backend> others;
  std::vector<Model> kept;
  for (const std::string& spec : specs) {
    others.push_back(open_backend(spec.c_str()));
    kept.push_back(load_for(others.back(), sessions));
  }
  std::mt19937 random(7);
  std::vector<double> pauses;
  std::vector<double> steps;
  int done = 0;
  size_t at = 0;
  while (done < switches) {
    std::vector<Session> opened;
    std::vector<Text> texts(static_cast<size_t>(sessions));
    std::vector<Request> requests;
    for (int i = 0; i < sessions; ++i) {
      opened.push_back(create_session(model.get()));
      requests.push_back(begin(opened.back(), texts[static_cast<size_t>(i)],
                               "Story " + std::to_string(i) + ": The fox"));
    }
    const auto under_way = [&] {
      return std::any_of(texts.begin(), texts.end(),
                         [](Text& text) { return !text.ended(); });
    };
    while (done < switches && under_way()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
      at = (at + 1 + random() % (specs.size() - 1)) % specs.size();
      ASSERT_OK(switch_to(backend, specs[at].c_str()));
      ++done;
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i].wait();
      expect_whole(opened[i], texts[i]);
      const auto& times = texts[i].times;
      Clock::duration longest{0};
      for (size_t t = 1; t < times.size(); ++t) {
        longest = std::max(longest, times[t] - times[t - 1]);
      }
      pauses.push_back(milliseconds_of(longest));
      steps.push_back(milliseconds_of(times.back() - times.front()) / kTokens);
    }
  }
  std::sort(steps.begin(), steps.end());
  std::sort(pauses.begin(), pauses.end());
  std::printf(
      "%d switches, %zu texts of %d tokens; a token took %.1f ms and the "
      "longest pause of a text %.1f ms (medians), the longest of all %.1f ms\n",
      done, pauses.size(), kTokens, steps[steps.size() / 2],
      pauses[pauses.size() / 2], pauses.back());
}

TEST(SwitchUnderLoad, NoEventIsLostOrRepeated) { switch_under_load(8, 16); }

TEST(SwitchUnderLoad, NoEventIsLostOrRepeatedInManyTexts) {
  RC_TEST_LABELS(kFull, kDriver);
  switch_under_load(64, 200);
}

}  // namespace
}  // namespace rc::test
