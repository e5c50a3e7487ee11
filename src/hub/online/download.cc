#include "hub/online/download.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace rc::hub {
namespace {

constexpr std::chrono::milliseconds kWait{50};
constexpr std::chrono::seconds kSaveEvery{1};
// An answer with at least this many bytes is no failure, even if it is cut off.
constexpr uint64_t kSomething = 64 << 10;

struct ContentRange {
  uint64_t first = 0;
  uint64_t last = 0;
  std::optional<uint64_t> size;
};

// "bytes 0-99/1234" or "bytes 0-99/*".
std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const auto number = [&](uint64_t* value) {
    const auto [rest, error] =
        std::from_chars(text.data(), text.data() + text.size(), *value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
    return true;
  };
  const auto sign = [&](char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
  };
  ContentRange range;
  if (!number(&range.first) || !sign('-') || !number(&range.last) ||
      !sign('/')) {
    return std::nullopt;
  }
  if (text == "*") return range;
  uint64_t size = 0;
  if (!number(&size) || !text.empty()) return std::nullopt;
  range.size = size;
  return range;
}

}  // namespace

Download::Download(const Manner& manner, const Access& access,
                   const Wanted& wanted, PartialFile& file,
                   const Heartbeat& heartbeat)
    : manner_(manner),
      access_(access),
      wanted_(wanted),
      file_(file),
      heartbeat_(heartbeat),
      transport_(manner.limits),
      patience_(manner),
      current_(wanted.url) {}

void Download::run() {
  try {
    // A second time where what came turns out to be wrong: what was there from
    // before may have been the reason.
    for (bool again = false;; again = true) {
      bring_all();
      try {
        check();
        return;
      } catch (const Error& error) {
        if (error.status() != RC_E_FORMAT) throw;
        file_.clear();
        if (again) throw;
        log(RC_LOG_WARNING, error.message(), "; fetching it again");
      }
    }
  } catch (...) {
    transport_.cancel_all();
    try {
      file_.save();
    } catch (const Error& error) {
      log(RC_LOG_DEBUG, error.message());
    }
    throw;
  }
}

void Download::bring_all() {
  while (!file_.complete()) {
    heartbeat_();
    if (std::chrono::steady_clock::now() >= patience_.again_at()) {
      const int most = ranges_ ? manner_.connections : 1;
      while (static_cast<int>(pieces_.size()) < most) {
        const std::optional<size_t> part = next_part();
        if (!part) break;
        start_piece(*part, current_, 0);
      }
    }
    if (pieces_.empty()) patience_.sleep(heartbeat_);
    for (const Outcome& outcome : transport_.wait(kWait)) {
      const auto found = pieces_.find(outcome.id);
      // Those that stop_asking_for_ranges() has ended.
      if (found == pieces_.end()) continue;
      Piece piece = std::move(found->second);
      pieces_.erase(found);
      end_piece(std::move(piece), outcome);
    }
    save_now_and_then();
  }
  transport_.cancel_all();
  pieces_.clear();
}

std::optional<size_t> Download::next_part() const {
  // Without ranges there is one answer, which brings all parts.
  if (!ranges_) {
    if (pieces_.empty()) return 0;
    return std::nullopt;
  }
  for (size_t part = 0; part < file_.part_count(); ++part) {
    if (file_.part_lacks_from(part) == file_.part_end(part)) continue;
    const auto is_its = [&](const auto& entry) {
      return entry.second.part == part;
    };
    if (std::none_of(pieces_.begin(), pieces_.end(), is_its)) return part;
  }
  return std::nullopt;
}

void Download::start_piece(size_t part, const Url& url, int hops) {
  Request request;
  request.url = url;
  request.headers = access_.headers_for(url);
  if (ranges_) {
    request.headers.push_back(cat("Range: bytes=", file_.part_lacks_from(part),
                                  "-", file_.part_end(part) - 1));
    if (!wanted_.validator.empty()) {
      request.headers.push_back("If-Range: " + wanted_.validator);
    }
  }
  // The receivers know their piece by a number that is known only afterwards.
  const auto id = std::make_shared<uint64_t>(0);
  *id = transport_.start(request,
                         {[this, id](const Response& response) {
                            return begin_piece(pieces_.at(*id), response);
                          },
                          [this, id](std::span<const std::byte> bytes) {
                            return take_piece(pieces_.at(*id), bytes);
                          }});
  pieces_[*id] = {part, url, hops, 0, "", false, false};
}

