#include "text/tokenizer_json/token_decoder.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/tokenizer_json/metaspace.h"
#include "text/tokenizers/byte_alphabet.h"
#include "text/tokenizers/sentencepiece_text.h"

namespace rc::text {
namespace {

std::string replaced(std::string_view text, std::string_view what,
                     std::string_view by) {
  std::string out;
  while (true) {
    const size_t at = what.empty() ? text.npos : text.find(what);
    if (at == text.npos) break;
    out += text.substr(0, at);
    out += by;
    text.remove_prefix(at + what.size());
  }
  out += text;
  return out;
}

// Removes the spaces between the words of BERT, token by token.
std::string cleaned_up(std::string text) {
  constexpr std::array<std::array<std::string_view, 2>, 11> kRules = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [what, by] : kRules) text = replaced(text, what, by);
  return text;
}

std::string without_first_mark(std::string_view token, std::string_view mark,
                               bool drop) {
  return replaced(token, mark, drop ? "" : " ");
}

bool is_one_character(std::string_view text) {
  return !text.empty() && decode_utf8(text).size == text.size();
}

}  // namespace

TokenDecoder::TokenDecoder(const std::optional<JsonNode>& node) {
  if (node) {
    add(*node);
  } else {
    steps_.push_back({.kind = Kind::kWords});
  }
  const bool depends_on_first =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& step) {
        return step.kind == Kind::kMetaspace || step.kind == Kind::kWordPiece ||
               step.kind == Kind::kWords;
      });
  if (depends_on_first && !stripped_at_start_.empty()) {
    node->not_supported(
        "strips the text after a decoder that treats its first token apart");
  }
}

void TokenDecoder::add(const JsonNode& node) {
  const std::string type = node.type();
  if (type == "Sequence") {
    for (const JsonNode& one : node.at("decoders").items(kMaxComponents)) {
      add(one);
    }
    return;
  }
  if (type == "Strip") {
    add_strip(node);
    return;
  }
  if (type == "Fuse") {
    joined_ = true;
    return;
  }
  Step step;
  if (type == "ByteLevel") {
    step.kind = Kind::kByteLevel;
  } else if (type == "ByteFallback") {
    step.kind = Kind::kByteFallback;
  } else if (type == "Metaspace") {
    const Metaspace rules = read_metaspace(node);
    step.kind = Kind::kMetaspace;
    step.text = rules.replacement;
    step.flag = rules.scheme != Metaspace::Scheme::kNever;
  } else if (type == "WordPiece") {
    step.kind = Kind::kWordPiece;
    step.text = node.at("prefix").text();
    step.flag = node.flag("cleanup", true);
  } else if (type == "Replace") {
    step.kind = Kind::kReplace;
    step.pattern.emplace(node.at("pattern"));
    step.text = node.at("content").text();
    if (joined_ && !is_one_character(step.pattern->literal())) {
      node.not_supported(
          "replaces more than single characters in the joined "
          "text, which cannot be done token by token");
    }
  } else {
    node.at("type").not_supported(
        "is ", quote(type),
        "; known decoders are ByteLevel, Metaspace, WordPiece, ByteFallback, "
        "Fuse, Strip, Replace, Sequence");
  }
  if (joined_ && step.kind != Kind::kReplace) {
    node.not_supported("is a decoder ", quote(type),
                       " behind one that joins the tokens");
  }
  if (step.kind == Kind::kByteLevel) joined_ = true;
  steps_.push_back(std::move(step));
}

void TokenDecoder::add_strip(const JsonNode& node) {
  const JsonNode content = node.at("content");
  Step step;
  step.kind = Kind::kStrip;
  step.text = content.text();
  step.begin = static_cast<size_t>(node.at("start").integer(0, INT32_MAX));
  step.end = static_cast<size_t>(node.at("stop").integer(0, INT32_MAX));
  if (!is_one_character(step.text)) {
    content.refuse("is ", quote(step.text), "; it must be one character");
  }
  if (!joined_) {
    steps_.push_back(std::move(step));
    return;
  }
  if (step.end != 0 || step.begin > 1 || !stripped_at_start_.empty()) {
    node.not_supported(
        "strips more of the joined text than one character at "
        "its start, which cannot be done token by token");
  }
  if (step.begin == 1) stripped_at_start_ = step.text;
}

std::string TokenDecoder::apply(const Step& step, std::string token,
                                bool first) {
  switch (step.kind) {
    case Kind::kByteLevel:
      return bytes_of_piece(token).value_or(token);
    case Kind::kMetaspace:
      return without_first_mark(token, step.text, first && step.flag);
    case Kind::kByteFallback: {
      const int byte = parse_byte_token(token);
      return byte < 0 ? token : std::string(1, static_cast<char>(byte));
    }
    case Kind::kWords:
      return first ? token : " " + token;
    case Kind::kWordPiece:
      if (!first) {
        token = token.starts_with(step.text) ? token.substr(step.text.size())
                                             : " " + token;
      }
      return step.flag ? cleaned_up(std::move(token)) : token;
    case Kind::kStrip: {
      std::string_view rest = token;
      for (size_t i = 0; i < step.begin && rest.starts_with(step.text); ++i) {
        rest.remove_prefix(step.text.size());
      }
      for (size_t i = 0; i < step.end && rest.ends_with(step.text); ++i) {
        rest.remove_suffix(step.text.size());
      }
      return std::string(rest);
    }
    case Kind::kReplace: {
      if (!step.pattern->literal().empty()) {
        return replaced(token, step.pattern->literal(), step.text);
      }
      if (!is_utf8(token)) return token;
      const std::function<bool()> never;
      StopCheck stop(never);
      std::string out;
      size_t done = 0;
      for (const Span match : step.pattern->find_all(token, &stop)) {
        out.append(token, done, match.begin - done);
        out += step.text;
        done = match.end;
      }
      return out.append(token, done);
    }
  }
  return token;
}

std::string TokenDecoder::decode(const std::string& token,
                                 bool* at_start) const {
  std::string text = token;
  for (const Step& step : steps_)
    text = apply(step, std::move(text), *at_start);
  if (stripped_at_start_.empty()) {
    *at_start = false;
  } else if (!text.empty()) {
    if (*at_start && text.starts_with(stripped_at_start_)) {
      text.erase(0, stripped_at_start_.size());
    }
    *at_start = false;
  }
  return text;
}

}  // namespace rc::text
