// Functions that every template has.
#include <algorithm>

#include "base/quote.h"
#include "text/chat/interpreter.h"
#include "text/chat/print.h"
#include "text/chat/strftime.h"

namespace rc::text::chat {
namespace {

// As Jinja's sandbox has it.
constexpr size_t kLongestRange = 100000;

Value cycler_function(Call& call) {
  Arguments& given = call.arguments();
  if (given.positional.empty() || !given.named.empty()) {
    fault("cycler() needs the values to go through");
  }
  return Value(Kind::kCycler,
               make<Cycler>(call.budget(), std::move(given.positional)));
}

// The entries that dict() and namespace() are given.
std::vector<Dict::Entry> dict_entries(Call& call) {
  Arguments& given = call.arguments();
  if (given.positional.size() > 1) {
    fault("dict() and namespace() take one dict or list of pairs, and names");
  }
  std::vector<Dict::Entry> entries;
  if (!given.positional.empty()) {
    const Value& from = given.positional[0];
    if (from.is(Kind::kDict)) {
      entries = from.as_dict().entries();
      call.budget()->step(entries.size());
    } else {
      for (const Value& pair : elements(call.budget(), from)) {
        const std::vector<Value> parts = elements(call.budget(), pair);
        if (parts.size() != 2) {
          fault("a dict is made of pairs, not of ", parts.size(), " elements");
        }
        entries.emplace_back(parts[0], parts[1]);
      }
    }
  }
  for (auto& [name, value] : given.named) {
    entries.emplace_back(make_string(call.budget(), name), value);
  }
  return entries;
}

Value dict_function(Call& call) {
  return make_dict(call.budget(), dict_entries(call));
}

Value joiner_function(Call& call) {
  Value separator = call.has(0) ? call[0] : make_string(call.budget(), ", ");
  return Value(Kind::kJoiner,
               make<Joiner>(call.budget(), std::move(separator)));
}

Value namespace_function(Call& call) {
  const Value dict = make_dict(call.budget(), dict_entries(call));
  const Ref<Namespace> space = call.interpreter().make_namespace();
  for (const auto& [name, value] : dict.as_dict().entries()) {
    space->set(name, value);
  }
  return Value(Kind::kNamespace, space);
}

Value raise_function(Call& call) {
  Writer message(call.budget());
  write_str(&message, call[0]);
  throw Fault{RC_E_INVALID_ARGUMENT, "the template refuses the conversation: " +
                                         message.text().bytes()};
}

Value range_function(Call& call) {
  for (size_t i = 0; i < 3; ++i) {
    if (call.has(i) && !call[i].is_int()) call.refuse(i, "a whole number");
  }
  const int64_t first = call.integer(0, 0);
  const int64_t step = call.integer(2, 1);
  if (step == 0) fault("the step of range() can't be 0");
  const bool one = !call.has(1);
  const Ref<Range> range = make<Range>(call.budget(), one ? 0 : first,
                                       one ? first : call.integer(1, 0), step);
  if (range->size() > kLongestRange) {
    fault_of_limit("range() has ", range->size(), " elements, more than ",
                   kLongestRange, ": make it shorter");
  }
  return Value(Kind::kRange, range);
}

Value strftime_now_function(Call& call) {
  const auto& now = call.interpreter().options().now;
  if (!now) {
    fault(
        "strftime_now() needs the local time, which was not given: set it in "
        "the options, or test the variable that the template reads first");
  }
  return format_time(call.budget(), call.string(0).text(), *now);
}

constexpr Builtin kFunctions[] = {
    {"cycler", "*", cycler_function},
    {"dict", "*", dict_function},
    {"joiner", "sep?", joiner_function},
    {"namespace", "*", namespace_function},
    {"raise_exception", "message", raise_function},
    {"range", "/start stop? step?", range_function},
    {"strftime_now", "format", strftime_now_function},
};

}  // namespace

const Builtin* find_function(std::string_view name) {
  return find_builtin(kFunctions, name);
}

}  // namespace rc::text::chat
