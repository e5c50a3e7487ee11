#include "progress_line.h"

#include <cstdio>
#include <utility>

#include "system.h"
#include "terminal.h"

namespace cli {
namespace {

constexpr std::chrono::milliseconds kShowEvery{200};
constexpr std::chrono::seconds kRateEvery{1};
// Of a new measurement in the rate.
constexpr double kNewShare = 0.3;
constexpr size_t kLongestName = 32;
constexpr double kDay = 86400;

std::string short_name(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  size_t from = name.size() - kLongestName + 3;
  // Not in the middle of a character.
  while (from < name.size() && (name[from] & 0xC0) == 0x80) ++from;
  return "..." + name.substr(from);
}

// Names come from servers; this line goes past print(), which tames texts.
std::string tame_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds >= kDay) return "more than a day";
  const int whole = static_cast<int>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) +
           " s";
  }
  return std::to_string(whole / 3600) + " h " +
         std::to_string(whole % 3600 / 60) + " min";
}

ProgressLine::ProgressLine(std::string host)
    : host_(tame_line(std::move(host))),
      visible_(is_terminal(Stream::kError)) {}

ProgressLine::~ProgressLine() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

void ProgressLine::show(const std::string& name, uint64_t done,
                        uint64_t total) {
  const Clock::time_point now = Clock::now();
  if (!visible_ || (shown_ && now - shown_at_ < kShowEvery)) return;
  shown_at_ = now;
  if (total == 0) {
    const double waited =
        std::chrono::duration<double>(now - begun_at_).count();
    return write("connecting to " + host_ +
                 (waited < 1 ? "" : ", " + duration_text(waited)));
  }
  if (!rated_ || done < rated_bytes_) {
    rated_ = true;
    rated_at_ = now;
    rated_bytes_ = done;
  } else if (now - rated_at_ >= kRateEvery) {
    const double seconds =
        std::chrono::duration<double>(now - rated_at_).count();
    const double rate = static_cast<double>(done - rated_bytes_) / seconds;
    rate_ = rate_ == 0 ? rate : rate_ + kNewShare * (rate - rate_);
    rated_at_ = now;
    rated_bytes_ = done;
  }
  const double percent =
      100 * static_cast<double>(done) / static_cast<double>(total);
  std::string line = short_name(tame_line(name)) + "  " +
                     fixed_text(percent, 1) + " % of " + bytes_text(total);
  if (rate_ >= 1) {
    line += ", " + bytes_text(static_cast<unsigned long long>(rate_)) + "/s, " +
            duration_text(static_cast<double>(total - done) / rate_) + " left";
  }
  write(line);
}

void ProgressLine::write(const std::string& line) {
  shown_ = true;
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
}

}  // namespace cli
