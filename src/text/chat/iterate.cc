// Going through values.
#include "text/chat/objects.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// Of what has its elements by number.
class IndexIterator : public Iterator {
 public:
  IndexIterator(Budget* budget, Value value, size_t size)
      : Iterator(budget, sizeof(IndexIterator)),
        value_(std::move(value)),
        size_(size) {
    set_depth(value_.depth() + 1);
    budget->check_depth(depth(), "values");
  }
  std::optional<Value> next() override {
    budget()->step();
    if (at_ == size_) return std::nullopt;
    const size_t at = at_++;
    switch (value_.kind()) {
      case Kind::kDict:
        return value_.as_dict().entries()[at].first;
      case Kind::kRange:
        return value_.as<Range>().at(at);
      case Kind::kDictView:
        return of_view(value_.as<DictView>(), at);
      default:
        return value_.as_sequence().items()[at];
    }
  }

 private:
  Value of_view(const DictView& view, size_t at) {
    const auto& [key, value] = view.dict().entries()[at];
    if (view.what() == DictView::What::kKeys) return key;
    if (view.what() == DictView::What::kValues) return value;
    return make_pair(budget(), key, value);
  }

  Value value_;
  size_t size_;
  size_t at_ = 0;
};

class CharacterIterator : public Iterator {
 public:
  CharacterIterator(Budget* budget, Value string)
      : Iterator(budget, sizeof(CharacterIterator)),
        string_(std::move(string)) {}
  std::optional<Value> next() override {
    budget()->step();
    const Text& text = string_.text();
    if (at_ == text.size()) return std::nullopt;
    const size_t begin = at_;
    at_ += decode_utf8(std::string_view(text.bytes()).substr(at_)).size;
    // Plain strings also of a safe one, as Python's iterators have it.
    return make_string(budget(), text.slice(begin, at_));
  }

 private:
  Value string_;
  size_t at_ = 0;
};

class LoopIterator : public Iterator {
 public:
  LoopIterator(Budget* budget, Value loop)
      : Iterator(budget, sizeof(LoopIterator)), loop_(std::move(loop)) {
    set_depth(loop_.depth() + 1);
  }
  std::optional<Value> next() override {
    budget()->step();
    std::optional<Value> value = loop_.as<Loop>().next();
    if (value) return make_pair(budget(), *value, loop_);
    return value;
  }

 private:
  Value loop_;
};

class EmptyIterator : public Iterator {
 public:
  using Iterator::Iterator;
  std::optional<Value> next() override { return std::nullopt; }
};

}  // namespace

bool is_iterable(const Value& value) {
  return value.is(Kind::kIterator) || value.is(Kind::kLoop) ||
         length(value).has_value();
}

Ref<Iterator> iterate(Budget* budget, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return make<EmptyIterator>(budget, sizeof(EmptyIterator));
    case Kind::kString:
      return make<CharacterIterator>(budget, value);
    case Kind::kIterator:
      return Ref<Iterator>::share(&value.as<Iterator>());
    case Kind::kLoop:
      return make<LoopIterator>(budget, value);
    default:
      break;
  }
  const std::optional<size_t> size = length(value);
  if (!size) {
    fault(type_with_article(value),
          " can't be gone through: it takes a list, a dict or a string");
  }
  return make<IndexIterator>(budget, value, *size);
}

std::vector<Value> elements(Budget* budget, const Value& value) {
  if (value.is_sequence()) {
    budget->step(value.as_sequence().size());
    return value.as_sequence().items();
  }
  Items items(budget);
  const Ref<Iterator> iterator = iterate(budget, value);
  while (std::optional<Value> element = iterator->next()) {
    items.push(std::move(*element));
  }
  return items.release();
}

std::optional<size_t> length(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return value.as_string().length();
    case Kind::kList:
    case Kind::kTuple:
      return value.as_sequence().size();
    case Kind::kDict:
      return value.as_dict().size();
    case Kind::kRange:
      return value.as<Range>().size();
    case Kind::kDictView:
      return value.as<DictView>().dict().size();
    case Kind::kLoop:
      return value.as<Loop>().length();
    default:
      return std::nullopt;
  }
}

}  // namespace rc::text::chat
