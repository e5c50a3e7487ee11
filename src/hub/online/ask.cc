#include "hub/online/ask.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/quote.h"

namespace rc::hub {
namespace {

constexpr int kMostHops = 8;
constexpr std::chrono::milliseconds kBeat{50};

// The seconds that a server asks for; a date (RFC 9110 allows one) counts as
// nothing said.
std::optional<std::chrono::milliseconds> retry_after(const Response& response) {
  const std::string* text = response.find("retry-after");
  if (text == nullptr) return std::nullopt;
  uint32_t seconds = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc() || rest != end) return std::nullopt;
  return std::chrono::milliseconds(uint64_t{seconds} * 1000);
}

// The explanation in a server's answer, if that is short.
std::string words_of(const Response& response) {
  const std::string* words = response.find("x-error-message");
  return words == nullptr ? "" : cat(" (", quote(*words), ")");
}

rc_status status_of_answer(long status) {
  return status == 404 || status == 410 ? RC_E_NOT_FOUND : RC_E_IO;
}

}  // namespace

std::vector<std::string> Access::headers_for(const Url& url) const {
  if (token.empty() || url.origin != origin) return {};
  return {"Authorization: Bearer " + token};
}

void Patience::failed(const std::string& what, const std::string& reason,
                      const Response* response) {
  const auto now = std::chrono::steady_clock::now();
  // Of requests that were under way when another one failed.
  if (now < again_at_) return;
  ++failures_;
  std::chrono::milliseconds pause =
      manner_.first_pause * (int64_t{1} << std::min(failures_ - 1, 16));
  pause = std::min(pause, manner_.longest_pause);
  if (response != nullptr) {
    if (const auto asked = retry_after(*response)) {
      if (*asked > manner_.longest_pause) {
        fail(RC_E_IO, what, ": ", reason,
             "; the server wants to be left alone "
             "for ",
             asked->count() / 1000, " seconds; fetch again after that");
      }
      pause = *asked;
    }
  }
  if (failures_ >= manner_.most_failures) {
    fail(RC_E_IO, what, ": ", reason, ", ", failures_,
         " times in a row; fetch again later, which goes on from what is "
         "there");
  }
  again_at_ = now + pause;
}

void Patience::sleep(const Heartbeat& heartbeat) const {
  while (true) {
    heartbeat();
    const auto left = again_at_ - std::chrono::steady_clock::now();
    if (left <= left.zero()) return;
    std::this_thread::sleep_for(
        std::min<std::chrono::steady_clock::duration>(left, kBeat));
  }
}

bool may_pass(long status) {
  return status == 408 || status == 429 || (status >= 500 && status <= 599);
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

void fail_refused(const std::string& what, const Url& url,
                  const Response& response, const Access& access) {
  std::string advice;
  const std::string* code = response.find("x-error-code");
  const bool gated = code != nullptr && *code == "GatedRepo";
  if (gated) {
    advice =
        "; accept the terms on its page, and set HF_TOKEN to a token of "
        "that account";
  } else if (response.status == 401 || response.status == 403) {
    advice = url.origin != access.origin
                 ? "; this server wants to know who asks"
             : access.token.empty()
                 ? "; it may be private, or not there: set HF_TOKEN to a token "
                   "that may read it, or look at the name"
                 : "; the token that is set may not read it";
  } else if (response.status == 404) {
    advice = "; look at the name and the revision";
  }
  fail(status_of_answer(response.status), what, ": ", shown_url(url.text),
       " answers ", response.status, words_of(response), advice);
}

Url redirected(const Url& from, const Response& response, const Access& access,
               int* hops) {
  if (++*hops > kMostHops) {
    fail(RC_E_IO, quote(shown_url(from.text)), ": more than ", kMostHops,
         " redirects one after the other; the server sends in a circle");
  }
  const std::string* location = response.find("location");
  if (location == nullptr) {
    fail(RC_E_IO, quote(shown_url(from.text)), ": answers ", response.status,
         " and does not say where to go on");
  }
  try {
    const Url to = resolve_url(from, *location);
    check_scheme(to, access.origin);
    return to;
  } catch (const Error& error) {
    fail(RC_E_IO, quote(shown_url(from.text)),
         " sends elsewhere: ", error.message());
  }
}

Answer ask(const Manner& manner, const Access& access, Question question,
           const Heartbeat& heartbeat) {
  Answer answer;
  answer.url = question.request.url;
  check_scheme(answer.url, access.origin);
  Patience patience(manner);
  int hops = 0;
  while (true) {
    Request request = question.request;
    request.url = answer.url;
    for (std::string& header : access.headers_for(request.url)) {
      request.headers.push_back(std::move(header));
    }
    answer.body.clear();
    bool too_long = false;
    Transport transport(manner.limits);
    transport.start(request, {[](const Response&) { return true; },
                              [&](std::span<const std::byte> bytes) {
                                const size_t room =
                                    question.most_body - answer.body.size();
                                too_long = bytes.size() > room;
                                answer.body.append(
                                    reinterpret_cast<const char*>(bytes.data()),
                                    std::min(bytes.size(), room));
                                return !too_long;
                              }});
    std::vector<Outcome> ended;
    const auto begun = std::chrono::steady_clock::now();
    while (ended.empty()) {
      heartbeat();
      ended = transport.wait(kBeat);
      if (ended.empty() &&
          std::chrono::steady_clock::now() - begun >= manner.longest_answer) {
        fail(RC_E_IO, question.what, ": ", shown_url(answer.url.text),
             ": the answer has not ended after ", manner.longest_answer.count(),
             " milliseconds and ", answer.body.size(),
             " bytes; fetch again later");
      }
    }
    Outcome& outcome = ended.front();
    answer.response = std::move(outcome.response);
    const long status = answer.response.status;
    const bool good = status >= 200 && status < 300;
    const bool answered = outcome.complete || outcome.refused;
    if (answered && is_redirect(status)) {
      answer.url = redirected(answer.url, answer.response, access, &hops);
      continue;
    }
    if (answered && good && (!too_long || question.beginning)) return answer;
    if (answered && good) {
      fail(RC_E_FORMAT, question.what, ": ", shown_url(answer.url.text),
           " answers more than ", question.most_body, " bytes");
    }
    if (answered && !may_pass(status)) {
      fail_refused(question.what, answer.url, answer.response, access);
    }
    patience.failed(
        question.what,
        answered ? cat(shown_url(answer.url.text), " answers ", status,
                       words_of(answer.response))
                 : cat(shown_url(answer.url.text), ": ", outcome.trouble),
        answered ? &answer.response : nullptr);
    patience.sleep(heartbeat);
  }
}

}  // namespace rc::hub
