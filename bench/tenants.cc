// Measures how tenants share a device: whether each gets its weight's share of
// the device's time, and what an aggressor does to a light tenant.
//
//   tenants MODEL.gguf [SECONDS [DEVICE]]
//
// Shares: 2, 8 and 64 tenants with weights 1, 2, 4, 8, 1, ... Each tenant
// always has 4 prompts of 256 tokens in flight, of which 8 tokens are
// generated, and 2, 4 or 6 streams of 64 tokens after prompts of 16. After a
// warm-up the shares of SECONDS (default 10) are compared with the weights.
// "off" is the largest deviation of a tenant from its share, in percent of the
// share; "Jain" is Jain's index of shares by weights (Jain, Chiu and Hawe
// 1984), which is 1 if they are equal.
//
// Aggressor: a light tenant generates 40 tokens again and again, alone and
// while another tenant has 200 prompts of 1000 tokens waiting, both with a
// weight of 1: with max_stall_ms of the default, and of half the time between
// tokens alone. Medians of the time between tokens and to the first token.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runcible/runcible.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(rc_status status) {
  if (status == RC_OK) return;
  std::fprintf(stderr, "tenants: %s\n", rc_error_message());
  std::exit(1);
}

struct Kind {
  int64_t prompt = 0;  // tokens
  int64_t generated = 0;
  int in_flight = 0;
};

// Keeps requests in flight until it is destroyed.
class Sender {
 public:
  Sender(const char* path, const char* device, float weight,
         std::vector<Kind> kinds, uint32_t seed)
      : kinds_(std::move(kinds)), seed_(seed) {
    rc_tenant_options limits = RC_TENANT_OPTIONS_INIT;
    limits.weight = weight;
    check(rc_tenant_create(&limits, &tenant_));
    rc_backend_options open = RC_BACKEND_OPTIONS_INIT;
    open.tenant = tenant_;
    check(rc_backend_open(device, &open, &backend_));
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 1100;
    options.cache_tokens = 100000;
    options.prefix_cache = 0;
    check(rc_model_load(backend_, path, &options, &model_));
    rc_model_report report = RC_MODEL_REPORT_INIT;
    check(rc_model_describe(model_, &report));
    vocabulary_ = report.vocabulary;
  }
  ~Sender() {
    stop();
    rc_model_release(model_);
    rc_backend_release(backend_);
    rc_tenant_release(tenant_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void start() {
    for (const Kind& kind : kinds_) {
      for (int i = 0; i < kind.in_flight; ++i) {
        lanes_.push_back(std::make_unique<Lane>(*this, kind));
      }
    }
    for (const auto& lane : lanes_) lane->next();
  }
  void stop() {
    stopping_ = true;
    for (const auto& lane : lanes_) lane->finish();
    lanes_.clear();
  }

  void set_max_stall(int32_t milliseconds) {
    rc_tenant_options change = RC_TENANT_OPTIONS_INIT;
    change.max_stall_ms = milliseconds;
    check(rc_tenant_change(tenant_, &change));
  }
  rc_tenant_usage_report usage() const {
    rc_tenant_usage_report usage = RC_TENANT_USAGE_REPORT_INIT;
    check(rc_tenant_usage(tenant_, &usage));
    return usage;
  }
  // Seconds, since the last call.
  std::vector<double> take_first_token_times() {
    const std::lock_guard lock(mutex_);
    return std::exchange(first_, {});
  }
  std::vector<double> take_times_between_tokens() {
    const std::lock_guard lock(mutex_);
    return std::exchange(between_, {});
  }

 private:
  // One request after the other, each in a new session.
  class Lane {
   public:
    Lane(Sender& sender, const Kind& kind) : sender_(sender), kind_(kind) {}
    ~Lane() { finish(); }

    void next() {
      check(rc_session_create(sender_.model_, nullptr, &session_));
      const std::vector<int32_t> prompt = sender_.prompt(kind_.prompt);
      rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
      options.prompt_tokens = prompt.data();
      options.prompt_token_count = prompt.size();
      options.max_tokens = kind_.generated;
      options.ignore_eos = 1;
      options.temperature = 0;
      last_ = Clock::now();
      is_first_ = true;
      running_ = true;
      const std::lock_guard lock(mutex_);
      check(rc_generate_async(session_, &options, nullptr, receive, this,
                              &request_));
    }
    // Ends the request in flight.
    void finish() {
      {
        const std::lock_guard lock(mutex_);
        if (request_ != nullptr) rc_request_cancel(request_);
      }
      while (running_)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      rc_session_release(std::exchange(session_, nullptr));
    }

   private:
    static void receive(void* user, const rc_event* event) {
      static_cast<Lane*>(user)->receive(*event);
    }
    void receive(const rc_event& event) {
      if (event.type == RC_EVENT_PIECE && event.token_count > 0) {
        sender_.record(is_first_, seconds_since(last_));
        is_first_ = false;
        last_ = Clock::now();
      }
      if (event.type != RC_EVENT_END) return;
      {
        const std::lock_guard lock(mutex_);
        rc_request_release(std::exchange(request_, nullptr));
      }
      if (sender_.stopping_) {
        running_ = false;
        return;
      }
      check(event.report->status);
      rc_session_release(std::exchange(session_, nullptr));
      next();
    }

    Sender& sender_;
    const Kind kind_;
    std::mutex mutex_;
    rc_request* request_ = nullptr;
    rc_session* session_ = nullptr;
    Clock::time_point last_;
    bool is_first_ = true;
    std::atomic<bool> running_{false};
  };

  std::vector<int32_t> prompt(int64_t count) {
    std::vector<int32_t> tokens(static_cast<size_t>(count));
    const std::lock_guard lock(mutex_);
    for (int32_t& token : tokens) {
      seed_ = seed_ * 1664525 + 1013904223;
      token = static_cast<int32_t>((seed_ >> 8) %
                                   static_cast<uint32_t>(vocabulary_));
    }
    return tokens;
  }
  void record(bool first, double seconds) {
    const std::lock_guard lock(mutex_);
    (first ? first_ : between_).push_back(seconds);
  }

  const std::vector<Kind> kinds_;
  std::mutex mutex_;
  uint32_t seed_;
  std::vector<double> first_, between_;
  rc_tenant* tenant_ = nullptr;
  rc_backend* backend_ = nullptr;
  rc_model* model_ = nullptr;
  int64_t vocabulary_ = 0;
  std::atomic<bool> stopping_{false};
  std::vector<std::unique_ptr<Lane>> lanes_;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure_shares(const char* path, const char* device, int count,
                    double seconds) {
  std::vector<std::unique_ptr<Sender>> senders;
  std::vector<double> weights;
  double sum_of_weights = 0;
  for (int i = 0; i < count; ++i) {
    weights.push_back(1 << i % 4);
    sum_of_weights += weights.back();
    senders.push_back(std::make_unique<Sender>(
        path, device, static_cast<float>(weights.back()),
        std::vector<Kind>{{256, 8, 4}, {16, 64, 2 + i % 3 * 2}}, i + 1));
  }
  for (const auto& sender : senders) sender->start();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 5));
  std::vector<rc_tenant_usage_report> before;
  for (const auto& sender : senders) before.push_back(sender->usage());
  const auto start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  std::vector<double> used;
  double all = 0;
  uint64_t tokens = 0;
  for (size_t i = 0; i < senders.size(); ++i) {
    const rc_tenant_usage_report after = senders[i]->usage();
    used.push_back(static_cast<double>(after.device_us - before[i].device_us));
    all += used.back();
    tokens += after.prompt_tokens + after.generated_tokens -
              before[i].prompt_tokens - before[i].generated_tokens;
  }
  const double took = seconds_since(start);
  double worst = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < senders.size(); ++i) {
    const double share = used[i] / all / (weights[i] / sum_of_weights);
    worst = std::max(worst, std::fabs(share - 1));
    sum += share;
    squares += share * share;
  }
  std::printf(
      "%3d tenants: off %5.1f%%, Jain %.4f, %.0f tokens/s, device busy "
      "%.0f%%\n",
      count, 100 * worst, sum * sum / (count * squares),
      static_cast<double>(tokens) / took, all / took / 1e4);
  std::fflush(stdout);
}

