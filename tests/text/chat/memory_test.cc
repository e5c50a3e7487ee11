// Failed allocations in chat templates.
#include <gtest/gtest.h>

#include "model/allocation_util.h"
#include "text/chat/chat_util.h"

namespace rc::text::chat {
namespace {

constexpr char kWhy[] = "sanitizers replace the allocator themselves";

TEST(ChatMemory, FailedAllocationsLeakNothing) {
  if (!test::kAllocationsCanFail) GTEST_SKIP() << kWhy;
  for (const auto& entry : std::filesystem::directory_iterator(
           test::source_path("tests/fuzz/seeds/chat_template"))) {
    SCOPED_TRACE(entry.path().filename());
    // A source, a zero byte, JSON with its variables.
    const std::string seed = read_text(entry.path());
    const size_t zero = seed.find('\0');
    const std::string source = seed.substr(0, zero);
    const Value variables = from_json(
        parse_json(seed.substr(zero + 1), "seed", 100), Origin::kContent);
    test::fail_each_allocation(
        [&] {
          try {
            Template::parse(source).render(variables, recorded_time());
          } catch (const Error&) {
            // As good an end as any.
          }
        },
        50);
  }
}

// Namespaces and macros that refer to themselves are taken apart.
TEST(ChatMemory, CyclesAreFreed) {
  if (!test::kAllocationsCanFail) GTEST_SKIP() << kWhy;
  const Template chat = Template::parse(
      "{% set ns = namespace() %}{% set ns.a = [ns] %}"
      "{% macro m() %}{{ m }}{% endmacro %}{% set ns.m = m %}"
      "{% for x in [1] recursive %}{% set ns.l = loop %}{% endfor %}");
  const Value variables = make_variables({});
  chat.render(variables);
  const int64_t before = test::live_allocations();
  chat.render(variables);
  EXPECT_EQ(test::live_allocations(), before);
}

}  // namespace
}  // namespace rc::text::chat
