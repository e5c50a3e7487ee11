#include "text/pre_tokenizer.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "files/pre_tokenizer_patterns.h"

namespace rc::text {
namespace {

// The patterns are those of the models' own tokenizers, written for PCRE2;
// those that need no change for it are in files/pre_tokenizer_patterns.h.

constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kChineseAndKana =
    R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kLineBreak = R"([\r\n])";
constexpr std::string_view kFalconPunctuation = R"([\p{P}$+<=>^~|`]+)";
constexpr std::string_view kThreeDigits = R"([0-9][0-9][0-9])";
constexpr std::string_view kEastAsian =
    R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";

// Cased letters by the ranges that the model lists; they leave out some, such
// as the mathematical alphabets.
constexpr std::string_view kDeepseekLetters =
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA})"
    R"(\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373})"
    R"(\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C})"
    R"(\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F})"
    R"(\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD})"
    R"(\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B})"
    R"(\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15})"
    R"(\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
    R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D})"
    R"(\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB})"
    R"(\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102})"
    R"(\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126})"
    R"(\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139})"
    R"(\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184})"
    R"(\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2})"
    R"(\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F})"
    R"(\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
    R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"
    R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"
    R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr std::string_view kDeepseekPunctuation =
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F})"
    R"(\x{3000}-\x{3002}]+)";
// Beginning after no space keeps it from trying each space of a long run.
constexpr std::string_view kTrailingSpaces = R"((?<!\s)\s+\z)";

// Models that cut in the same way.
struct Family {
  std::string_view names;                  // separated by spaces
  std::vector<std::string_view> patterns;  // each cuts further
  bool ignore_merges = false;
  bool add_bos = false;
  bool nfc = false;
};

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      {.names = "default gpt-2", .patterns = {kGpt2Pattern}},
      {.names = "mpt", .patterns = {kGpt2Pattern}, .nfc = true},
      {.names = "llama-bpe llama3 llama-v3",
       .patterns = {patterns::kLlama3},
       .ignore_merges = true,
       .add_bos = true},
      {.names = "smaug-bpe", .patterns = {patterns::kLlama3}},
      {.names = "seed-coder", .patterns = {kSeedCoder}},
      {.names = "qwen2", .patterns = {patterns::kQwen2}, .nfc = true},
      {.names = "deepseek-r1-qwen", .patterns = {patterns::kQwen2}},
      {.names = "qwen35", .patterns = {patterns::kQwen35}, .nfc = true},
      {.names = "starcoder refact smollm", .patterns = {kDigit, kGpt2Pattern}},
      {.names = "command-r", .patterns = {kDigit, kGpt2Pattern}, .nfc = true},
      {.names = "falcon",
       .patterns = {kFalconPunctuation, kGpt2Pattern, kThreeDigits}},
      {.names = "deepseek-llm",
       .patterns = {kLineBreak, kDeepseekLetters, kDeepseekPunctuation,
                    kTrailingSpaces, kEastAsian, R"(\p{N}+)"}},
      {.names = "deepseek-coder",
       .patterns = {kLineBreak, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian,
                    kDigit}},
      {.names = "deepseek-v3",
       .patterns = {R"(\p{N}{1,3})", kChineseAndKana, patterns::kDeepseek3}},
      {.names = "tekken",
       .patterns = {patterns::kTekken},
       .ignore_merges = true,
       .add_bos = true},
      {.names = "gpt-4o", .patterns = {patterns::kGpt4o}},
  };
  return kFamilies;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

const Family& find_family(std::string_view name, std::string_view source) {
  std::string known;
  for (const Family& family : families()) {
    if (has_word(family.names, name.empty() ? "default" : name)) return family;
    known += ' ';
    known += family.names;
  }
  fail(RC_E_UNSUPPORTED, source, ": tokenizer.ggml.pre is ", quote(name),
       "; known pre-tokenizers are", known);
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
  const Family& family = find_family(name, source);
  for (const std::string_view pattern : family.patterns) {
    stages_.emplace_back(pattern);
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
