#include "text/chat/attribute_path.h"

#include <algorithm>

#include "text/chat/containers.h"
#include "text/chat/interpreter.h"
#include "text/chat/numbers.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {

AttributePath::AttributePath(Budget* budget, const Value& attribute) {
  if (attribute.is(Kind::kNone)) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  const Text& path = attribute.text();
  const std::string& bytes = path.bytes();
  for (size_t begin = 0;;) {
    const size_t end = std::min(bytes.find('.', begin), bytes.size());
    const std::string_view part =
        std::string_view(bytes).substr(begin, end - begin);
    const bool is_number =
        !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
          return c >= '0' && c <= '9';
        });
    parts_.push_back(is_number ? Value::integer(parse_int(part, 10).value_or(0))
                               : make_string(budget, path.slice(begin, end)));
    if (end == bytes.size()) return;
    begin = end + 1;
  }
}

Value AttributePath::of(Interpreter* interpreter, Value value,
                        const Value* otherwise) const {
  for (const Value& part : parts_) {
    value = interpreter->item(value, part);
    if (otherwise != nullptr && value.is_undefined()) value = *otherwise;
  }
  return value;
}

Value comparable(Budget* budget, const Value& value, bool case_sensitive) {
  if (case_sensitive || !value.is_string()) return value;
  budget->step_bytes(value.text().size());
  return make_string(budget, to_case(Case::kLower, value.text()));
}

}  // namespace rc::text::chat
