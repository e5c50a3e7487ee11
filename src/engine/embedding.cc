#include "engine/embedding.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "engine/row_collector.h"
#include "engine/session_tokens.h"

namespace rc::engine {
namespace {

constexpr const char* kPromptKey = "sentence_transformers.prompt.";
constexpr const char* kDefaultPromptKey =
    "sentence_transformers.default_prompt_name";
constexpr const char* kNormalizeKey = "sentence_transformers.normalize";

// The instruction of Qwen3-Reranker, which was trained to answer with yes or
// no, for files that do not contain it: from the models' cards, and Zhang et
// al. 2025, arXiv:2506.05176.
constexpr std::string_view kQwen3Prompt =
    "<|im_start|>system\nJudge whether the Document meets the requirements "
    "based on the Query and the Instruct provided. Note that the answer can "
    "only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n<Instruct>: "
    "Given a web search query, retrieve relevant passages that answer the "
    "query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n";

// The question by which a model that generates text gives a score, derived from
// its file, its architecture and its tokens.
std::optional<std::string> rerank_prompt(const model::ModelFile& file) {
  if (const auto given =
          file.file().find_string("tokenizer.chat_template.rerank")) {
    return std::string(*given);
  }
  if (file.hyper_parameters().architecture != "qwen3") return {};
  for (const char* token :
       {"<|im_start|>", "<|im_end|>", "<think>", "</think>"}) {
    const auto tokens =
        tokenize(tokenizer_of(file), token, RC_TOKENIZE_PARSE_SPECIAL);
    if (tokens.size() != 1 ||
        tokenizer_of(file).token_text(tokens.front()) != token) {
      return {};
    }
  }
  return std::string(kQwen3Prompt);
}

// By GGUF's numbers of pooling_type.
Pooling pooling_of(const model::ModelFile& file) {
  switch (file.hyper_parameters().pooling) {
    case 1:
      return Pooling::kMean;
    case 2:
      return Pooling::kFirst;
    case 3:
      return Pooling::kLast;
    default:
      return file.causal() ? Pooling::kLast : Pooling::kMean;
  }
}

std::string prompt_of(const gguf::File& file,
                      const std::optional<std::string>& wanted) {
  std::string name;
  if (wanted) {
    name = *wanted;
  } else if (const auto chosen = file.find_string(kDefaultPromptKey)) {
    name = *chosen;
  } else {
    return "";
  }
  if (const auto prompt = file.find_string(kPromptKey + name)) {
    return std::string(*prompt);
  }
  // Every model takes queries and documents; to some they are the same.
  if (name == "query" || name == "document") return "";
  std::string known;
  for (const gguf::Entry& entry : file.entries()) {
    if (!entry.key.starts_with(kPromptKey)) continue;
    known += known.empty() ? "" : ", ";
    known += quote(entry.key.substr(std::string_view(kPromptKey).size()));
  }
  fail(RC_E_NOT_FOUND, file.name(), ": it has no prompt ", quote(name), "; ",
       known.empty() ? "it has none at all" : "it has " + known);
}

void normalize(std::span<float> row) {
  double sum = 0.0;
  for (const float x : row) sum += static_cast<double>(x) * x;
  if (sum == 0.0) return;
  const double factor = 1.0 / std::sqrt(sum);
  for (float& x : row) x = static_cast<float>(x * factor);
}

[[noreturn]] void refuse_length(const char* what, size_t number, size_t tokens,
                                int64_t longest) {
  fail(RC_E_CONTEXT_FULL, what, " ", number, " has ", tokens,
       " tokens, but the model takes at most ", longest,
       "; shorten it, set truncate, or load the model with a larger "
       "context_length if it was trained for more");
}

// The tokens that add_special puts around a text.
struct Around {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};

Around around(const text::Tokenizer& tokenizer) {
  constexpr TokenId kText = -1;
  std::vector<TokenId> tokens = {kText};
  tokenizer.add_special(&tokens);
  const auto text = std::find(tokens.begin(), tokens.end(), kText);
  return {{tokens.begin(), text}, {text + 1, tokens.end()}};
}

void check_count(size_t count, const char* what) {
  if (count == 0) {
    fail(RC_E_INVALID_ARGUMENT, "count: 0; there must be one ", what,
         " at least");
  }
}

// Tokens of an encoder's pair: query and document, each with the token behind
// it that a text ends with.
class Pairs {
 public:
  Pairs(const text::Tokenizer& tokenizer, const std::string& query,
        int64_t longest)
      : tokenizer_(tokenizer), longest_(longest) {
    const Around special = around(tokenizer);
    first_ = special.before;
    const auto tokens = tokenize(tokenizer, query, 0);
    first_.insert(first_.end(), tokens.begin(), tokens.end());
    first_.insert(first_.end(), special.after.begin(), special.after.end());
    // RoBERTa, and what is made of it, has the separator of a pair twice.
    // Conneau et al. 2020, arXiv:1911.02116.
    if (!special.before.empty() &&
        tokenizer.token_text(special.before.front()) == "<s>") {
      first_.insert(first_.end(), special.after.begin(), special.after.end());
    }
    after_ = special.after;
  }

