#include "engine/evaluation/text_score.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "engine/evaluation/probabilities.h"
#include "engine/evaluation/row_reader.h"
#include "engine/evaluation/row_team.h"

namespace rc::engine {
namespace {

// The mean of what an exponential was taken of, as a mean of that; the error is
// that of the first order.
Measured exponential(const Mean& mean) {
  const double value = std::exp(mean.value());
  return {value, value * mean.error()};
}

// The prediction of a row of logits for the next token, and that of the other
// model's row.
struct RowScore {
  double ours = 0.0;    // logarithms of its probability
  double theirs = 0.0;  // and what follows, of a comparison
  double divergence = 0.0;
  bool same_best = false;
};

class ComparisonSums {
 public:
  void add(const RowScore& row) {
    surprise_.add(-row.theirs);
    ratio_.add(row.theirs - row.ours);
    divergence_.add(row.divergence);
    all_.push_back(row.divergence);
    agreement_.add(row.same_best ? 1.0 : 0.0);
    const double difference = std::exp(row.ours) - std::exp(row.theirs);
    squares_.add(difference * difference);
  }

  Comparison result() {
    Comparison result;
    result.perplexity = exponential(surprise_);
    result.ratio = exponential(ratio_);
    result.divergence = measured(divergence_);
    std::sort(all_.begin(), all_.end());
    // The smallest that at least 99% do not exceed.
    const size_t place = (all_.size() * 99 + 99) / 100;
    result.divergence_99 = all_[place - 1];
    result.divergence_most = all_.back();
    result.agreement = measured(agreement_);
    const double root = std::sqrt(squares_.value());
    result.difference = {root,
                         root > 0.0 ? squares_.error() / (2.0 * root) : 0.0};
    return result;
  }

 private:
  Mean surprise_, ratio_, divergence_, agreement_, squares_;
  std::vector<double> all_;  // divergences
};

// The longest window that a model and its sessions take.
int64_t longest_window(const EvaluatedModel& model,
                       const EvaluatedModel& against) {
  const int64_t ours = model.engine->options().context_length;
  return against.engine == nullptr
             ? ours
             : std::min(ours, against.engine->options().context_length);
}

// Those that the device was opened with count for what is done with its
// results, too.
int threads_of(const runtime::Device& device) {
  const int chosen = device.options().threads;
  return chosen != 0 ? chosen
                     : static_cast<int>(std::thread::hardware_concurrency());
}

class TextScorer {
 public:
  TextScorer(const EvaluatedModel& model, const EvaluatedModel& against,
             const TextWindows& windows)
      : tokenizer_(tokenizer_for_texts(model.engine->file())),
        windows_(windows),
        threads_(threads_of(*model.engine->device())),
        reader_(model.engine, model.account, windows.context()) {
    if (against.engine != nullptr) {
      other_.emplace(against.engine, against.account, windows.context());
    }
  }

  // Reports how much of the window is done.
  void score(const std::vector<TokenId>& window,
             const std::function<void(double)>& done) {
    const auto first = static_cast<size_t>(windows_.first_scored());
    const std::span<const TokenId> tokens(window);
    // The logits of a row say what comes behind it.
    reader_.begin(tokens.first(first - 1));
    if (other_) {
      done(0.5 * static_cast<double>(first - 1) /
           static_cast<double>(tokens.size()));
      other_->begin(tokens.first(first - 1));
    }
    for (size_t row = first - 1; row + 1 < tokens.size();) {
      const size_t rows = std::min(static_cast<size_t>(reader_.most_rows()),
                                   tokens.size() - 1 - row);
      const auto chunk = tokens.subspan(row, rows);
      const auto logits = reader_.more(chunk);
      const auto others =
          other_ ? other_->more(chunk) : std::span<const float>();
      add(logits, others, tokens.subspan(row + 1, rows));
      row += rows;
      done(static_cast<double>(row + 1) / static_cast<double>(tokens.size()));
    }
  }

