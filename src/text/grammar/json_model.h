// A compiled JSON schema, as matching asks for it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/grammar/lexer.h"
#include "text/grammar/schema_pool.h"
#include "text/grammar/schema_reader.h"

namespace rc::text::grammar {

struct JsonOptions {
  SchemaReaderOptions reader;
  SchemaLimits limits;
  size_t max_schema_depth = 200;       // of the values of the schema itself
  size_t max_expressions = 1'000'000;  // see ExprPool
  size_t max_lex_states = 100'000;     // see Lexer
  uint32_t max_depth = 128;            // of values within one another
  // Of white space between two tokens, before the value and after it, in
  // bytes; 0 for compact texts.
  uint32_t max_spaces = 64;
  // Instead, exactly one after each ',' and ':' and none elsewhere, as Python
  // writes JSON.
  bool one_space = false;
  // Numbers have at most 15 digits, as far as the schema allows such: so many a
  // double keeps (IEEE 754), and no program that reads one gets another than
  // was checked. And a model may write digits for ever.
  bool short_numbers = false;
  // Asked while the schema is compiled, every few hundred steps; true:
  // compiling throws RC_E_CANCELLED.
  std::function<bool()> should_stop = {};
};

// For several threads at a time. What matching needs is computed once, at the
// latest when it is asked for, which may throw as compiling does.
class JsonModel {
 public:
  // The beginning of values of a schema.
  struct Start {
    ExprId string = ExprPool::kNothing;
    ExprId bare = ExprPool::kNothing;  // numbers, true, false and null
    std::vector<RulesId> objects;
    std::vector<RulesId> arrays;
    LexState string_lex = kDeadLex;  // of the expression above, with tag 0
    LexState bare_lex = kDeadLex;
  };
  struct Object {
    const ObjectRules* rules = nullptr;
    ExprId names = ExprPool::kNothing;
    LexState names_lex = kDeadLex;
    // Of the names that rules or earlier questions mention.
    std::unordered_map<std::string, SchemaId> properties;
    std::vector<std::string> literals;  // names that rules mention
    bool only_literals = true;          // no rule is about a set of names
    bool uniform = true;                // rules don't distinguish other names
    bool closed = false;                // no other name is possible
    // If it is closed: names that are left, by bits of the literals that are
    // there already.
    std::unordered_map<uint64_t, ExprId> names_left;
  };

  // Reads and checks the schema. Throws as parse_json and SchemaReader do.
  JsonModel(std::string_view schema, const JsonOptions& options);

  const JsonOptions& options() const { return options_; }
  SchemaId root() const { return root_; }
  Lexer& lexer() { return lexer_; }

  const Start& start(SchemaId schema);
  const Object& object(RulesId rules);
  SchemaId property(RulesId object, const std::string& name);
  // The names that a property may have and that are not in `seen`.
  ExprId names_left(RulesId object, const std::vector<std::string>& seen);
  // Whether the rule `some[index]` of the object is about the name.
  bool concerns(RulesId object, size_t index, std::string_view name);
  // The first required name in the order of an object that is not in `seen`; if
  // there is none, as required_names.
  ExprId next_name(RulesId object, const std::vector<std::string>& seen);
  // The names that are required and not in `seen`.
  ExprId required_names(RulesId object, const std::vector<std::string>& seen);
  // The names of a property that is the last one, if the rules `some` whose
  // bits are not in `done` still need one.
  ExprId last_names(RulesId object, uint32_t done,
                    const std::vector<std::string>& seen);
  const ArrayRules& array(RulesId rules);
  SchemaId item(RulesId array, uint32_t index);
  SchemaId all_of(SchemaId a, SchemaId b);
  SchemaId without(SchemaId a, SchemaId b);
  bool possible(SchemaId schema);
  // The strings, and the numbers and constants, of a schema that differ from
  // some values; these are as item_values.h has them.
  struct Left {
    ExprId string;
    ExprId bare;
  };
  Left values_left(SchemaId schema, const std::vector<std::string>& seen);

 private:
  void compile();
  void prepare();
  ExprId numbers(const Normal& normal);
  // Throws RC_E_UNSUPPORTED if it soon takes too much to find out how a number
  // can go on.
  void try_numbers(ExprId numbers);

  JsonOptions options_;
  std::recursive_mutex mutex_;
  ExprPool exprs_;
  SchemaPool schemas_;
  Lexer lexer_;
  JsonValue document_;
  SchemaId root_ = kFalseSchema;
  // Of numbers(): what it returned, and all short numbers once they are needed.
  std::unordered_map<ExprId, ExprId> numbers_;
  ExprId short_numbers_ = ExprPool::kNothing;
  std::unordered_map<SchemaId, std::unique_ptr<Start>> starts_;
  std::unordered_map<RulesId, std::unique_ptr<Object>> objects_;
};

}  // namespace rc::text::grammar
