// Where a session resides: the pages, windows and states that one engine keeps
// of what was evaluated. They are only a cache of the session's items: an idle
// or preempted session may lose them, and a session that moves to another
// engine gets new ones. What is missing is evaluated again.
//
// Belongs to the engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/page_pool.h"
#include "engine/prefix_cache.h"
#include "engine/usage.h"
#include "engine/variant.h"

namespace rc::engine {

struct Checkpoint {
  int64_t position;
  SlotId slot;
  bool of_prompt;  // worth keeping when the session has gone on
};

struct Residence {
  Variant variant;  // of what is evaluated
  // Positions [0, evaluated) are in the cache, in `pages`; while a job is under
  // way there may be pages for more. Of a source there are all, or none.
  int64_t evaluated = 0;
  std::vector<PageId> pages;
  // The same for layers with a window, if they have separate pages. Entries
  // before window_begin were released and are kNoPage.
  std::vector<PageId> window_pages;
  size_t window_begin = 0;
  // For models with states in slots: where the states after the first
  // `position` tokens are, in rising order. The last one is at `evaluated`;
  // what lies between two of them can only be evaluated again.
  std::vector<Checkpoint> checkpoints;
  // Where the step to come leaves the state; kNoPage outside of steps.
  SlotId next_slot = kNoPage;
  // Whether the session has rows in the step under way, and room for them.
  bool in_step = false;
  // The entries of the prefix cache for the first pages.
  std::vector<const PrefixCache::Entry*> entries;
  // False if some of the pages were computed elsewhere, by a saved session's
  // engine or the one before a move, so that no other session may ever be given
  // them.
  bool computed_here = true;
  uint64_t last_used = 0;  // number of a step
  // The counts of its tenant for this engine.
  ModelUsage* usage = nullptr;
  bool kept = false;  // the page keeper knows the session
};

}  // namespace rc::engine
