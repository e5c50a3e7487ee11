// A hostile SentencePiece model and a hostile text: the size of the model in
// two bytes, the model, and the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/folder/piece_metadata.h"
#include "small_stack.h"
#include "temporary.h"
#include "text/tokenizer.h"

namespace {

using rc::text::TokenId;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

void run(const rc::text::Tokenizer& tokenizer, std::string_view text) {
  std::vector<rc::text::Span> places;
  const std::vector<TokenId> ids =
      tokenizer.tokenize(text, {.add_special = false}, &places);
  check(places.size() == ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    check(ids[i] >= 0 && ids[i] < tokenizer.size());
    check(places[i].begin <= places[i].end && places[i].end <= text.size());
    check(tokenizer.token_type(ids[i]) != rc::text::TokenType::kControl);
  }
  check(ids.size() >= tokenizer.least_tokens(text.size()));
  tokenizer.detokenize(ids);
}

void run_input(const uint8_t* data, size_t size) {
  if (size < 2) return;
  static const rc::test::TemporaryFolder empty;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t model_size = std::min(data[0] + size_t{256} * data[1], size - 2);
  const std::string_view model = rest.substr(0, model_size);
  rest.remove_prefix(model_size);
  try {
    rc::folder::Folder folder(empty.path().string());
    rc::gguf::Writer writer;
    rc::folder::add_pieces(rc::sentencepiece::parse_model(model, "hostile"),
                           rc::folder::Config::parse("{}", "config.json"),
                           std::nullopt, folder, writer);
    const auto bytes =
        std::make_shared<std::vector<std::byte>>(writer.write_memory());
    run(*rc::text::Tokenizer::load(
            *rc::gguf::File::from_memory(bytes, *bytes, "hostile")),
        rest);
  } catch (const rc::Error& error) {
    check(error.status() == RC_E_FORMAT || error.status() == RC_E_UNSUPPORTED);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
