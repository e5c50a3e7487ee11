// From the keywords of JSON Schema to formulas of a SchemaPool.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/grammar/schema_index.h"
#include "text/grammar/schema_pool.h"

namespace rc::text::grammar {

struct SchemaReaderOptions {
  Draft draft = Draft::k2020;  // of documents that do not name theirs
  bool assert_formats = true;
  // Integers are only written without a fraction and an exponent, 9 and not
  // 9.0, as programs that read them by their type expect it.
  bool plain_integers = false;
};

// Understands drafts 4 to 2020-12, with the keywords of all of them; where they
// differ, the document's draft counts. Throws RC_E_INVALID_ARGUMENT for values
// that a keyword may not have and RC_E_UNSUPPORTED for assertions that can't be
// kept, with the JSON pointer. Unknown keywords and formats assert nothing, as
// the specification says.
class SchemaReader {
 public:
  SchemaReader(const JsonValue& document, const SchemaReaderOptions& options,
               SchemaPool* pool);

  // The schema of the whole document.
  SchemaId read();

 private:
  using Location = SchemaLocation;
  struct NameRule {  // of propertyNames, once the names' schema is known
    SchemaId declared;
    SchemaId names;
    PlaceId place;
  };

  // What keywords have looked at, of an object or of an array.
  struct Evaluated {
    bool all = false;
    std::vector<std::string> names{};
    std::vector<ExprId> patterns{};
    uint32_t prefix = 0;                // items
    std::vector<SchemaId> contained{};  // items that are like one of these

    bool nothing() const;
    void add(const Evaluated& other);
  };
  struct Way {  // see schema_evaluated.cc
    SchemaId condition = kTrueSchema;
    Evaluated evaluated{};
  };
  using Ways = std::vector<Way>;

  // The schema there, which is read later.
  SchemaId refer(const JsonValue& value);
  SchemaId member(const Location& at, std::string_view name);
  std::vector<SchemaId> list(const Location& at, std::string_view name);
  SchemaId lower(const Location& at);
  // Adds what keywords of other kinds than assertions about one type ask.
  void read_references(const Location& at, std::vector<SchemaId>* parts);
  void read_values(const Location& at, std::vector<SchemaId>* parts);
  void read_combinations(const Location& at, std::vector<SchemaId>* parts);
  void read_dependencies(const Location& at, std::vector<SchemaId>* parts);
  void read_unevaluated(const Location& at, std::vector<SchemaId>* parts);
  // The ways of a schema; `within`: as part of another one.
  Ways ways_of(const Location& at, bool items, bool within);
  Evaluated evaluated_by_itself(const Location& at, bool items, bool within);
  void choose(const Ways& options, Ways* ways);
  // What was not looked at is like the schema.
  SchemaId other_properties(const Evaluated& evaluated, SchemaId schema);
  SchemaId other_items(const Evaluated& evaluated, SchemaId schema);
  void read_names(const Location& at, std::vector<SchemaId>* parts);
  void refuse_unsupported(const Location& at) const;

  void restrict_types(const Location& at, Normal* normal);
  void restrict_strings(const Location& at, Normal* normal);
  void restrict_numbers(const Location& at, Normal* normal);
  void restrict_objects(const Location& at, Normal* normal);
  void restrict_arrays(const Location& at, Normal* normal);
  void define_names(const NameRule& rule);

  // A schema of exactly one value.
  Normal constant(const JsonValue& value);
  Normal scalar(const JsonValue& value);
  Normal constant_array(const std::vector<SchemaId>& items);
  Normal constant_object(const JsonValue& value,
                         const std::vector<SchemaId>& members);
  SchemaId object_rules(ObjectRules rules);
  SchemaId required(std::vector<std::string> names);
  SchemaId absent(const std::string& name);

  const JsonValue& document_;
  SchemaReaderOptions options_;
  SchemaPool& pool_;
  SchemaIndex index_;
  std::unordered_map<const JsonValue*, SchemaId> known_;
  std::deque<std::pair<const Location*, SchemaId>> queue_;
  std::deque<NameRule> name_rules_;
  size_t evaluating_ = 0;  // schemas, within one another
};

}  // namespace rc::text::grammar
