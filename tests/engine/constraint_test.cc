// Generating under a grammar: what comes is valid, whatever the seed; how it
// ends; what is forced.
#include "engine/constraint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <thread>

#include "base/error.h"
#include "engine_util.h"
#include "faulty_device.h"
#include "test_data.h"

namespace rc::engine::test {
namespace {

using text::grammar::Grammar;
using GrammarPtr = std::shared_ptr<const Grammar>;

// The model that comes with Runcible, whose tokenizer joins letters to words.
class Constrained : public ::testing::Test {
 protected:
  Grammar::Vocabulary vocabulary() const {
    return engine_->file().tokenizer()->grammar_vocabulary();
  }
  GrammarPtr regex(std::string_view pattern) const {
    return Grammar::regex(pattern, {}, vocabulary());
  }
  GrammarPtr schema(std::string_view text) const {
    text::grammar::JsonOptions options;
    options.max_spaces = 0;
    return Grammar::json_schema(text, options, vocabulary());
  }
  static RequestOptions under(GrammarPtr grammar, uint64_t seed) {
    RequestOptions options;
    options.prompt = "Once upon a time";
    options.max_tokens = 200;
    options.sampling.seed = seed;
    options.sampling.temperature = 1.5f;
    options.grammar = std::move(grammar);
    return options;
  }
  Result generate_under(GrammarPtr grammar, uint64_t seed) const {
    return generate(*engine_, under(std::move(grammar), seed));
  }

  const std::shared_ptr<Engine> engine_ = Engine::load(
      model::ModelFile::open(
          rc::test::source_path("examples/model/fable.gguf").string()),
      open_device(), {}, {});
};

TEST_F(Constrained, TextsMatchTheirExpression) {
  for (const char* pattern :
       {"[a-z]{3,12}", "(fox|crow|owl)( and (fox|crow|owl)){0,3}",
        "The moral: [A-Za-z ,]{5,40}\\.", "[0-9]{4}-[0-9]{2}-[0-9]{2}"}) {
    const GrammarPtr grammar = regex(pattern);
    const std::regex checked(pattern);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Result result = generate_under(grammar, seed);
      ASSERT_EQ(result.report.status, RC_OK) << result.message;
      EXPECT_EQ(result.report.reason, RC_END_STOP);
      EXPECT_TRUE(std::regex_match(result.text, checked))
          << pattern << ": " << result.text;
    }
  }
}

TEST_F(Constrained, TextsAreOneOfTheChoices) {
  const std::vector<std::string> choices = {"yes", "no", "yes, but no",
                                            "\xC3\xA9t\xC3\xA9"};
  const GrammarPtr grammar = Grammar::choices(choices, {}, vocabulary());
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Result result = generate_under(grammar, seed);
    ASSERT_EQ(result.report.status, RC_OK) << result.message;
    EXPECT_EQ(std::count(choices.begin(), choices.end(), result.text), 1)
        << result.text;
    seen.insert(result.text);
  }
  EXPECT_GT(seen.size(), 1u);
}

TEST_F(Constrained, JsonFollowsItsSchema) {
  const GrammarPtr grammar = schema(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "animal": {"enum": ["fox", "crow"]},
        "age": {"type": "integer", "minimum": 1, "maximum": 30},
        "friends": {"type": "array", "maxItems": 2,
                    "items": {"type": "string", "maxLength": 8}}},
      "required": ["animal", "age", "friends"]})");
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Result result = generate_under(grammar, seed);
    ASSERT_EQ(result.report.status, RC_OK) << result.message;
    EXPECT_EQ(result.report.reason, RC_END_STOP) << result.text;
    const auto json = nlohmann::json::parse(result.text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << result.text;
    EXPECT_EQ(json.size(), 3u);
    const auto animal = json.at("animal").get<std::string>();
    EXPECT_TRUE(animal == "fox" || animal == "crow");
    // 7.0 is an integer to a schema.
    const double age = json.at("age");
    EXPECT_TRUE(age >= 1 && age <= 30 && age == std::floor(age)) << age;
    EXPECT_LE(json.at("friends").size(), 2u);
    for (const auto& name : json.at("friends")) EXPECT_TRUE(name.is_string());
  }
}

