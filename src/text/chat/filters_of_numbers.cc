// Filters of numbers, and of values of any kind.
#include <cmath>

#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/numbers.h"
#include "text/chat/operators.h"

namespace rc::text::chat {
namespace {

// The origin of an argument of Python's int() and float(), the string to be
// parsed.
Origin origin_of(const Value& value) {
  if (value.is_string()) return value.text().origin(0, value.text().size());
  return value.origin();
}

const Value& number(const Call& call, const char* name) {
  if (call.self().is_undefined()) fault_undefined(call.self());
  if (!call.self().is_number()) {
    fault("'", name, "' is for numbers, not for ",
          type_with_article(call.self()));
  }
  return call.self();
}

}  // namespace

Value filter_abs(Call& call) {
  const Value& value = number(call, "abs");
  if (value.is_int()) {
    return value.as_int() < 0 ? negate(value) : positive(value);
  }
  return Value::real(std::abs(value.as_real())).with_origin(value.origin());
}

Value filter_attr(Call& call) {
  const std::string& name = call.string(0).text().bytes();
  const Value& self = call.self();
  if (self.is_undefined()) fault_undefined(self);
  // Never an item of a dict.
  if (self.is(Kind::kDict) && find_dict_method(name) == nullptr) {
    return undefined(call.budget(), Missing::What::kAttribute, name, "dict");
  }
  return call.interpreter().attribute(self, name);
}

Value filter_default(Call& call) {
  const Value& self = call.self();
  const bool replaced =
      self.is_undefined() || (call.truth(1, false) && !truth(self));
  if (!replaced) return self;
  return call.has(0) ? call[0] : make_string(call.budget(), "");
}

Value filter_length(Call& call) {
  const std::optional<size_t> size = length(call.self());
  if (!size) fault(type_with_article(call.self()), " has no length");
  return Value::integer(static_cast<int64_t>(*size));
}

Value filter_int(Call& call) {
  const Value& self = call.self();
  const Value otherwise = call.has(0) ? call[0] : Value::integer(0);
  if (self.is_undefined()) fault_undefined(self);
  const Origin origin = origin_of(self);
  if (self.is_int()) return Value::integer(self.as_int()).with_origin(origin);
  std::optional<int64_t> whole;
  if (self.is_string()) {
    const int64_t base = call.integer(1, 10);
    if (base != 0 && (base < 2 || base > 36)) return otherwise;
    const std::string& text = self.text().bytes();
    call.budget()->step_bytes(text.size());
    whole = parse_int(text, static_cast<int>(base));
    if (!whole) {
      const std::optional<double> real = parse_float(text);
      if (real) whole = truncate_to_int(*real);
    }
  } else if (self.is(Kind::kFloat)) {
    if (std::isinf(self.as_real())) {
      fault("an infinite number is no whole number");
    }
    whole = truncate_to_int(self.as_real());
  }
  return whole ? Value::integer(*whole).with_origin(origin) : otherwise;
}

Value filter_float(Call& call) {
  const Value& self = call.self();
  if (self.is_undefined()) fault_undefined(self);
  if (self.is_number()) {
    return Value::real(self.as_real()).with_origin(self.origin());
  }
  if (self.is_string()) {
    call.budget()->step_bytes(self.text().size());
    const std::optional<double> value = parse_float(self.text().bytes());
    if (value) return Value::real(*value).with_origin(origin_of(self));
  }
  return call.has(0) ? call[0] : Value::real(0);
}

Value filter_round(Call& call) {
  const std::string method =
      call.has(1) ? call.string(1).text().bytes() : "common";
  const int64_t precision = call.integer(0, 0);
  const Value& value = number(call, "round");
  if (method == "common") return round_number(value, precision);
  if (method != "ceil" && method != "floor") {
    fault("the method of 'round' must be common, ceil or floor");
  }
  const Value unit = calculate(Arithmetic::kPow, Value::integer(10),
                               Value::integer(precision));
  const double scaled = calculate(Arithmetic::kMul, value, unit).as_real();
  if (!std::isfinite(scaled)) fault("'round' is for finite numbers");
  const double whole =
      method == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  // Adding makes 0 of -0, as whole numbers have it.
  return Value::real((whole + 0.0) / unit.as_real())
      .with_origin(value.origin());
}

Value filter_filesizeformat(Call& call) {
  const Value& self = call.self();
  if (self.is_undefined()) fault_undefined(self);
  std::optional<double> bytes;
  if (self.is_number()) bytes = self.as_real();
  if (self.is_string()) bytes = parse_float(self.text().bytes());
  if (!bytes) fault("'filesizeformat' is for numbers");
  const bool binary = call.truth(0, false);
  const double base = binary ? 1024 : 1000;
  std::string text;
  if (*bytes == 1) {
    text = "1 Byte";
  } else if (*bytes < base) {
    const std::optional<int64_t> whole = truncate_to_int(*bytes);
    if (!whole) fault("'filesizeformat' is for finite numbers");
    text = cat(*whole, " Bytes");
  } else {
    static constexpr char kPrefixes[] = "kMGTPEZY";
    size_t i = 0;
    double unit = base * base;
    while (i < 7 && *bytes >= unit) {
      unit *= base;
      ++i;
    }
    text = fixed_text(base * *bytes / unit, 1) + " ";
    text += binary && i == 0 ? 'K' : kPrefixes[i];
    text += binary ? "iB" : "B";
  }
  return make_string(call.budget(), text, origin_of(self));
}

}  // namespace rc::text::chat
