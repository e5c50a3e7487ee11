#include "hub/online/transport.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "hub/online/curl_api.h"

namespace rc::hub {
namespace {

using SteadyClock = std::chrono::steady_clock;

// All headers of one answer, bytes.
constexpr size_t kMostHeaderBytes = 128 << 10;
// The time that libcurl waits at once, so that stalls are noticed.
constexpr std::chrono::milliseconds kTick{50};
// The most of the time between two looks at the requests that counts as waiting
// for bytes.
constexpr std::chrono::seconds kLongestLook{1};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  }
  return lower;
}

std::string_view trimmed(std::string_view text) {
  constexpr char kBlank[] = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

template <class Value>
void set_option(CURL* handle, CURLoption option, Value value) {
  const CURLcode code = curl().easy_setopt(handle, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLE_OK) {
    fail(RC_E_INTERNAL, "libcurl refuses option ", static_cast<int>(option),
         ": ", curl().easy_strerror(code));
  }
}

}  // namespace

const std::string* Response::find(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? nullptr : &found->second;
}

struct Transport::Multi {
  CurlMulti handle;
};

struct Transport::Transfer {
  CurlHandle handle;
  CurlHeaders headers;
  Receiver receiver;
  Outcome outcome;
  size_t header_bytes = 0;
  bool begun = false;
  SteadyClock::time_point last_sign = SteadyClock::now();
  // The bytes that have arrived in the window so far, and how long the window
  // has been watched.
  uint64_t window_bytes = 0;
  SteadyClock::duration window_time{};
  std::exception_ptr thrown;

  // libcurl takes what differs from the size for a failure.
  static size_t on_header(char* data, size_t, size_t size, void* user) {
    auto& self = *static_cast<Transfer*>(user);
    self.window_bytes += size;
    return self.guarded([&] {
      return self.take_header({data, size});
    })
               ? size
               : 0;
  }
  static size_t on_body(char* data, size_t, size_t size, void* user) {
    auto& self = *static_cast<Transfer*>(user);
    const auto bytes = std::as_bytes(std::span(data, size));
    self.window_bytes += size;
    return self.guarded([&] { return self.take_body(bytes); }) ? size
                                                               : size + 1;
  }

  // No exception may pass through libcurl.
  template <class Function>
  bool guarded(Function&& function) noexcept {
    try {
      last_sign = SteadyClock::now();
      return function();
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }

  bool take_header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMostHeaderBytes) {
      outcome.trouble = "its headers do not end";
      return false;
    }
    if (line.starts_with("HTTP/")) {
      outcome.response.headers.clear();
      return true;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos) return true;
    outcome.response.headers[lower_case(trimmed(line.substr(0, colon)))] =
        trimmed(line.substr(colon + 1));
    return true;
  }

  bool begin() {
    if (begun) return true;
    begun = true;
    curl().easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE,
                        &outcome.response.status);
    if (receiver.begin(outcome.response)) return true;
    outcome.refused = true;
    return false;
  }

  bool take_body(std::span<const std::byte> bytes) {
    if (!begin()) return false;
    if (receiver.body(bytes)) return true;
    outcome.refused = true;
    return false;
  }
};

Transport::Transport(const Limits& limits)
    : limits_(limits), multi_(std::make_unique<Multi>()) {
  multi_->handle.reset(curl().multi_init());
  if (multi_->handle == nullptr) throw std::bad_alloc();
}

Transport::~Transport() { cancel_all(); }

void Transport::cancel_all() noexcept {
  for (const auto& [id, transfer] : transfers_) {
    curl().multi_remove_handle(multi_->handle.get(), transfer->handle.get());
  }
  transfers_.clear();
}