  PoolOptions pair(const std::string& document, size_t number,
                   bool truncate) const {
    auto tokens = tokenize(tokenizer_, document, 0);
    const size_t whole = first_.size() + tokens.size() + after_.size();
    const auto most = static_cast<size_t>(longest_);
    if (whole > most) {
      if (!truncate || first_.size() + after_.size() > most) {
        refuse_length("the query with document", number, whole, longest_);
      }
      tokens.resize(most - first_.size() - after_.size());
    }
    PoolOptions result;
    result.tokens = first_;
    result.second_text = static_cast<int64_t>(first_.size());
    result.tokens.insert(result.tokens.end(), tokens.begin(), tokens.end());
    result.tokens.insert(result.tokens.end(), after_.begin(), after_.end());
    result.pooling = Pooling::kFirst;
    return result;
  }

 private:
  const text::Tokenizer& tokenizer_;
  const int64_t longest_;
  std::vector<TokenId> first_;  // up to where the document begins
  std::vector<TokenId> after_;
};

// The question for a model that generates text. Names of control tokens count
// in the prompt, but not in the texts that fill it.
class FilledPrompt {
 public:
  FilledPrompt(const text::Tokenizer& tokenizer, std::string_view prompt,
               const std::string& query, int64_t longest)
      : tokenizer_(tokenizer), longest_(longest) {
    while (!prompt.empty()) {
      const size_t at = std::min(prompt.find(kQuery), prompt.find(kDocument));
      parts_.push_back({std::string(prompt.substr(0, at)), Part::kPrompt});
      if (at == prompt.npos) break;
      const bool is_query = prompt.substr(at).starts_with(kQuery);
      parts_.push_back({is_query ? query : std::string(),
                        is_query ? Part::kQuery : Part::kDocument});
      prompt.remove_prefix(at + (is_query ? kQuery : kDocument).size());
    }
  }

  PoolOptions about(const std::string& document, size_t number,
                    bool truncate) const {
    std::vector<TokenId> tokens = tokens_with(document);
    const auto most = static_cast<size_t>(longest_);
    size_t bytes = document.size();
    while (tokens.size() > most) {
      if (!truncate || bytes == 0) {
        refuse_length("the prompt with document", number, tokens.size(),
                      longest_);
      }
      // A part of the bytes, as large as that of the tokens may be, and less
      // each time: words end elsewhere when they are cut.
      bytes = std::min(bytes - 1, bytes * most / tokens.size());
      while (bytes > 0 &&
             (static_cast<unsigned char>(document[bytes]) & 0xc0) == 0x80) {
        --bytes;
      }
      tokens = tokens_with(document.substr(0, bytes));
    }
    PoolOptions result;
    result.tokens = std::move(tokens);
    result.pooling = Pooling::kLast;
    return result;
  }

 private:
  static constexpr std::string_view kQuery = "{query}";
  static constexpr std::string_view kDocument = "{document}";
  struct Part {
    enum Kind { kPrompt, kQuery, kDocument };
    std::string text;
    Kind kind;
  };

  std::vector<TokenId> tokens_with(const std::string& document) const {
    std::string text;
    std::vector<text::Span> content;
    for (const Part& part : parts_) {
      const size_t begin = text.size();
      text += part.kind == Part::kDocument ? document : part.text;
      if (part.kind != Part::kPrompt) content.push_back({begin, text.size()});
    }
    text::TokenizeOptions options;
    options.add_special = false;
    options.parse_special = true;
    options.content = content;
    return tokenizer_.tokenize(text, options);
  }

