// WordPiece as BERT uses it: the model "bert". In its keys pieces that begin a
// word begin with U+2581, and those that go on have no mark.
#include <utility>

#include "base/error.h"
#include "files/ggml/description.h"

namespace rc::ggml {
namespace {

constexpr std::string_view kContinues = "##";

bool flag_or(const JsonValue& object, std::string_view name, bool otherwise) {
  return is_absent(object, name) ? otherwise : flag_in(object, name);
}

}  // namespace

Description describe_wordpiece(const JsonValue& tokenizer,
                               const JsonValue& model) {
  if (text_in(model, "continuing_subword_prefix") != kContinues) {
    fail(RC_E_UNSUPPORTED, "its pieces go on with another mark than '##'");
  }
  const JsonValue* normalizer = tokenizer.find_given("normalizer");
  if (normalizer == nullptr ||
      text_in(*normalizer, "type") != "BertNormalizer" ||
      !flag_or(*normalizer, "clean_text", true) ||
      !flag_or(*normalizer, "handle_chinese_chars", true)) {
    fail(RC_E_UNSUPPORTED, "its normalizer is not that of BERT");
  }
  const JsonValue* cutter = tokenizer.find_given("pre_tokenizer");
  if (cutter == nullptr || text_in(*cutter, "type") != "BertPreTokenizer") {
    fail(RC_E_UNSUPPORTED, "its pre-tokenizer is not that of BERT");
  }
  Description description;
  description.model = "bert";
  set_vocabulary(model, &description);
  const size_t pieces = description.tokens.size();
  set_added_tokens(tokenizer, &description);
  bool described_all = true;
  for (size_t i = 0; i < pieces; ++i) {
    if (description.types[i] != TokenType::kNormal) continue;
    std::string& text = description.tokens[i];
    if (text.starts_with(kContinues) && text.size() > kContinues.size()) {
      if (text.find(kSpaceMark) == kContinues.size()) {
        // Without its mark it would begin words.
        description.types[i] = TokenType::kUnused;
        described_all = false;
      } else {
        text.erase(0, kContinues.size());
      }
    } else {
      text.insert(0, kSpaceMark);
    }
  }
  if (!described_all) {
    description.differences.push_back("words with U+2581 within");
  }
  const std::string_view unknown = text_in(model, "unk_token");
  if (const JsonValue* vocabulary = model.find("vocab")) {
    description.unknown = number_of(vocabulary->find(unknown));
  }
  if (!description.unknown) fail(RC_E_UNSUPPORTED, "it has no unknown token");
  description.lowercase = flag_or(*normalizer, "lowercase", true);
  description.strip_accents =
      flag_or(*normalizer, "strip_accents", *description.lowercase);
  return description;
}

}  // namespace rc::ggml
