// Grammars that are hard to keep: each is refused when it is compiled, or every
// mask takes a limited amount of work, or it fails and is known to fail.
#include "text/grammar/hard_cases.h"

#include <random>
#include <set>

#include "text/grammar/grammar_util.h"
#include "text/grammar/text_hash.h"

namespace rc::text::grammar {
namespace {

using rc::test::HardCase;

// One text under a grammar, as far as it goes.
struct Drawn {
  std::vector<int32_t> tokens;
  uint64_t most = 0;  // steps of a mask with what comes before it
  uint64_t all = 0;   // steps of all of them
  std::string error;  // with which the next mask failed
  uint64_t failing_steps = 0;
};

// Draws tokens, or reads those of `before` again.
Drawn draw(const Grammar& grammar, uint32_t seed, size_t count,
           const std::vector<int32_t>* before = nullptr) {
  std::mt19937 random(seed);
  const std::unique_ptr<Matcher> matcher = grammar.match();
  Drawn drawn;
  for (size_t i = 0; i <= count; ++i) {
    matcher->work().end_slice();
    try {
      if (i > 0) {
        EXPECT_TRUE(matcher->accept(drawn.tokens.back()));
      }
      matcher->forced();
      if (matcher->complete()) break;
      matcher->mask();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
      drawn.error = error.message();
      drawn.failing_steps = matcher->work().in_slice();
      break;
    }
    drawn.most = std::max(drawn.most, matcher->work().in_slice());
    drawn.all += matcher->work().in_slice();
    if (before != nullptr) {
      if (i == before->size()) break;
      drawn.tokens.push_back((*before)[i]);
      continue;
    }
    std::vector<int32_t> allowed;
    for (size_t token = 0; token < small_vocabulary()->size(); ++token) {
      if (matcher->mask().test(static_cast<int32_t>(token))) {
        allowed.push_back(static_cast<int32_t>(token));
      }
    }
    EXPECT_FALSE(allowed.empty());
    if (allowed.empty()) break;
    const int32_t token = allowed[random() % allowed.size()];
    if (token == end_token()) break;
    drawn.tokens.push_back(token);
  }
  return drawn;
}

TEST(HardGrammars, HaveAtLeastThirtyCases) {
  EXPECT_GE(rc::test::hard_cases().size(), 30u);
}

TEST(HardGrammars, AreRefusedOrMaskedOrKnownToFail) {
  for (const HardCase& one : rc::test::hard_cases()) {
    SCOPED_TRACE(one.name);
    const auto compile = [&] {
      return rc::test::compile(one, small_vocabulary());
    };
    std::shared_ptr<const Grammar> grammar;
    try {
      grammar = compile();
    } catch (const Error& error) {
      EXPECT_TRUE(error.status() == RC_E_UNSUPPORTED ||
                  error.status() == RC_E_INVALID_ARGUMENT)
          << error.message();
      std::printf("%-45s refused: %.90s\n", one.name.c_str(),
                  error.message().c_str());
      EXPECT_EQ(error_of(compile), error.message());
      continue;
    }
    uint64_t most = 0;
    std::string failure;
    for (uint32_t seed = 0; seed < 3; ++seed) {
      const Drawn drawn = draw(*grammar, seed, 25);
      most = std::max(most, drawn.most);
      EXPECT_LE(drawn.most,
                Work::kMost + drawn.tokens.size() * Work::kMostPerToken);
      if (drawn.error.empty()) continue;
      failure = drawn.error;
      // The same text fails at once under the same grammar.
      const Drawn again =
          draw(*grammar, seed, drawn.tokens.size(), &drawn.tokens);
      EXPECT_EQ(again.error, drawn.error);
      EXPECT_EQ(again.failing_steps, 0u);
      // It fails as well under a grammar compiled from the same source.
      std::shared_ptr<const Grammar> other;
      try {
        other = compile();
      } catch (const Error& error) {
        EXPECT_TRUE(drawn.tokens.empty());
        EXPECT_EQ(error.message(), drawn.error);
        break;
      }
      EXPECT_FALSE(drawn.tokens.empty());
      const Drawn reread =
          draw(*other, seed, drawn.tokens.size(), &drawn.tokens);
      EXPECT_EQ(reread.error, drawn.error);
      EXPECT_EQ(reread.failing_steps, 0u);
    }
    std::printf("%-45s %llu steps at most%s%.60s\n", one.name.c_str(),
                static_cast<unsigned long long>(most),
                failure.empty() ? "" : ", then: ", failure.c_str());
  }
}

TEST(HardGrammars, MultiplesOfLargeNumbersAreRefused) {
  for (const char* text : {R"({"type": "integer", "multipleOf": 999983})",
                           R"({"multipleOf": 999983})",
                           R"({"type": "number", "multipleOf": 999.983})",
                           R"({"items": {"multipleOf": 20001}})"}) {
    const std::string error = error_of([&] { schema(text); });
    for (const char* part : {"multipleOf", "20000"}) {
      EXPECT_NE(error.find(part), std::string::npos) << error;
    }
  }
  const std::string error =
      error_of([&] { schema(R"({"type": "integer", "multipleOf": 999983})"); });
  EXPECT_NE(error.find("999983"), std::string::npos) << error;
}

TEST(HardGrammars, MultiplesAreExact) {
  for (const uint32_t divisor : {7U, 101U, 1001U, 9973U, 19997U}) {
    const auto grammar =
        schema(cat(R"({"type": "integer", "multipleOf": )", divisor, "}"));
    for (uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{divisor},
                       uint64_t{divisor} * 12345, uint64_t{divisor} * 7 + 1,
                       uint64_t{divisor} * 999'999'937}) {
      EXPECT_EQ(accepts(*grammar, std::to_string(n)), n % divisor == 0) << n;
    }
  }
  for (const uint64_t divisor : {100'000U, 1'000'000U, 86'400U}) {
    const auto grammar =
        schema(cat(R"({"type": "integer", "multipleOf": )", divisor, "}"));
    const auto others = schema(
        cat(R"({"type": "integer", "not": {"multipleOf": )", divisor, "}}"));
    for (const uint64_t n : {uint64_t{0}, uint64_t{1}, divisor, divisor * 12345,
                             divisor / 10, divisor * 7 + 1, divisor * 30}) {
      EXPECT_EQ(accepts(*grammar, std::to_string(n)), n % divisor == 0) << n;
      EXPECT_EQ(accepts(*others, std::to_string(n)), n % divisor != 0) << n;
      EXPECT_EQ(accepts(*grammar, cat("-", n, ".00")), n % divisor == 0) << n;
      EXPECT_FALSE(accepts(*grammar, cat(n, ".5"))) << n;
    }
  }
  const auto both = schema(
      R"({"type": "integer", "allOf": [{"multipleOf": 12}, {"multipleOf": 90},
          {"not": {"multipleOf": 7}}]})");
  for (const uint64_t n : {180, 360, 90, 12, 1260, 1440, 1080, 181}) {
    EXPECT_EQ(accepts(*both, std::to_string(n)), n % 180 == 0 && n % 7 != 0)
        << n;
  }
}

