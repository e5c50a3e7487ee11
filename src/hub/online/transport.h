// Requests by HTTP, several at once, on the thread that waits for them.
//
// Redirects are not followed here: the caller decides where to go on (see
// hub/online/ask.h). For one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hub/online/url.h"

namespace rc::hub {

struct Request {
  Url url;
  std::vector<std::string> headers;  // "Name: value"
};

struct Response {
  long status = 0;
  // Of the last answer, by names in lower case; of several of one name the
  // last.
  std::map<std::string, std::string> headers;

  // nullptr: there is none.
  const std::string* find(const std::string& name) const;
};

// Receives the bytes of an answer. An exception of these functions ends the
// whole Transport::wait() in which they are called.
struct Receiver {
  // Once, when the headers are there; false: nothing more is wanted.
  std::function<bool(const Response&)> begin;
  // Every piece of the body, in order; false: nothing more is wanted.
  std::function<bool(std::span<const std::byte>)> body;
};

// The outcome of a request.
struct Outcome {
  uint64_t id = 0;
  Response response;
  bool complete = false;  // an answer came, to its end
  bool refused = false;   // the receiver wanted no more of it
  std::string trouble;    // why it is neither; for messages
};

class Transport {
 public:
  struct Limits {
    // A request that nothing came of for so long has stalled.
    std::chrono::milliseconds stall{30000};
    std::chrono::milliseconds connect{20000};
    // A request that brings fewer bytes per second than this, through the whole
    // of such a window, has stalled as well.
    uint64_t least_rate = 512;
    std::chrono::milliseconds rate_window{60000};
  };

  explicit Transport(const Limits& limits);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Begins a request; its number. Throws RC_E_INTERNAL, std::bad_alloc.
  uint64_t start(const Request& request, Receiver receiver);
  // Ends all that are under way; they have no outcomes.
  void cancel_all() noexcept;
  // Goes on with all requests until one has ended or the time has passed; what
  // has ended.
  std::vector<Outcome> wait(std::chrono::milliseconds time);

 private:
  struct Transfer;
  struct Multi;

  bool is_slow(Transfer& transfer,
               std::chrono::steady_clock::duration watched) const;
  void end_stalled(std::vector<Outcome>* ended);
  void take_ended(std::vector<Outcome>* ended);
  void rethrow();

  const Limits limits_;
  std::unique_ptr<Multi> multi_;
  std::map<uint64_t, std::unique_ptr<Transfer>> transfers_;
  uint64_t last_id_ = 0;
  std::chrono::steady_clock::time_point looked_at_ =
      std::chrono::steady_clock::now();
};

}  // namespace rc::hub