uint64_t Transport::start(const Request& request, Receiver receiver) {
  auto transfer = std::make_unique<Transfer>();
  transfer->receiver = std::move(receiver);
  transfer->outcome.id = ++last_id_;
  transfer->handle.reset(curl().easy_init());
  CURL* const handle = transfer->handle.get();
  if (handle == nullptr) throw std::bad_alloc();
  for (const std::string& header : request.headers) {
    curl_slist* const longer =
        curl().slist_append(transfer->headers.get(), header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(transfer->headers.release());
    transfer->headers.reset(longer);
  }
  set_option(handle, CURLOPT_URL, request.url.text.c_str());
  set_option(handle, CURLOPT_HTTPHEADER, transfer->headers.get());
  set_option(handle, CURLOPT_USERAGENT, "runcible");
  set_option(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set_option(handle, CURLOPT_NOSIGNAL, 1L);
  set_option(handle, CURLOPT_CONNECTTIMEOUT_MS,
             static_cast<long>(limits_.connect.count()));
  // Ranges are requested by HTTP/1.1, each on a separate connection.
  set_option(handle, CURLOPT_HTTP_VERSION,
             static_cast<long>(CURL_HTTP_VERSION_1_1));
  set_option(handle, CURLOPT_BUFFERSIZE, 128L << 10);
  set_option(handle, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set_option(handle, CURLOPT_HEADERDATA, transfer.get());
  set_option(handle, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set_option(handle, CURLOPT_WRITEDATA, transfer.get());
  if (request.url.loopback) set_option(handle, CURLOPT_PROXY, "");
  // libcurl's own programs read these; the library leaves it to us.
  for (const char* variable : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (const auto file = environment(variable)) {
      set_option(handle, CURLOPT_CAINFO, file->c_str());
      break;
    }
  }
  const CURLMcode code = curl().multi_add_handle(multi_->handle.get(), handle);
  if (code != CURLM_OK) {
    fail(RC_E_INTERNAL, "libcurl does not begin a request: code ",
         static_cast<int>(code));
  }
  const uint64_t id = transfer->outcome.id;
  try {
    transfers_.emplace(id, std::move(transfer));
  } catch (...) {
    curl().multi_remove_handle(multi_->handle.get(), handle);
    throw;
  }
  return id;
}

std::vector<Outcome> Transport::wait(std::chrono::milliseconds time) {
  const auto until = SteadyClock::now() + time;
  std::vector<Outcome> ended;
  while (true) {
    int running = 0;
    if (curl().multi_perform(multi_->handle.get(), &running) != CURLM_OK) {
      fail(RC_E_INTERNAL, "libcurl cannot go on with its requests");
    }
    rethrow();
    take_ended(&ended);
    end_stalled(&ended);
    const auto now = SteadyClock::now();
    if (!ended.empty() || transfers_.empty() || now >= until) return ended;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - now);
    const auto pause =
        std::min({kTick, left, limits_.stall}) + std::chrono::milliseconds(1);
    int ready = 0;
    curl().multi_poll(multi_->handle.get(), nullptr, 0,
                      static_cast<int>(pause.count()), &ready);
  }
}

void Transport::rethrow() {
  for (const auto& [id, transfer] : transfers_) {
    if (transfer->thrown == nullptr) continue;
    const std::exception_ptr thrown = transfer->thrown;
    cancel_all();
    std::rethrow_exception(thrown);
  }
}

void Transport::take_ended(std::vector<Outcome>* ended) {
  int left = 0;
  while (const CURLMsg* message =
             curl().multi_info_read(multi_->handle.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    for (auto at = transfers_.begin(); at != transfers_.end(); ++at) {
      Transfer& transfer = *at->second;
      if (transfer.handle.get() != message->easy_handle) continue;
      // An answer without a body.
      if (code == CURLE_OK) static_cast<void>(transfer.begin());
      Outcome& outcome = transfer.outcome;
      outcome.complete = code == CURLE_OK && !outcome.refused;
      if (code != CURLE_OK && !outcome.refused && outcome.trouble.empty()) {
        outcome.trouble = curl().easy_strerror(code);
      }
      ended->push_back(std::move(outcome));
      curl().multi_remove_handle(multi_->handle.get(), transfer.handle.get());
      transfers_.erase(at);
      break;
    }
  }
}

// Counts the time in the transfer's window; whether too little came in it.
bool Transport::is_slow(Transfer& transfer,
                        std::chrono::steady_clock::duration watched) const {
  transfer.window_time += watched;
  if (transfer.window_time < limits_.rate_window) return false;
  const auto window = static_cast<uint64_t>(limits_.rate_window.count());
  if (transfer.window_bytes * 1000 < limits_.least_rate * window) return true;
  transfer.window_time = {};
  transfer.window_bytes = 0;
  return false;
}

void Transport::end_stalled(std::vector<Outcome>* ended) {
  const auto now = SteadyClock::now();
  // Time between calls is the caller's: nothing could arrive then.
  const auto watched = std::min<SteadyClock::duration>(
      now - std::exchange(looked_at_, now), kLongestLook);
  for (auto at = transfers_.begin(); at != transfers_.end();) {
    Transfer& transfer = *at->second;
    const bool silent = now - transfer.last_sign >= limits_.stall;
    if (!silent && !is_slow(transfer, watched)) {
      ++at;
      continue;
    }
    if (silent) {
      transfer.outcome.trouble =
          cat("nothing came for ", limits_.stall.count(), " milliseconds");
    } else {
      transfer.outcome.trouble =
          cat("only ", transfer.window_bytes, " bytes came in ",
              limits_.rate_window.count(), " milliseconds, less than ",
              limits_.least_rate, " bytes per second");
    }
    ended->push_back(std::move(transfer.outcome));
    curl().multi_remove_handle(multi_->handle.get(), transfer.handle.get());
    at = transfers_.erase(at);
  }
}

}  // namespace rc::hub
