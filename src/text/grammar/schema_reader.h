// From the keywords of JSON Schema to formulas of a SchemaPool.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
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
  // An object whose properties are named has no others, unless it is said what
  // these are: a model may go on for ever with members that are allowed. All
  // texts are valid, but some valid ones are left out.
  bool closed = false;
  // Where it is closed: objects begin with the required properties, as they are
  // declared.
  bool ordered = true;
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

  // The properties or items that keywords have evaluated.
  struct Evaluated {
    bool all = false;
    std::vector<std::string> names{};
    std::vector<ExprId> patterns{};
    uint32_t prefix = 0;                // items
    std::vector<SchemaId> contained{};  // items that are like one of these
    // Of closing(): how many properties an object has at least.
    uint32_t least = 0;

    bool nothing() const;
    void add(const Evaluated& other);
  };
  struct Way {  // see schema_evaluated.cc
    SchemaId condition = kTrueSchema;
    Evaluated evaluated{};
  };
  using Ways = std::vector<Way>;

  // The way to read a schema: as written; closed, as a part of a value; or as
  // the whole condition on a closed value.
  enum class Form : uint8_t { kWritten, kClosed, kValue };
  struct Pending {
    const Location* at;
    Form form;
    ScopeId scope;
    SchemaId declared;
  };
  // The way in which ways_of looks at a schema.
  enum class Within : uint8_t {
    kNone,         // that one whose keyword asks
    kSchema,       // one that holds because another does
    kAlternative,  // one of which another may hold instead
  };

  // The schema there, which is read later: in the form of the one at hand, or
  // as it is written, or of a value within that at hand.
  SchemaId refer(const JsonValue& value) { return refer(value, form_); }
  SchemaId refer(const JsonValue& value, Form form);
  SchemaId refer_written(const JsonValue& value) {
    return refer(value, Form::kWritten);
  }
  SchemaId refer_value(const JsonValue& value);
  SchemaId member(const Location& at, std::string_view name);
  SchemaId written_member(const Location& at, std::string_view name);
  SchemaId value_member(const Location& at, std::string_view name);
  std::vector<SchemaId> list(const Location& at, std::string_view name,
                             Form form);
  // `closed`: closing() says what its anyOf asks, and the closed ones of its
  // oneOf.
  SchemaId lower(const Location& at, bool closed = false);
  // Adds what keywords of other kinds than assertions about one type ask.
  void read_references(const Location& at, std::vector<SchemaId>* parts);
  void read_values(const Location& at, std::vector<SchemaId>* parts);
  void read_combinations(const Location& at, bool closed,
                         std::vector<SchemaId>* parts);
  void read_dependencies(const Location& at, std::vector<SchemaId>* parts);
  void read_unevaluated(const Location& at, std::vector<SchemaId>* parts);
  SchemaId closed_value(const Location& at);
  // That it has no properties but those that are named, if any are.
  SchemaId closing(const Location& at);
  static bool names_enough(const Evaluated& evaluated);
  Ways ways_of(const Location& at, bool items, Within within);
  Evaluated evaluated_by_itself(const Location& at, bool items, Within within);
  void close(const Location& at, Within within, Evaluated* evaluated) const;
  void choose(const Ways& options, Ways* ways);
  // The others are like the schema.
  void restrict_others(const Evaluated& evaluated, SchemaId schema,
                       ObjectRules* rules);
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
  std::map<std::tuple<const JsonValue*, Form, ScopeId>, SchemaId> known_;
  std::deque<Pending> queue_;
  Form form_ = Form::kWritten;  // of the schema at hand
  ScopeId scope_ = kNoScope;    // the same
  std::deque<NameRule> name_rules_;
  size_t evaluating_ = 0;  // schemas, within one another
  bool closing_ = false;   // whether ways_of works for closing()
};

}  // namespace rc::text::grammar