// Beginnings are allowed just if a number of the schema begins so.
TEST(HardGrammars, MultiplesWithinBoundsHaveTheRightPrefixes) {
  struct Case {
    const char* schema;
    bool (*valid)(int n);
  };
  const Case cases[] = {
      {R"({"multipleOf": 37, "minimum": 0, "maximum": 1234})",
       [](int n) { return n % 37 == 0 && n <= 1234; }},
      {R"({"multipleOf": 997, "minimum": 5000, "maximum": 9999})",
       [](int n) { return n % 997 == 0 && n >= 5000 && n <= 9999; }},
      {R"({"minimum": 0, "maximum": 2000, "not": {"multipleOf": 2}})",
       [](int n) { return n % 2 != 0 && n <= 2000; }},
      {R"({"minimum": 0, "maximum": 9999, "oneOf": [{"multipleOf": 211},
          {"multipleOf": 223}]})",
       [](int n) { return (n % 211 == 0) != (n % 223 == 0); }},
      {R"({"minimum": 0, "maximum": 9999, "multipleOf": 150,
          "not": {"multipleOf": 450}})",
       [](int n) { return n % 150 == 0 && n % 450 != 0; }},
      {R"({"minimum": 0, "maximum": 9999, "allOf": [{"multipleOf": 6},
          {"not": {"multipleOf": 4}}, {"not": {"multipleOf": 9}}]})",
       [](int n) { return n % 6 == 0 && n % 4 != 0 && n % 9 != 0; }}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.schema);
    nlohmann::json all = nlohmann::json::parse(one.schema);
    all["type"] = "integer";
    JsonOptions options;
    options.reader.plain_integers = true;
    const auto grammar = schema(all.dump(), options);
    std::set<std::string> beginnings;
    for (int n = 0; n <= 9999; ++n) {
      if (!one.valid(n)) continue;
      const std::string text = std::to_string(n);
      for (size_t size = 1; size <= text.size(); ++size) {
        beginnings.insert(text.substr(0, size));
      }
    }
    for (int n = 0; n <= 9999; ++n) {
      const std::string text = std::to_string(n);
      const auto matcher = grammar->match();
      ASSERT_EQ(matcher->accept_bytes(text), beginnings.contains(text)) << n;
      if (beginnings.contains(text)) {
        ASSERT_EQ(matcher->can_end(), one.valid(n)) << n;
      }
    }
  }
}

