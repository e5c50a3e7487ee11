// What happens when there is no memory. The program's operator new is replaced
// for that, which sanitizers do themselves.
#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <atomic>
#include <cstdlib>
#include <new>

#include "text/chat/chat_util.h"

namespace {

std::atomic<int64_t> live_allocations = 0;
// Allocations until one fails; negative for never.
std::atomic<int64_t> until_failure = -1;

}  // namespace

void* operator new(size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  ++live_allocations;
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace rc::text::chat {
namespace {

// Fails every allocation in turn; each time parsing or rendering must throw and
// give everything back.
void fail_each_allocation(const std::string& source, const Value& variables) {
  const auto call = [&] {
    try {
      Template::parse(source).render(variables, recorded_time());
    } catch (const Error&) {
      // As good an end as any.
    }
  };
  call();  // what is made once for the whole process
  for (int64_t n = 0;; ++n) {
    const int64_t before = live_allocations;
    until_failure = n;
    bool failed = false;
    try {
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    until_failure = -1;
    ASSERT_EQ(live_allocations, before) << "allocation " << n;
    if (!failed) {
      EXPECT_GT(n, 50);
      return;
    }
  }
}

TEST(ChatMemory, FailedAllocationsLeaveNothingBehind) {
  for (const auto& entry : std::filesystem::directory_iterator(
           test::source_path("tests/fuzz/seeds/chat_template"))) {
    SCOPED_TRACE(entry.path().filename());
    // A source, a zero byte, JSON with its variables.
    const std::string seed = read_text(entry.path());
    const size_t zero = seed.find('\0');
    fail_each_allocation(
        seed.substr(0, zero),
        from_json(nlohmann::ordered_json::parse(seed.substr(zero + 1)),
                  Origin::kContent));
  }
}

// Namespaces and macros that refer to themselves are taken apart.
TEST(ChatMemory, CirclesAreLetGo) {
  const Template chat = Template::parse(
      "{% set ns = namespace() %}{% set ns.a = [ns] %}"
      "{% macro m() %}{{ m }}{% endmacro %}{% set ns.m = m %}"
      "{% for x in [1] recursive %}{% set ns.l = loop %}{% endfor %}");
  const Value variables = make_variables({});
  chat.render(variables);
  const int64_t before = live_allocations;
  chat.render(variables);
  EXPECT_EQ(live_allocations, before);
}

}  // namespace
}  // namespace rc::text::chat

#endif
