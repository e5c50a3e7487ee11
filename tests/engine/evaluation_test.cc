// The parts of evaluating that need no device.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "engine/evaluation/choices.h"
#include "engine/evaluation/mean.h"
#include "engine/evaluation/probabilities.h"
#include "engine/evaluation/row_team.h"
#include "engine/evaluation/windows.h"
#include "engine/logit.h"
#include "test_data.h"

namespace rc::engine {
namespace {

std::string message_of(const std::function<void()>& call, rc_status status) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STREQ(rc_status_name(error.status()), rc_status_name(status));
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(EvaluationMean, IsExactWhereSumsOfSquaresAreNot) {
  Mean mean;
  EXPECT_EQ(mean.error(), 0.0);
  for (const double value : {1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0, 1e9 + 4.0}) {
    mean.add(value);
  }
  EXPECT_EQ(mean.count(), 4);
  EXPECT_DOUBLE_EQ(mean.value(), 1e9 + 2.5);
  // The standard deviation is sqrt(5 / 3).
  EXPECT_NEAR(mean.error(), std::sqrt(5.0 / 3.0 / 4.0), 1e-12);
}

TEST(EvaluationProbabilities, SumToOneForLargeLogits) {
  const std::vector<float> logits = {1000.0f, 1001.0f, -kInfinity, 1001.0f};
  const LogProbabilities row(logits);
  EXPECT_EQ(row.best(), 1u);
  const double both = 1.0 / (2.0 + std::exp(-1.0));
  EXPECT_NEAR(std::exp(row.of(1)), both, 1e-15);
  EXPECT_NEAR(std::exp(row.of(0)), both * std::exp(-1.0), 1e-15);
  EXPECT_EQ(std::exp(row.of(2)), 0.0);
}

TEST(EvaluationProbabilities, GiveTheExpectedDivergence) {
  const std::vector<float> even = {0.0f, 0.0f};
  const std::vector<float> uneven = {std::log(3.0f), 0.0f};
  const std::vector<float> one = {0.0f, -kInfinity};
  const LogProbabilities p(even), q(uneven), sure(one);
  EXPECT_NEAR(divergence(p, q), 0.5 * std::log(4.0 / 3.0), 1e-7);
  EXPECT_EQ(divergence(p, p), 0.0);
  EXPECT_NEAR(divergence(sure, p), std::log(2.0), 1e-15);
  EXPECT_EQ(divergence(p, sure), std::numeric_limits<double>::infinity());
}

TEST(EvaluationProbabilities, RefuseNanAndInfinity) {
  const auto of = [](std::vector<float> logits) {
    return message_of([&] { const LogProbabilities row(logits); }, RC_E_DEVICE);
  };
  EXPECT_NE(of({0.0f, std::nanf("")}).find("logit 1 is nan"),
            std::string::npos);
  EXPECT_NE(of({kInfinity, 0.0f}).find("logit 0 is inf"), std::string::npos);
  EXPECT_NE(of({-kInfinity}).find("every logit"), std::string::npos);
}

TEST(EvaluationRows, EachIsVisitedOnce) {
  for (const int threads : {0, 1, 3, 16}) {
    for (const size_t rows : {0, 1, 2, 100}) {
      std::vector<int> seen(rows);
      for_each_row(rows, size_t{1} << 20, threads,
                   [&](size_t row) { ++seen[row]; });
      EXPECT_EQ(seen, std::vector<int>(rows, 1));
    }
  }
  // The first failure is reported, once no thread evaluates rows any more.
  std::atomic<int> looked = 0;
  try {
    for_each_row(100, size_t{1} << 20, 4, [&](size_t row) {
      ++looked;
      if (row == 30 || row == 99) fail(RC_E_DEVICE, "row ", row);
    });
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "row 30");
  }
  EXPECT_EQ(looked, 25 + 6 + 25 + 25);
}

class EvaluationWindows : public ::testing::Test {
 protected:
  TextWindows cut(const std::string& text, const WindowOptions& options) const {
    return TextWindows(*file_, text, options, 64, {});
  }
  std::string failure(const std::string& text,
                      const WindowOptions& options) const {
    return message_of([&] { cut(text, options); }, RC_E_INVALID_ARGUMENT);
  }

