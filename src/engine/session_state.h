// State of a session on the engine's side: the conversation, which goes with it
// from engine to engine (its items, jobs and account), and its residence.
//
// Belongs to the thread of the engine where the session is, but for the home,
// the list and the two atomic members.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/items.h"
#include "engine/residence.h"

namespace rc::engine {

class Home;
class Job;
class SessionList;

struct SessionState {
  SessionOptions options;            // context_length is resolved
  std::shared_ptr<Account> account;  // never nullptr
  std::shared_ptr<Home> home;        // never nullptr

  Items items;
  // Of models that read a source (model/source.h): what follows it, -1 of
  // others, and how many of the first tokens are it; 0: there is none yet. What
  // was read of it has whole pages, behind which are those of the other tokens.
  TokenId first_token = -1;
  int64_t source = 0;
  // Of a pair of texts: where the second begins.
  int64_t second_text = INT64_MAX;
  // Items [0, metered) have been accounted for.
  int64_t metered = 0;

  // Of the last decode; no rows if anything has changed since.
  std::vector<float> logits;
  size_t logits_rows = 0;

  // The jobs of the session; the first is under way, once it has begun.
  std::deque<std::shared_ptr<Job>> jobs;
  bool open = true;  // a handle exists

  Residence residence;

  // Requests in flight, and size(), for any thread.
  std::atomic<int64_t> in_flight{0};
  std::atomic<int64_t> position{0};

  int64_t size() const { return items.size(); }
  // Whether the next rows are those of the source.
  bool reads_source() const { return residence.evaluated < source; }
  // All tokens but those of the source, kNoToken where a row is.
  std::span<const TokenId> text() const {
    return items.tokens().subspan(static_cast<size_t>(source));
  }
  // The job under way; nullptr if there is none.
  std::shared_ptr<Job> begun_job() const;
  // The same, unless a limit of its tenant holds it up: the session is idle
  // then, and others may have its pages.
  std::shared_ptr<Job> active_job() const;
  void changed() {
    logits_rows = 0;
    position.store(size());
  }

  // Any thread: counts a request in flight. False: `alone` was asked for, and
  // there are others.
  bool begin_request(bool alone) noexcept;
  void end_request() noexcept;

  // The list of those that move together; nullptr: it is in none. Any thread.
  std::shared_ptr<SessionList> list() const noexcept;
  // Enters another list, to which add() has added it, with its requests.
  void change_list(std::shared_ptr<SessionList> list) noexcept;

 private:
  mutable std::mutex list_mutex_;  // held for moments only
  std::shared_ptr<SessionList> list_;
};

// Charges the session's account. `evaluated`: of the prompt tokens, those that
// were not cached.
void charge(const SessionState& session, const Counts& counts,
            uint64_t evaluated = 0) noexcept;

}  // namespace rc::engine
