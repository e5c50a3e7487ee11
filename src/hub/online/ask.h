// Single questions to servers: with patience where they are busy, along
// redirects, and with a token only where it belongs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hub/online/transport.h"

namespace rc::hub {

// The options of fetching.
struct Manner {
  Transport::Limits limits;
  // Failures one after the other before it gives up.
  int most_failures = 6;
  // After the first failure; twice as long after each one more.
  std::chrono::milliseconds first_pause{500};
  // Longer than this no server is waited for.
  std::chrono::milliseconds longest_pause{60000};
  // An answer to a question takes at most so long; files may take longer.
  std::chrono::milliseconds longest_answer{300000};
  int connections = 8;
  uint64_t part_bytes = uint64_t{16} << 20;
};

// Called at least some ten times a second; throws to end it all.
using Heartbeat = std::function<void()>;

// The origins that may receive a token, and those whose http is trusted.
struct Access {
  std::string origin;  // that the user has named
  std::string token;   // empty: none

  // The headers for an address: the token for that origin alone.
  std::vector<std::string> headers_for(const Url& url) const;
};

// Counts failures and says when to try again.
class Patience {
 public:
  explicit Patience(const Manner& manner) : manner_(manner) {}
  // Throws RC_E_IO (or the status that fits) with `what` and `reason` when
  // there were enough, or the server wants to be left alone for too long.
  void failed(const std::string& what, const std::string& reason,
              const Response* response);
  void succeeded() { failures_ = 0; }
  std::chrono::steady_clock::time_point again_at() const { return again_at_; }
  // Until again_at().
  void sleep(const Heartbeat& heartbeat) const;

 private:
  const Manner& manner_;
  int failures_ = 0;
  std::chrono::steady_clock::time_point again_at_{};
};

// Whether a status may become another by waiting: 408, 429, 5xx.
bool may_pass(long status);
bool is_redirect(long status);
// The answer of a server that refuses, as a clear error. `what` is what was
// asked for, `access` says what a token would be good for.
[[noreturn]] void fail_refused(const std::string& what, const Url& url,
                               const Response& response, const Access& access);

// Where a redirect leads: checked, counted in `hops`.
Url redirected(const Url& from, const Response& response, const Access& access,
               int* hops);

struct Answer {
  Url url;  // that answered
  Response response;
  std::string body;
};

struct Question {
  Request request;
  std::string what;  // for messages
  // The body ends here, bytes; beyond that is an error, unless `beginning`:
  // then what is beyond it is not wanted.
  size_t most_body = 0;
  bool beginning = false;
};

// Throws what fail_refused and Patience say.
Answer ask(const Manner& manner, const Access& access, Question question,
           const Heartbeat& heartbeat);

}  // namespace rc::hub
