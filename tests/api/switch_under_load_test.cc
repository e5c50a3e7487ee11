// A backend handle that is switched between all devices while texts are
// generated: nothing is lost, and nothing comes twice.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "labels.h"
#include "switch_util.h"
#include "text_under_way.h"

namespace rc::test {
namespace {

using Clock = TextUnderWay::Clock;

constexpr int kTokens = 120;

double milliseconds_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// Generates texts while the handle is switched, and again when they are all
// over, until it has been switched so often.
void switch_under_load(int sessions, int switches) {
  const std::vector<std::string> specs = devices_to_move_among();
  const int64_t cache = 192 * sessions;
  const Backend backend = open_backend("cpu");
  const Model model = load_with_cache(backend, cache);
  // Models stay loaded on each device, so that a switch takes little time.
  std::vector<Backend> others;
  std::vector<Model> kept;
  for (const std::string& spec : specs) {
    others.push_back(open_backend(spec.c_str()));
    kept.push_back(load_with_cache(others.back(), cache));
  }
  std::mt19937 random(7);
  std::vector<double> pauses;
  std::vector<double> steps;
  int done = 0;
  size_t at = 0;
  while (done < switches) {
    std::vector<Session> opened;
    std::vector<TextUnderWay> texts(static_cast<size_t>(sessions));
    std::vector<Request> requests;
    for (int i = 0; i < sessions; ++i) {
      opened.push_back(create_session(model.get()));
      requests.push_back(
          begin_text(opened.back(), texts[static_cast<size_t>(i)],
                     "Story " + std::to_string(i) + ": The fox", kTokens));
    }
    const auto under_way = [&] {
      return std::any_of(texts.begin(), texts.end(),
                         [](TextUnderWay& text) { return !text.ended(); });
    };
    while (done < switches && under_way()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
      at = (at + 1 + random() % (specs.size() - 1)) % specs.size();
      ASSERT_OK(switch_to(backend, specs[at].c_str()));
      ++done;
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i].wait();
      expect_whole(opened[i], texts[i], kTokens);
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
