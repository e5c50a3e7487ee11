// The path of attributes that a filter reads from the elements that it is
// given.
#pragma once

#include <vector>

#include "text/chat/value.h"

namespace rc::text::chat {

class Interpreter;

// An argument `attribute`: a path such as "a.b.0", or an index; nothing at all
// for none.
class AttributePath {
 public:
  AttributePath() = default;
  AttributePath(Budget* budget, const Value& attribute);
  // Returns the value at the path; `otherwise`, if not null, where it is
  // undefined.
  Value of(Interpreter* interpreter, Value value,
           const Value* otherwise = nullptr) const;

 private:
  std::vector<Value> parts_;
};

// Returns the form in which values are compared: in lower case unless
// `case_sensitive`.
Value comparable(Budget* budget, const Value& value, bool case_sensitive);

}  // namespace rc::text::chat
