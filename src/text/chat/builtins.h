// Functions, filters, tests and methods that templates are given, and how they
// take their arguments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/containers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

class Interpreter;
struct Builtin;

// As they are given.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// A call of a builtin: what it works on, and its arguments by number.
class Call {
 public:
  // Fails if the arguments don't fit the parameters.
  Call(Interpreter* interpreter, const Builtin& builtin, const Value& self,
       Arguments arguments);

  Interpreter& interpreter() const { return *interpreter_; }
  Budget* budget() const;
  // The value to which a filter, test or method is applied.
  const Value& self() const { return self_; }

  bool has(size_t i) const { return bound_[i] != nullptr; }
  const Value& operator[](size_t i) const { return *bound_[i]; }
  // A whole number; `otherwise` if it isn't given, an error if it is none.
  int64_t integer(size_t i, int64_t otherwise) const;
  // A string, an error if it is none.
  const Value& string(size_t i) const;
  bool truth(size_t i, bool otherwise) const;
  // Not given, or None.
  bool is_none(size_t i) const { return !has(i) || (*this)[i].is(Kind::kNone); }
  // All arguments, for builtins whose parameters are "*".
  Arguments& arguments() { return arguments_; }
  // An error about argument i.
  [[noreturn]] void refuse(size_t i, std::string_view expected) const;

 private:
  void check_names(bool by_position) const;

  Interpreter* interpreter_;
  const Builtin& builtin_;
  const Value& self_;
  Arguments arguments_;
  std::vector<const Value*> bound_;
};

struct Builtin {
  std::string_view name;
  // Names of the parameters, separated by spaces; those with a question mark
  // may be left out. After a leading slash they go by position only. "*" takes
  // whatever there is.
  std::string_view parameters;
  Value (*run)(Call& call);
};

// nullptr if there is none of that name.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
const Builtin* find_function(std::string_view name);
const Builtin* find_string_method(std::string_view name);
const Builtin* find_dict_method(std::string_view name);
const Builtin* find_sequence_method(std::string_view name);
const Builtin* find_number_method(std::string_view name);
const Builtin* find_loop_method(Kind kind, std::string_view name);

// In tables that are sorted by name.
template <size_t count>
const Builtin* find_builtin(const Builtin (&table)[count],
                            std::string_view name) {
  size_t begin = 0;
  size_t end = count;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (table[middle].name < name) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < count && table[begin].name == name ? &table[begin] : nullptr;
}

}  // namespace rc::text::chat
