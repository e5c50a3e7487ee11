#include "engine_util.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <list>
#include <random>

#include "base/error.h"
#include "files/gguf/writer.h"
#include "runtime/registry.h"
#include "test_data.h"

namespace rc::engine::test {

std::shared_ptr<const model::ModelFile> small_model(const std::string& name) {
  return model::ModelFile::open(
      rc::test::source_path("tests/golden/architectures/" + name + ".gguf")
          .string());
}

const Offer* find_offer(const std::vector<Offer>& offers,
                        std::string_view option) {
  for (const Offer& offer : offers) {
    if (offer.option == option) return &offer;
  }
  return nullptr;
}

std::shared_ptr<const model::ModelFile> random_model(DType dtype) {
  const int64_t width = 256, inner = 512, vocabulary = 272;
  const auto tokenizer = gguf::File::open(
      rc::test::source_path("tests/golden/architectures/llama2.gguf").string());
  gguf::Writer writer;
  writer.add("general.architecture", "llama");
  writer.add("general.name", cat("random ", dtype_name(dtype)));
  writer.add("llama.context_length", uint32_t{512});
  writer.add("llama.embedding_length", static_cast<uint32_t>(width));
  writer.add("llama.block_count", uint32_t{2});
  writer.add("llama.feed_forward_length", static_cast<uint32_t>(inner));
  writer.add("llama.attention.head_count", uint32_t{8});
  writer.add("llama.attention.head_count_kv", uint32_t{4});
  writer.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.add("llama.rope.dimension_count", uint32_t{32});
  for (const gguf::Entry& entry : tokenizer->entries()) {
    if (entry.key.starts_with("tokenizer.")) writer.add(entry);
  }
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0f, 0.08f);
  std::list<std::vector<float>> values;  // the writer refers to them
  const auto matrix = [&](const std::string& name, int64_t rows,
                          int64_t columns) {
    auto& data = values.emplace_back(static_cast<size_t>(rows * columns));
    for (float& value : data) value = normal(random);
    const int64_t shape[] = {rows, columns};
    writer.add_tensor(name, dtype, shape, data);
  };
  const auto norm = [&](const std::string& name) {
    auto& data = values.emplace_back(static_cast<size_t>(width), 1.0f);
    const int64_t shape[] = {width};
    writer.add_tensor(name, RC_DTYPE_F32, shape, data);
  };
  matrix("token_embd.weight", vocabulary, width);
  norm("output_norm.weight");
  matrix("output.weight", vocabulary, width);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string block = cat("blk.", layer, ".");
    norm(block + "attn_norm.weight");
    matrix(block + "attn_q.weight", width, width);
    matrix(block + "attn_k.weight", width / 2, width);
    matrix(block + "attn_v.weight", width / 2, width);
    matrix(block + "attn_output.weight", width, width);
    norm(block + "ffn_norm.weight");
    matrix(block + "ffn_gate.weight", inner, width);
    matrix(block + "ffn_up.weight", inner, width);
    matrix(block + "ffn_down.weight", width, inner);
  }
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(writer.write_memory());
  return model::ModelFile::from_gguf(
      gguf::File::from_memory(bytes, *bytes, "random model"));
}

std::shared_ptr<runtime::Device> open_device(const std::string& spec,
                                             int threads) {
  const size_t slash = spec.find('/');
  const char* const kVariable = "RUNCIBLE_ISA";
  const char* const set = std::getenv(kVariable);
  const std::string before = set == nullptr ? "" : set;
  if (slash != std::string::npos) {
    setenv(kVariable, spec.substr(slash + 1).c_str(), 1);
  }
  runtime::Selection selection;
  selection.spec = spec.substr(0, slash);
  selection.device.threads = threads;
  auto device = runtime::select(selection).device;
  if (set == nullptr) {
    unsetenv(kVariable);
  } else {
    setenv(kVariable, before.c_str(), 1);
  }
  return device;
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
      '_');
  return text;
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
  options.ignore_eos = true;
  return options;
}

void TestListener::piece(Piece piece) {
  if (on_piece) on_piece(piece);
  const std::lock_guard lock(mutex_);
  text += piece.text;
  tokens.insert(tokens.end(), piece.tokens.begin(), piece.tokens.end());
  logprobs.insert(logprobs.end(), piece.logprobs.begin(), piece.logprobs.end());
  top_logprobs.insert(top_logprobs.end(), piece.top_logprobs.begin(),
                      piece.top_logprobs.end());
  changed_.notify_all();
}

void TestListener::end(const rc_generate_report& report,
                       const char* text_of_error) noexcept {
  const std::lock_guard lock(mutex_);
  ++ends;
  report_ = report;
  try {
    message = text_of_error;
  } catch (const std::bad_alloc&) {
    // Tests make allocations fail.
  }
  changed_.notify_all();
}

const rc_generate_report& TestListener::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ends > 0; });
  return report_;
}

void TestListener::wait_for_tokens(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ends > 0 || tokens.size() >= count; });
}

Result generate(Session& session, const RequestOptions& options) {
  check(options, session.engine()->file());
  const auto listener = std::make_shared<TestListener>();
  session.generate(options, listener);
  const rc_generate_report report = listener->wait();
  return {listener->text, listener->tokens, listener->message, report};
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
