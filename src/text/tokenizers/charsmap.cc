#include "text/tokenizers/charsmap.h"

#include "base/error.h"

namespace rc::text {
namespace {

uint32_t read_u32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

// Parts of a unit of the double array.
bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value(uint32_t unit) { return unit & 0x7FFFFFFF; }
uint32_t label(uint32_t unit) { return unit & 0x800000FF; }
uint32_t offset(uint32_t unit) {
  return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

}  // namespace

Charsmap::Charsmap(std::string_view blob, std::string_view source) {
  if (blob.empty()) return;
  constexpr const char* kKey = "tokenizer.ggml.precompiled_charsmap";
  if (blob.size() < 4) {
    fail(RC_E_FORMAT, source, ": ", kKey, " has ", blob.size(),
         " bytes; its header alone takes 4");
  }
  const uint32_t trie_bytes = read_u32(blob);
  blob.remove_prefix(4);
  if (trie_bytes % 4 != 0 || trie_bytes > blob.size()) {
    fail(RC_E_FORMAT, source, ": ", kKey, " announces a trie of ", trie_bytes,
         " bytes; it must be a multiple of 4 and at most ", blob.size());
  }
  units_.reserve(trie_bytes / 4);
  for (size_t at = 0; at < trie_bytes; at += 4) {
    units_.push_back(read_u32(blob.substr(at)));
  }
  texts_ = blob.substr(trie_bytes);
}

std::optional<Charsmap::Rule> Charsmap::find(std::string_view text,
                                             bool shortest) const {
  std::optional<Rule> rule;
  if (units_.empty()) return rule;
  // Every step checks its place: the units are as hostile as the file.
  size_t node = offset(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset(unit);
    if (!has_value(unit)) continue;
    if (node >= units_.size()) break;
    const uint32_t at = value(units_[node]);
    if (at >= texts_.size()) break;
    const size_t end = texts_.find('\0', at);
    if (end == std::string::npos) break;
    rule = Rule{i + 1, std::string_view(texts_).substr(at, end - at)};
    if (shortest) break;
  }
  return rule;
}

}  // namespace rc::text
