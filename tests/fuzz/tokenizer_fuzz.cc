// Tokenizers under hostile texts and hostile vocabularies.
//
// The first byte chooses what the rest is: text for one of the small
// vocabularies made here, the parts of a vocabulary and a text, or a GGUF file
// (its size in two bytes before it) and a text.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "files/gguf/file.h"
#include "small_stack.h"
#include "text/stop_matcher.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"
#include "text/tokenizers/byte_alphabet.h"

namespace {

using rc::text::StreamDecoder;
using rc::text::TokenId;
using rc::text::Tokenizer;
using rc::text::TokenType;
using rc::text::Vocabulary;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

// Bytes that run out into zeros.
class Input {
 public:
  Input(const uint8_t* data, size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}
  uint8_t byte() {
    const std::string_view taken = take(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  std::string_view take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return take(rest_.size()); }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void add(Vocabulary* v, std::string token, TokenType type, float score) {
  v->tokens.push_back(std::move(token));
  v->types.push_back(type);
  v->scores.push_back(score);
}

Vocabulary byte_level(const char* pre) {
  Vocabulary v;
  v.source = "byte level";
  v.model = "gpt2";
  v.pre = pre;
  v.nfc = false;
  for (const std::string& letter : rc::text::byte_alphabet()) {
    add(&v, letter, TokenType::kNormal, 0);
  }
  add(&v, "<|im_end|>", TokenType::kControl, 0);
  add(&v, "<tool>", TokenType::kUserDefined, 0);
  for (const char* merge :
       {"t h", "th e", "a a", "aa aa", "\xC4\xA0 the", "\xC4\xA0 \xC4\xA0",
        "\xC4\x8A \xC4\x8A", "1 1", "\xC3\x83 \xC2\xA9", "no token"}) {
    v.merges.push_back(merge);
    std::string joined = merge;
    joined.erase(joined.find(' '), 1);
    if (joined != "notoken") add(&v, joined, TokenType::kNormal, 0);
  }
  return v;
}

Vocabulary sentencepiece(const char* model, bool bytes) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  Vocabulary v;
  v.source = "sentencepiece";
  v.model = model;
  add(&v, "<unk>", TokenType::kUnknown, 0);
  add(&v, "<s>", TokenType::kControl, 0);
  add(&v, "</s>", TokenType::kControl, 0);
  add(&v, "<tool>", TokenType::kUserDefined, 0);
  for (int byte = 0; bytes && byte < 256; ++byte) {
    add(&v, std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">",
        TokenType::kByte, 0);
  }
  float score = -1;
  for (const char* piece :
       {"\xE2\x96\x81", "th", "the", "\xE2\x96\x81the", "aa", "aaaa", "a", "t",
        "h", "e", "\xC3\xA9", "\xE2\x96\x81\xE2\x96\x81"}) {
    add(&v, piece, piece[0] == 't' ? TokenType::kUnused : TokenType::kNormal,
        score--);
  }
  return v;
}

Vocabulary wordpiece() {
  Vocabulary v;
  v.source = "wordpiece";
  v.model = "bert";
  for (const char* special : {"[UNK]", "[CLS]", "[SEP]"}) {
    add(&v, special, TokenType::kControl, 0);
  }
  for (const char* piece : {"\xE2\x96\x81the", "re",
                            "\xE2\x96\x81"
                            "a",
                            "a", "\xE2\x96\x81.", "e"}) {
    add(&v, piece, TokenType::kNormal, 0);
  }
  return v;
}

struct Fixed {
  std::shared_ptr<const Tokenizer> tokenizer;
  bool exact;  // gives every text back
};

const std::vector<Fixed>& fixed() {
  static const std::vector<Fixed> kFixed = [] {
    std::vector<Fixed> all;
    for (const char* pre :
         {"gpt-2", "llama-bpe", "qwen2", "qwen35", "starcoder", "falcon",
          "deepseek-llm", "deepseek-coder", "deepseek-v3", "tekken",
          "gpt-4o"}) {
      all.push_back({Tokenizer::create(byte_level(pre)), true});
    }
    Vocabulary composing = byte_level("gpt-2");
    composing.nfc = true;
    all.push_back({Tokenizer::create(composing), false});
    for (const char* model : {"llama", "t5"}) {
      all.push_back({Tokenizer::create(sentencepiece(model, true)), true});
      all.push_back({Tokenizer::create(sentencepiece(model, false)), false});
    }
    all.push_back({Tokenizer::create(wordpiece()), false});
    return all;
  }();
  return kFixed;
}

void run(const std::shared_ptr<const Tokenizer>& tokenizer,
         std::string_view text, bool exact) {
  for (const bool special : {false, true}) {
    const std::vector<TokenId> ids = tokenizer->tokenize(
        text, {.add_special = false, .parse_special = special});
    for (const TokenId id : ids) check(id >= 0 && id < tokenizer->size());
    const std::string back = tokenizer->detokenize(ids, special);
    if (exact) check(back == text);
    StreamDecoder stream(tokenizer, {.special = special});
    std::string streamed;
    for (const TokenId id : ids) streamed += stream.push(id);
    streamed += stream.finish();
    check(streamed == rc::valid_utf8(back));
    tokenizer->tokenize(text, {.parse_special = special});
  }
}

Vocabulary any_vocabulary(Input* input) {
  static constexpr std::array<const char*, 4> kModels = {"llama", "gpt2",
                                                         "bert", "t5"};
  Vocabulary v;
  v.source = "any";
  v.model = kModels[input->byte() % kModels.size()];
  const uint8_t flags = input->byte();
  v.add_space_prefix = (flags & 1) != 0;
  v.remove_extra_whitespaces = (flags & 2) != 0;
  v.lowercase = (flags & 4) != 0;
  v.strip_accents = (flags & 8) != 0;
  v.nfc = (flags & 16) != 0;
  v.add_bos = (flags & 32) != 0;
  v.unknown = static_cast<int8_t>(input->byte());
  v.bos = static_cast<int8_t>(input->byte());
  v.eos = static_cast<int8_t>(input->byte());
  for (size_t i = input->byte() % 64; i-- > 0;) {
    const uint8_t shape = input->byte();
    const std::string mark = (shape & 8) != 0 ? "\xE2\x96\x81" : "";
    add(&v, mark + std::string(input->take(shape >> 4)),
        static_cast<TokenType>(1 + shape % 8 % 6),
        static_cast<float>(static_cast<int8_t>(input->byte())));
  }
  for (size_t i = input->byte() % 32; i-- > 0;) {
    const uint8_t sizes = input->byte();
    std::string merge(input->take(sizes & 7));
    merge += ' ';
    merge += input->take(sizes >> 3 & 7);
    v.merges.push_back(merge);
  }
  v.charsmap = input->take(input->byte());
  return v;
}

// Stop strings and where a text is cut change nothing but the stop itself.
void run_stops(Input* input) {
  std::vector<std::string> stops;
  for (size_t i = input->byte() % 4; i-- > 0;) {
    stops.emplace_back(input->take(input->byte() % 8));
  }
  const size_t step = 1 + input->byte() % 7;
  const std::string_view text = input->rest();
  rc::text::StopMatcher matcher(stops);
  rc::text::StopMatcher whole(stops);
  std::string out;
  bool stopped = false;
  for (size_t at = 0; at < text.size(); at += step) {
    const auto result = matcher.push(text.substr(at, step));
    out += result.text;
    stopped = result.stopped;
  }
  out += matcher.finish();
  const auto result = whole.push(text);
  check(out == result.text + whole.finish());
  check(stopped == result.stopped && matcher.stop() == whole.stop());
  check(text.starts_with(out));
}

void run_input(const uint8_t* data, size_t size) {
  Input input(data, size);
  const size_t mode = input.byte();
  if (mode < 160) {
    const Fixed& chosen = fixed()[mode % fixed().size()];
    const std::string_view text = input.rest();
    // The mark of SentencePiece cannot be distinguished from a space.
    const bool exact =
        chosen.exact && (chosen.tokenizer->kind() == "gpt2" ||
                         text.find("\xE2\x96\x81") == std::string_view::npos);
    run(chosen.tokenizer, text, exact);
    return;
  }
  if (mode < 170) {
    run_stops(&input);
    return;
  }
  try {
    std::shared_ptr<const Tokenizer> tokenizer;
    if (mode < 220) {
      tokenizer = Tokenizer::create(any_vocabulary(&input));
    } else {
      const size_t file_size = input.byte() + size_t{256} * input.byte();
      const auto bytes = std::make_shared<std::string>(input.take(file_size));
      tokenizer = Tokenizer::load(*rc::gguf::File::from_memory(
          bytes, std::as_bytes(std::span(*bytes)), "hostile"));
    }
    if (tokenizer != nullptr) run(tokenizer, input.rest(), false);
  } catch (const rc::Error& error) {
    check(error.status() == RC_E_FORMAT || error.status() == RC_E_UNSUPPORTED);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
