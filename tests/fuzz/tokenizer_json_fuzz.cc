// A hostile tokenizer.json and a hostile text: the size of the JSON in two
// bytes, the JSON, and the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "small_stack.h"
#include "text/span.h"
#include "text/stream_decoder.h"
#include "text/tokenizer_json/json_tokenizer.h"

namespace {

using rc::text::StreamDecoder;
using rc::text::TokenId;
using rc::text::Tokenizer;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

void run(const std::shared_ptr<const Tokenizer>& tokenizer,
         std::string_view text) {
  for (const bool special : {false, true}) {
    std::vector<rc::text::Span> places;
    const std::vector<TokenId> ids = tokenizer->tokenize(
        text, {.add_special = false, .parse_special = special}, &places);
    check(places.size() == ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      check(ids[i] >= 0 && ids[i] < tokenizer->size());
      check(places[i].begin <= places[i].end && places[i].end <= text.size());
      if (!special) {
        check(tokenizer->token_type(ids[i]) != rc::text::TokenType::kControl);
      }
    }
    check(ids.size() >= tokenizer->least_tokens(text.size()));
    StreamDecoder stream(tokenizer, {.special = special});
    std::string streamed;
    for (const TokenId id : ids) streamed += stream.push(id);
    streamed += stream.finish();
    check(streamed == rc::valid_utf8(tokenizer->detokenize(ids, special)));
  }
  // Nothing that others wrote is a special token.
  const rc::text::Span all{0, text.size()};
  for (const TokenId id : tokenizer->tokenize(text, {.add_special = false,
                                                    .parse_special = true,
                                                    .content = {&all, 1}})) {
    check(tokenizer->token_type(id) != rc::text::TokenType::kControl);
  }
}

void run_input(const uint8_t* data, size_t size) {
  if (size < 2) return;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t json_size = std::min(data[0] + size_t{256} * data[1], size - 2);
  const std::string_view json = rest.substr(0, json_size);
  rest.remove_prefix(json_size);
  rc::text::Vocabulary known;
  known.source = "hostile";
  try {
    run(rc::text::make_json_tokenizer(json, known), rest);
  } catch (const rc::Error& error) {
    check(error.status() == RC_E_FORMAT || error.status() == RC_E_UNSUPPORTED ||
          error.status() == RC_E_INVALID_ARGUMENT);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
