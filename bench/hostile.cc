// Measures how much of their rate sessions keep while one client of the same
// process asks for grammars that are hard to keep.
//
//   hostile MODEL.gguf CASES.json [SECONDS [ROUNDS]]
//
// CASES is tests/text/grammar/hard_cases.json: objects with a name, a kind and
// a text. Two sessions generate without a pause, one of them under a grammar.
// The client has another backend handle; it compiles a grammar, generates 32
// tokens under it, and does the same again 50 ms later. For each case, turns of
// SECONDS (default 0.2) with that grammar and with an easy one alternate ROUNDS
// times (default 9): a client takes its share of the engine in both. The ratio
// is the median of those of neighbouring turns.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runcible/runcible.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGoal = 0.90;
constexpr std::chrono::milliseconds kPause{50};
constexpr char kEasy[] = "[a-z ,.]{1000,}";

void check(rc_status status) {
  if (status == RC_OK) return;
  std::fprintf(stderr, "hostile: %s\n", rc_error_message());
  std::exit(1);
}

struct Model {
  explicit Model(const char* path) {
    check(rc_backend_open("cpu", nullptr, &backend));
    check(rc_model_load(backend, path, nullptr, &model));
    check(rc_model_get_tokenizer(model, &tokenizer));
  }
  ~Model() {
    rc_tokenizer_release(tokenizer);
    rc_model_release(model);
    rc_backend_release(backend);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  rc_backend* backend = nullptr;
  rc_model* model = nullptr;
  rc_tokenizer* tokenizer = nullptr;
};

rc_status compile(const Model& model, const std::string& kind,
                  const std::string& text, rc_grammar** grammar) {
  const rc_grammar_kind kinds = kind == "regex"  ? RC_GRAMMAR_REGEX
                                : kind == "gbnf" ? RC_GRAMMAR_GBNF
                                : kind == "lark" ? RC_GRAMMAR_LARK
                                                 : RC_GRAMMAR_JSON_SCHEMA;
  return rc_grammar_create(model.tokenizer, kinds, text.data(), text.size(),
                           nullptr, grammar);
}

// Generates without a pause, and counts tokens.
class Sender {
 public:
  Sender(const Model& model, const char* pattern) : model_(model) {
    if (pattern != nullptr) {
      check(compile(model, "regex", pattern, &grammar_));
    }
    thread_ = std::thread([this] { run(); });
  }
  ~Sender() {
    stop_ = true;
    thread_.join();
    rc_grammar_release(grammar_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  uint64_t tokens() const { return tokens_; }

 private:
  void run() {
    while (!stop_) {
      rc_session* session = nullptr;
      check(rc_session_create(model_.model, nullptr, &session));
      rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
      rc_generate_report report = RC_GENERATE_REPORT_INIT;
      char* text = nullptr;
      options.prompt = "Once";
      options.max_tokens = 16;
      options.grammar = grammar_;
      check(rc_generate(session, &options, &text, nullptr, &report));
      tokens_ += static_cast<uint64_t>(report.generated_tokens);
      rc_free(text);
      rc_session_release(session);
    }
  }

  const Model& model_;
  rc_grammar* grammar_ = nullptr;
  std::atomic<uint64_t> tokens_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// Compiles a grammar and generates under it, again and again.
class Client {
 public:
  explicit Client(const Model& model) : model_(model) {
    thread_ = std::thread([this] { run(); });
  }
  ~Client() {
    stop_ = true;
    thread_.join();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Waits until no request under the grammar before is in flight.
  void set(const std::string& kind, const std::string& text) {
    const std::lock_guard lock(mutex_);
    kind_ = kind;
    text_ = text;
  }
  void forget() { requests = refused = failed = 0; }

  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> refused{0};  // when the grammar was created
  std::atomic<uint64_t> failed{0};   // later

 private:
  void run() {
    while (!stop_) {
      ask();
      std::this_thread::sleep_for(kPause);
    }
  }
  void ask() {
    const std::lock_guard lock(mutex_);
    ++requests;
    rc_grammar* grammar = nullptr;
    if (compile(model_, kind_, text_, &grammar) != RC_OK) {
      ++refused;
      return;
    }
    rc_session* session = nullptr;
    check(rc_session_create(model_.model, nullptr, &session));
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    char* text = nullptr;
    options.prompt = "Once";
    options.max_tokens = 32;
    options.seed = ++seed_;
    options.grammar = grammar;
    options.deadline_ms = 2000;
    if (rc_generate(session, &options, &text, nullptr, nullptr) != RC_OK) {
      ++failed;
    }
    rc_free(text);
    rc_session_release(session);
    rc_grammar_release(grammar);
  }

  const Model& model_;
  std::mutex mutex_;
  std::string kind_ = "regex";
  std::string text_ = kEasy;
  uint64_t seed_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Tokens per second of the senders.
double rate(const std::vector<std::unique_ptr<Sender>>& senders,
            double seconds) {
  const auto count = [&] {
    uint64_t tokens = 0;
    for (const auto& sender : senders) tokens += sender->tokens();
    return tokens;
  };
  const uint64_t before = count();
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double passed =
      std::chrono::duration<double>(Clock::now() - begin).count();
  return static_cast<double>(count() - before) / passed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: hostile MODEL.gguf CASES.json [SECONDS [ROUNDS]]\n");
    return 2;
  }
  const double seconds = argc > 3 ? std::atof(argv[3]) : 0.2;
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 9;
  std::ifstream file(argv[2]);
  const nlohmann::json cases = nlohmann::json::parse(file);

  const Model others(argv[1]);
  const Model hostile(argv[1]);
  std::vector<std::unique_ptr<Sender>> senders;
  senders.push_back(std::make_unique<Sender>(others, nullptr));
  senders.push_back(std::make_unique<Sender>(others, kEasy));
  Client client(hostile);
  rate(senders, seconds);

  std::printf("%-45s %10s %10s %6s %8s %8s %8s\n", "case", "easy/s", "hard/s",
              "ratio", "requests", "refused", "failed");
  int missed = 0;
  for (const auto& one : cases) {
    std::vector<double> easy;
    std::vector<double> hard;
    std::vector<double> ratios;
    client.forget();
    client.set("regex", kEasy);
    double before = rate(senders, seconds);
    uint64_t counts[3] = {};
    for (int round = 0; round < rounds; ++round) {
      client.set(one.at("kind"), one.at("text"));
      client.forget();
      hard.push_back(rate(senders, seconds));
      counts[0] += client.requests;
      counts[1] += client.refused;
      counts[2] += client.failed;
      client.set("regex", kEasy);
      easy.push_back(rate(senders, seconds));
      ratios.push_back(hard.back() / (0.5 * (before + easy.back())));
      before = easy.back();
    }
    const double ratio = median(ratios);
    if (ratio < kGoal) ++missed;
    std::printf("%-45s %10.0f %10.0f %6.3f %8llu %8llu %8llu%s\n",
                one.at("name").get<std::string>().c_str(), median(easy),
                median(hard), ratio, static_cast<unsigned long long>(counts[0]),
                static_cast<unsigned long long>(counts[1]),
                static_cast<unsigned long long>(counts[2]),
                ratio < kGoal ? "  MISSED" : "");
    std::fflush(stdout);
  }
  std::printf("%d of %zu cases below %.2f\n", missed, cases.size(), kGoal);
  return missed == 0 ? 0 : 1;
}
