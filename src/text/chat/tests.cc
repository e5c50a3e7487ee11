// Tests: what may follow `is`.
#include "text/chat/builtins.h"
#include "text/chat/interpreter.h"
#include "text/chat/numbers.h"
#include "text/chat/operators.h"
#include "text/chat/print.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

Value yes_if(bool holds) { return Value::boolean(holds); }

Value test_boolean(Call& call) { return yes_if(call.self().is(Kind::kBool)); }

Value test_callable(Call& call) {
  switch (call.self().kind()) {
    // Jinja's undefined values have a call that fails.
    case Kind::kUndefined:
    case Kind::kFunction:
    case Kind::kLoop:
    case Kind::kJoiner:
      return yes_if(true);
    default:
      return yes_if(false);
  }
}

Value test_defined(Call& call) { return yes_if(!call.self().is_undefined()); }
Value test_undefined(Call& call) { return yes_if(call.self().is_undefined()); }

// self modulo a number is that.
bool remainder_is(Call& call, const Value& divisor, int64_t wanted) {
  const Value rest =
      operate(call.budget(), Arithmetic::kMod, call.self(), divisor);
  return equal(call.budget(), rest, Value::integer(wanted));
}

Value test_divisibleby(Call& call) {
  return yes_if(remainder_is(call, call[0], 0));
}
Value test_even(Call& call) {
  return yes_if(remainder_is(call, Value::integer(2), 0));
}
Value test_odd(Call& call) {
  return yes_if(remainder_is(call, Value::integer(2), 1));
}

Value test_escaped(Call& call) { return yes_if(call.self().is_markup()); }

Value test_false(Call& call) {
  return yes_if(call.self().is(Kind::kBool) && !call.self().as_bool());
}
Value test_true(Call& call) {
  return yes_if(call.self().is(Kind::kBool) && call.self().as_bool());
}

Value test_filter(Call& call) {
  check_hashable(call.self());
  return yes_if(call.self().is_string() &&
                find_filter(call.self().text().bytes()) != nullptr);
}
Value test_test(Call& call) {
  check_hashable(call.self());
  return yes_if(call.self().is_string() &&
                find_test(call.self().text().bytes()) != nullptr);
}

Value test_float(Call& call) { return yes_if(call.self().is(Kind::kFloat)); }
Value test_integer(Call& call) { return yes_if(call.self().is(Kind::kInt)); }
Value test_number(Call& call) { return yes_if(call.self().is_number()); }
Value test_none(Call& call) { return yes_if(call.self().is(Kind::kNone)); }
Value test_string(Call& call) { return yes_if(call.self().is_string()); }
Value test_mapping(Call& call) { return yes_if(call.self().is(Kind::kDict)); }

Value test_iterable(Call& call) { return yes_if(is_iterable(call.self())); }

Value test_sequence(Call& call) {
  switch (call.self().kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
      return yes_if(true);
    default:
      return yes_if(false);
  }
}

// Whether there are letters of one case and none of another.
Value all_of_case(Call& call, bool (*wanted)(char32_t),
                  bool (*other)(char32_t)) {
  const Value string = to_string(call.budget(), call.self());
  call.budget()->step_bytes(string.text().size());
  bool found = false;
  for (const Character& c : characters(string.text().bytes())) {
    if (other(c.code_point) || is_title(c.code_point)) return yes_if(false);
    found = found || wanted(c.code_point);
  }
  return yes_if(found);
}

Value test_lower(Call& call) { return all_of_case(call, is_lower, is_upper); }
Value test_upper(Call& call) { return all_of_case(call, is_upper, is_lower); }

Value test_sameas(Call& call) { return yes_if(call.self().is_same(call[0])); }

Value test_in(Call& call) {
  return yes_if(contains(call.budget(), call[0], call.self()));
}
Value test_eq(Call& call) {
  return yes_if(equal(call.budget(), call.self(), call[0]));
}
Value test_ne(Call& call) {
  return yes_if(!equal(call.budget(), call.self(), call[0]));
}
Value test_lt(Call& call) {
  return yes_if(less(call.budget(), call.self(), call[0]));
}
Value test_le(Call& call) {
  return yes_if(less_or_equal(call.budget(), call.self(), call[0]));
}
Value test_gt(Call& call) {
  return yes_if(less(call.budget(), call[0], call.self()));
}
Value test_ge(Call& call) {
  return yes_if(less_or_equal(call.budget(), call[0], call.self()));
}

constexpr Builtin kTests[] = {
    {"!=", "/other", test_ne},
    {"<", "/other", test_lt},
    {"<=", "/other", test_le},
    {"==", "/other", test_eq},
    {">", "/other", test_gt},
    {">=", "/other", test_ge},
    {"boolean", "", test_boolean},
    {"callable", "/", test_callable},
    {"defined", "", test_defined},
    {"divisibleby", "num", test_divisibleby},
    {"eq", "/other", test_eq},
    {"equalto", "/other", test_eq},
    {"escaped", "", test_escaped},
    {"even", "", test_even},
    {"false", "", test_false},
    {"filter", "", test_filter},
    {"float", "", test_float},
    {"ge", "/other", test_ge},
    {"greaterthan", "/other", test_gt},
    {"gt", "/other", test_gt},
    {"in", "seq", test_in},
    {"integer", "", test_integer},
    {"iterable", "", test_iterable},
    {"le", "/other", test_le},
    {"lessthan", "/other", test_lt},
    {"lower", "", test_lower},
    {"lt", "/other", test_lt},
    {"mapping", "", test_mapping},
    {"ne", "/other", test_ne},
    {"none", "", test_none},
    {"number", "", test_number},
    {"odd", "", test_odd},
    {"sameas", "other", test_sameas},
    {"sequence", "", test_sequence},
    {"string", "", test_string},
    {"test", "", test_test},
    {"true", "", test_true},
    {"undefined", "", test_undefined},
    {"upper", "", test_upper},
};

}  // namespace

const Builtin* find_test(std::string_view name) {
  return find_builtin(kTests, name);
}

}  // namespace rc::text::chat
