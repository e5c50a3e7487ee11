#include "engine_util.h"

#include <bit>
#include <random>

#include "runtime/registry.h"
#include "test_data.h"

namespace rc::engine::test {

std::shared_ptr<const model::ModelFile> small_model(const std::string& name) {
  return model::ModelFile::open(
      rc::test::source_path("tests/golden/architectures/" + name + ".gguf")
          .string());
}

std::shared_ptr<runtime::Device> open_device(const std::string& spec,
                                             int threads) {
  runtime::Selection selection;
  selection.spec = spec;
  selection.device.threads = threads;
  return runtime::select(selection).device;
}

EngineOptions small_options() {
  EngineOptions options;
  options.context_length = 256;
  options.cache_tokens = 64 * 256;
  return options;
}

std::shared_ptr<Engine> load(const EngineOptions& options,
                             const std::string& spec, int threads,
                             const std::string& model) {
  return Engine::load(small_model(model), open_device(spec, threads), options,
                      {});
}

std::vector<TokenId> some_tokens(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens = {1};
  while (tokens.size() < count) {
    tokens.push_back(static_cast<TokenId>(3 + random() % 260));
  }
  return tokens;
}

RequestOptions greedy(std::vector<TokenId> prompt, int64_t max_tokens) {
  RequestOptions options;
  options.prompt_tokens = std::move(prompt);
  options.max_tokens = max_tokens;
  options.sampling.temperature = 0.0f;
  options.ignore_end = true;
  return options;
}

void Hearer::piece(Piece piece) {
  if (on_piece) on_piece(piece);
  const std::lock_guard lock(mutex_);
  text += piece.text;
  tokens.insert(tokens.end(), piece.tokens.begin(), piece.tokens.end());
  logprobs.insert(logprobs.end(), piece.logprobs.begin(), piece.logprobs.end());
  top_logprobs.insert(top_logprobs.end(), piece.top_logprobs.begin(),
                      piece.top_logprobs.end());
  changed_.notify_all();
}

void Hearer::end(const rc_generate_report& report,
                 const char* text_of_error) noexcept {
  const std::lock_guard lock(mutex_);
  ++ends;
  report_ = report;
  message = text_of_error;
  changed_.notify_all();
}

const rc_generate_report& Hearer::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ends > 0; });
  return report_;
}

void Hearer::wait_for_tokens(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ends > 0 || tokens.size() >= count; });
}

Result generate(Session& session, const RequestOptions& options) {
  check(options, session.engine()->file());
  const auto hearer = std::make_shared<Hearer>();
  session.generate(options, hearer);
  const rc_generate_report report = hearer->wait();
  return {hearer->text, hearer->tokens, hearer->message, report};
}

Result generate(Engine& engine, const RequestOptions& options,
                const SessionOptions& session) {
  return generate(*engine.create_session(session, nullptr), options);
}

uint64_t hash_logits(Session& session) {
  const Session::Logits logits = session.logits();
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < logits.rows * logits.vocabulary; ++i) {
    hash ^= std::bit_cast<uint32_t>(logits.data[i]);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace rc::engine::test
