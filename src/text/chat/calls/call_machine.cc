#include "text/chat/calls/call_machine.h"

#include <utility>

namespace rc::text::chat {
namespace {

constexpr size_t kLongestNumber = 4;  // of the number after a name
constexpr size_t kMostBetween = 4;

bool is_space(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

constexpr uint32_t bit(CallForm::Literal which) { return 1U << which; }

}  // namespace

CallMachine::CallMachine(CallForm form, std::shared_ptr<Json> json, Begin begin)
    : form_(std::move(form)), json_(std::move(json)), begin_(begin) {}

CallMachine::State CallMachine::begin() const {
  State state;
  if (form_.use != CallUse::kRequired) {
    for (const char byte : form_.before) {
      for (size_t i = 0; i < form_.forbidden.size(); ++i) {
        state.watched[i + 1] =
            form_.forbidden[i].next(state.watched[i + 1], byte);
      }
    }
    return state;
  }
  if (begin_ == Begin::kWithin) {
    state.stage = Stage::kReasoning;
  } else if (begin_ == Begin::kEither) {
    expect(&state, bit(Literal::kReasoningBegin) | bit(Literal::kBegin));
  } else {
    expect(&state, bit(Literal::kBegin));
  }
  return state;
}

bool CallMachine::step(State* state, uint8_t byte) const {
  if (!advance(state, byte)) return false;
  state->lex = state->json.lex;
  return true;
}

bool CallMachine::advance(State* state, uint8_t byte) const {
  switch (state->stage) {
    case Stage::kText:
      return read_text(state, byte);
    case Stage::kReasoning:
      return read_reasoning(state, byte);
    case Stage::kBetween:
      if ((byte == '\n' || byte == ' ') && state->offset < kMostBetween) {
        ++state->offset;
        return true;
      }
      return expect(state, bit(Literal::kBegin)) && advance(state, byte);
    case Stage::kLiteral:
      return read_literal(state, byte);
    case Stage::kName:
      return read_name(state, byte);
    case Stage::kNumber:
      return read_number(state, byte);
    case Stage::kJson:
      return read_json(state, byte);
    case Stage::kKey:
      return read_key(state, byte);
    case Stage::kValue:
      return read_value(state, byte);
    case Stage::kWord:
      return read_word(state, byte);
    case Stage::kElement:
      return read_element(state, byte);
    case Stage::kElementEnd:
      return read_element_end(state, byte);
    case Stage::kDone:
      return false;
  }
  return false;
}

bool CallMachine::can_end(const State& state) const {
  switch (state.stage) {
    case Stage::kText:
    case Stage::kDone:
      return true;
    case Stage::kJson:
      // A number may be over, or not.
      return form_.shape == CallShape::kObjects &&
             literal(Literal::kEnd).empty() && json_->can_end(state.json);
    default:
      return false;
  }
}

bool CallMachine::refuses(const State& state, LexState lex,
                          uint8_t byte) const {
  if (state.stage == Stage::kJson) return json_->refuses(state.json, lex, byte);
  if (state.stage == Stage::kDone) return true;
  if (state.stage != Stage::kLiteral ||
      empty_option(state) != Literal::kLiterals) {
    return false;
  }
  for (size_t i = 0; i < Literal::kLiterals; ++i) {
    if (goes_on(state, i, byte)) return false;
  }
  return true;
}

bool CallMachine::read_text(State* state, uint8_t byte) const {
  if (form_.bare && state->fresh && byte == '{' &&
      form_.use == CallUse::kAllowed) {
    return begin_call(state) && advance(state, byte);
  }
  if (!is_space(byte)) state->fresh = false;
  const char c = static_cast<char>(byte);
  for (size_t i = 0; i < form_.forbidden.size(); ++i) {
    uint16_t* matched = &state->watched[i + 1];
    *matched = form_.forbidden[i].next(*matched, c);
    if (form_.forbidden[i].found(*matched)) return false;
  }
  state->watched[0] = form_.trigger.next(state->watched[0], c);
  if (!form_.trigger.found(state->watched[0])) return true;
  state->watched = {};
  // A format may have a mark that its calls need not have.
  if (!literal(Literal::kBegin).starts_with(form_.trigger.text())) {
    return begin_call(state);
  }
  return expect(state, bit(Literal::kBegin), form_.trigger.text().size());
}

bool CallMachine::read_reasoning(State* state, uint8_t byte) const {
  uint16_t* matched = &state->watched[0];
  *matched = form_.reasoning_end.next(*matched, static_cast<char>(byte));
  if (!form_.reasoning_end.found(*matched)) return true;
  *matched = 0;
  state->stage = Stage::kBetween;
  state->offset = 0;
  return true;
}

// The state where one of some literals has to come, after `offset` bytes.
bool CallMachine::expect(State* state, uint32_t options, size_t offset) const {
  state->stage = Stage::kLiteral;
  state->options = static_cast<uint16_t>(options);
  state->offset = static_cast<uint16_t>(offset);
  for (size_t i = 0; i < Literal::kLiterals; ++i) {
    const bool only = offset > 0 || options == 1U << i;
    if ((options >> i & 1) != 0 && only && literal(i).size() == offset) {
      return finish_literal(state, static_cast<Literal>(i));
    }
  }
  return options != 0;
}

// Whether the literal is among the options, and goes on with the byte.
bool CallMachine::goes_on(const State& state, size_t which,
                          uint8_t byte) const {
  return (state.options >> which & 1) != 0 &&
         state.offset < literal(which).size() &&
         static_cast<uint8_t>(literal(which)[state.offset]) == byte;
}

bool CallMachine::read_literal(State* state, uint8_t byte) const {
  uint32_t left = 0;
  for (size_t i = 0; i < Literal::kLiterals; ++i) {
    if (goes_on(*state, i, byte)) left |= 1U << i;
  }
  if (left != 0) return expect(state, left, state->offset + 1U);
  const size_t empty = empty_option(*state);
  return empty != Literal::kLiterals &&
         finish_literal(state, static_cast<Literal>(empty)) &&
         advance(state, byte);
}

// The option without a byte, which any byte that is not of another one begins;
// or kLiterals.
size_t CallMachine::empty_option(const State& state) const {
  size_t which = 0;
  while (which < Literal::kLiterals &&
         ((state.options >> which & 1) == 0 || state.offset > 0 ||
          !literal(which).empty())) {
    ++which;
  }
  return which;
}

bool CallMachine::finish_literal(State* state, Literal which) const {
  state->options = 0;
  state->offset = 0;
  switch (which) {
    case Literal::kReasoningBegin:
      state->stage = Stage::kReasoning;
      state->watched = {};
      return true;
    case Literal::kBegin:
      return begin_call(state);
    case Literal::kNameEnd:
      return begin_arguments(state);
    case Literal::kKeyBegin:
    case Literal::kNextKeyBegin:
      state->stage = Stage::kKey;
      state->key.clear();
      return feed(state, state->fresh ? "\"" : ", \"");
    case Literal::kKeyEnd:
    case Literal::kStringKeyEnd:
      state->stage = Stage::kValue;
      state->watched = {};
      state->held.clear();
      // The two may be the same text.
      state->raw = form_.writes_text(state->name, state->key);
      state->or_null = state->raw &&
                       form_.tools.type(state->name, state->key)
                           .allows(ArgumentType::kNull) &&
                       would_feed(*state, "null");
      return !state->raw || state->or_null || feed(state, "\"");
    case Literal::kValueEnd:
      state->fresh = false;
      return expect_argument(state);
    case Literal::kEnd:
      if (writes_keys() && !feed(state, "}}")) return false;
      state->name.clear();
      state->key.clear();
      if (form_.use == CallUse::kRequired) {
        state->stage = Stage::kDone;
      } else {
        state->stage = Stage::kText;
        state->fresh = false;
      }
      return true;
    case Literal::kLiterals:
      break;
  }
  return false;
}

bool CallMachine::begin_call(State* state) const {
  state->json = json_->begin();
  state->options = 0;
  state->offset = 0;
  if (form_.shape == CallShape::kObjects) {
    state->stage = Stage::kJson;
    return true;
  }
  state->stage = Stage::kName;
  state->name.clear();
  return feed(state, "{\"name\": \"");
}

bool CallMachine::read_name(State* state, uint8_t byte) const {
  const char first = form_.numbered ? ':' : literal(Literal::kNameEnd)[0];
  if (static_cast<char>(byte) != first) {
    state->name += static_cast<char>(byte);
    return byte != '"' && byte != '\\' && byte > ' ' &&
           json_->step(&state->json, byte);
  }
  if (!feed(state, "\", \"arguments\": ")) return false;
  if (!form_.numbered) return expect(state, bit(Literal::kNameEnd), 1);
  state->stage = Stage::kNumber;
  state->offset = 0;
  return true;
}

bool CallMachine::read_number(State* state, uint8_t byte) const {
  if (byte >= '0' && byte <= '9') return ++state->offset <= kLongestNumber;
  if (state->offset == 0) return false;
  return expect(state, bit(Literal::kNameEnd)) && advance(state, byte);
}

bool CallMachine::begin_arguments(State* state) const {
  if (form_.shape == CallShape::kNamed) {
    state->stage = Stage::kJson;
    return true;
  }
  state->fresh = true;
  if (!feed(state, "{")) return false;
  return form_.shape == CallShape::kElements ? expect_element(state)
                                             : expect_argument(state);
}

// Another argument, or the end of the call, as far as the schema goes.
bool CallMachine::expect_argument(State* state) const {
  uint32_t options = 0;
  if (would_feed(*state, "}}")) options |= bit(Literal::kEnd);
  if (would_feed(*state, state->fresh ? "\"" : ", \"")) {
    options |= bit(state->fresh ? Literal::kKeyBegin : Literal::kNextKeyBegin);
  }
  state->stage = Stage::kLiteral;
  state->options = static_cast<uint16_t>(options);
  state->offset = 0;
  return options != 0;
}

bool CallMachine::read_json(State* state, uint8_t byte) const {
  if (!json_->step(&state->json, byte)) return false;
  if (form_.shape == CallShape::kObjects) {
    return state->json.phase != Json::Phase::kDone ||
           expect(state, bit(Literal::kEnd));
  }
  const bool over = state->json.phase == Json::Phase::kAfter &&
                    state->json.level->depth == kCallDepth;
  return !over || (feed(state, "}") && expect(state, bit(Literal::kEnd)));
}

bool CallMachine::feed(State* state, std::string_view json) const {
  for (const char byte : json) {
    if (!json_->step(&state->json, static_cast<uint8_t>(byte))) return false;
  }
  return true;
}

bool CallMachine::would_feed(const State& state, std::string_view json) const {
  Json::State tried = state.json;
  for (const char byte : json) {
    if (!json_->step(&tried, static_cast<uint8_t>(byte))) return false;
  }
  return true;
}

}  // namespace rc::text::chat
