#include "text/stream_decoder.h"

#include <utility>

#include "base/utf8.h"

namespace rc::text {

StreamDecoder::StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer,
                             const Options& options)
    : tokenizer_(std::move(tokenizer)),
      special_(options.special),
      at_start_(!options.continues) {}

std::string StreamDecoder::push(TokenId id) {
  bool at_start = at_start_;
  const std::string bytes =
      held_ + tokenizer_->next_bytes(id, special_, &at_start);
  std::string out;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const Utf8Char c = decode_utf8(rest);
    if (c.state == Utf8::kIncomplete) break;
    if (c.state == Utf8::kValid) {
      out.append(rest.substr(0, c.size));
    } else {
      append_utf8(kReplacement, &out);
    }
    rest.remove_prefix(c.size);
  }
  held_ = rest;
  at_start_ = at_start;
  return out;
}

std::string StreamDecoder::flush() {
  std::string out = valid_utf8(held_);
  held_.clear();
  return out;
}

std::string StreamDecoder::finish() {
  at_start_ = true;
  return flush();
}

}  // namespace rc::text