bool Download::begin_piece(Piece& piece, const Response& response) {
  const auto refuse = [&](std::string why) {
    piece.fault = std::move(why);
    return false;
  };
  if (response.status == 206 && ranges_) {
    const std::string* text = response.find("content-range");
    const auto range =
        text == nullptr ? std::nullopt : parse_content_range(*text);
    if (!range) return refuse("a range comes without a Content-Range");
    const std::string* tag = response.find("etag");
    if ((range->size && *range->size != file_.size()) ||
        (!wanted_.tag.empty() && tag != nullptr && *tag != wanted_.tag)) {
      piece.changed = true;
      return false;
    }
    if (range->first != file_.part_lacks_from(piece.part) ||
        range->last >= file_.part_end(piece.part)) {
      return refuse(cat("another range came than was asked for: ", *text));
    }
    return true;
  }
  if (response.status == 200) {
    const std::string* length = response.find("content-length");
    const bool other = length != nullptr && *length != cat(file_.size());
    if (!ranges_) {
      if (other) return refuse(cat("the file has become ", *length, " bytes"));
      return true;
    }
    // With If-Range this is how a server says that the file has changed.
    const std::string* tag = response.find("etag");
    if (tag == nullptr) tag = response.find("last-modified");
    piece.changed = other || (!wanted_.validator.empty() && tag != nullptr &&
                              *tag != wanted_.validator);
    piece.no_ranges = !piece.changed;
  }
  return false;
}

bool Download::take_piece(Piece& piece, std::span<const std::byte> bytes) {
  heartbeat_();
  while (!bytes.empty()) {
    const uint64_t room =
        file_.part_end(piece.part) - file_.part_lacks_from(piece.part);
    if (room == 0) {
      if (ranges_ || piece.part + 1 == file_.part_count()) {
        piece.fault = "more bytes came than were asked for";
        return false;
      }
      ++piece.part;
      continue;
    }
    const auto now = bytes.first(std::min<uint64_t>(room, bytes.size()));
    file_.append(piece.part, now);
    piece.got += now.size();
    bytes = bytes.subspan(now.size());
  }
  return true;
}

void Download::end_piece(Piece piece, const Outcome& outcome) {
  const Response& response = outcome.response;
  const bool answered = outcome.complete || outcome.refused;
  if (piece.changed) {
    throw Changed(RC_E_IO,
                  cat(wanted_.what, ": the file at ", shown_url(piece.url.text),
                      " changes while it is fetched; fetch again later"));
  }
  if (piece.no_ranges) return stop_asking_for_ranges();
  if (answered && is_redirect(response.status)) {
    const Url to = redirected(piece.url, response, access_, &piece.hops);
    return start_piece(piece.part, to, piece.hops);
  }
  const bool good = response.status == (ranges_ ? 206 : 200);
  if (answered && !good && !may_pass(response.status)) {
    // A place that was good for a while only.
    const bool moved = piece.url.text != wanted_.url.text;
    if (!moved && response.status == 416) {
      throw Changed(RC_E_IO, cat(wanted_.what, ": ", shown_url(piece.url.text),
                                 " has become shorter meanwhile"));
    }
    if (!moved) fail_refused(wanted_.what, piece.url, response, access_);
    current_ = wanted_.url;
  }
  // An answer without ranges is discarded unless it is the whole file.
  if (ranges_ && piece.got >= kSomething) patience_.succeeded();
  if (answered && !good) {
    return fail_piece(
        cat(shown_url(piece.url.text), " answers ", response.status),
        &response);
  }
  if (!piece.fault.empty()) {
    return fail_piece(cat(shown_url(piece.url.text), ": ", piece.fault),
                      nullptr);
  }
  if (!answered) {
    return fail_piece(cat(shown_url(piece.url.text), ": ", outcome.trouble),
                      nullptr);
  }
  if (file_.part_lacks_from(piece.part) < file_.part_end(piece.part) ||
      (!ranges_ && !file_.complete())) {
    return fail_piece(
        cat(shown_url(piece.url.text), ": less came than was asked for"),
        nullptr);
  }
  patience_.succeeded();
  current_ = piece.url;
}

void Download::fail_piece(const std::string& reason, const Response* response) {
  if (!ranges_) file_.clear();
  patience_.failed(wanted_.what, reason, response);
}

void Download::stop_asking_for_ranges() {
  transport_.cancel_all();
  pieces_.clear();
  file_.clear();
  ranges_ = false;
}

void Download::check() {
  if (!wanted_.checksum) return;
  Digest digest(wanted_.checksum->kind);
  if (wanted_.checksum->with_git_head) {
    const std::string head = cat("blob ", file_.size());
    digest.add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
  }
  std::vector<std::byte> buffer(1 << 20);
  for (uint64_t offset = 0; offset < file_.size();) {
    const auto piece = std::span(buffer).first(
        std::min<uint64_t>(buffer.size(), file_.size() - offset));
    file_.read(offset, piece);
    digest.add(piece);
    offset += piece.size();
    heartbeat_();
  }
  const std::string found = digest.finish();
  if (found != wanted_.checksum->text) {
    fail(RC_E_FORMAT, wanted_.what, ": what ", shown_url(wanted_.url.text),
         " sent is not the file: its ",
         wanted_.checksum->kind == Digest::Kind::kSha256 ? "SHA-256" : "SHA-1",
         " is ", found, ", and should be ", wanted_.checksum->text);
  }
}

void Download::save_now_and_then() {
  const auto now = std::chrono::steady_clock::now();
  if (now - saved_ < kSaveEvery) return;
  saved_ = now;
  if (!file_.complete()) file_.save();
}

}  // namespace rc::hub
