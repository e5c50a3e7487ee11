#include "engine/turns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/core.h"

namespace rc::engine {
namespace {

// Of the only thread.
std::vector<std::shared_ptr<Core>> engines;
bool within = false;

}  // namespace

void Turns::add(std::shared_ptr<Core> core) {
  engines.push_back(std::move(core));
}

void Turns::end(Core& core) noexcept {
  if (within) return;
  while (!core.commands()->stopped()) core.turn();
  std::erase_if(engines, [&](const auto& one) { return one.get() == &core; });
}

bool Turns::take() noexcept {
  if (within) return false;
  within = true;
  bool moved = false;
  for (size_t i = 0; i < engines.size(); ++i) {
    moved |= engines[i]->turn();
  }
  within = false;
  // Those whose last handle went within the turn.
  for (size_t i = 0; i < engines.size();) {
    Core& core = *engines[i];
    if (core.commands()->stopping()) {
      end(core);
    } else {
      ++i;
    }
  }
  return moved;
}

}  // namespace rc::engine