  const text::Tokenizer& tokenizer_;
  const int64_t longest_;
  std::vector<Part> parts_;
};

double probability(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

}  // namespace

EmbedOptions resolve(EmbedOptions options, const model::ModelFile& file) {
  if (file.output() != model::ForwardOutput::kHiddenRows) {
    fail(RC_E_UNSUPPORTED, file.file().name(), ": the model was loaded for ",
         file.output() == model::ForwardOutput::kScores
             ? "scores of pairs of texts"
             : "text",
         ", not for embeddings; load it with output = RC_OUTPUT_HIDDEN_ROWS");
  }
  static_cast<void>(tokenizer_of(file));
  const int64_t width = file.output_size();
  if (options.dimensions < 0 || options.dimensions > width) {
    fail(RC_E_INVALID_ARGUMENT, "dimensions is ", options.dimensions,
         "; it must be 1 to ", width, ", or 0 for all");
  }
  if (options.dimensions == 0) options.dimensions = width;
  if (!options.pooling) options.pooling = pooling_of(file);
  if (!options.normalize) {
    options.normalize = file.file().find_bool(kNormalizeKey).value_or(true);
  }
  if (!options.prompt) {
    options.prompt = prompt_of(file.file(), options.prompt_name);
  }
  return options;
}

RerankOptions resolve(RerankOptions options, const model::ModelFile& file) {
  if (file.output() != model::ForwardOutput::kScores) {
    fail(RC_E_UNSUPPORTED, file.file().name(), ": the model was loaded for ",
         file.output() == model::ForwardOutput::kHiddenRows ? "embeddings"
                                                            : "text",
         ", not for scores; load it with output = RC_OUTPUT_SCORES");
  }
  static_cast<void>(tokenizer_of(file));
  const int64_t classes = file.output_size();
  if (classes != 1 && !(classes == 2 && file.causal())) {
    fail(RC_E_UNSUPPORTED, file.file().name(), ": its classifier has ", classes,
         " classes; a score is of one, or of yes and no");
  }
  if (!file.causal()) {
    if (options.prompt) {
      fail(RC_E_INVALID_ARGUMENT,
           "prompt: the model reads a pair of texts as they are; only models "
           "that generate text are asked");
    }
    return options;
  }
  if (!options.prompt) {
    const auto known = rerank_prompt(file);
    if (!known) {
      fail(RC_E_UNSUPPORTED, file.file().name(),
           ": it does not say how it is asked (there is no "
           "tokenizer.chat_template.rerank); give a prompt with {query} and "
           "{document}, as the model's card has it");
    }
    options.prompt = *known;
  }
  for (const char* name : {"{query}", "{document}"}) {
    if (options.prompt->find(name) == std::string::npos) {
      fail(RC_E_INVALID_ARGUMENT, "prompt: it has no ", name,
           ", so that the score could not depend on it");
    }
  }
  return options;
}

TextRows embed(Engine& engine, const std::shared_ptr<Account>& account,
               const std::vector<std::string>& texts,
               const EmbedOptions& options) {
  check_count(texts.size(), "text");
  const text::Tokenizer& tokenizer = tokenizer_of(engine.file());
  const int64_t longest = engine.longest_text();
  const Around special = around(tokenizer);
  const size_t fixed = special.before.size() + special.after.size();
  TextRows result;
  result.count = texts.size();
  result.columns = static_cast<size_t>(options.dimensions);
  RowCollector rows(engine, account, result.count, result.columns, options.rows,
                    "text");
  for (size_t i = 0; i < texts.size(); ++i) {
    PoolOptions text;
    text.pooling = *options.pooling;
    text.tokens = tokenize(tokenizer, *options.prompt + texts[i], 0,
                           options.rows.should_stop);
    const size_t whole = text.tokens.size() + fixed;
    if (whole > static_cast<size_t>(longest)) {
      if (!options.rows.truncate || fixed >= static_cast<size_t>(longest)) {
        refuse_length("text", i, whole, longest);
      }
      text.tokens.resize(static_cast<size_t>(longest) - fixed);
    }
    tokenizer.add_special(&text.tokens);
    if (text.tokens.empty()) {
      fail(RC_E_INVALID_ARGUMENT, "text ", i,
           " comes to no token, so there is nothing to make an embedding of");
    }
    rows.add(std::move(text));
  }
  result.values = rows.take();
  if (*options.normalize) {
    for (size_t i = 0; i < result.count; ++i) {
      normalize(
          std::span(result.values).subspan(i * result.columns, result.columns));
    }
  }
  return result;
}

TextRows rerank(Engine& engine, const std::shared_ptr<Account>& account,
                const std::string& query,
                const std::vector<std::string>& documents,
                const RerankOptions& options) {
  check_count(documents.size(), "document");
  const text::Tokenizer& tokenizer = tokenizer_of(engine.file());
  const auto classes = static_cast<size_t>(engine.file().output_size());
  const int64_t longest = engine.longest_text();
  RowCollector rows(engine, account, documents.size(), classes, options.rows,
                    "document");
  const auto add_all = [&](const auto& make) {
    for (size_t i = 0; i < documents.size(); ++i) {
      rows.add(make(documents[i], i));
    }
  };
  if (options.prompt) {
    const FilledPrompt question(tokenizer, *options.prompt, query, longest);
    add_all([&](const std::string& document, size_t i) {
      return question.about(document, i, options.rows.truncate);
    });
  } else {
    const Pairs pairs(tokenizer, query, longest);
    add_all([&](const std::string& document, size_t i) {
      return pairs.pair(document, i, options.rows.truncate);
    });
  }
  const std::vector<float> given = rows.take();
  TextRows result;
  result.count = documents.size();
  result.columns = 1;
  for (size_t i = 0; i < result.count; ++i) {
    const float* row = given.data() + i * classes;
    const double logit = classes == 1 ? row[0]
                                      : static_cast<double>(row[0]) -
                                            static_cast<double>(row[1]);
    result.values.push_back(
        static_cast<float>(options.raw_scores ? logit : probability(logit)));
  }
  return result;
}

}  // namespace rc::engine
