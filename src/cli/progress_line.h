// The progress of fetching, on a line of a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cli {

// On stderr, if that is a terminal; else nothing. For one thread at a time.
class ProgressLine {
 public:
  // `host` is named until the number of bytes is known.
  explicit ProgressLine(std::string host);
  ~ProgressLine();  // wipes it
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // Bytes; `total` 0: not known.
  void show(const std::string& name, uint64_t done, uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& line);

  const std::string host_;
  const bool visible_;
  const Clock::time_point begun_at_ = Clock::now();
  bool shown_ = false;
  bool rated_ = false;
  Clock::time_point shown_at_;
  // Where the rate is measured from.
  Clock::time_point rated_at_;
  uint64_t rated_bytes_ = 0;
  double rate_ = 0;  // bytes per second; 0: not known yet
};

// "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace cli