 private:
  // Its text begins with <s>, and with a space.
  const std::shared_ptr<const model::ModelFile> file_ = model::ModelFile::open(
      rc::test::source_path("tests/golden/architectures/llama2.gguf").string());
};

TEST_F(EvaluationWindows, BeginWithBosAndScoreTheSecondHalf) {
  const TextWindows windows = cut("ABCDEFGHIJK", {.context = 6});
  EXPECT_EQ(windows.count(), 2);  // 13 tokens
  EXPECT_EQ(windows.first_scored(), 4);
  EXPECT_EQ(windows.window(0), (std::vector<TokenId>{1, 259, 68, 69, 70, 71}));
  EXPECT_EQ(windows.window(1), (std::vector<TokenId>{1, 73, 74, 75, 76, 77}));
  EXPECT_EQ(cut("ABCDEFGHIJK", {.context = 6, .most = 1}).count(), 1);
}

TEST_F(EvaluationWindows, ScoreEachTokenOnceWithAStride) {
  const TextWindows windows = cut("ABCDEFGHIJK", {.context = 6, .stride = 3});
  EXPECT_EQ(windows.count(), 3);
  EXPECT_EQ(windows.first_scored(), 3);
  EXPECT_EQ(windows.window(1), (std::vector<TokenId>{1, 70, 71, 72, 73, 74}));
}

TEST_F(EvaluationWindows, ErrorsNameTheOption) {
  EXPECT_NE(failure("ABC", {.context = 6}).find("it has 5 tokens"),
            std::string::npos);
  EXPECT_NE(failure("", {}).find("too short"), std::string::npos);
  EXPECT_NE(failure("ABC", {.context = 3}).find("4 to 64"), std::string::npos);
  EXPECT_NE(failure("ABC", {.context = 65}).find("4 to 64"), std::string::npos);
  EXPECT_NE(failure("ABC", {.context = 4, .stride = 5}).find("1 to 4"),
            std::string::npos);
}

TEST(EvaluationQuestions, AreReadLineByLine) {
  const auto questions = read_questions(
      "\n{\"question\": \"Is it?\", \"choices\": [\"yes\", \"no\"], "
      "\"answer\": 1, \"id\": {\"x\": []}}\r\n  \n"
      "{\"answer\": 0, \"context\": \"\", \"choices\": [\"a\", \"\", \"c\"]}",
      "q.jsonl");
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].line, 2);
  EXPECT_EQ(questions[0].context, "Is it?");
  EXPECT_EQ(questions[0].answer, 1u);
  EXPECT_EQ(questions[1].line, 4);
  EXPECT_EQ(questions[1].choices, (std::vector<std::string>{"a", "", "c"}));
}

TEST(EvaluationQuestions, HostileLinesAreNamed) {
  const std::string good =
      "{\"question\": \"\", \"choices\": [\"a\", \"b\"], \"answer\": 0}\n";
  const auto fails = [&](const std::string& line, const std::string& why) {
    const std::string message = message_of(
        [&] { read_questions(good + line, "q.jsonl"); }, RC_E_FORMAT);
    EXPECT_NE(message.find("q.jsonl, line 2"), std::string::npos) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  fails("{", "");
  fails("[]", "it is an array");
  fails(std::string(100000, '['), "");
  fails("{}", "no \"context\"");
  fails("{\"question\": 1, \"choices\": [\"a\", \"b\"], \"answer\": 0}",
        "\"question\" is a number");
  fails("{\"question\": \"\", \"context\": \"\"}", "both");
  fails("{\"question\": \"\", \"answer\": 0}", "no \"choices\"");
  fails("{\"question\": \"\", \"choices\": \"ab\"}", "not an array");
  fails("{\"question\": \"\", \"choices\": [\"a\"]}", "1 elements");
  fails("{\"question\": \"\", \"choices\": [\"a\", 2]}", "element 1");
  std::string many = "{\"question\": \"\", \"choices\": [\"a\"";
  for (int i = 0; i < 64; ++i) many += ", \"a\"";
  fails(many + "], \"answer\": 0}", "65 elements");
  for (const char* answer : {"2", "-1", "0.5", "1e0", "99999999999999999999"}) {
    fails(std::string("{\"question\": \"\", \"choices\": [\"a\", \"b\"], ") +
              "\"answer\": " + answer + "}",
          answer);
  }
  fails("{\"question\": \"\", \"choices\": [\"a\", \"b\"], \"answer\": \"0\"}",
        "\"answer\" is a string");
  EXPECT_NE(message_of([] { read_questions(" \n\n", "q.jsonl"); }, RC_E_FORMAT)
                .find("no questions"),
            std::string::npos);
}

}  // namespace
}  // namespace rc::engine
