// Reads an answer byte by byte as far as a format of calls and the schemas of
// tools allow it.
//
// Whatever a call looks like, it says a name and arguments. The machine writes
// it down as JSON while it reads, {"name": NAME, "arguments": ARGUMENTS}, and
// hands that to a JsonMachine for the schema of all calls, with one_space: what
// that one refuses is refused. So each assertion of a schema counts in every
// format.
//
// Special tokens are their names between bytes 0xFF; see special_names.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/chat/calls/call_form.h"
#include "text/grammar/json_machine.h"

namespace rc::text::chat {

class CallMachine {
 public:
  using Json = grammar::JsonMachine;
  using LexState = grammar::LexState;
  using Reading = Json::Reading;

  enum class Stage : uint8_t {
    kText,       // anything, in which a call may begin
    kReasoning,  // anything up to its end
    kBetween,    // reasoning and a call: a few spaces
    kLiteral,    // one of `options`
    kName,
    kNumber,
    kJson,
    kKey,
    kValue,
    kWord,        // within a constant of Python's
    kElement,     // the mark of an element, and whether it begins or ends one
    kElementEnd,  // the mark at the end of one
    kDone,
  };
  static constexpr size_t kWatches = 4;
  struct State {
    Stage stage = Stage::kText;
    uint16_t options = 0;  // bits of CallForm::Literal
    uint16_t offset = 0;   // of the literal, in bytes; of others a count
    bool fresh = true;     // kText: only spaces so far. Else: no argument yet
    bool raw = false;      // kValue: in a string without quotes
    bool or_null = false;  // which may be null instead
    std::array<uint16_t, kWatches> watched = {};
    // Of a raw string: it may be the beginning of its end. Of the name of an
    // element: it may be that of an item.
    std::string held;
    std::string name;
    std::string key;
    Json::State json;
    LexState lex = grammar::kDeadLex;  // that of json
    bool operator==(const State&) const = default;
  };

  // The beginning of answers.
  enum class Begin : uint8_t {
    kCall,    // reasoning is not for this one
    kEither,  // with reasoning or the call
    kWithin,  // within reasoning
  };

  // The schema of `json` is that of call_schema(). `begin` counts where calls
  // are required.
  CallMachine(CallForm form, std::shared_ptr<Json> json, Begin begin);

  const CallForm& form() const { return form_; }
  Json& json() const { return *json_; }

  // See JsonMachine for these.
  State begin() const;
  bool step(State* state, uint8_t byte) const;
  bool can_end(const State& state) const;
  bool refuses(const State& state, LexState lex, uint8_t byte) const;
  Reading reading(const State& state) const {
    return state.stage == Stage::kJson ? json_->reading(state.json)
                                       : Reading::kOther;
  }
  void catch_up(State* state, LexState lex, uint32_t spaces,
                std::string_view bytes) const {
    json_->catch_up(&state->json, lex, spaces, bytes);
    state->lex = lex;
  }
  uint32_t spaces(const State& state) const { return state.json.spaces; }
  uint32_t max_spaces() const { return json_->max_spaces(); }
  grammar::Lexer& lexer() const { return json_->lexer(); }

 private:
  using Literal = CallForm::Literal;

  // Of json levels: the object of a call, and that of its arguments.
  static constexpr uint32_t kCallDepth = 1;
  static constexpr uint32_t kArgumentsDepth = 2;

  const std::string& literal(size_t which) const {
    return form_.literals[which];
  }
  // Whether arguments are written one by one, with marks of the format.
  bool writes_keys() const {
    return form_.shape != CallShape::kObjects &&
           form_.shape != CallShape::kNamed;
  }
  size_t empty_option(const State& state) const;
  bool goes_on(const State& state, size_t which, uint8_t byte) const;
  bool advance(State* state, uint8_t byte) const;
  bool read_text(State* state, uint8_t byte) const;
  bool read_reasoning(State* state, uint8_t byte) const;
  bool read_literal(State* state, uint8_t byte) const;
  bool read_name(State* state, uint8_t byte) const;
  bool read_number(State* state, uint8_t byte) const;
  bool read_json(State* state, uint8_t byte) const;
  bool read_key(State* state, uint8_t byte) const;
  bool read_value(State* state, uint8_t byte) const;
  bool read_raw(State* state, uint8_t byte) const;
  bool read_raw_or_null(State* state, char byte) const;
  bool end_raw(State* state, std::string_view json) const;
  bool read_python(State* state, uint8_t byte) const;
  bool read_gemma(State* state, uint8_t byte) const;
  bool read_gemma_quote(State* state, uint8_t byte) const;
  bool read_word(State* state, uint8_t byte) const;

  bool expect(State* state, uint32_t options, size_t offset = 0) const;
  bool finish_literal(State* state, Literal which) const;
  bool begin_call(State* state) const;
  bool begin_arguments(State* state) const;
  bool expect_argument(State* state) const;
  bool end_value(State* state, uint8_t byte) const;

  static bool begins_value(const State& state);
  static std::string_view next_member(const State& state);
  static std::string_view empty_value(const ArgumentType& type);
  ArgumentType element_type(const State& state) const;
  std::string element_end(const State& state) const;
  bool expect_element(State* state) const;
  bool read_element(State* state, uint8_t byte) const;
  bool close_element(State* state) const;
  bool may_be_elements(const State& state) const;
  bool begin_element(State* state, uint8_t byte) const;
  bool begin_member(State* state) const;
  bool read_element_name(State* state, uint8_t byte) const;
  bool begin_element_value(State* state) const;
  bool read_element_value(State* state, uint8_t byte) const;
  bool read_element_end(State* state, uint8_t byte) const;

  bool feed(State* state, std::string_view json) const;
  bool feed_content(State* state, char byte) const;
  bool would_feed(const State& state, std::string_view json) const;
  bool may_escape(const Json::State& json) const;
  static bool is_between(const State& state);
  bool value_is_over(const State& state, uint8_t byte) const;
  bool is_key_byte(uint8_t byte) const;

  const CallForm form_;
  const std::shared_ptr<Json> json_;
  const Begin begin_;
};

}  // namespace rc::text::chat
