#include "files/folder/piece_metadata.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace rc::folder {
namespace {

using sentencepiece::Piece;
using sentencepiece::PieceType;

constexpr uint64_t kMaxAddedTokensBytes = uint64_t{16} << 20;
// Of tokens that the model does not have; other programs write it too.
constexpr float kAddedScore = -1000.0f;

// User-defined tokens are looked for in running text, which has spaces where
// pieces have marks.
std::string with_spaces(std::string_view piece) {
  constexpr std::string_view kMark = "\xE2\x96\x81";
  std::string text;
  while (!piece.empty()) {
    const bool mark = piece.starts_with(kMark);
    text += mark ? ' ' : piece[0];
    piece.remove_prefix(mark ? kMark.size() : 1);
  }
  return text;
}

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<Piece>& pieces) : pieces_(pieces) {}

  void set(const Config& file, std::string_view key, int64_t id,
           const std::string& text, bool special) {
    constexpr auto kMost = static_cast<int64_t>(sentencepiece::kMaxPieces);
    if (id < 0 || id >= kMost) {
      file.refuse(RC_E_FORMAT, key, " has token ", quote(text), " as ", id,
                  "; 0 to ", kMost - 1, " are possible");
    }
    fill(static_cast<size_t>(id) + 1);
    Piece& piece = pieces_[static_cast<size_t>(id)];
    const bool known = piece.text == text;
    if (known && piece.type == PieceType::kUnknown) return;
    if (known && piece.type == PieceType::kByte) return;
    if (!known) piece.score = kAddedScore;
    piece.text = text;
    piece.type = special ? PieceType::kControl : PieceType::kUserDefined;
  }

  // Unused ones up to this number.
  void fill(size_t count) {
    for (size_t i = pieces_.size(); i < count; ++i) {
      pieces_.push_back({cat("[PAD", i, "]"), kAddedScore, PieceType::kUnused});
    }
  }

 private:
  std::vector<Piece>& pieces_;
};

// The text of a token, which may be described by an object.
const std::string* text_of(const JsonValue& token) {
  const JsonValue* text =
      token.is(JsonValue::Type::kObject) ? token.find("content") : &token;
  if (text == nullptr || !text->is(JsonValue::Type::kString)) return nullptr;
  return &text->text;
}

// The texts of tokens that have a task: bos_token and its like.
std::vector<std::string> special_texts(const Config& tokenizer) {
  std::vector<std::string> texts;
  const auto add = [&](const JsonValue* token) {
    const std::string* text = token == nullptr ? nullptr : text_of(*token);
    if (text != nullptr) texts.push_back(*text);
  };
  for (const char* key : {"bos_token", "eos_token", "unk_token", "pad_token",
                          "sep_token", "cls_token", "mask_token"}) {
    add(tokenizer.find(key));
  }
  const JsonValue* more = tokenizer.find("additional_special_tokens");
  if (more != nullptr) {
    for (const JsonValue& token : more->items) add(&token);
  }
  return texts;
}

void add_listed(const std::optional<Config>& tokenizer, Folder& folder,
                AddedTokens& tokens) {
  constexpr const char* kFile = "added_tokens.json";
  const auto file = folder.find(kFile);
  if (file == nullptr) return;
  const std::string text = Folder::read(*file, kMaxAddedTokensBytes);
  const Config list = Config::parse(text, file->path());
  const std::vector<std::string> special =
      tokenizer ? special_texts(*tokenizer) : std::vector<std::string>();
  for (const auto& [token, number] : list.members()) {
    tokens.set(list, token, list.get_int(token), token,
               std::ranges::find(special, token) != special.end());
  }
}

void add_described(const Config& tokenizer, AddedTokens& tokens) {
  constexpr const char* kKey = "added_tokens_decoder";
  const JsonValue* added = tokenizer.find(kKey);
  if (added == nullptr) return;
  for (const auto& [number, description] : added->members) {
    int64_t id = -1;
    const char* last = number.data() + number.size();
    const auto [end, error] = std::from_chars(number.data(), last, id);
    const std::string* text = text_of(description);
    if (error != std::errc() || end != last || text == nullptr ||
        text->empty()) {
      tokenizer.refuse(RC_E_FORMAT, kKey, " has a member ", quote(number),
                       " that is not the number of a token with its content");
    }
    const JsonValue* special = description.find("special");
    tokens.set(tokenizer, kKey, id, *text,
               special != nullptr && special->is(JsonValue::Type::kTrue));
  }
}

}  // namespace

std::optional<sentencepiece::Model> find_pieces(Folder& folder) {
  auto file = folder.find("tokenizer.model");
  if (file == nullptr) file = folder.find("spiece.model");
  if (file == nullptr) return std::nullopt;
  return sentencepiece::parse_model(
      Folder::read_bytes(*file, sentencepiece::kMaxModelBytes), file->path());
}

void add_pieces(sentencepiece::Model model, const Config& config,
                const std::optional<Config>& tokenizer, Folder& folder,
                gguf::Writer& writer) {
  AddedTokens tokens(model.pieces);
  add_listed(tokenizer, folder, tokens);
  if (tokenizer) add_described(*tokenizer, tokens);
  const int64_t rows = config.find_int("vocab_size").value_or(0);
  constexpr auto kMost = static_cast<int64_t>(sentencepiece::kMaxPieces);
  tokens.fill(static_cast<size_t>(std::clamp<int64_t>(rows, 0, kMost)));

  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;
  for (Piece& piece : model.pieces) {
    const bool user_defined = piece.type == PieceType::kUserDefined;
    texts.push_back(user_defined ? with_spaces(piece.text)
                                 : std::move(piece.text));
    scores.push_back(piece.score);
    types.push_back(static_cast<int32_t>(piece.type));
  }
  const bool bpe = model.algorithm == sentencepiece::Algorithm::kBpe;
  writer.add("tokenizer.ggml.model", bpe ? "llama" : "t5");
  writer.add("tokenizer.ggml.pre", "default");
  writer.add_strings("tokenizer.ggml.tokens", texts);
  writer.add_array("tokenizer.ggml.scores", scores);
  writer.add_array("tokenizer.ggml.token_type", types);
  writer.add("tokenizer.ggml.add_space_prefix", model.add_dummy_prefix);
  writer.add("tokenizer.ggml.remove_extra_whitespaces",
             model.remove_extra_whitespaces);
  if (!model.charsmap.empty()) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(model.charsmap.data());
    writer.add_array("tokenizer.ggml.precompiled_charsmap",
                     std::span(bytes, model.charsmap.size()));
  }
}

}  // namespace rc::folder
