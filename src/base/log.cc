#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "base/caller_thread.h"
#include "base/config/settings.h"
#include "base/environment.h"
#include "base/error.h"

namespace rc {
namespace {

const char* level_name(rc_log_level level) {
  switch (level) {
    case RC_LOG_ERROR:
      return "error";
    case RC_LOG_WARNING:
      return "warning";
    case RC_LOG_INFO:
      return "info";
  }
  return "debug";
}

void write_to_stderr(void*, rc_log_level level, const char* message) {
  std::fprintf(stderr, "runcible: %s: %s\n", level_name(level), message);
}

class Log {
 public:
  Log() {
    std::string name;
    try {
      name = config::text_now("library.log").value_or("none");
    } catch (const Error& error) {
      // Without the variable there is no need to read it here, and the caller
      // that opens something gets the error of a bad file.
      if (!environment("RUNCIBLE_LOG")) return;
      callback_ = write_to_stderr;
      level_ = RC_LOG_WARNING;
      write_to_stderr(nullptr, RC_LOG_WARNING,
                      (error.message() + "; taking warning").c_str());
      return;
    }
    for (rc_log_level level = RC_LOG_ERROR; level <= RC_LOG_DEBUG; ++level) {
      if (name == level_name(level)) level_ = level;
    }
    if (level_ != RC_LOG_NONE) callback_ = write_to_stderr;
  }

  void set(rc_log_callback callback, void* user, rc_log_level level) {
    // Keeps new messages back, and waits for those that are being delivered.
    const std::lock_guard gate(gate_);
    const std::unique_lock lock(mutex_);
    callback_ = callback;
    user_ = user;
    level_ = callback == nullptr ? RC_LOG_NONE : level;
  }

  bool wanted(rc_log_level level) const {
    return level >= RC_LOG_ERROR &&
           level <= level_.load(std::memory_order_relaxed);
  }

  void write(rc_log_level level, const char* message) {
    std::shared_lock lock(mutex_, std::defer_lock);
    {
      const std::lock_guard gate(gate_);
      lock.lock();
    }
    if (!wanted(level)) return;
    const CallerFloats outside;
    callback_(user_, level, message);
  }

 private:
  // Everybody passes the gate before the mutex: a shared mutex alone would let
  // a stream of messages keep set waiting for ever.
  std::mutex gate_;
  std::shared_mutex mutex_;
  rc_log_callback callback_ = nullptr;
  void* user_ = nullptr;
  // Written under the mutex; read without it to drop messages cheaply.
  std::atomic<rc_log_level> level_ = RC_LOG_NONE;
};

// Never destroyed: threads may still log while the process ends.
Log& the_log() {
  static Log* log = new Log;
  return *log;
}

}  // namespace

void set_log(rc_log_callback callback, void* user, rc_log_level level) {
  the_log().set(callback, user, level);
}

bool log_wanted(rc_log_level level) noexcept {
  try {
    return the_log().wanted(level);
  } catch (...) {
    return false;
  }
}

void log_message(rc_log_level level, const char* message) noexcept {
  try {
    if (message == nullptr || !the_log().wanted(level)) return;
    std::string line = message;
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    }
    the_log().write(level, line.c_str());
  } catch (...) {
    // Out of memory: the message is lost. There is no one to report it to.
  }
}

}  // namespace rc