  TextScore result() {
    TextScore result;
    result.windows = windows_.count();
    result.context = windows_.context();
    result.tokens = surprise_.count();
    result.bytes = bytes_;
    result.perplexity = exponential(surprise_);
    if (bytes_ > 0) {
      const double per_token = static_cast<double>(surprise_.count()) /
                               (std::log(2.0) * static_cast<double>(bytes_));
      result.bits_per_byte = {surprise_.value() * per_token,
                              surprise_.error() * per_token};
    }
    if (reader_.seconds() > 0.0) {
      result.tokens_per_second =
          static_cast<double>(reader_.rows()) / reader_.seconds();
    }
    if (other_) result.comparison = sums_.result();
    return result;
  }

 private:
  std::span<const float> row_of(std::span<const float> logits,
                                size_t row) const {
    return logits.subspan(row * reader_.vocabulary(), reader_.vocabulary());
  }

  // Rows of logits, those of the other model if there is one, and the tokens
  // behind each. In the order of rows, whichever thread computes them.
  void add(std::span<const float> logits, std::span<const float> others,
           std::span<const TokenId> next) {
    std::vector<RowScore> scores(next.size());
    for_each_row(next.size(), reader_.vocabulary(), threads_, [&](size_t i) {
      const LogProbabilities model(row_of(logits, i));
      const auto token = static_cast<size_t>(next[i]);
      scores[i].ours = model.of(token);
      if (!other_) return;
      const LogProbabilities other(row_of(others, i));
      scores[i].theirs = other.of(token);
      scores[i].divergence = divergence(other, model);
      scores[i].same_best = model.best() == other.best();
    });
    for (size_t i = 0; i < next.size(); ++i) {
      surprise_.add(-scores[i].ours);
      bytes_ += tokenizer_.token_bytes(next[i]).size();
      if (other_) sums_.add(scores[i]);
    }
  }

  const text::Tokenizer& tokenizer_;
  const TextWindows& windows_;
  const int threads_;
  RowReader reader_;
  std::optional<RowReader> other_;
  Mean surprise_;  // -log of the probability of the token that comes
  uint64_t bytes_ = 0;
  ComparisonSums sums_;
};

}  // namespace

void check_same_vocabulary(const model::ModelFile& a,
                           const model::ModelFile& b) {
  const int64_t ours = a.hyper_parameters().vocabulary;
  const int64_t theirs = b.hyper_parameters().vocabulary;
  const std::string models =
      cat(a.file().name(), " and ", b.file().name(),
          " have different vocabularies, so they cannot be compared: ");
  if (ours != theirs) {
    fail(RC_E_INVALID_ARGUMENT, models, ours, " tokens and ", theirs);
  }
  const text::Tokenizer& x = tokenizer_for_texts(a);
  const text::Tokenizer& y = tokenizer_for_texts(b);
  if (x.size() != y.size()) {
    fail(RC_E_INVALID_ARGUMENT, models, x.size(), " tokens with texts and ",
         y.size());
  }
  for (TokenId id = 0; id < x.size(); ++id) {
    if (x.token_text(id) == y.token_text(id)) continue;
    fail(RC_E_INVALID_ARGUMENT, models, "token ", id, " is ",
         quote(x.token_text(id)), " and ", quote(y.token_text(id)));
  }
}

TextScore score_text(const EvaluatedModel& model, const EvaluatedModel& against,
                     std::string_view text, const WindowOptions& options,
                     const std::function<bool(double)>& progress) {
  const auto report = [&](double fraction) {
    if (progress && !progress(fraction)) {
      fail(RC_E_CANCELLED, "the evaluation was cancelled");
    }
  };
  report(0.0);
  if (against.engine != nullptr) {
    check_same_vocabulary(model.engine->file(), against.engine->file());
  }
  const TextWindows windows(model.engine->file(), text, options,
                            longest_window(model, against),
                            [&] { return progress && !progress(0.0); });
  TextScorer scorer(model, against, windows);
  const auto count = static_cast<double>(windows.count());
  for (int64_t i = 0; i < windows.count(); ++i) {
    scorer.score(windows.window(i), [&](double done) {
      report((static_cast<double>(i) + done) / count);
    });
  }
  return scorer.result();
}

}  // namespace rc::engine