TEST_F(Constrained, ForcedTokensAreEvaluatedInOneStep) {
  const auto engine = Engine::load(
      model::ModelFile::open(
          rc::test::source_path("examples/model/fable.gguf").string()),
      open_faulty_device(), {}, {});
  RequestOptions options = under(
      regex("[ab] the fox went into the forest and the crow went too [ab]"), 3);
  const int before = fault_control().runs.load();
  const Result result = generate(*engine, options);
  const int steps = fault_control().runs.load() - before;
  ASSERT_EQ(result.report.status, RC_OK) << result.message;
  EXPECT_GE(result.report.forced_tokens, 8);
  EXPECT_EQ(result.report.generated_tokens,
            static_cast<int64_t>(result.tokens.size()));
  EXPECT_EQ(steps,
            result.report.generated_tokens - result.report.forced_tokens);
  EXPECT_EQ(engine->file().tokenizer()->detokenize(result.tokens), result.text);
  // With probabilities each has a step, and is the same.
  options.logprobs = 1;
  const Result again = generate(*engine, options);
  EXPECT_EQ(again.tokens, result.tokens);
  EXPECT_EQ(fault_control().runs.load() - before - steps,
            result.report.generated_tokens);
  EXPECT_EQ(again.report.forced_tokens, result.report.forced_tokens);
}

TEST_F(Constrained, SinglePossibleTextIsForced) {
  const Result result = generate_under(regex("the fox and the crow"), 1);
  EXPECT_EQ(result.text, "the fox and the crow");
  EXPECT_EQ(result.report.reason, RC_END_STOP);
  EXPECT_EQ(result.report.forced_tokens, result.report.generated_tokens);
  const Result empty = generate_under(regex(""), 1);
  EXPECT_EQ(empty.text, "");
  EXPECT_EQ(empty.report.reason, RC_END_STOP);
  EXPECT_EQ(empty.report.generated_tokens, 0);
}

TEST_F(Constrained, HonoursStopStringsAndLimits) {
  RequestOptions options = under(regex("[a-z ]*"), 1);
  options.max_tokens = 5;
  options.sampling.biases = {{engine_->file().tokenizer()->eos(), -INFINITY}};
  EXPECT_EQ(generate(*engine_, options).report.reason, RC_END_LENGTH);
  options = under(regex("a{3}stop[a-z]*"), 1);
  options.stop = {"stop"};
  const Result stopped = generate(*engine_, options);
  EXPECT_EQ(stopped.report.reason, RC_END_STOP_STRING);
  EXPECT_EQ(stopped.text, "aaa");
  options = under(regex("x{400,}"), 1);
  options.max_tokens = -1;
  SessionOptions short_one;
  short_one.context_length = 64;
  EXPECT_EQ(generate(*engine_, options, short_one).report.reason,
            RC_END_CONTEXT);
  short_one.shift_when_full = true;
  options.max_tokens = 150;
  const Result shifted = generate(*engine_, options, short_one);
  EXPECT_EQ(shifted.report.status, RC_OK) << shifted.message;
  EXPECT_EQ(shifted.report.generated_tokens, 150);
}

TEST_F(Constrained, WorksWithPenaltiesAndSavedSessions) {
  RequestOptions options = under(regex("[a-z]{4,30}, the end"), 5);
  options.sampling.penalty_tokens = -1;
  options.sampling.repetition_penalty = 1.3f;
  options.sampling.frequency_penalty = 0.5f;
  const std::regex checked("[a-z]{4,30}, the end");
  const auto session = engine_->create_session({}, nullptr);
  EXPECT_TRUE(std::regex_match(generate(*session, options).text, checked));
  const auto bytes = session->save();
  const auto restored = engine_->restore_session(
      *gguf::File::from_memory(nullptr, bytes, "saved"), {}, nullptr);
  const Result expected = generate(*session, options);
  EXPECT_TRUE(std::regex_match(expected.text, checked)) << expected.text;
  EXPECT_EQ(generate(*restored, options).tokens, expected.tokens);
}