// 211 and 223 are prime: their common multiples are those of 47053, which is
// more than the divisor of one expression may be.
TEST(HardGrammars, DistantMultiplesHaveTheRightPrefixes) {
  JsonOptions options;
  options.reader.plain_integers = true;
  const auto grammar =
      schema(R"({"type": "integer", "minimum": 10000, "maximum": 99999,
                 "allOf": [{"multipleOf": 211}, {"multipleOf": 223}]})",
             options);
  for (int n = 1; n <= 9999; ++n) {
    const std::string text = std::to_string(n);
    const bool begins = std::string_view("47053").starts_with(text) ||
                        std::string_view("94106").starts_with(text);
    ASSERT_EQ(grammar->match()->accept_bytes(text), begins) << n;
  }
  for (const char* text : {"47053", "94106"}) {
    EXPECT_TRUE(accepts(*grammar, text)) << text;
  }
  for (const char* text : {"47054", "47042", "94107"}) {
    EXPECT_FALSE(accepts(*grammar, text)) << text;
  }
}

// Slices of any size lead to the same masks and, but for a few steps of schemas
// that are combined again, to the same count.
TEST(Work, DoesNotDependOnSlices) {
  const char* const text =
      R"({"type": "object", "properties": {"a": {"multipleOf": 77},
          "b": {"type": "string", "pattern": "a.{4}b"}}, "required": ["a"]})";
  for (const uint64_t steps : {1, 20, 300}) {
    const auto whole = schema(text)->match();
    const auto sliced = schema(text)->match();
    size_t postponed = 0;
    for (const char byte : std::string_view(R"({"a": 154, "b": "xxaxxxxb"})")) {
      const TokenMask mask = whole->mask();
      for (uint64_t slice = steps;; slice *= 2) {
        sliced->work().begin_slice(slice, true, nullptr);
        try {
          EXPECT_EQ(sliced->mask(), mask);
          EXPECT_TRUE(sliced->accept(byte));
          break;
        } catch (const Work::Postponed&) {
          ++postponed;
        }
      }
      ASSERT_TRUE(whole->accept(byte));
    }
    EXPECT_GT(postponed, 3u);
    EXPECT_NEAR(static_cast<double>(sliced->work().total()),
                static_cast<double>(whole->work().total()),
                static_cast<double>(whole->work().total()) / 100);
  }
}

TEST(Work, CanBeStoppedAndResumed) {
  const auto matcher =
      schema(R"({"type": "integer", "multipleOf": 9973})")->match();
  struct Stop {};
  size_t asked = 0;
  matcher->work().begin_slice(UINT64_MAX, true, [&] {
    if (++asked == 2) throw Stop();
  });
  const auto read = [&] {
    for (int i = 0; i < 20; ++i) {
      matcher->mask();
      ASSERT_TRUE(matcher->accept_bytes("1"));
    }
  };
  EXPECT_THROW(read(), Stop);
  matcher->work().end_slice();
  EXPECT_TRUE(matcher->mask().test('9'));
}

TEST(Work, ExceededLimitIsReportedAgainWithoutWork) {
  const auto grammar =
      Grammar::regex("(a|b)*a(a|b){20}", {}, small_vocabulary());
  const auto matcher = grammar->match();
  // Without allowance for tokens each letter brings new states.
  std::string error;
  std::mt19937 random(1);
  std::string text;
  for (size_t i = 0; i < 2'000'000 && error.empty(); ++i) {
    const char byte = random() % 2 == 0 ? 'a' : 'b';
    error = error_of([&] {
      matcher->accept_bytes({&byte, 1});
      fail(RC_E_UNSUPPORTED, "no error");
    });
    if (error == "no error") error.clear();
    text += byte;
  }
  EXPECT_NE(error.find("grammar"), std::string::npos) << error;
  const auto again = grammar->match();
  const std::string failing = text.substr(text.size() - 1);
  text.pop_back();
  ASSERT_TRUE(again->accept_bytes(text));
  again->work().end_slice();
  EXPECT_EQ(error_of([&] { again->accept_bytes(failing); }), error);
  EXPECT_EQ(again->work().in_slice(), 0u);
}

TEST(TextHash, CoversTheWholeText) {
  const TextHash hash = TextHash().after("a text").after(uint64_t{7});
  EXPECT_EQ(hash, TextHash().after("a ").after("text").after(uint64_t{7}));
  EXPECT_NE(hash, TextHash().after("a text").after(uint64_t{8}));
  EXPECT_NE(TextHash().after("ab"), TextHash().after("ba"));
  EXPECT_NE(TextHash().after(std::string_view("\0", 1)), TextHash());
}

}  // namespace
}  // namespace rc::text::grammar
