// Prefixes of a session that a prompt can use.
#include "text/chat/shared_prefix.h"

#include "text/chat/prompt_util.h"

namespace rc::text::chat {
namespace {

// Tokens by the letters of their texts: a, b, ab, bc, c, d, and <s>.
class SharedPrefixes : public ::testing::Test {
 protected:
  static std::shared_ptr<const Tokenizer> letters() {
    Vocabulary v;
    v.source = "test.gguf";
    v.model = "gpt2";
    v.pre = "gpt-2";
    v.tokens = {"a", "b", "ab", "bc", "c", "d", "<s>", "<x>"};
    v.merges = {"a b", "b c"};
    v.types.assign(6, TokenType::kNormal);
    v.types.push_back(TokenType::kControl);
    v.types.push_back(TokenType::kUserDefined);
    v.bos = v.eos = 6;
    return Tokenizer::create(std::move(v));
  }

  void expect(std::vector<TokenId> session, std::vector<TokenId> prompt,
              size_t kept, size_t next) const {
    const SharedPrefix shared = shared_prefix(*tokenizer_, session, prompt);
    EXPECT_EQ(shared.kept, kept);
    EXPECT_EQ(shared.next, next);
  }

  static constexpr TokenId a = 0, b = 1, ab = 2, bc = 3, c = 4, d = 5, s = 6,
                           x = 7;
  const std::shared_ptr<const Tokenizer> tokenizer_ = letters();
};

TEST_F(SharedPrefixes, MatchEqualTokens) {
  expect({}, {}, 0, 0);
  expect({}, {a, b}, 0, 0);
  expect({a, b}, {}, 0, 0);
  expect({s, a, b}, {s, a, b}, 3, 3);
  expect({s, a, b}, {s, a, b, c, s}, 3, 3);
  expect({s, a, b, c}, {s, a, d}, 2, 2);
}

TEST_F(SharedPrefixes, MatchOtherTokensOfTheSameText) {
  expect({a, b, c}, {ab, c, d}, 3, 2);
  expect({ab, c}, {a, bc, d}, 2, 2);
  expect({s, a, b, c, s}, {s, ab, c, s, d}, 5, 4);
  // Not within a token of either.
  expect({a, bc, d}, {a, b, d}, 1, 1);
  expect({ab}, {a}, 0, 0);
  expect({a}, {ab}, 0, 0);
  expect({d, ab, d}, {d, a, bc}, 1, 1);
}

TEST_F(SharedPrefixes, SpecialTokensMatchOnlyThemselves) {
  expect({a, s, b}, {a, s, b, c}, 3, 3);
  expect({a, s, b}, {a, b}, 1, 1);
  expect({a, b}, {a, s, b}, 1, 1);
  // A token, and its name as text.
  const std::vector<TokenId> name = tokenizer_->tokenize(
      "<x>", {.add_special = false, .parse_special = false});
  if (name != std::vector<TokenId>{x}) expect({a, x}, {a, name[0]}, 1, 1);
  expect({ab, s}, {a, b, s}, 2, 3);
}

}  // namespace
}  // namespace rc::text::chat
