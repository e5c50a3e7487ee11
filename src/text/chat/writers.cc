// What strings, lists and dictionaries are built with.
#include <algorithm>

#include "base/utf8.h"
#include "text/chat/containers.h"

namespace rc::text::chat {
namespace {

// Bytes.
constexpr size_t kRepeatChunk = 4096;

}  // namespace

void Writer::append(const Text& text, size_t begin, size_t end) {
  reserve(end - begin);
  text_.append(text, begin, end);
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
  budget_->take(text.size() * times);
  budget_->give(text.size() * times);
  // In chunks: one character is often repeated.
  const size_t chunk_times = std::min(times, kRepeatChunk / text.size() + 1);
  Text chunk;
  for (size_t i = 0; i < chunk_times; ++i) chunk.append(text);
  for (; times >= chunk_times; times -= chunk_times) append(chunk);
  append(chunk, 0, text.size() * times);
}

Text Writer::take() {
  budget_->give(std::exchange(taken_, 0));
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
