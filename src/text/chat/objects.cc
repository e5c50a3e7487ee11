#include "text/chat/objects.h"

#include <algorithm>

#include "base/quote.h"
#include "text/chat/interpreter.h"
#include "text/chat/operators.h"

namespace rc::text::chat {

std::string Missing::message() const {
  switch (what_) {
    case What::kVariable:
      return cat("the variable ", quote(name_),
                 " is undefined: give it, or test it with 'is defined'");
    case What::kAttribute:
      return cat(with_article(owner_), " has no attribute ", quote(name_),
                 ": test it with 'is defined'");
    case What::kElement:
      return cat(with_article(owner_), " has no element ", name_,
                 ": test it with 'is defined'");
    case What::kMutation:
      return cat(
          "the attribute ", quote(name_), " of ", with_article(owner_),
          " is not for templates, which change nothing in place but lists that "
          "one variable holds, by append and pop: build a new value, such as "
          "list + [element]");
    case What::kOther:
      return name_;
  }
  return name_;
}

Value undefined(Budget* budget, Missing::What what, std::string_view name,
                const char* owner) {
  return Value(Kind::kUndefined,
               make<Missing>(budget, what, std::string(name), owner));
}

void fault_undefined(const Value& value) {
  if (value.object() == nullptr) fault("the value is undefined");
  throw Fault{RC_E_FORMAT, value.as<Missing>().message()};
}

void Scope::set(NameId name, Value value) {
  for (auto& [id, held] : variables_) {
    if (id == name) {
      held = std::move(value);
      return;
    }
  }
  take_more(sizeof(variables_[0]));
  variables_.emplace_back(name, std::move(value));
}

const Value* Namespace::find(std::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (key.is_string() && key.text().bytes() == name) return &value;
  }
  return nullptr;
}

void Namespace::set(const Value& name, Value value) {
  if (budget() != nullptr) budget()->step(1 + entries_.size() / 8);
  for (auto& [key, held] : entries_) {
    if (compare_keys(key, name) == 0) {
      held = std::move(value);
      return;
    }
  }
  take_more(sizeof(Dict::Entry));
  entries_.emplace_back(name, std::move(value));
}

Loop::Loop(Budget* budget, Value iterable, Ref<Iterator> iterator,
           size_t depth0)
    : Object(budget, sizeof(Loop)),
      iterable_(std::move(iterable)),
      iterator_(std::move(iterator)),
      depth0_(depth0) {
  set_depth(iterator_->depth() + 1);
  budget->check_depth(depth(), "values");
}

std::optional<Value> Loop::next() {
  std::optional<Value> value = peek();
  peeked_ = false;
  after_.reset();
  if (!value) return value;
  ++index0_;
  before_ = std::move(current_);
  current_ = value;
  return value;
}

const std::optional<Value>& Loop::peek() {
  if (!peeked_) {
    if (!has_rest_) {
      after_ = iterator_->next();
    } else if (rest_at_ < rest_.size()) {
      after_ = std::move(rest_[rest_at_++]);
    } else {
      after_.reset();
    }
    peeked_ = true;
  }
  return after_;
}

size_t Loop::length() {
  if (length_) return *length_;
  if (!iterable_.is_undefined()) length_ = rc::text::chat::length(iterable_);
  if (!length_) {
    while (std::optional<Value> value = iterator_->next()) {
      take_more(sizeof(Value));
      rest_.push_back(std::move(*value));
    }
    has_rest_ = true;
    length_ = rest_.size() + (index0_ + 1) + (peeked_ && after_ ? 1 : 0);
  }
  return *length_;
}

std::optional<Value> Loop::attribute(std::string_view name) {
  const auto number = [](size_t n) {
    return Value::integer(static_cast<int64_t>(n));
  };
  if (name == "index") return number(index0_ + 1);
  if (name == "index0") return number(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek().has_value());
  if (name == "length") return number(length());
  if (name == "revindex") return number(length() - index0_);
  if (name == "revindex0") return number(length() - index0_ - 1);
  if (name == "depth") return number(depth0_ + 1);
  if (name == "depth0") return number(depth0_);
  if (name == "previtem") {
    if (before_) return before_;
    return undefined(budget(), Missing::What::kOther,
                     "there is no previous item");
  }
  if (name == "nextitem") {
    if (peek()) return after_;
    return undefined(budget(), Missing::What::kOther, "there is no next item");
  }
  return std::nullopt;
}

bool Loop::changed(std::vector<Value> values) {
  const bool same =
      last_changed_ && last_changed_->size() == values.size() &&
      std::equal(values.begin(), values.end(), last_changed_->begin(),
                 [&](const Value& a, const Value& b) {
                   return equal(budget(), a, b);
                 });
  if (same) return false;
  last_changed_ = std::move(values);
  return true;
}

Cycler::Cycler(Budget* budget, std::vector<Value> given)
    : Object(budget, sizeof(Cycler) + given.size() * sizeof(Value)),
      items(std::move(given)) {
  for (const Value& item : items) {
    set_depth(std::max(depth(), item.depth() + 1));
  }
  budget->check_depth(depth(), "values");
}

Joiner::Joiner(Budget* budget, Value given)
    : Object(budget, sizeof(Joiner)), separator(std::move(given)) {
  set_depth(separator.depth() + 1);
  budget->check_depth(depth(), "values");
}

Value BuiltinFunction::call(Interpreter* interpreter, Arguments arguments) {
  return interpreter->apply(*builtin_, self_, std::move(arguments));
}

Value Macro::call(Interpreter* interpreter, Arguments arguments) {
  return interpreter->call_macro(*this, std::move(arguments));
}

}  // namespace rc::text::chat