void measure_aggressor(const char* path, const char* device, double seconds) {
  Sender light(path, device, 1, {{16, 40, 1}}, 1);
  double alone_between = 0, alone_first = 0;
  const auto run = [&](const char* name) {
    light.take_first_token_times();
    light.take_times_between_tokens();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double between = median(light.take_times_between_tokens());
    const double first = median(light.take_first_token_times());
    if (alone_between == 0) {
      alone_between = between;
      alone_first = first;
    }
    std::printf(
        "%s: %.2f ms between tokens (%.2f x), %.2f ms to the first "
        "(%.2f x)\n",
        name, 1e3 * between, between / alone_between, 1e3 * first,
        first / alone_first);
    std::fflush(stdout);
  };
  light.start();
  run("light tenant alone");
  {
    Sender aggressor(path, device, 1, {{1000, 1, 200}}, 2);
    aggressor.start();
    run("while 200 prompts of 1000 wait");
    const double half = std::max(1.0, 500 * alone_between);
    light.set_max_stall(static_cast<int32_t>(half));
    run("with a shorter max_stall_ms");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tenants MODEL.gguf [SECONDS [DEVICE]]\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const char* device = argc > 3 ? argv[3] : "cpu";
  for (const int count : {2, 8, 64}) {
    measure_shares(argv[1], device, count, seconds);
  }
  measure_aggressor(argv[1], device, seconds);
  return 0;
}
