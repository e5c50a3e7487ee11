// Compiling a grammar within a limit of work, once for what fails.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "text/grammar/grammar.h"
#include "text/grammar/known_failures.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

// The hash of all that a grammar is compiled from.
inline TextHash source_hash(std::string_view kind, std::string_view source,
                            std::initializer_list<uint64_t> options,
                            const VocabularyIndex& vocabulary) {
  TextHash hash = TextHash().after_whole(kind).after_whole(vocabulary.name());
  for (const uint64_t option : options) hash = hash.after(option);
  return hash.after(vocabulary.size()).after_whole(source);
}

// The same of a schema.
inline TextHash json_source_hash(std::string_view kind, std::string_view schema,
                                 const JsonOptions& options,
                                 const VocabularyIndex& vocabulary) {
  return source_hash(
      kind, schema,
      {static_cast<uint64_t>(options.reader.draft),
       options.reader.assert_formats ? 1U : 0U,
       options.reader.plain_integers ? 1U : 0U, options.reader.closed ? 1U : 0U,
       options.reader.ordered ? 1U : 0U, options.limits.max_schemas,
       options.limits.max_alternatives, options.limits.max_steps,
       options.limits.max_nesting, options.max_schema_depth,
       options.max_expressions, options.max_lex_states, options.max_depth,
       options.max_spaces, options.one_space ? 1U : 0U,
       options.short_numbers ? 1U : 0U},
      vocabulary);
}

// Returns make(failures), the grammar of a source with this hash. Throws what
// that throws, RC_E_UNSUPPORTED if it takes more than Work::kMostToCompile
// steps, and at once the error with which a grammar of the same source failed
// before its text had begun.
template <class Make>
std::shared_ptr<const Grammar> compile(const TextHash& source, Make make) {
  // Failures that cost less are not worth a place in memory.
  constexpr uint64_t kLeastSteps = 1000;
  const std::shared_ptr<KnownFailures> failures = KnownFailures::of(source);
  Work work(Work::kMostToCompile, "compiling it");
  Work::Call call(&work);
  try {
    return make(failures);
  } catch (const Error& error) {
    if (error.status() == RC_E_UNSUPPORTED && work.in_slice() > kLeastSteps) {
      failures->add(TextHash(), KnownFailures::Call::kCompile, error);
    }
    throw;
  }
}

}  // namespace rc::text::grammar
