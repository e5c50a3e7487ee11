// Strings, lists, tuples, dictionaries and ranges of chat templates, and what
// they are built with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/chat/value.h"

namespace rc::text::chat {

class String : public Object {
 public:
  String(Budget* budget, Text text);
  const Text& text() const { return text_; }
  // Code points.
  size_t length() const { return length_; }
  bool is_ascii() const { return length_ == text_.size(); }
  // The byte where a character begins; the end if there are fewer.
  size_t offset(size_t character) const;

 private:
  Text text_;
  size_t length_;
};

// A list or a tuple.
class Sequence : public Object {
 public:
  Sequence(Budget* budget, std::vector<Value> items);
  const std::vector<Value>& items() const { return items_; }
  size_t size() const { return items_.size(); }
  // For tuples: whether all of it may be a part of a key.
  bool is_hashable() const { return is_hashable_; }
  // Values within it, what is there several times counted as often.
  size_t weight() const { return weight_; }
  virtual bool is_group() const { return false; }

 private:
  std::vector<Value> items_;
  bool is_hashable_;
  size_t weight_ = 1;
};

// A tuple of the filter groupby, whose parts have names too: grouper, list.
class Group : public Sequence {
 public:
  Group(Budget* budget, Value grouper, Value list)
      : Sequence(budget, {std::move(grouper), std::move(list)}) {}
  bool is_group() const override { return true; }
};

// A dictionary in the order of insertion. Keys are found by binary search: no
// choice of keys makes that slow.
class Dict : public Object {
 public:
  using Entry = std::pair<Value, Value>;

  // Of equal keys the first stays, with the last value, as in Python. Keys must
  // be hashable.
  Dict(Budget* budget, std::vector<Entry> entries);
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;

 private:
  void merge_few();
  void merge_many();

  std::vector<Entry> entries_;
  std::vector<uint32_t> sorted_;  // entries by key, if there are many
};

// Fails unless the value can be a key.
void check_hashable(const Value& value);
bool is_hashable(const Value& value);
// A total order of keys in which equal keys are those that are equal in Python.
int compare_keys(const Value& a, const Value& b);

// The result of range().
class Range : public Object {
 public:
  Range(Budget* budget, int64_t start, int64_t stop, int64_t step);
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }
  size_t size() const { return size_; }
  Value at(size_t index) const {
    // Modulo 2^64: steps on the way may be more than 63 bits, the sum is not.
    return Value::integer(static_cast<int64_t>(
        static_cast<uint64_t>(start_) +
        static_cast<uint64_t>(index) * static_cast<uint64_t>(step_)));
  }

 private:
  int64_t start_;
  int64_t stop_;
  int64_t step_;
  size_t size_;
};

// The keys, values or items of a dictionary.
class DictView : public Object {
 public:
  enum class What { kKeys, kValues, kItems };
  DictView(Budget* budget, Ref<Dict> dict, What what)
      : Object(budget, sizeof(DictView)), dict_(std::move(dict)), what_(what) {
    set_depth(dict_->depth() + 1);
  }
  const Dict& dict() const { return *dict_; }
  What what() const { return what_; }

 private:
  Ref<Dict> dict_;
  What what_;
};

// Builds text within a budget: memory is taken before it is used.
class Writer {
 public:
  explicit Writer(Budget* budget) : budget_(budget) {}
  // The writer of a rendering's text, which is limited to `most` bytes.
  Writer(Budget* budget, size_t most) : budget_(budget), most_(most) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { budget_->give(room_ + spans_); }

  void append(std::string_view bytes, Origin origin) {
    reserve(bytes.size());
    text_.append(bytes, origin);
    count_content();
  }
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  // Makes room for so many bytes more, which are to be appended.
  void expect(size_t bytes) { make_room(bytes); }
  void append_character(char32_t character, Origin origin);
  void repeat(const Text& text, size_t times);

  const Text& text() const { return text_; }
  size_t size() const { return text_.size(); }
  Budget* budget() const { return budget_; }
  // Returns the written text; the writer is empty then.
  Text take();
  Value finish(bool markup = false);

 private:
  // Counts the work of writing more bytes, and makes room for them.
  void reserve(size_t bytes);
  void make_room(size_t bytes);
  // Counts the memory of the spans of content, which grows with the text.
  void count_content();

  Budget* budget_;
  size_t most_ = SIZE_MAX;
  Text text_;
  size_t room_ = 0;   // of bytes, counted in the budget
  size_t spans_ = 0;  // bytes of the spans of content, counted alike
};

Value make_string(Budget* budget, Text text, bool markup = false);
Value make_string(Budget* budget, std::string_view bytes,
                  Origin origin = Origin::kTemplate);

// Builds a list or a tuple within a budget.
class Items {
 public:
  explicit Items(Budget* budget) : budget_(budget) {}
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;
  ~Items() { budget_->give(values_.size() * sizeof(Value)); }

  void push(Value value) {
    budget_->step();
    budget_->take(sizeof(Value));
    values_.push_back(std::move(value));
  }
  void erase(size_t index) {
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(index));
    budget_->give(sizeof(Value));
  }
  std::vector<Value>& values() { return values_; }
  // Returns the values, counted against no budget from here on.
  std::vector<Value> release() {
    budget_->give(values_.size() * sizeof(Value));
    return std::exchange(values_, std::vector<Value>());
  }
  size_t size() const { return values_.size(); }
  Value finish(Kind kind = Kind::kList);

 private:
  Budget* budget_;
  std::vector<Value> values_;
};

Value make_sequence(Budget* budget, Kind kind, std::vector<Value> items);
Value make_pair(Budget* budget, Value first, Value second);
Value make_dict(Budget* budget, std::vector<Dict::Entry> entries);

}  // namespace rc::text::chat
