// The part of model.h about tokenizers.
#include "api/async_work.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "api/model_memory.h"
#include "api/model_path.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "api/tokenize.h"
#include "files/open_model.h"

namespace rc::api {

void check_tokenize_flags(uint32_t flags, const char* name) {
  constexpr uint32_t kKnown =
      RC_TOKENIZE_ADD_SPECIAL | RC_TOKENIZE_PARSE_SPECIAL;
  if ((flags & ~kKnown) != 0) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", flags,
         " holds more than RC_TOKENIZE_ADD_SPECIAL and "
         "RC_TOKENIZE_PARSE_SPECIAL");
  }
}

void check_tokens(const int32_t* tokens, size_t count, int64_t vocabulary,
                  const char* name) {
  need_array(tokens, count, sizeof(*tokens), name);
  for (size_t i = 0; i < count; ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary) {
      fail(RC_E_INVALID_ARGUMENT, name, '[', i, "]: ", tokens[i],
           " is not in the vocabulary of ", vocabulary, " tokens");
    }
  }
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_pointer;

namespace {

rc::text::TokenizeOptions tokenize_options(uint32_t flags) {
  rc::api::check_tokenize_flags(flags, "flags");
  rc::text::TokenizeOptions options;
  options.add_special = (flags & RC_TOKENIZE_ADD_SPECIAL) != 0;
  options.parse_special = (flags & RC_TOKENIZE_PARSE_SPECIAL) != 0;
  return options;
}

class AsyncTokenize final : public rc::api::AsyncWork {
 public:
  AsyncTokenize(std::shared_ptr<const rc::text::Tokenizer> tokenizer,
                std::string text, rc::text::TokenizeOptions options,
                std::shared_ptr<rc::engine::Loop> loop,
                rc_tokenize_callback callback, void* user)
      : AsyncWork(std::move(loop), "tokenizing", "rc_tokenize_async"),
        tokenizer_(std::move(tokenizer)),
        text_(std::move(text)),
        options_(std::move(options)),
        callback_(callback),
        user_(user) {}

 private:
  void work() override {
    options_.should_stop = [this] { return stopped(); };
    tokens_ = tokenizer_->tokenize(text_, options_);
  }

  void deliver(rc_status status, const char* message) override {
    callback_(user_, status, message,
              tokens_.empty() ? nullptr : tokens_.data(), tokens_.size());
  }

  const std::shared_ptr<const rc::text::Tokenizer> tokenizer_;
  const std::string text_;
  rc::text::TokenizeOptions options_;
  const rc_tokenize_callback callback_;
  void* const user_;
  std::vector<int32_t> tokens_;
};

rc_tokenizer* tokenizer_of(const rc::gguf::File& file) {
  auto loaded = rc::text::Tokenizer::load(file);
  if (loaded == nullptr) {
    rc::fail(RC_E_UNSUPPORTED, file.name(), ": the file has no tokenizer");
  }
  return rc::api::add_handle(
      std::make_unique<rc_tokenizer>(std::move(loaded), file));
}

}  // namespace

rc_status rc_tokenizer_open(const char* path, rc_tokenizer** tokenizer) {
  return guard_handle(tokenizer, "tokenizer", [&] {
    return tokenizer_of(
        *rc::open_model(rc::model::file_of(rc::api::need_model_path(path))));
  });
}

rc_status rc_tokenizer_open_memory(const rc_model_memory* memory,
                                   rc_tokenizer** tokenizer) {
  using rc::api::ModelMemory;
  return rc::api::guard_memory(
      memory, tokenizer, "tokenizer",
      [](const ModelMemory& given) { return tokenizer_of(*given.look()); });
}

rc_tokenizer* rc_tokenizer_retain(rc_tokenizer* tokenizer) {
  return rc::api::retain_handle(tokenizer, "tokenizer");
}

void rc_tokenizer_release(rc_tokenizer* tokenizer) {
  rc::api::release_handle(tokenizer, "tokenizer");
}

rc_status rc_tokenize(const rc_tokenizer* tokenizer, const char* text,
                      size_t length, uint32_t flags, int32_t** tokens,
                      size_t* count) {
  return guard([&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    rc::api::need_array(text, length, 1, "text");
    const rc::text::TokenizeOptions options = tokenize_options(flags);
    need_pointer(tokens, "tokens");
    need_pointer(count, "count");
    const std::vector<int32_t> ids =
        handle.tokenizer->tokenize({text, length}, options);
    *tokens = rc::api::return_array(std::span(ids)).release();
    *count = ids.size();
  });
}

rc_status rc_tokenize_async(const rc_tokenizer* tokenizer, const char* text,
                            size_t length, uint32_t flags, rc_loop* loop,
                            rc_tokenize_callback callback, void* user) {
  return guard([&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    rc::api::need_array(text, length, 1, "text");
    rc::text::TokenizeOptions options = tokenize_options(flags);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<AsyncTokenize>(
        handle.tokenizer, std::string(text, length), std::move(options),
        rc::api::loop_or_own(loop), callback, user));
  });
}

rc_status rc_detokenize(const rc_tokenizer* tokenizer, const int32_t* tokens,
                        size_t count, int32_t special, char** text,
                        size_t* length) {
  return guard([&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    rc::api::check_tokens(tokens, count, handle.tokenizer->size(), "tokens");
    need_pointer(text, "text");
    const std::string bytes =
        handle.tokenizer->detokenize({tokens, count}, special != 0);
    *text = rc::api::return_text(bytes).release();
    if (length != nullptr) *length = bytes.size();
  });
}

void rc_tokenizer_report_init(rc_tokenizer_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_tokenizer_report RC_TOKENIZER_REPORT_INIT);
}

rc_status rc_tokenizer_describe(const rc_tokenizer* tokenizer,
                                rc_tokenizer_report* report) {
  return guard([&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    rc_tokenizer_report result = RC_TOKENIZER_REPORT_INIT;
    result.kind = handle.kind.c_str();
    result.vocabulary = handle.tokenizer->size();
    result.bos = handle.tokenizer->bos();
    result.eos = handle.tokenizer->eos();
    result.unknown = handle.tokenizer->unknown();
    rc::api::write_report(report, result, "report");
  });
}