TEST_F(Constrained, CanBeCancelledAndHasDeadlines) {
  const auto session = engine_->create_session({}, nullptr);
  const auto listener = std::make_shared<TestListener>();
  RequestOptions options = under(regex("[a-z ]{400,}"), 1);
  options.max_tokens = -1;
  Hold hold(3);
  listener->on_piece = [&](const Piece&) { hold.piece(); };
  const auto request = session->generate(options, listener);
  hold.wait();
  request->cancel();
  hold.release();
  EXPECT_EQ(listener->wait().reason, RC_END_CANCELLED);
  options.deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  EXPECT_EQ(generate(*session, options).report.reason, RC_END_DEADLINE);
}

TEST_F(Constrained, DeadEndsAreErrors) {
  // Every way on is forbidden.
  RequestOptions options = under(regex("[ab]{2}"), 1);
  for (TokenId token = 0; token < engine_->file().tokenizer()->size();
       ++token) {
    options.sampling.biases.push_back({token, -INFINITY});
  }
  const Result result = generate(*engine_, options);
  EXPECT_EQ(result.report.reason, RC_END_ERROR);
  EXPECT_EQ(result.report.status, RC_E_INVALID_ARGUMENT);
  EXPECT_NE(result.message.find("mask"), std::string::npos) << result.message;
}

// No token of the vocabulary goes on with a text that may not end.
TEST(Constraint, NoPossibleTokenIsAnError) {
  text::Vocabulary vocabulary;
  vocabulary.model = "llama";
  vocabulary.tokens = {"<unk>", "<s>", "</s>", "a", "b"};
  vocabulary.scores = {0, 0, 0, -1, -2};
  const auto tokenizer = text::Tokenizer::create(std::move(vocabulary));
  const auto compile = [&](std::string_view pattern) {
    return Grammar::regex(pattern, {}, tokenizer->grammar_vocabulary());
  };
  Constraint stuck(*compile("[a-b][cd]"), tokenizer, 5);
  stuck.compute_mask();
  EXPECT_FALSE(stuck.exhausted());
  stuck.accept(3);
  stuck.compute_mask();
  EXPECT_THROW(stuck.exhausted(), Error);
  stuck.accept(4);
  EXPECT_THROW(stuck.advance(), Error);
  Constraint over(*compile("[a-b](c|d)?"), tokenizer, 5);
  over.accept(3);
  over.compute_mask();
  EXPECT_FALSE(over.complete());
  EXPECT_FALSE(over.exhausted());  // the end token is left
}

TEST_F(Constrained, OptionsAreChecked) {
  const auto refusal_of = [&](const RequestOptions& options) {
    try {
      check(options, engine_->file());
    } catch (const Error& error) {
      return std::string(error.message());
    }
    return std::string("no error");
  };
  RequestOptions options = under(regex("a"), 1);
  EXPECT_EQ(refusal_of(options), "no error");
  options.ignore_eos = true;
  EXPECT_NE(refusal_of(options).find("ignore_eos"), std::string::npos);
  const auto other = small_model();
  options = under(
      Grammar::regex("a", {}, other->tokenizer()->grammar_vocabulary()), 1);
  for (const char* text : {"llama2.gguf", "fable.gguf", "272"}) {
    EXPECT_NE(refusal_of(options).find(text), std::string::npos)
        << refusal_of(options);
  }
}

TEST_F(Constrained, ManyRequestsShareAGrammar) {
  const GrammarPtr grammar = schema(
      R"({"type": "object", "properties": {"a": {"type": "string",
          "maxLength": 12}}, "required": ["a"],
          "additionalProperties": false})");
  std::vector<std::string> alone(8);
  for (uint64_t i = 0; i < alone.size(); ++i) {
    alone[i] = generate_under(grammar, i).text;
  }
  std::vector<std::string> together(alone.size());
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < alone.size(); ++i) {
    threads.emplace_back(
        [&, i] { together[i] = generate_under(grammar, i).text; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
  for (const std::string& text : alone) {
    EXPECT_TRUE(nlohmann::json::accept(text)) << text;
  }
}

}  // namespace
}  // namespace rc::engine::test
