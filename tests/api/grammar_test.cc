// Grammars through the C ABI: errors and their places, sharing, and generating
// while other requests run.
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "api_util.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Grammar = std::unique_ptr<rc_grammar, Release<rc_grammar_release>>;
using Matcher =
    std::unique_ptr<rc_grammar_matcher, Release<rc_grammar_matcher_release>>;

std::string fable_path() {
  return source_path("examples/model/fable.gguf").string();
}

Tokenizer open_tokenizer(const std::string& path = fable_path()) {
  rc_tokenizer* tokenizer = nullptr;
  EXPECT_OK(rc_tokenizer_open(path.c_str(), &tokenizer));
  return Tokenizer(tokenizer);
}

Grammar compile(const rc_tokenizer* tokenizer, rc_grammar_kind kind,
                const std::string& text) {
  rc_grammar* grammar = nullptr;
  EXPECT_OK(rc_grammar_create(tokenizer, kind, text.data(), text.size(),
                              nullptr, &grammar));
  return Grammar(grammar);
}

rc_status try_compile(const rc_tokenizer* tokenizer, rc_grammar_kind kind,
                      const std::string& text) {
  rc_grammar* grammar = nullptr;
  const rc_status status = rc_grammar_create(tokenizer, kind, text.data(),
                                             text.size(), nullptr, &grammar);
  EXPECT_EQ(grammar == nullptr, status != RC_OK);
  rc_grammar_release(grammar);
  return status;
}

constexpr char kSchema[] = R"({
    "type": "object", "additionalProperties": false,
    "properties": {"name": {"enum": ["Fox", "Crow"]},
                   "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "age"]})";

class Grammars : public testing::Test {
 protected:
  static Model load() {
    const Backend backend = open_backend("cpu");
    rc_model* model = nullptr;
    EXPECT_OK(
        rc_model_load(backend.get(), fable_path().c_str(), nullptr, &model));
    return Model(model);
  }
  std::string generate_json(uint64_t seed, rc_grammar* grammar) const {
    const Session session = create_session(model_.get());
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.grammar = grammar;
    options.seed = seed;
    options.max_tokens = 100;
    options.temperature = 1.3f;
    char* text = nullptr;
    rc_generate_report report = RC_GENERATE_REPORT_INIT;
    EXPECT_OK(rc_generate(session.get(), &options, &text, nullptr, &report));
    EXPECT_EQ(report.reason, RC_END_STOP);
    const std::string result = text == nullptr ? "" : text;
    rc_free(text);
    return result;
  }

  const Tokenizer tokenizer_ = open_tokenizer();
  const Model model_ = load();
};

void expect_valid(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  EXPECT_EQ(json.size(), 2u) << text;
  EXPECT_TRUE(json["name"] == "Fox" || json["name"] == "Crow") << text;
  // Without a fraction.
  ASSERT_TRUE(json["age"].is_number_integer()) << text;
  const int64_t age = json["age"];
  EXPECT_TRUE(age >= 0 && age <= 99) << text;
}

TEST_F(Grammars, ErrorsNameThePlace) {
  const auto tried = [&](rc_grammar_kind kind, const std::string& text) {
    return try_compile(tokenizer_.get(), kind, text);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               tried(RC_GRAMMAR_JSON_SCHEMA,
                     R"({"properties": {"a": {"minimum": "x"}}})"),
               "/properties/a");
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               tried(RC_GRAMMAR_JSON_SCHEMA,
                     R"({"items": {"$ref": "https://example.org/other"}})"),
               "/items");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               tried(RC_GRAMMAR_GBNF, "root ::= b\nb ::= \"x\" ]\n"), "line 2",
               "column 11");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, tried(RC_GRAMMAR_GBNF, "root ::= b\n"),
               "'b'");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               tried(RC_GRAMMAR_LARK, "start: \"x\" ]\n"), "line 1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, tried(RC_GRAMMAR_REGEX, "a(b"), "a(b",
               "byte 3");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, tried(4, "a"), "kind", "4");
}

TEST_F(Grammars, TooManyStatesAreRefusedWithTheLimit) {
  const std::string schema =
      R"({"type": "object", "properties":
          {"price": {"type": "integer", "multipleOf": 999983}}})";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(try_compile(tokenizer_.get(), RC_GRAMMAR_JSON_SCHEMA, schema),
              RC_E_UNSUPPORTED);
    const std::string message = rc_error_message();
    for (const char* part :
         {"/properties/price", "multipleOf", "999983", "20000"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  }
}

