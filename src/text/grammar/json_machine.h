// Reads JSON byte by byte as far as a schema allows it.
//
// A text has one structure, whatever a schema says of it, so there is one stack
// of open objects and arrays. What may still become of each of them is a set of
// items: alternatives of the schema that all that was read agrees with.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/grammar/json_model.h"
#include "text/grammar/text_decoder.h"

namespace rc::text::grammar {

class JsonMachine {
 public:
  // One alternative of an open object or array.
  struct Item {
    uint32_t parent = 0;  // the alternative outside that this is a value of
    RulesId rules = 0;
    uint32_t missing = 0;  // required properties that are not there yet
    uint32_t done = 0;     // of an object: bits of the rules `some`
    std::array<uint16_t, 4> counts = {};  // of an array: see ItemCount
    SchemaId value = kFalseSchema;        // of what comes next
    bool operator==(const Item&) const = default;
  };
  // The keys of an object so far, the last one first; of an array whose level
  // keeps values, its items.
  struct Seen {
    std::shared_ptr<const Seen> before;
    std::string name;   // of a property
    std::string value;  // see item_values.h; "" where none are kept
    ~Seen() { release_chain(&before, &Seen::before); }
  };
  // An open object or array, or the whole text; never changes.
  struct Level {
    std::shared_ptr<const Level> parent;
    bool array = false;
    uint32_t depth = 0;
    uint32_t count = 0;  // of the properties or items so far
    std::vector<Item> items;
    std::shared_ptr<const Seen> seen;
    // Whether the values within it are kept: items of an array, or of one
    // around it, have to differ.
    bool keeps_values = false;
    // The state in which the next value or, in `strings`, the next key may
    // begin.
    LexState strings = kDeadLex;
    LexState bare = kDeadLex;

    Level() = default;
    Level(const Level&) = default;
    Level& operator=(const Level&) = delete;
    ~Level() { release_chain(&parent, &Level::parent); }
  };
  enum class Phase : uint8_t {
    kValue,
    kString,
    kBare,  // within a number, true, false or null
    kFirstKey,
    kNextKey,
    kKey,
    kColon,
    kFirstItem,
    kAfter,  // a value within an object or array
    kDone,   // the value of the whole text
  };
  struct State {
    std::shared_ptr<const Level> level;
    Phase phase = Phase::kValue;
    uint32_t spaces = 0;  // in a row
    LexState lex = kDeadLex;
    PartialChar partial;
    // Of a key so far, or of a string, number or constant that is kept.
    std::string text;
    bool operator==(const State&) const = default;
  };

  // Items that are compared in one step of work.
  static constexpr size_t kItemsPerStep = 64;

  explicit JsonMachine(std::shared_ptr<JsonModel> model);

  const State& begin() const { return begin_; }
  // False, with an undefined state, if no valid text goes on like this.
  bool step(State* state, uint8_t byte);
  // Whether the text may end here.
  bool can_end(const State& state) const;

  // A quick answer: true only if step would refuse the byte, were the state's
  // lexer in state `lex`.
  bool refuses(const State& state, LexState lex, uint8_t byte) const;

  // The way to read the next bytes: in kContent all of ASCII but control
  // characters, the quote and the backslash only go through the lexer, in kText
  // all of ASCII, and in kSpaces white space is only counted.
  enum class Reading : uint8_t { kOther, kContent, kText, kSpaces };
  Reading reading(const State& state) const;
  // Makes up for bytes that only went through the lexer or were counted.
  void catch_up(State* state, LexState lex, uint32_t spaces,
                std::string_view bytes) const;
  uint32_t spaces(const State& state) const { return state.spaces; }
  uint32_t max_spaces() const { return model_->options().max_spaces; }

  // Whether the text of what is being read matters, and not only the lexer's
  // state: of keys and of values that are kept.
  static bool text_matters(const State& state) {
    return state.phase == Phase::kKey || state.level->keeps_values;
  }
  // Whether the names of keys only matter in that some are special: those that
  // begin like the present one are in *names then.
  bool keys_alike(const State& state, std::vector<std::string>* names) const;
  // The same state with another key so far.
  State with_key(const State& state, std::string key) const;
  static bool in_key(const State& state) { return state.phase == Phase::kKey; }
  Lexer& lexer() const { return model_->lexer(); }

 private:
  using LevelPtr = std::shared_ptr<const Level>;

  // Frees the elements of a list that nothing else refers to, one after the
  // other: lists are as long as texts.
  template <class Element>
  static void release_chain(std::shared_ptr<const Element>* first,
                            std::shared_ptr<const Element> Element::*next) {
    std::shared_ptr<const Element> at = std::move(*first);
    while (at != nullptr && at.use_count() == 1) {
      // Elements are const once they are shared.
      at = std::move(const_cast<Element&>(*at).*next);
    }
  }

  static bool needs_space(const State& state);
  bool step_value(State* state, uint8_t byte);
  bool step_content(State* state, uint8_t byte);
  bool step_after(State* state, uint8_t byte);
  bool open_object(State* state);
  bool open_array(State* state);
  bool close(State* state);
  // Ends a value that the items agree with; `value` is empty unless the level
  // keeps it.
  bool finish_value(State* state, const std::vector<uint32_t>& items,
                    std::string value);
  // Those of the items that the value may be one more of: without those whose
  // values have to differ, if it is there already.
  std::vector<uint32_t> without_repeated(const Level& level,
                                         std::string_view value,
                                         std::vector<uint32_t> items);
  bool begin_item(State* state);
  bool end_key(State* state);
  bool set_keys(Level* level);
  void set_values(Level* level);
  void add_items(const Item& item, uint32_t index, std::vector<Item>* to);
  bool can_close_array(const Item& item, uint32_t count);

  std::shared_ptr<JsonModel> model_;
  State begin_;
};

}  // namespace rc::text::grammar
