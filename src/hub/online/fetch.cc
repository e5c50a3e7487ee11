#include "hub/fetch.h"

#include <csignal>

#include "hub/online/fetch_file.h"
#include "hub/online/fetch_model.h"
#include "hub/reference.h"

namespace rc::hub {
namespace {

// Connections that break must not end the process by SIGPIPE, which some
// versions of libcurl leave to their caller: the calling thread does not get it
// while this lives.
class QuietPipes {
 public:
  QuietPipes() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigset_t waiting;
    sigpending(&waiting);
    was_waiting_ = sigismember(&waiting, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~QuietPipes() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec none = {};
    if (!was_waiting_) sigtimedwait(&pipe, nullptr, &none);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  QuietPipes(const QuietPipes&) = delete;
  QuietPipes& operator=(const QuietPipes&) = delete;

 private:
  sigset_t before_;
  bool was_waiting_ = false;
};

}  // namespace

std::string fetch(const FetchRequest& request) {
  check_source(request);
  const QuietPipes quiet;
  if (is_reference(request.source)) return fetch_model(request);
  fetch_address(request, request.to);
  return request.to;
}

}  // namespace rc::hub
