// What the engine thread knows of a session: its tokens, and the pages and
// slots that hold what was evaluated of them. They are only a cache of tokens:
// they may be taken away from an idle or preempted session and are computed
// again when they are needed.
//
// Belongs to the engine thread, but for the two atomic members.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/page_pool.h"
#include "engine/prefix_cache.h"

namespace rc::engine {

class Job;

struct Checkpoint {
  int64_t position;
  SlotId slot;
  bool of_prompt;  // worth keeping when the session has gone on
};

struct SessionState {
  SessionOptions options;        // context_length is resolved
  std::shared_ptr<Meter> meter;  // never nullptr

  std::vector<TokenId> tokens;
  // Of models that read a source (model/source.h): what follows it, -1 of
  // others, and how many of the first tokens are it; 0: there is none yet. What
  // was read of it has whole pages, behind which are those of the other tokens.
  TokenId first_token = -1;
  int64_t source = 0;
  // Of a pair of texts: where the second begins.
  int64_t second_text = INT64_MAX;
  // Whether what is evaluated was rotated as sequences of more tokens than the
  // model's short context are (model::Batch::longer).
  bool longer = false;
  // Positions [0, evaluated) are in the cache, in `pages`; while a job is under
  // way there may be pages for more. Of a source there are all, or none.
  int64_t evaluated = 0;
  std::vector<PageId> pages;
  // The same for layers with a window, where these have pages of their own:
  // kNoPage before window_begin, what was given back.
  std::vector<PageId> window_pages;
  size_t window_begin = 0;
  // For models with states in slots: where the states after the first
  // `position` tokens are, in rising order. The last one is at `evaluated`;
  // what lies between two of them can only be evaluated again.
  std::vector<Checkpoint> checkpoints;
  // Where the step to come leaves the state; kNoPage outside of steps.
  SlotId next_slot = kNoPage;
  // Whether it has rows in the step under way, and room for them.
  bool in_step = false;
  // The entries of the prefix cache for the first pages.
  std::vector<const PrefixCache::Entry*> entries;
  // False if some of the pages came from a saved session, so that no other
  // session may ever be given them.
  bool computed_here = true;
  // Tokens [0, metered) have been accounted for.
  int64_t metered = 0;
  uint64_t last_used = 0;  // number of a step

  // Of the last decode; no rows if anything has changed since.
  std::vector<float> logits;
  size_t logits_rows = 0;

  // What is to be done; the first is under way, once it has begun.
  std::deque<std::shared_ptr<Job>> jobs;
  bool open = true;   // a handle exists
  bool kept = false;  // the page keeper knows it

  // Requests in flight, and tokens.size(), for any thread.
  std::atomic<int64_t> in_flight{0};
  std::atomic<int64_t> position{0};

  int64_t size() const { return static_cast<int64_t>(tokens.size()); }
  // Whether the next rows are those of the source.
  bool reads_source() const { return evaluated < source; }
  // All tokens but those of the source.
  std::span<const TokenId> text() const {
    return std::span(tokens).subspan(static_cast<size_t>(source));
  }
  // The job under way; nullptr if there is none.
  std::shared_ptr<Job> begun_job() const;
  void changed() {
    logits_rows = 0;
    position.store(size());
  }
};

}  // namespace rc::engine
