// The writers with which strings, lists and dictionaries are built.
#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "text/chat/containers.h"
#include "text/chat/fault.h"

namespace rc::text::chat {
namespace {

// Bytes.
constexpr size_t kRepeatChunk = 4096;
// A text grows to twice its size, one of so many bytes by a quarter.
constexpr size_t kLargeText = size_t{1} << 20;

}  // namespace

void Writer::reserve(size_t bytes) {
  budget_->step_bytes(bytes);
  make_room(bytes);
}

void Writer::make_room(size_t bytes) {
  const size_t size = text_.size();
  if (bytes > most_ - std::min(size, most_)) {
    throw Fault{RC_E_CONTEXT_FULL,
                cat("the rendered text has more than ", most_,
                    " bytes and does not fit into the context; shorten the "
                    "conversation, or load the model with a larger "
                    "context_length")};
  }
  if (bytes <= room_ - std::min(size, room_)) return;
  // While the text is copied, both copies are there.
  const size_t more = size < kLargeText ? size : size / 4;
  const size_t room = std::max(size + bytes, std::min(size + more, most_));
  budget_->take(room);
  const size_t before = std::exchange(room_, room_ + room);
  text_.reserve(room);
  budget_->give(before);
  room_ = room;
}

void Writer::count_content() {
  const size_t spans = text_.content_memory();
  if (spans == spans_) return;
  budget_->take(spans);
  budget_->give(std::exchange(spans_, spans));
}

void Writer::append(const Text& text, size_t begin, size_t end) {
  reserve(end - begin);
  text_.append(text, begin, end);
  count_content();
}

void Writer::append_character(char32_t character, Origin origin) {
  std::string bytes;
  append_utf8(character, &bytes);
  append(bytes, origin);
}

void Writer::repeat(const Text& text, size_t times) {
  if (text.empty() || times == 0) return;
  if (times > budget_->limits().memory_bytes / text.size()) {
    budget_->take(budget_->limits().memory_bytes + 1);
  }
  // Before the first copy, so that what is too much fails at once.
  make_room(text.size() * times);
  // In chunks: one character is often repeated.
  const size_t chunk_times = std::min(times, kRepeatChunk / text.size() + 1);
  Text chunk;
  for (size_t i = 0; i < chunk_times; ++i) chunk.append(text);
  for (; times >= chunk_times; times -= chunk_times) append(chunk);
  append(chunk, 0, text.size() * times);
}

Text Writer::take() {
  budget_->give(std::exchange(room_, 0) + std::exchange(spans_, 0));
  return std::exchange(text_, Text());
}

Value Writer::finish(bool markup) {
  return make_string(budget_, take(), markup);
}

Value Items::finish(Kind kind) {
  return make_sequence(budget_, kind, release());
}

Value make_string(Budget* budget, Text text, bool markup) {
  const Value made(Kind::kString, make<String>(budget, std::move(text)));
  return markup ? made.with_markup(true) : made;
}

Value make_string(Budget* budget, std::string_view bytes, Origin origin) {
  return make_string(budget, Text(bytes, origin));
}

Value make_sequence(Budget* budget, Kind kind, std::vector<Value> items) {
  return Value(kind, make<Sequence>(budget, std::move(items)));
}

Value make_pair(Budget* budget, Value first, Value second) {
  std::vector<Value> items;
  items.reserve(2);
  items.push_back(std::move(first));
  items.push_back(std::move(second));
  return make_sequence(budget, Kind::kTuple, std::move(items));
}

Value make_dict(Budget* budget, std::vector<Dict::Entry> entries) {
  for (const Dict::Entry& entry : entries) check_hashable(entry.first);
  return Value(Kind::kDict, make<Dict>(budget, std::move(entries)));
}

}  // namespace rc::text::chat