TEST_F(Grammars, AreSharedByThreadsAndOutliveTheirTokenizer) {
  Grammar grammar =
      compile(open_tokenizer().get(), RC_GRAMMAR_JSON_SCHEMA, kSchema);
  std::vector<std::string> alone;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    alone.push_back(generate_json(seed, grammar.get()));
    expect_valid(alone.back());
  }
  std::vector<std::string> together(alone.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < alone.size(); ++i) {
    threads.emplace_back(
        [&, i] { together[i] = generate_json(i, grammar.get()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
}

TEST_F(Grammars, MayBeReleasedWhileTheirRequestRuns) {
  Grammar grammar = compile(tokenizer_.get(), RC_GRAMMAR_JSON_SCHEMA, kSchema);
  const Session session = create_session(model_.get());
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.grammar = grammar.get();
  rc_request* started = nullptr;
  ASSERT_OK(rc_generate_async(session.get(), &options, nullptr, nullptr,
                              nullptr, &started));
  const Request request(started);
  grammar.reset();
  std::string text;
  rc_event event = RC_EVENT_INIT;
  do {
    ASSERT_OK(rc_request_next(started, -1, &event));
    if (event.type == RC_EVENT_PIECE) {
      text.append(event.text, event.text_length);
    }
  } while (event.type != RC_EVENT_END);
  EXPECT_EQ(event.report->status, RC_OK) << event.message;
  expect_valid(text);
}

TEST_F(Grammars, AnotherVocabularyIsRefusedByName) {
  const Tokenizer other = open_tokenizer(model_path());
  const Grammar grammar = compile(other.get(), RC_GRAMMAR_REGEX, "a");
  const Session session = create_session(model_.get());
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.grammar = grammar.get();
  char* text = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_generate(session.get(), &options, &text, nullptr, nullptr),
               "llama2.gguf", "fable.gguf");
}

// Callers that choose tokens themselves get valid texts, too.
TEST_F(Grammars, MatchersGuideSamplersOfTheCallers) {
  const Grammar grammar =
      compile(tokenizer_.get(), RC_GRAMMAR_JSON_SCHEMA, kSchema);
  rc_tokenizer_report about = RC_TOKENIZER_REPORT_INIT;
  ASSERT_OK(rc_tokenizer_describe(tokenizer_.get(), &about));
  const auto vocabulary = static_cast<size_t>(about.vocabulary);
  std::vector<uint32_t> mask((vocabulary + 31) / 32);
  std::set<std::string> seen;
  for (uint32_t seed = 1; seed < 20; ++seed) {
    rc_grammar_matcher* made = nullptr;
    ASSERT_OK(rc_grammar_matcher_create(grammar.get(), &made));
    const Matcher matcher(made);
    std::vector<int32_t> tokens;
    uint32_t random = seed * 2654435761u;
    for (;;) {
      ASSERT_OK(rc_grammar_matcher_mask(made, mask.data(), mask.size()));
      std::vector<int32_t> allowed;
      for (size_t t = 0; t < vocabulary; ++t) {
        if ((mask[t / 32] >> (t % 32) & 1) != 0) {
          allowed.push_back(static_cast<int32_t>(t));
        }
      }
      ASSERT_FALSE(allowed.empty());
      random = random * 1664525u + 1013904223u;
      const int32_t token = allowed[(random >> 8) % allowed.size()];
      size_t accepted = 0;
      ASSERT_OK(rc_grammar_matcher_accept(made, &token, 1, &accepted));
      ASSERT_EQ(accepted, 1u);
      if (token == about.eos) break;
      tokens.push_back(token);
      ASSERT_LT(tokens.size(), 200u);
    }
    char* text = nullptr;
    ASSERT_OK(rc_detokenize(tokenizer_.get(), tokens.data(), tokens.size(), 0,
                            &text, nullptr));
    expect_valid(text);
    seen.insert(text);
    rc_free(text);
  }
  EXPECT_GT(seen.size(), 4u);
}

}  // namespace
}  // namespace rc::test
