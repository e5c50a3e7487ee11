// Filters that take elements one by one when they are asked for, as Python's
// generators do.
#include <algorithm>

#include "base/quote.h"
#include "text/chat/attribute_path.h"
#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/operators.h"

namespace rc::text::chat {
namespace {

// The filter of a name that is an argument.
const Builtin& named_filter(const Value& name) {
  const Builtin* filter =
      name.is_string() ? find_filter(name.text().bytes()) : nullptr;
  if (filter == nullptr) {
    fault("there is no filter named ",
          name.is_string() ? quote(name.text().bytes()) : type_name(name));
  }
  return *filter;
}

const Builtin& named_test(const Value& name) {
  const Builtin* test =
      name.is_string() ? find_test(name.text().bytes()) : nullptr;
  if (test == nullptr) {
    fault("there is no test named ",
          name.is_string() ? quote(name.text().bytes()) : type_name(name));
  }
  return *test;
}

size_t deepest(const Arguments& arguments, size_t depth) {
  for (const Value& value : arguments.positional) {
    depth = std::max(depth, value.depth());
  }
  for (const auto& named : arguments.named) {
    depth = std::max(depth, named.second.depth());
  }
  return depth + 1;
}

// A filter with arguments for each of its elements. The arguments are read with
// the first element, as in Python.
class ElementIterator : public Iterator {
 public:
  ElementIterator(Call& call, size_t size)
      : Iterator(call.budget(), size),
        interpreter_(&call.interpreter()),
        arguments_(std::move(call.arguments())),
        source_(truth(call.self()) ? iterate(call.budget(), call.self())
                                   : Ref<Iterator>()) {
    set_depth(deepest(arguments_, source_ ? source_->depth() : 0));
    budget()->check_depth(depth(), "values");
  }

  std::optional<Value> next() override {
    if (!source_) return std::nullopt;
    if (!prepared_) prepare();
    prepared_ = true;
    const Interpreter::Level level(interpreter_);
    while (std::optional<Value> value = source_->next()) {
      // Its call gets all of the arguments.
      budget()->step(1 + arguments_.positional.size() +
                     arguments_.named.size());
      if (std::optional<Value> result = element(std::move(*value))) {
        return result;
      }
    }
    return std::nullopt;
  }

 protected:
  virtual void prepare() = 0;
  // The result for an element, if there is one.
  virtual std::optional<Value> element(Value value) = 0;

  Interpreter* interpreter_;
  Arguments arguments_;

 private:
  Ref<Iterator> source_;
  bool prepared_ = false;
};

class MapIterator : public ElementIterator {
 public:
  explicit MapIterator(Call& call)
      : ElementIterator(call, sizeof(MapIterator)) {}

 private:
  void prepare() override {
    auto& named = arguments_.named;
    const bool by_attribute =
        arguments_.positional.empty() && !named.empty() &&
        std::any_of(named.begin(), named.end(),
                    [](const auto& one) { return one.first == "attribute"; });
    if (!by_attribute) {
      if (arguments_.positional.empty()) {
        fault("'map' needs the name of a filter, or attribute=");
      }
      filter_ = &named_filter(arguments_.positional[0]);
      arguments_.positional.erase(arguments_.positional.begin());
      return;
    }
    for (const auto& [name, value] : named) {
      if (name == "attribute") {
        path_ = AttributePath(budget(), value);
      } else if (name == "default") {
        if (!value.is(Kind::kNone)) otherwise_ = value;
      } else {
        fault("'map' takes no argument ", quote(name));
      }
    }
  }
  std::optional<Value> element(Value value) override {
    if (filter_ != nullptr) {
      return interpreter_->apply(*filter_, value, arguments_);
    }
    return path_.of(interpreter_, std::move(value),
                    otherwise_ ? &*otherwise_ : nullptr);
  }

  const Builtin* filter_ = nullptr;
  AttributePath path_;
  std::optional<Value> otherwise_;
};

class SelectIterator : public ElementIterator {
 public:
  SelectIterator(Call& call, bool by_attribute, bool wanted)
      : ElementIterator(call, sizeof(SelectIterator)),
        by_attribute_(by_attribute),
        wanted_(wanted) {}

 private:
  void prepare() override {
    auto& given = arguments_.positional;
    if (by_attribute_) {
      if (given.empty()) fault("the name of an attribute is missing");
      path_ = AttributePath(budget(), given[0]);
      given.erase(given.begin());
    }
    if (given.empty()) return;
    test_ = &named_test(given[0]);
    given.erase(given.begin());
  }
  std::optional<Value> element(Value value) override {
    Value subject = path_.of(interpreter_, value);
    if (test_ != nullptr) {
      subject = interpreter_->apply(*test_, subject, arguments_);
    }
    if (truth(subject) == wanted_) return value;
    return std::nullopt;
  }

  bool by_attribute_;
  bool wanted_;
  AttributePath path_;
  const Builtin* test_ = nullptr;
};

Value selected(Call& call, bool by_attribute, bool wanted) {
  return Value(Kind::kIterator,
               make<SelectIterator>(call, by_attribute, wanted));
}

}  // namespace

Value filter_map(Call& call) {
  return Value(Kind::kIterator, make<MapIterator>(call));
}
Value filter_select(Call& call) { return selected(call, false, true); }
Value filter_reject(Call& call) { return selected(call, false, false); }
Value filter_selectattr(Call& call) { return selected(call, true, true); }
Value filter_rejectattr(Call& call) { return selected(call, true, false); }

}  // namespace rc::text::chat
