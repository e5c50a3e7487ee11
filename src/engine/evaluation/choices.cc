#include "engine/evaluation/choices.h"

#include <algorithm>

#include "base/error.h"
#include "engine/evaluation/probabilities.h"
#include "engine/evaluation/row_reader.h"
#include "engine/session_tokens.h"

namespace rc::engine {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The text of a context and a choice behind it.
std::string joined(const std::string& context, const std::string& choice) {
  const bool apart = context.empty() || is_space(context.back()) ||
                     choice.empty() || is_space(choice.front());
  return context + (apart ? "" : " ") + choice;
}

size_t common_length(const std::vector<TokenId>& a,
                     const std::vector<TokenId>& b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

class ChoiceScorer {
 public:
  ChoiceScorer(const EvaluatedModel& model, std::string_view name)
      : tokenizer_(tokenizer_for_texts(model.engine->file())),
        name_(name),
        context_(model.engine->options().context_length),
        reader_(model.engine, model.account, context_) {}

  // The likelihood of each choice, as its logarithm.
  std::vector<double> likelihoods(const Question& question) {
    const std::vector<TokenId> context = tokens_of(question.context);
    std::vector<std::vector<TokenId>> all;
    // The common beginning of all choices; the last token before a choice gives
    // the logits of its first.
    size_t shared = context.size();
    for (const std::string& choice : question.choices) {
      all.push_back(tokens_of(joined(question.context, choice)));
      shared = std::min(shared, common_length(context, all.back()));
    }
    for (size_t i = 0; i < all.size(); ++i) check(question, i, all[i], shared);
    reader_.begin(std::span(context).first(shared));
    const std::span<const float> logits = reader_.last();
    const std::vector<float> first(logits.begin(), logits.end());
    const LogProbabilities begin(first);
    std::vector<double> result;
    for (const std::vector<TokenId>& tokens : all) {
      result.push_back(likelihood(std::span(tokens).subspan(shared), begin));
      reader_.back_to(static_cast<int64_t>(shared));
    }
    return result;
  }

 private:
  std::vector<TokenId> tokens_of(const std::string& text) const {
    std::vector<TokenId> tokens = tokenize(tokenizer_, text, 0);
    if (tokenizer_.adds_bos() && tokenizer_.bos() >= 0) {
      tokens.insert(tokens.begin(), tokenizer_.bos());
    }
    return tokens;
  }

  void check(const Question& question, size_t choice,
             const std::vector<TokenId>& tokens, size_t shared) const {
    const std::string place = cat(name_, ", line ", question.line);
    if (shared == 0) {
      fail(RC_E_INVALID_ARGUMENT, place, ": no token comes before choice ",
           choice,
           ", because the model has none to begin a text with; give the "
           "question a text that the choices do not change");
    }
    if (tokens.size() == shared) {
      fail(RC_E_INVALID_ARGUMENT, place, ": choice ", choice,
           " comes to no token");
    }
    if (tokens.size() > static_cast<size_t>(context_)) {
      fail(RC_E_CONTEXT_FULL, place, ": the question has ", tokens.size(),
           " tokens with choice ", choice, ", but the model's context holds ",
           context_, "; load it with a larger context_length");
    }
  }

  double likelihood(std::span<const TokenId> tokens,
                    const LogProbabilities& begin) {
    double sum = begin.of(static_cast<size_t>(tokens[0]));
    const auto most = static_cast<size_t>(reader_.most_rows());
    for (size_t at = 0; at + 1 < tokens.size();) {
      const size_t rows = std::min(most, tokens.size() - 1 - at);
      const auto logits = reader_.more(tokens.subspan(at, rows));
      for (size_t i = 0; i < rows; ++i) {
        const LogProbabilities row(
            logits.subspan(i * reader_.vocabulary(), reader_.vocabulary()));
        sum += row.of(static_cast<size_t>(tokens[at + i + 1]));
      }
      at += rows;
    }
    return sum;
  }

  const text::Tokenizer& tokenizer_;
  const std::string name_;
  const int64_t context_;
  RowReader reader_;
};

size_t best_of(const std::vector<double>& scores) {
  return static_cast<size_t>(std::max_element(scores.begin(), scores.end()) -
                             scores.begin());
}

}  // namespace

ChoiceScore score_choices(const EvaluatedModel& model,
                          const std::vector<Question>& questions,
                          std::string_view name,
                          const std::function<bool(double)>& progress) {
  ChoiceScorer scorer(model, name);
  Mean accuracy, by_length;
  for (size_t i = 0; i < questions.size(); ++i) {
    if (progress && !progress(static_cast<double>(i) /
                              static_cast<double>(questions.size()))) {
      fail(RC_E_CANCELLED, "the evaluation was cancelled");
    }
    const Question& question = questions[i];
    std::vector<double> scores = scorer.likelihoods(question);
    accuracy.add(best_of(scores) == question.answer ? 1.0 : 0.0);
    for (size_t c = 0; c < scores.size(); ++c) {
      const size_t bytes = question.choices[c].size();
      scores[c] /= static_cast<double>(std::max<size_t>(bytes, 1));
    }
    by_length.add(best_of(scores) == question.answer ? 1.0 : 0.0);
  }
  return {static_cast<int64_t>(questions.size()), measured(accuracy),
          measured(by_length)};
}

}  // namespace rc::engine
