// Values of chat templates: those of Python that a template can get hold of.
//
// Strings, lists, tuples and dictionaries never change once they are made (the
// sandbox that templates are written for forbids it), so they may be shared by
// threads. What changes (namespaces, loops, iterators) lives and dies within
// one rendering.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "text/chat/budget.h"
#include "text/chat/text.h"

namespace rc::text::chat {

enum class Kind : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kDictView,
  kIterator,
  kNamespace,
  kLoop,
  kCycler,
  kJoiner,
  kFunction,
};

// Memory that values share: counted references, destroyed with the last.
// Values of a rendering count against its budget, which must outlive it.
class Object {
 public:
  Object(Budget* budget, size_t bytes) : budget_(budget), bytes_(bytes) {
    if (budget_ != nullptr) budget_->take(bytes_);
  }
  virtual ~Object() {
    if (budget_ != nullptr) budget_->give(bytes_);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void add_reference() const noexcept {
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_reference() const noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  bool is_shared() const noexcept {
    return references_.load(std::memory_order_acquire) > 1;
  }
  // Levels of values within it, at least 1.
  size_t depth() const { return depth_; }

 protected:
  void set_depth(size_t depth) { depth_ = depth; }
  Budget* budget() const { return budget_; }
  void take_more(size_t bytes) {
    if (budget_ != nullptr) budget_->take(bytes);
    bytes_ += bytes;
  }

 private:
  mutable std::atomic<uint32_t> references_ = 1;
  Budget* budget_;
  size_t bytes_;
  size_t depth_ = 1;
};

// An owner of an object.
template <class T>
class Ref {
 public:
  Ref() = default;
  // Takes over the reference that the object was born with.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  static Ref share(T* object) {
    if (object != nullptr) object->add_reference();
    return adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->add_reference();
  }
  template <class U>
  Ref(Ref<U> other) : object_(other.release()) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop_reference();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <class T, class... Arguments>
Ref<T> make(Arguments&&... arguments) {
  return Ref<T>::adopt(new T(std::forward<Arguments>(arguments)...));
}

class String;
class Sequence;
class Dict;

// A number that no double holds as it is written, with its digits.
class Digits : public Object {
 public:
  Digits(std::string text, double nearest)
      : Object(nullptr, 0), text_(std::move(text)), nearest_(nearest) {}
  const std::string& text() const { return text_; }
  double nearest() const { return nearest_; }

 private:
  std::string text_;
  double nearest_;
};

class Value {
 public:
  // Undefined, for no known reason.
  Value() { payload_.object = nullptr; }
  static Value none() { return Value(Kind::kNone); }
  static Value boolean(bool value) {
    Value result(Kind::kBool);
    result.payload_.integer = value ? 1 : 0;
    return result;
  }
  static Value integer(int64_t value) {
    Value result(Kind::kInt);
    result.payload_.integer = value;
    return result;
  }
  static Value real(double value) {
    Value result(Kind::kFloat);
    result.payload_.real = value;
    return result;
  }
  // A float that keeps the digits it is written with.
  static Value digits(std::string text, double nearest) {
    Value result(Kind::kFloat);
    result.payload_.object = new Digits(std::move(text), nearest);
    result.has_digits_ = true;
    return result;
  }
  template <class T>
  Value(Kind kind, Ref<T> object) : kind_(kind) {
    payload_.object = object.release();
  }

  // A string that belongs to no rendering.
  static Value string(std::string_view bytes, Origin origin);

  Value(const Value& other) { copy(other); }
  Value(Value&& other) noexcept { steal(other); }
  Value& operator=(const Value& other) {
    if (this != &other) {
      Value copied(other);
      drop();
      steal(copied);
    }
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      drop();
      steal(other);
    }
    return *this;
  }
  ~Value() { drop(); }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_string() const { return kind_ == Kind::kString; }
  // Python's bool is an int.
  bool is_int() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_int() || kind_ == Kind::kFloat; }
  bool is_sequence() const {
    return kind_ == Kind::kList || kind_ == Kind::kTuple;
  }

  bool as_bool() const { return payload_.integer != 0; }
  int64_t as_int() const { return payload_.integer; }
  // Of an int, a bool or a float.
  double as_real() const {
    if (has_digits_) return as<Digits>().nearest();
    return kind_ == Kind::kFloat ? payload_.real
                                 : static_cast<double>(payload_.integer);
  }
  // Returns the text of a number whose value a double cannot represent; nullptr
  // for other values.
  const std::string* digits() const {
    return has_digits_ ? &as<Digits>().text() : nullptr;
  }
  template <class T>
  T& as() const {
    return *static_cast<T*>(payload_.object);
  }
  const String& as_string() const;
  const Text& text() const;  // of a string
  const Sequence& as_sequence() const;
  const Dict& as_dict() const;
  // Returns nullptr for values that are stored without an object.
  Object* object() const { return has_object() ? payload_.object : nullptr; }
  size_t depth() const { return has_object() ? payload_.object->depth() : 0; }

  // Strings that filters marked as safe in HTML (Python: markupsafe.Markup).
  bool is_markup() const { return markup_; }
  Value with_markup(bool markup) const {
    Value result(*this);
    result.markup_ = markup;
    return result;
  }

  // Where a number, a truth value or none is from, for when it is printed.
  Origin origin() const { return origin_; }
  Value with_origin(Origin origin) const {
    Value result(*this);
    result.origin_ = origin;
    return result;
  }

  // True for the same object, or equal values of the same simple kind.
  bool is_same(const Value& other) const;

 private:
  explicit Value(Kind kind) : kind_(kind) { payload_.integer = 0; }
  bool has_object() const {
    return kind_ > Kind::kFloat || has_digits_ ||
           (kind_ == Kind::kUndefined && payload_.object != nullptr);
  }
  void copy(const Value& other) {
    kind_ = other.kind_;
    markup_ = other.markup_;
    has_digits_ = other.has_digits_;
    origin_ = other.origin_;
    payload_ = other.payload_;
    if (has_object()) payload_.object->add_reference();
  }
  void steal(Value& other) noexcept {
    kind_ = other.kind_;
    markup_ = other.markup_;
    has_digits_ = other.has_digits_;
    origin_ = other.origin_;
    payload_ = other.payload_;
    other.kind_ = Kind::kUndefined;
    other.has_digits_ = false;
    other.payload_.object = nullptr;
  }
  void drop() noexcept {
    if (has_object()) payload_.object->drop_reference();
  }

  Kind kind_ = Kind::kUndefined;
  bool markup_ = false;
  bool has_digits_ = false;
  Origin origin_ = Origin::kTemplate;
  union Payload {
    int64_t integer = 0;
    double real;
    Object* object;
  } payload_;
};

// The name of a value's type in messages, Python's where there is one.
const char* type_name(const Value& value);
// A type's name with its article: "a str", "an int"; None has none.
std::string with_article(std::string_view type);
std::string type_with_article(const Value& value);

}  // namespace rc::text::chat
