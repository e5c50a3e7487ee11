#include "text/pre_tokenizer.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/pre_tokenizer_families.h"

namespace rc::text {
namespace {

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

const PreTokenizerFamily& find_family(std::string_view name,
                                      std::string_view source) {
  std::string known;
  for (const PreTokenizerFamily& family : pre_tokenizer_families()) {
    if (has_word(family.names, name.empty() ? "default" : name)) return family;
    known += ' ';
    known += family.names;
  }
  fail(RC_E_UNSUPPORTED, source, ": tokenizer.ggml.pre is ", quote(name),
       "; known pre-tokenizers are", known);
}

// The pattern with \s and \S spelled out: PCRE2 counts U+180E among spaces, as
// Unicode did before 6.3, and models do not.
std::string with_spaces_spelled(std::string_view pattern) {
  constexpr std::string_view kSpaces = R"(\t-\r\x{85}\p{Z})";
  std::string spelled;
  bool in_class = false;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '\\') {
      if (pattern[at] == '[') in_class = true;
      if (pattern[at] == ']') in_class = false;
      spelled += pattern[at];
      continue;
    }
    const char escaped = pattern[++at];
    if (escaped == 's' && in_class) {
      spelled += kSpaces;
    } else if (escaped == 's' || escaped == 'S') {
      spelled += cat(escaped == 's' ? "[" : "[^", kSpaces, "]");
    } else {
      spelled += cat('\\', escaped);
    }
  }
  return spelled;
}

// The number of bytes at the beginning that are all well-formed, or all not.
size_t run_length(std::string_view text, bool* valid) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    const bool is_valid = c.state == Utf8::kValid;
    if (at == 0) *valid = is_valid;
    if (is_valid != *valid) break;
    at += c.size;
  }
  return at;
}

}  // namespace

PreTokenizer::PreTokenizer(std::string_view name, std::string_view source) {
  const PreTokenizerFamily& family = find_family(name, source);
  for (const std::string_view pattern : family.patterns) {
    stages_.emplace_back(with_spaces_spelled(pattern));
  }
  ignore_merges_ = family.ignore_merges;
  add_bos_ = family.add_bos;
  nfc_ = family.nfc;
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text,
                                                  StopCheck* stop) const {
  std::vector<std::string_view> words;
  std::vector<std::string_view> cut;
  while (!text.empty()) {
    bool valid = false;
    const std::string_view run = text.substr(0, run_length(text, &valid));
    text.remove_prefix(run.size());
    if (!valid) {
      words.push_back(run);
      continue;
    }
    std::vector<std::string_view> parts = {run};
    for (const Regex& stage : stages_) {
      cut.clear();
      for (const std::string_view part : parts) stage.split(part, stop, &cut);
      parts.swap(cut);
    }
    words.insert(words.end(), parts.begin(), parts.end());
  }
  return words;
}

}  // namespace rc::text
