#include "text/tokenizer_json/json_tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/tokenizer_json/added_tokens.h"
#include "text/tokenizer_json/byte_tokens.h"
#include "text/tokenizer_json/json_pre_tokenizers.h"
#include "text/tokenizer_json/models.h"
#include "text/tokenizer_json/normalizers.h"
#include "text/tokenizer_json/post_template.h"
#include "text/tokenizer_json/token_decoder.h"

namespace rc::text {
namespace {

// The parts of a tokenizer.json, ready for use.
struct Pipeline {
  explicit Pipeline(const JsonNode& root)
      : tokens(
            std::make_unique<ModelTokens>(read_model_tokens(root.at("model")))),
        normalizer(root.find("normalizer")
                       ? make_normalizer(*root.find("normalizer"))
                       : nullptr),
        cutter(root.find("pre_tokenizer")
                   ? make_word_cutter(*root.find("pre_tokenizer"))
                   : nullptr),
        added(std::make_unique<AddedTokens>(root, *tokens, normalizer.get())),
        decoder(root.find("decoder")) {
    if (const auto node = root.find("post_processor")) {
      around = read_post_template(*node);
    }
    special.resize(tokens->texts.size());
    for (const AddedToken& token : added->all()) {
      const auto id = static_cast<size_t>(token.id);
      if (token.special && id < special.size()) special[id] = true;
    }
    model = make_word_model(root.at("model"), *tokens, special);
  }

