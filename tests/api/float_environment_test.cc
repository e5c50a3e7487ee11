// Callers with another floating-point environment than the default one: it
// neither changes results nor traps, and calls leave it as it is.
#include <atomic>
#include <cfenv>
#include <cstring>
#include <fstream>
#include <thread>

#include "api_util.h"
#include "temporary.h"

namespace rc::test {
namespace {

// Floating-point settings of a thread. Nothing else must compute with floats on
// it.
struct Environment {
  const char* name;
  void (*set)();
};

constexpr int kTraps =
    FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT;

const Environment kEnvironments[] = {
    {"upward", [] { std::fesetround(FE_UPWARD); }},
    {"downward", [] { std::fesetround(FE_DOWNWARD); }},
    {"to zero", [] { std::fesetround(FE_TOWARDZERO); }},
#if defined(__x86_64__)
    {"no denormal numbers",
     [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }},
#endif
#if defined(__GLIBC__)
    {"traps", [] { feenableexcept(kTraps); }},
#endif
};

// The part of the environment that no operation changes.
struct Controls {
  int rounding = std::fegetround();
#if defined(__x86_64__)
  uint32_t sse = __builtin_ia32_stmxcsr() & ~0x3Fu;
#endif
#if defined(__GLIBC__)
  int traps = fegetexcept();
#endif
  bool operator==(const Controls&) const = default;
};

uint64_t hash(uint64_t before, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) before = (before ^ at[i]) * 1099511628211u;
  return before;
}

// Numbers of everything that computes, from loading on, as one.
uint64_t results(const char* spec) {
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  backend_options.threads = 2;
  rc_backend* opened = nullptr;
  EXPECT_EQ(rc_backend_open(spec, &backend_options, &opened), RC_OK);
  const Backend backend(opened);
  uint64_t number = 14695981039346656037u;
  {
    const Model model = load_model(opened);
    const Session session = create_session(model.get());
    const std::string text = generate(session.get());
    number = hash(number, text.data(), text.size());
    const std::vector<int32_t> tokens = {5, 99, 17, 42, 100, 7, 30, 2, 61};
    EXPECT_EQ(rc_session_append(session.get(), tokens.data(), tokens.size()),
              RC_OK);
    EXPECT_EQ(rc_session_decode(session.get(), RC_DECODE_ALL_LOGITS), RC_OK);
    const float* logits = nullptr;
    size_t rows = 0, vocabulary = 0;
    EXPECT_EQ(rc_session_logits(session.get(), &logits, &rows, &vocabulary),
              RC_OK);
    number = hash(number, logits, rows * vocabulary * sizeof(float));
  }
  rc_random_options random = RC_RANDOM_OPTIONS_INIT;
  const int64_t shape[] = {20, 20};
  rc_tensor *x = nullptr, *y = nullptr, *z = nullptr;
  EXPECT_EQ(rc_tensor_random(opened, shape, 2, &random, &x), RC_OK);
  EXPECT_EQ(rc_op_matmul(x, x, &y), RC_OK);
  EXPECT_EQ(rc_op_softmax(y, 1, &z), RC_OK);
  std::vector<float> read(400);
  EXPECT_EQ(rc_tensor_read(z, read.data(), read.size() * sizeof(float)), RC_OK);
  number = hash(number, read.data(), read.size() * sizeof(float));
  rc_tensor_release(x);
  rc_tensor_release(y);
  rc_tensor_release(z);
  return number;
}

class Floats : public testing::TestWithParam<std::string> {};

TEST_P(Floats, EnvironmentIsKeptAndDoesNotChangeResults) {
  const uint64_t expected = results(GetParam().c_str());
  for (const Environment& environment : kEnvironments) {
    uint64_t result = 0;
    bool same = false;
    std::thread([&] {
      environment.set();
      const Controls before;
      result = results(GetParam().c_str());
      same = before == Controls();
    }).join();
    EXPECT_EQ(result, expected) << environment.name;
    EXPECT_TRUE(same) << environment.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Floats, testing::Values("cpu", "reference"),
                         [](const auto& info) { return info.param; });

// On the caller's threads; on the library's own it is the default one.
TEST(FloatsOfCallbacks, CallbacksRunInTheEnvironmentOfTheCaller) {
  struct Seen {
    Controls progress, event, own;
    std::atomic<bool> ended{false};
  } seen;
  Controls callers;
  std::thread([&] {
    std::fesetround(FE_UPWARD);
    callers = Controls();
    const Backend backend = open_backend("cpu");
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 43;  // no other test's
    options.progress_user = &seen;
    options.progress = [](void* user, double) -> int32_t {
      static_cast<Seen*>(user)->progress = Controls();
      return 0;
    };
    rc_model* loaded = nullptr;
    ASSERT_EQ(
        rc_model_load(backend.get(), model_path().c_str(), &options, &loaded),
        RC_OK);
    const Model model(loaded);
    const Session session = create_session(loaded);
    rc_loop* made = nullptr;
    ASSERT_EQ(rc_loop_create(&made), RC_OK);
    const Loop loop(made);
    rc_generate_options some = RC_GENERATE_OPTIONS_INIT;
    some.max_tokens = 2;
    ASSERT_EQ(rc_generate_async(
                  session.get(), &some, made,
                  [](void* user, const rc_event* event) {
                    auto* s = static_cast<Seen*>(user);
                    s->event = Controls();
                    // A call within leaves it, too.
                    rc_status status = rc_request_wait(event->request, 0);
                    static_cast<void>(status);
                    EXPECT_TRUE(s->event == Controls());
                    if (event->type == RC_EVENT_END) s->ended = true;
                  },
                  &seen, nullptr),
              RC_OK);
    while (!seen.ended) {
      ASSERT_EQ(rc_loop_wait(made, -1), RC_OK);
      ASSERT_EQ(rc_loop_dispatch(made, 0, nullptr), RC_OK);
      ASSERT_TRUE(callers == Controls());
    }
    seen.ended = false;
    ASSERT_EQ(rc_generate_async(
                  session.get(), &some, nullptr,
                  [](void* user, const rc_event* event) {
                    auto* s = static_cast<Seen*>(user);
                    s->own = Controls();
                    if (event->type != RC_EVENT_END) return;
                    s->ended = true;
                    s->ended.notify_all();
                  },
                  &seen, nullptr),
              RC_OK);
    seen.ended.wait(false);
  }).join();
  EXPECT_TRUE(seen.progress == callers);
  EXPECT_TRUE(seen.event == callers);
  EXPECT_TRUE(seen.own == Controls());
}

#if defined(__GLIBC__)
// Weights that are not numbers, and a caller whose operations trap: a status.
TEST(FloatsOfHostileModels, DoNotTrap) {
  std::ifstream in(model_path(), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::pair<uint64_t, uint64_t>> weights;  // offsets and bytes
  rc_model_info* info = nullptr;
  ASSERT_OK(rc_model_info_open(model_path().c_str(), &info));
  for (size_t i = 0; i < rc_model_info_tensor_count(info); ++i) {
    rc_tensor_report report = RC_TENSOR_REPORT_INIT;
    ASSERT_OK(rc_model_info_tensor(info, i, &report));
    weights.emplace_back(report.offset, report.bytes);
  }
  rc_model_info_release(info);
  // Numbers of F32, and of the scales of blocks: infinite, not numbers of both
  // kinds, the largest, the least.
  for (const uint32_t bits :
       {0x7F800000u, 0x7FC00000u, 0x7F800001u, 0x7F7FFFFFu, 0x00000001u,
        0x7C007C00u, 0x7D017D01u}) {
    std::string bad = good;
    for (const auto& [offset, bytes] : weights) {
      for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
        std::memcpy(bad.data() + offset + at, &bits, 4);
      }
    }
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "bad.gguf").string();
    std::ofstream(path, std::ios::binary) << bad;
    for (const char* spec : {"cpu", "reference"}) {
      rc_status verified = RC_OK, generated = RC_OK;
      std::thread([&] {
        const Backend backend = open_backend(spec);
        feenableexcept(kTraps);
        verified = rc_model_verify(path.c_str());
        rc_model* loaded = nullptr;
        generated =
            rc_model_load(backend.get(), path.c_str(), nullptr, &loaded);
        const Model model(loaded);
        if (generated != RC_OK) return;
        const Session session = create_session(loaded);
        rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
        options.max_tokens = 3;
        char* text = nullptr;
        generated =
            rc_generate(session.get(), &options, &text, nullptr, nullptr);
        rc_free(text);
      }).join();
      if ((bits & 0x7F800000u) == 0x7F800000u) {
        EXPECT_NE(verified, RC_OK) << std::hex << bits << " " << spec;
      }
      EXPECT_TRUE(generated == RC_OK || generated == RC_E_DEVICE ||
                  generated == RC_E_FORMAT)
          << rc_status_name(generated);
    }
  }
}
#endif

}  // namespace
}  // namespace rc::test
