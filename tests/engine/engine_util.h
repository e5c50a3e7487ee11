// Engines, sessions and requests for tests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace rc::engine::test {

// A model of 64 x 272 x 2 layers with a byte tokenizer, in the repository, or
// another of tests/golden/architectures.
std::shared_ptr<const model::ModelFile> small_model(
    const std::string& name = "llama2");

// A llama 256 wide, with 2 layers and the small model's tokenizer, whose random
// matrices are of the given type.
std::shared_ptr<const model::ModelFile> random_model(DType dtype);

// "cpu/avx2" is the cpu backend at that instruction-set level.
std::shared_ptr<runtime::Device> open_device(const std::string& spec = "cpu",
                                             int threads = 1);

// Options for a small cache whose steps are cheap.
EngineOptions small_options();

// The offer to change an option; nullptr: there is none.
const Offer* find_offer(const std::vector<Offer>& offers,
                        std::string_view option);

std::shared_ptr<Engine> load(const EngineOptions& options = small_options(),
                             const std::string& spec = "cpu", int threads = 1,
                             const std::string& model = "llama2");

// Some tokens of the small model, all different lists for different seeds.
std::vector<TokenId> some_tokens(size_t count, uint32_t seed = 1);

// Greedy, without stops, so that the text depends on the logits alone.
RequestOptions greedy(std::vector<TokenId> prompt, int64_t max_tokens);

// Blocks the engine in the n-th piece that it delivers, so that the generation
// is in flight for as long as a test needs.
class Hold {
 public:
  explicit Hold(int n) : left_(n) {}

  void piece() {  // on the engine thread
    if (--left_ != 0) return;
    reached_.count_down();
    released_.wait();
  }
  void wait() { reached_.wait(); }
  void release() { released_.count_down(); }

 private:
  int left_;
  std::latch reached_{1};
  std::latch released_{1};
};

// Records the events of a request.
class TestListener final : public Listener {
 public:
  void piece(Piece piece) override;
  void end(const rc_generate_report& report,
           const char* message) noexcept override;

  // Waits for the end.
  const rc_generate_report& wait();
  // Waits until `count` tokens were delivered, or for the end.
  void wait_for_tokens(size_t count);

  // To be read after the end.
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<TokenLogprob> logprobs;
  std::vector<TokenLogprob> top_logprobs;
  std::string message;
  int ends = 0;
  // Called for each piece, on the engine thread.
  std::function<void(const Piece&)> on_piece;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  rc_generate_report report_ = RC_GENERATE_REPORT_INIT;
};

struct Result {
  std::string text;
  std::vector<TokenId> tokens;
  std::string message;
  rc_generate_report report;
};
// Generates and waits for the end.
Result generate(Session& session, const RequestOptions& options);
// The same in a separate session.
Result generate(Engine& engine, const RequestOptions& options,
                const SessionOptions& session = {});

// Names of tests have no punctuation.
std::string test_name(std::string text);

// A number that stands for the logits of the last decode, bit for bit.
uint64_t hash_logits(Session& session);

}  // namespace rc::engine::test