  std::unique_ptr<ModelTokens> tokens;
  std::vector<bool> special;  // of the model's tokens
  std::unique_ptr<const Normalizer> normalizer;
  std::unique_ptr<const WordCutter> cutter;
  std::unique_ptr<AddedTokens> added;
  std::unique_ptr<const WordModel> model;
  PostTemplate around;
  TokenDecoder decoder;
};

// The number of bytes at the beginning that are all well-formed, or all not.
size_t even_length(std::string_view text, bool* valid) {
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

class JsonTokenizer : public Tokenizer {
 public:
  JsonTokenizer(Vocabulary v, Pipeline pipeline)
      : Tokenizer(
            std::move(v),
            {.add_bos = false, .add_eos = false, .add_space_prefix = false}),
        pipeline_(std::move(pipeline)) {
    const Normalizer* const normalizer = pipeline_.normalizer.get();
    const WordCutter* const cutter = pipeline_.cutter.get();
    const bool letters = cutter != nullptr && cutter->writes_letters();
    if ((cutter == nullptr || cutter->keeps_all()) &&
        pipeline_.model->keeps_all(letters) &&
        !pipeline_.added->takes_spaces()) {
      most_bytes_per_token_ =
          std::max(longest_token_text(), pipeline_.added->longest()) *
          (normalizer == nullptr ? 1 : normalizer->most_bytes_per_byte());
    }
  }

  void add_special(std::vector<TokenId>* tokens) const override {
    tokens->insert(tokens->begin(), pipeline_.around.before.begin(),
                   pipeline_.around.before.end());
    tokens->insert(tokens->end(), pipeline_.around.after.begin(),
                   pipeline_.around.after.end());
  }

  std::string token_bytes(TokenId id, bool special) const override {
    bool at_start = false;
    return next_bytes(id, special, &at_start);
  }

  std::string next_bytes(TokenId id, bool special,
                         bool* at_start) const override {
    const TokenType type = token_type(id);
    const bool hidden =
        type == TokenType::kControl || type == TokenType::kUnknown;
    if (type == TokenType::kUnused || (hidden && !special)) return {};
    return pipeline_.decoder.decode(std::string(token_text(id)), at_start);
  }

 private:
  void encode_all(std::string_view text, const TokenizeOptions& options,
                  StopCheck* stop, std::vector<TokenId>* out,
                  std::vector<Span>* places) const override {
    for (const AddedPart& part :
         pipeline_.added->find_in_text(text, options, stop)) {
      const size_t first = out->size();
      if (part.id != kNoToken) {
        out->push_back(part.id);
        if (places != nullptr) places->push_back(part.span);
        continue;
      }
      encode_part(text, part.span, options, stop, out);
      if (places != nullptr) {
        add_places(text, part.span, part.span.begin == 0 && !options.continues,
                   std::span(*out).subspan(first), places);
      }
    }
  }

  void encode_part(std::string_view text, Span part,
                   const TokenizeOptions& options, StopCheck* stop,
                   std::vector<TokenId>* out) const {
    for (size_t at = part.begin; at < part.end;) {
      bool valid = false;
      const size_t size = even_length(text.substr(at, part.end - at), &valid);
      const std::string_view run = text.substr(at, size);
      const bool continues = at == 0 ? options.continues : at != part.begin;
      if (valid) {
        encode_run(run, at == 0, continues, options, stop, out);
      } else {
        std::string word(run);
        if (pipeline_.cutter != nullptr) {
          pipeline_.cutter->apply_to_bytes(&word);
        }
        pipeline_.model->encode(word, stop, out);
      }
      at += size;
    }
  }

  // The same for what is UTF-8.
  void encode_run(std::string_view run, bool is_first, bool continues,
                  const TokenizeOptions& options, StopCheck* stop,
                  std::vector<TokenId>* out) const {
    NormalText normal{std::string(run), is_first && !continues
                                            ? size_t{decode_utf8(run).size}
                                            : size_t{0}};
    if (pipeline_.normalizer != nullptr) {
      pipeline_.normalizer->apply(&normal, continues, stop);
    }
    for (const AddedPart& part :
         pipeline_.added->find_in_normalized(normal.text, options, stop)) {
      if (part.id != kNoToken) {
        out->push_back(part.id);
        continue;
      }
      const size_t begin = part.span.begin;
      const size_t size = part.span.end - begin;
      std::vector<NormalText> words = {
          {normal.text.substr(begin, size),
           std::min(size, normal.first > begin ? normal.first - begin : 0)}};
      if (pipeline_.cutter != nullptr) {
        pipeline_.cutter->apply(&words, continues && begin == 0, stop);
      }
      for (const NormalText& word : words) {
        stop->step();
        pipeline_.model->encode(word.text, stop, out);
      }
    }
  }

  size_t most_bytes_per_token() const override { return most_bytes_per_token_; }

  void encode(std::string_view text, bool at_start, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    TokenizeOptions options;
    options.continues = !at_start;
    encode_part(text, {0, text.size()}, options, stop, out);
  }
  std::string decode(TokenId id) const override {
    bool at_start = false;
    return pipeline_.decoder.decode(std::string(token_text(id)), &at_start);
  }

  Pipeline pipeline_;
  size_t most_bytes_per_token_ = 0;
};

void set_token(TokenId id, std::string_view text, TokenType type,
               Vocabulary* v) {
  const auto at = static_cast<size_t>(id);
  if (at >= v->tokens.size()) {
    v->tokens.resize(at + 1);
    v->types.resize(at + 1, TokenType::kUnused);
  }
  v->tokens[at] = text;
  v->types[at] = type;
}

// The tokens of the pipeline with their types.
void add_tokens(const Pipeline& pipeline, Vocabulary* v) {
  const std::vector<std::string>& texts = pipeline.tokens->texts;
  for (size_t i = 0; i < texts.size(); ++i) {
    TokenType type = TokenType::kNormal;
    if (texts[i].empty()) type = TokenType::kUnused;
    if (pipeline.model->byte_fallback() && parse_byte_token(texts[i]) >= 0) {
      type = TokenType::kByte;
    }
    set_token(static_cast<TokenId>(i), texts[i], type, v);
  }
  for (const AddedToken& token : pipeline.added->all()) {
    TokenType type = TokenType::kUserDefined;
    if (token.special) {
      type = token.id == pipeline.model->unknown() ? TokenType::kUnknown
                                                   : TokenType::kControl;
    }
    set_token(token.id, token.content, type, v);
  }
}

// Settles what is put around a text, and which tokens begin and end one.
void add_ends(Pipeline* pipeline, Vocabulary* v) {
  PostTemplate& around = pipeline->around;
  if (v->bos == kNoToken && !around.before.empty()) v->bos = around.before[0];
  if (v->eos == kNoToken && !around.after.empty()) {
    v->eos = around.after.back();
  }
  const auto settle = [](std::optional<bool>* wanted, TokenId id,
                         std::vector<TokenId>* tokens, bool front) {
    const bool is_there = id != kNoToken && !tokens->empty() &&
                          (front ? tokens->front() : tokens->back()) == id;
    const bool is_wanted = wanted->value_or(is_there);
    if (is_there && !is_wanted) {
      tokens->erase(front ? tokens->begin() : tokens->end() - 1);
    } else if (tokens->empty() && is_wanted && id != kNoToken) {
      tokens->insert(front ? tokens->begin() : tokens->end(), id);
    }
    *wanted = is_wanted;
  };
  settle(&v->add_bos, v->bos, &around.before, true);
  settle(&v->add_eos, v->eos, &around.after, false);
  for (const std::vector<TokenId>* ids : {&around.before, &around.after}) {
    for (const TokenId id : *ids) {
      if (static_cast<size_t>(id) >= v->tokens.size()) {
        fail(RC_E_FORMAT, v->source, ": ", kTokenizerJsonKey,
             ": /post_processor adds the token ", id, ", but there are ",
             v->tokens.size(), " tokens; ids begin at 0");
      }
    }
  }
}

JsonValue parse(std::string_view json, std::string_view source) {
  if (json.size() > kMaxJsonBytes) {
    fail(RC_E_FORMAT, source, ": ", kTokenizerJsonKey, " has ", json.size(),
         " bytes; the limit is ", kMaxJsonBytes);
  }
  try {
    return parse_json(json, cat(source, ": ", kTokenizerJsonKey),
                      kMaxJsonDepth);
  } catch (const Error& error) {
    if (error.status() != RC_E_INVALID_ARGUMENT) throw;
    throw Error(RC_E_FORMAT, error.message());
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> make_json_tokenizer(std::string_view json,
                                                     Vocabulary v) {
  const JsonValue tree = parse(json, v.source);
  Pipeline pipeline(JsonNode(tree, v.source));
  v.model = "huggingface";
  v.tokens.clear();
  v.types.clear();
  v.unknown = pipeline.model->unknown();
  add_tokens(pipeline, &v);
  add_ends(&pipeline, &v);
  check_vocabulary(v);
  return std::make_shared<const JsonTokenizer>(std::move(v),
                                               std::move(pipeline));
}

}  // namespace rc::text
