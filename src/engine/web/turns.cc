#include "engine/turns.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "engine/core.h"

namespace rc::engine {
namespace {

// Of the only thread. Never destroyed: engines may end while the program does.
struct State {
  std::vector<std::shared_ptr<Core>> engines;
  std::deque<std::function<void()>> works;
  bool in_turn = false;
  bool in_work = false;
};

State& state() {
  static State& instance = *new State;
  return instance;
}

std::optional<Clock::time_point> next_time() noexcept {
  std::optional<Clock::time_point> next;
  for (const auto& core : state().engines) {
    const auto time = core->next_time();
    if (time && (!next || *time < *next)) next = time;
  }
  return next;
}

void turn();
constinit EventLoopTask turning(turn);

void turn() {
  if (Turns::take()) {
    turning.soon();
  } else if (const auto time = next_time()) {
    const std::chrono::duration<double, std::milli> rest = *time - Clock::now();
    // Timers count the milliseconds in 31 bits.
    turning.after(std::clamp(rest.count(), 0.0, 1e9));
  }
}

// Does function() with a flag set.
template <class Function>
void with(bool& flag, Function function) {
  flag = true;
  function();
  flag = false;
}

// An engine whose last handle went within a turn, and what ends with it.
void end_stopping() noexcept {
  const auto& engines = state().engines;
  const auto stopping = std::find_if(
      engines.begin(), engines.end(),
      [](const auto& core) { return core->commands()->stopping(); });
  if (stopping == engines.end()) return;
  const std::shared_ptr<Core> core = *stopping;
  Turns::end(*core);
}

}  // namespace

void Turns::add(std::shared_ptr<Core> core) {
  state().engines.push_back(std::move(core));
}

void Turns::end(Core& core) noexcept {
  State& here = state();
  if (here.in_turn) return;
  with(here.in_turn, [&] {
    while (!core.commands()->stopped()) core.turn();
  });
  std::erase_if(here.engines,
                [&](const auto& one) { return one.get() == &core; });
  end_stopping();
}

void Turns::add_work(std::function<void()> work) {
  state().works.push_back(std::move(work));
  want();
}

void Turns::want() noexcept { turning.soon(); }

bool Turns::take() noexcept {
  State& here = state();
  if (here.in_turn) return false;
  // One at a time: a work that waits is what other works wait for.
  if (!here.in_work && !here.works.empty()) {
    const auto work = std::move(here.works.front());
    here.works.pop_front();
    with(here.in_work, work);
    return true;
  }
  bool moved = false;
  with(here.in_turn, [&] {
    for (size_t i = 0; i < here.engines.size(); ++i) {
      moved |= here.engines[i]->turn();
    }
  });
  end_stopping();
  return moved;
}

bool Turns::wait_for_time() noexcept { return next_time().has_value(); }

void Turns::check_outside() {
  if (!state().in_turn) return;
  fail(RC_E_BUSY,
       "this build has no threads: a callback of the engine cannot wait for "
       "what the engine does after it");
}

}  // namespace rc::engine
