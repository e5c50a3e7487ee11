// The set of allowed texts, compiled from a schema, a regular expression, a
// list of choices or rules.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "text/grammar/json_model.h"
#include "text/grammar/matcher.h"
#include "text/grammar/text_machine.h"
#include "text/grammar/vocabulary_index.h"

namespace rc::text::grammar {

// Compiled once, for one vocabulary; used by any number of requests and
// threads. Compiling throws RC_E_INVALID_ARGUMENT for a grammar that is
// malformed or that no text satisfies and RC_E_UNSUPPORTED for one that can't
// be kept exactly or takes more than the limits allow, with the place.
class Grammar {
 public:
  virtual ~Grammar() = default;

  using Vocabulary = std::shared_ptr<const VocabularyIndex>;
  static std::shared_ptr<const Grammar> json_schema(std::string_view schema,
                                                    const JsonOptions& options,
                                                    Vocabulary vocabulary);

  // All of the text matches; see parse_regex.
  static std::shared_ptr<const Grammar> regex(std::string_view pattern,
                                              const TextOptions& options,
                                              Vocabulary vocabulary);
  // The text is one of these, which are UTF-8.
  static std::shared_ptr<const Grammar> choices(
      std::span<const std::string> choices, const TextOptions& options,
      Vocabulary vocabulary);
  // See parse_gbnf.
  static std::shared_ptr<const Grammar> gbnf(std::string_view text,
                                             const TextOptions& options,
                                             Vocabulary vocabulary);
  // See parse_lark.
  static std::shared_ptr<const Grammar> lark(std::string_view text,
                                             const TextOptions& options,
                                             Vocabulary vocabulary);

  virtual const Vocabulary& vocabulary() const = 0;
  virtual std::unique_ptr<Matcher> match() const = 0;
};

}  // namespace rc::text::grammar
