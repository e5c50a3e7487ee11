#include "text/chat/text.h"

#include <algorithm>

namespace rc::text::chat {

std::vector<Span>::const_iterator Text::span_after(size_t at) const {
  return std::partition_point(content_.begin(), content_.end(),
                              [&](const Span& span) { return span.end <= at; });
}

void Text::mark(size_t begin, size_t end) {
  if (begin == end) return;
  if (!content_.empty() && content_.back().end == begin) {
    content_.back().end = end;
  } else {
    content_.push_back({begin, end});
  }
}

void Text::append(std::string_view bytes, Origin origin) {
  const size_t begin = bytes_.size();
  bytes_.append(bytes);
  if (origin == Origin::kContent) mark(begin, bytes_.size());
}

void Text::append(const Text& text, size_t begin, size_t end) {
  const size_t at = bytes_.size();
  bytes_.append(text.bytes_, begin, end - begin);
  for (auto span = text.span_after(begin);
       span != text.content_.end() && span->begin < end; ++span) {
    mark(at + std::max(span->begin, begin) - begin,
         at + std::min(span->end, end) - begin);
  }
}

void Text::reserve(size_t bytes) {
  if (bytes <= bytes_.capacity()) return;
  // A string that has memory would double it.
  std::string larger;
  larger.reserve(bytes);
  larger.append(bytes_);
  bytes_.swap(larger);
}

Text Text::slice(size_t begin, size_t end) const {
  Text part;
  part.append(*this, begin, end);
  return part;
}

Origin Text::origin(size_t begin, size_t end) const {
  const auto span = span_after(begin);
  return span != content_.end() && span->begin < end ? Origin::kContent
                                                     : Origin::kTemplate;
}

}  // namespace rc::text::chat
