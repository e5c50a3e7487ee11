#include "hub/online/fetch_file.h"

#include <charconv>

#include "base/error.h"
#include "base/quote.h"
#include "hub/online/download.h"

namespace rc::hub {
namespace {

// The number of times that a file that changes while it is fetched is begun
// again.
constexpr int kMostBeginnings = 3;

struct Found {
  uint64_t size = 0;
  std::string version;    // all that is known of it, for the partial file
  std::string validator;  // for If-Range
  std::string tag;
  bool known = false;  // the server distinguishes versions
};

// The number behind the last `sign` of a header; false: there is none.
bool number_behind(const std::string* header, char sign, uint64_t* number) {
  if (header == nullptr) return false;
  const size_t at = header->rfind(sign);
  const char* begin = header->data() + (at == header->npos ? 0 : at + 1);
  const char* end = header->data() + header->size();
  const auto [rest, error] = std::from_chars(begin, end, *number);
  return error == std::errc() && rest == end;
}

Found look_at(const FetchRequest& request, const Access& access, const Url& url,
              const Heartbeat& heartbeat) {
  Question question;
  question.request = {url, {"Range: bytes=0-0"}};
  question.what = quote(shown_url(url.text));
  question.most_body = 1;
  question.beginning = true;
  const Answer answer =
      ask(request.manner, access, std::move(question), heartbeat);
  Found found;
  const Response& response = answer.response;
  const bool known =
      response.status == 206
          ? number_behind(response.find("content-range"), '/', &found.size)
          : number_behind(response.find("content-length"), '\0', &found.size);
  if (!known) {
    fail(RC_E_UNSUPPORTED, quote(shown_url(answer.url.text)),
         ": the server does not say how long the file is; fetch it with "
         "another program");
  }
  const std::string* const coding = response.find("content-encoding");
  if (coding != nullptr && *coding != "identity") {
    fail(RC_E_UNSUPPORTED, quote(shown_url(answer.url.text)),
         ": the server sends the file encoded as ", quote(*coding),
         ", which was not asked for; fetch it with another program");
  }
  const std::string* const tag = response.find("etag");
  const std::string* const date = response.find("last-modified");
  if (tag != nullptr && !tag->starts_with("W/")) {
    found.validator = *tag;
  } else if (tag == nullptr && date != nullptr) {
    found.validator = *date;
  }
  if (tag != nullptr) found.tag = *tag;
  found.known = tag != nullptr || date != nullptr;
  found.version = cat(url.text, " ", tag != nullptr ? *tag : "", " ",
                      date != nullptr ? *date : "");
  Digest digest(Digest::Kind::kSha256);
  digest.add(std::as_bytes(std::span(found.version)));
  found.version = digest.finish();
  return found;
}

}  // namespace

void Tally::report(const std::string& file, uint64_t done) const {
  if (!request_.progress) return;
  if (!request_.progress(file, before_ + done, total_)) {
    fail(RC_E_CANCELLED, request_.source,
         ": fetching was cancelled; what came is kept for the next time");
  }
}

void fetch_address(const FetchRequest& request, const std::string& path) {
  const Url url = parse_url(request.source);
  check_scheme(url, "");
  const Access access;
  Tally tally(request, 0);
  const std::string name = quote(shown_url(url.text));
  for (int beginning = 1;; ++beginning) {
    tally.set_total(0);
    const Found found =
        look_at(request, access, url, [&] { tally.report(path, 0); });
    tally.set_total(found.size);
    try {
      PartialFile file(path + ".incomplete", found.size, found.version,
                       request.manner.part_bytes, false);
      // Existing bytes may be of another file by now.
      if (!found.known) file.clear();
      const Wanted wanted = {name, url, found.validator, found.tag,
                             std::nullopt};
      const Heartbeat heartbeat = [&] { tally.report(path, file.present()); };
      Download(request.manner, access, wanted, file, heartbeat).run();
      file.publish(path);
      return;
    } catch (const Changed&) {
      if (beginning == kMostBeginnings) throw;
    }
  }
}

}  // namespace rc::hub
