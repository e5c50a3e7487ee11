// Byte pair encoding of the files of Gemma 4 and Sarvam: over the characters of
// the whole text, with spaces as visible characters, and byte tokens for
// characters without a piece. A tokenizer.json can describe this tokenizer, so
// it is made from such a description.
#include <utility>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "text/tokenizer_json/json_tokenizer.h"
#include "text/tokenizers/kinds.h"

namespace rc::text {
namespace {

// U+2581, which stands for a space.
constexpr std::string_view kSpace = "\xE2\x96\x81";

std::string checked(const Vocabulary& v, const char* key,
                    const std::string& text) {
  if (!is_utf8(text)) {
    fail(RC_E_FORMAT, v.source, ": ", key, " holds ", quote(text),
         ", which is no UTF-8");
  }
  return json_text(text);
}

// Pieces found in the text before all others, and those of no text.
std::string added_tokens(const Vocabulary& v) {
  std::string list;
  for (size_t id = 0; id < v.tokens.size(); ++id) {
    const TokenType type = v.types[id];
    if (type != TokenType::kControl && type != TokenType::kUserDefined) {
      continue;
    }
    list += cat(list.empty() ? "" : ",", R"({"id":)", id, R"(,"content":)",
                json_text(v.tokens[id]), R"(,"special":)",
                type == TokenType::kControl ? "true" : "false",
                R"(,"single_word":false,"lstrip":false,"rstrip":false,)"
                R"("normalized":false})");
  }
  return list;
}

std::string pieces(const Vocabulary& v) {
  std::string list;
  for (size_t id = 0; id < v.tokens.size(); ++id) {
    list += cat(id == 0 ? "" : ",",
                checked(v, "tokenizer.ggml.tokens", v.tokens[id]), ":", id);
  }
  return list;
}

std::string merges(const Vocabulary& v) {
  std::string list;
  for (const std::string& merge : v.merges) {
    const size_t space = merge.find(' ', 1);
    if (space == std::string::npos) {
      fail(RC_E_FORMAT, v.source, ": tokenizer.ggml.merges holds ",
           quote(merge), ", which is no pair of pieces");
    }
    const auto half = [&](const std::string& text) {
      return checked(v, "tokenizer.ggml.merges", text);
    };
    list += cat(list.empty() ? "[" : ",[", half(merge.substr(0, space)), ",",
                half(merge.substr(space + 1)), "]");
  }
  return list;
}

}  // namespace

std::shared_ptr<const Tokenizer> make_whole_text(Vocabulary v) {
  const std::string space = json_text(kSpace);
  std::string unknown = "null";
  for (size_t id = 0; id < v.tokens.size(); ++id) {
    if (v.types[id] == TokenType::kUnknown) unknown = json_text(v.tokens[id]);
  }
  const std::string json = cat(
      R"({"added_tokens":[)", added_tokens(v),
      R"(],"normalizer":{"type":"Replace","pattern":{"String":" "},"content":)",
      space,
      R"(},"pre_tokenizer":null,"post_processor":null,)"
      R"("decoder":{"type":"Sequence","decoders":[)"
      R"({"type":"Replace","pattern":{"String":)",
      space,
      R"(},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]},)"
      R"("model":{"type":"BPE","dropout":null,"unk_token":)",
      unknown,
      R"(,"continuing_subword_prefix":null,"end_of_word_suffix":null,)"
      R"("fuse_unk":true,"byte_fallback":true,"ignore_merges":false,)"
      R"("vocab":{)",
      pieces(v), R"(},"merges":[)", merges(v), "]}}");
  v.add_bos = v.add_bos.value_or(true);
  return make_json_tokenizer(json, std::move(v));
}

}  // namespace rc::text
