// Forced tokens are those that the tokenizer makes of the whole text, whatever
// that turns out to be.
#include "text/grammar/forced_tokens.h"

#include <random>

#include "files/gguf/file.h"
#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

std::shared_ptr<const Tokenizer> load(const char* path) {
  return Tokenizer::load(
      *gguf::File::open(rc::test::source_path(path).string()));
}

const char* const kTokenizers[] = {
    "examples/model/fable.gguf",  // byte-level BPE
    "tests/golden/architectures/llama2.gguf"};

std::vector<int32_t> tokenize(const Tokenizer& tokenizer,
                              std::string_view text) {
  TokenizeOptions options;
  options.add_special = false;
  options.continues = true;
  return tokenizer.tokenize(text, options);
}

// Some text between fixed ones, drawn.
struct Form {
  std::vector<std::string> fixed;
  std::string letters;
  size_t most;

  std::string pattern() const {
    std::string text;
    for (size_t i = 0; i < fixed.size(); ++i) {
      if (i > 0) text += "[" + letters + "]{1," + std::to_string(most) + "}";
      text += fixed[i];
    }
    return text;
  }
  std::string draw(std::mt19937* random) const {
    std::string text;
    for (size_t i = 0; i < fixed.size(); ++i) {
      for (size_t n = i == 0 ? 0 : 1 + (*random)() % most; n > 0; --n) {
        text += letters[(*random)() % letters.size()];
      }
      text += fixed[i];
    }
    return text;
  }
};

const std::vector<Form>& forms() {
  static const std::vector<Form> kForms = {
      {{"The fox said to the crow: ", " and went home"}, "abeht ", 9},
      {{"\"name\":\"", "\",\"description\":\"", "\""}, "aeorst", 6},
      {{"once upon a time there was a ", ", who had a ", "!"}, "fox12", 4},
      {{"1", " 2 ", "3\n\n  x"}, "0123456789", 7}};
  return kForms;
}

TEST(ForcedTokens, MatchTheTokensOfTheWholeText) {
  std::mt19937 random(1);
  for (const char* path : kTokenizers) {
    const auto tokenizer = load(path);
    size_t forced = 0;
    for (const Form& form : forms()) {
      const auto grammar =
          Grammar::regex(form.pattern(), {}, tokenizer->grammar_vocabulary());
      for (int i = 0; i < 25; ++i) {
        const std::string text = form.draw(&random);
        SCOPED_TRACE(text);
        const std::vector<int32_t> tokens = tokenize(*tokenizer, text);
        const auto matcher = grammar->match();
        for (size_t at = 0; at <= tokens.size(); ++at) {
          const std::span<const int32_t> so_far(tokens.data(), at);
          const std::vector<int32_t> next = forced_tokens(
              *tokenizer, so_far.last(std::min<size_t>(at, 8)), matcher.get());
          ASSERT_LE(at + next.size(), tokens.size());
          ASSERT_TRUE(std::equal(next.begin(), next.end(),
                                 tokens.begin() + static_cast<ptrdiff_t>(at)));
          forced += next.size();
          if (at == tokens.size()) break;
          ASSERT_TRUE(matcher->accept(tokens[at]));
        }
        EXPECT_TRUE(matcher->can_end());
      }
    }
    EXPECT_GT(forced, 1000u) << path;
  }
}

TEST(ForcedTokens, DoNotChangeTheMatcher) {
  const auto tokenizer = load(kTokenizers[0]);
  const auto grammar =
      Grammar::regex("the fox (ran|hid)", {}, tokenizer->grammar_vocabulary());
  const auto matcher = grammar->match();
  const TokenMask mask = matcher->mask();
  EXPECT_FALSE(forced_tokens(*tokenizer, {}, matcher.get()).empty());
  EXPECT_EQ(matcher->mask(), mask);
  EXPECT_THROW(matcher->rollback(1), Error);
}

// A token was chosen that the tokenizer would have joined to what follows.
TEST(ForcedTokens, DoNotFollowATokenThatTheTokenizerWouldNotWrite) {
  const auto tokenizer = load(kTokenizers[0]);
  const std::string text = "the fox sat";
  const std::vector<int32_t> whole = tokenize(*tokenizer, text);
  const std::vector<int32_t> part = tokenize(*tokenizer, text.substr(0, 5));
  ASSERT_FALSE(std::equal(part.begin(), part.end(), whole.begin()));
  const auto grammar =
      Grammar::regex(text, {}, tokenizer->grammar_vocabulary());
  const auto matcher = grammar->match();
  for (const int32_t token : part) ASSERT_TRUE(matcher->accept(token));
  EXPECT_TRUE(forced_tokens(*tokenizer, part, matcher.get()).empty());
}

TEST(Vocabularies, AreCreatedOncePerTokenizer) {
  const auto tokenizer = load(kTokenizers[0]);
  const auto vocabulary = tokenizer->grammar_vocabulary();
  EXPECT_EQ(tokenizer->grammar_vocabulary(), vocabulary);
  EXPECT_TRUE(
      vocabulary->same_tokens(*load(kTokenizers[0])->grammar_vocabulary()));
  EXPECT_FALSE(
      vocabulary->same_tokens(*load(kTokenizers[1])->grammar_vocabulary()));
  EXPECT_TRUE(vocabulary->is_end(tokenizer->eos()));
  EXPECT_EQ(vocabulary->text(tokenizer->bos()), "");
}

TEST(GrammarMatcher, ReportsCompleteTexts) {
  const auto grammar = Grammar::choices(std::vector<std::string>{"a", "ab"}, {},
                                        small_vocabulary());
  const auto matcher = grammar->match();
  EXPECT_FALSE(matcher->complete());
  ASSERT_TRUE(matcher->accept('a'));
  EXPECT_FALSE(matcher->complete());
  ASSERT_TRUE(matcher->accept('b'));
  EXPECT_TRUE(matcher->complete());
  matcher->rollback(1);
  ASSERT_TRUE(matcher->accept(end_token()));
  EXPECT_TRUE(matcher->complete());
}

// A hostile vocabulary may have tokens of any length.
TEST(Vocabularies, ExcludeTooLongTokens) {
  TokenVocabulary tokens;
  tokens.tokens = {"a", std::string(70000, 'a'), ""};
  tokens.ends = {2};
  const auto vocabulary =
      std::make_shared<const VocabularyIndex>(std::move(tokens));
  const auto matcher = Grammar::regex("a*", {}, vocabulary)->match();
  EXPECT_TRUE(matcher->mask().test(0));
  EXPECT_FALSE(matcher->mask().test(1));
  EXPECT_FALSE(matcher->accept(1));
}

}  // namespace
}  // namespace rc::text::grammar
