// Methods of lists, dictionaries, numbers, loops and cyclers. Those without a
// function change what they are called on, which no template may.
#include <algorithm>
#include <bit>
#include <cmath>

#include "text/chat/interpreter.h"
#include "text/chat/operators.h"

namespace rc::text::chat {
namespace {

Ref<Dict> dict_of(const Call& call) {
  return Ref<Dict>::share(&call.self().as<Dict>());
}

Value view(const Call& call, DictView::What what) {
  return Value(Kind::kDictView,
               make<DictView>(call.budget(), dict_of(call), what));
}

Value dict_items(Call& call) { return view(call, DictView::What::kItems); }
Value dict_keys(Call& call) { return view(call, DictView::What::kKeys); }
Value dict_values(Call& call) { return view(call, DictView::What::kValues); }
Value dict_copy(Call& call) { return call.self(); }

Value dict_get(Call& call) {
  check_hashable(call[0]);
  if (call[0].is_string()) call.budget()->step_bytes(call[0].text().size());
  const Value* found = call.self().as_dict().find(call[0]);
  if (found != nullptr) return *found;
  return call.has(1) ? call[1] : Value::none();
}

Value dict_fromkeys(Call& call) {
  std::vector<Dict::Entry> entries;
  for (Value& key : elements(call.budget(), call[0])) {
    entries.emplace_back(std::move(key), call.has(1) ? call[1] : Value::none());
  }
  return make_dict(call.budget(), std::move(entries));
}

Value sequence_copy(Call& call) { return call.self(); }

Value sequence_count(Call& call) {
  int64_t count = 0;
  for (const Value& value : elements(call.budget(), call.self())) {
    if (equal(call.budget(), value, call[0])) ++count;
  }
  return Value::integer(count);
}

Value sequence_index(Call& call) {
  const std::vector<Value> values = elements(call.budget(), call.self());
  const auto size = static_cast<int64_t>(values.size());
  const auto bound = [&](size_t i, int64_t otherwise) {
    const int64_t at = call.integer(i, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  for (int64_t i = bound(1, 0); i < bound(2, size); ++i) {
    if (equal(call.budget(), values[static_cast<size_t>(i)], call[0])) {
      return Value::integer(i);
    }
  }
  fault("the value to find is not in the list: test with 'in' first");
}

Value number_is_integer(Call& call) {
  const double value = call.self().as_real();
  return Value::boolean(std::isfinite(value) && value == std::floor(value));
}

Value number_conjugate(Call& call) { return positive(call.self()); }

uint64_t magnitude(const Call& call) {
  if (!call.self().is_int()) fault("a float has no bits");
  const auto value = static_cast<uint64_t>(call.self().as_int());
  return call.self().as_int() < 0 ? ~value + 1 : value;
}

Value number_bit_length(Call& call) {
  return Value::integer(std::bit_width(magnitude(call)));
}
Value number_bit_count(Call& call) {
  return Value::integer(std::popcount(magnitude(call)));
}

Value loop_cycle(Call& call) {
  const Arguments& given = call.arguments();
  if (given.positional.empty() || !given.named.empty()) {
    fault("loop.cycle() needs the values to go through");
  }
  const size_t index = call.self().as<Loop>().index0();
  return given.positional[index % given.positional.size()];
}

Value loop_changed(Call& call) {
  return Value::boolean(
      call.self().as<Loop>().changed(std::move(call.arguments().positional)));
}

Value cycler_next(Call& call) {
  Cycler& cycler = call.self().as<Cycler>();
  const size_t at = cycler.at;
  cycler.at = (at + 1) % cycler.items.size();
  return cycler.items[at];
}

Value cycler_reset(Call& call) {
  call.self().as<Cycler>().at = 0;
  return Value::none();
}

constexpr Builtin kDictMethods[] = {
    {"clear", "", nullptr},
    {"copy", "", dict_copy},
    {"fromkeys", "/keys value?", dict_fromkeys},
    {"get", "/key default?", dict_get},
    {"items", "", dict_items},
    {"keys", "", dict_keys},
    {"pop", "", nullptr},
    {"popitem", "", nullptr},
    {"setdefault", "", nullptr},
    {"update", "", nullptr},
    {"values", "", dict_values},
};

constexpr Builtin kSequenceMethods[] = {
    {"append", "", nullptr},
    {"clear", "", nullptr},
    {"copy", "", sequence_copy},
    {"count", "/value", sequence_count},
    {"extend", "", nullptr},
    {"index", "/value start? stop?", sequence_index},
    {"insert", "", nullptr},
    {"pop", "", nullptr},
    {"remove", "", nullptr},
    {"reverse", "", nullptr},
    {"sort", "", nullptr},
};

constexpr Builtin kNumberMethods[] = {
    {"bit_count", "", number_bit_count},
    {"bit_length", "", number_bit_length},
    {"conjugate", "", number_conjugate},
    {"is_integer", "", number_is_integer},
};

constexpr Builtin kLoopMethods[] = {
    {"changed", "*", loop_changed},
    {"cycle", "*", loop_cycle},
};

constexpr Builtin kCyclerMethods[] = {
    {"next", "", cycler_next},
    {"reset", "", cycler_reset},
};

}  // namespace

const Builtin* find_dict_method(std::string_view name) {
  return find_builtin(kDictMethods, name);
}
const Builtin* find_sequence_method(std::string_view name) {
  return find_builtin(kSequenceMethods, name);
}
const Builtin* find_number_method(std::string_view name) {
  return find_builtin(kNumberMethods, name);
}
const Builtin* find_loop_method(Kind kind, std::string_view name) {
  return kind == Kind::kLoop ? find_builtin(kLoopMethods, name)
                             : find_builtin(kCyclerMethods, name);
}

}  // namespace rc::text::chat
