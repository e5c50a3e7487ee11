#include "trace.h"

#include <cerrno>
#include <cstring>

#include "system.h"
#include "terminal.h"

namespace cli {

Trace::Trace(std::string path)
    : path_(path.empty()
                ? "runcible-" + std::to_string(process_id()) + ".trace.json"
                : std::move(path)) {
  errno = 0;
  file_.open(path_, std::ios::binary);
  if (!file_) fail_writing();
}

std::unique_ptr<Trace> Trace::of(const Backend& backend,
                                 const std::string& path) {
  if (path.empty()) {
    char* text = nullptr;
    const rc_status status = rc_backend_trace(backend.get(), &text);
    if (status == RC_E_UNSUPPORTED) return nullptr;
    check(status);
    rc_free(text);
  }
  return std::make_unique<Trace>(path);
}

std::string Trace::write(const Backend& backend) {
  char* text = nullptr;
  check(rc_backend_trace(backend.get(), &text));
  const Returned<char> trace(text);
  errno = 0;
  file_ << trace.get();
  file_.close();
  if (!file_) fail_writing();
  const bool empty = std::strstr(trace.get(), "\"ph\":\"X\"") == nullptr;
  note("trace: " + path_ +
       (empty ? ", without ops: the device reports no times of them"
              : ", for ui.perfetto.dev or chrome://tracing"));
  return trace.get();
}

void Trace::fail_writing() const {
  throw Failure{exit_code(RC_E_IO),
                path_ + ": cannot be written: " + std::strerror(errno)};
}

}  // namespace cli
