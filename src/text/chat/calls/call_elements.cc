// Arguments that are elements, in which values are elements again. How deep an
// element is, and what ends it, is known from the levels of its JSON.
#include <utility>
#include <vector>

#include "base/cat.h"
#include "text/chat/calls/call_machine.h"
#include "text/chat/calls/call_names.h"
#include "text/chat/replies/call_parts.h"

namespace rc::text::chat {

bool CallMachine::begins_value(const State& state) {
  return state.json.phase == Json::Phase::kValue ||
         state.json.phase == Json::Phase::kFirstItem;
}

// The type of the value that has begun, or is next.
ArgumentType CallMachine::element_type(const State& state) const {
  std::vector<const Json::Level*> levels;
  for (const Json::Level* level = state.json.level.get();
       level != nullptr && level->depth >= kArgumentsDepth;
       level = level->parent.get()) {
    levels.push_back(level);
  }
  ValuePlace place = form_.tools.place(state.name);
  while (!levels.empty()) {
    const Json::Level& level = *levels.back();
    levels.pop_back();
    place = level.array ? place.item(level.count == 0 ? 0 : level.count - 1)
                        : place.member(level.seen->name);
  }
  return place.type();
}

// Returns the end tag of the element whose value was read last.
std::string CallMachine::element_end(const State& state) const {
  const Json::Level& level = *state.json.level;
  return cat(form_.string_end,
             level.array ? kItemElement : std::string_view(level.seen->name),
             ">");
}

// Another element, or the end of the one around it.
bool CallMachine::expect_element(State* state) const {
  state->stage = Stage::kElement;
  state->options = 0;
  state->offset = 0;
  state->held.clear();
  const Json::Level& level = *state->json.level;
  if (level.array) {
    return would_feed(*state, "]") || would_feed(*state, ", ");
  }
  return would_feed(*state, level.depth == kArgumentsDepth ? "}}" : "}") ||
         would_feed(*state, next_member(*state));
}

std::string_view CallMachine::next_member(const State& state) {
  return state.json.phase == Json::Phase::kFirstKey ? "\"" : ", \"";
}

bool CallMachine::read_element(State* state, uint8_t byte) const {
  const std::string& mark = literal(Literal::kKeyBegin);
  if (state->offset < mark.size()) {
    return static_cast<uint8_t>(mark[state->offset++]) == byte;
  }
  return byte == '/' ? close_element(state) : begin_element(state, byte);
}

// The mark has come that ends the element around the last one, or one without a
// value, but for its name.
bool CallMachine::close_element(State* state) const {
  const Json::Level& level = *state->json.level;
  if (begins_value(*state)) {
    const std::string_view value = empty_value(element_type(*state));
    if (value.empty() || !feed(state, value)) return false;
  } else if (level.depth == kArgumentsDepth) {
    return would_feed(*state, "}}") &&
           expect(state, 1U << Literal::kEnd, form_.string_end.size());
  } else if (!feed(state, level.array ? "]" : "}")) {
    return false;
  }
  state->stage = Stage::kElementEnd;
  state->offset = static_cast<uint16_t>(form_.string_end.size());
  return true;
}

// The value that readers take an element without text for.
std::string_view CallMachine::empty_value(const ArgumentType& type) {
  if (type.allows(ArgumentType::kString)) return "\"\"";
  if (type.allows(ArgumentType::kArray)) return "[]";
  return type.allows(ArgumentType::kObject) ? "{}" : "";
}

// Whether the value that begins may be elements, or an element without text.
bool CallMachine::may_be_elements(const State& state) const {
  const ArgumentType type = element_type(state);
  const std::string_view empty = empty_value(type);
  return (!empty.empty() && would_feed(state, empty)) ||
         (type.allows(ArgumentType::kArray) && would_feed(state, "[")) ||
         (type.allows(ArgumentType::kObject) && would_feed(state, "{\""));
}

// The first byte of an element's name. That of an item is held back where it
// could be another one.
bool CallMachine::begin_element(State* state, uint8_t byte) const {
  state->stage = Stage::kKey;
  state->held.clear();
  const bool first = begins_value(*state);
  const size_t deep = state->json.level->depth - kArgumentsDepth;
  if (deep + (first ? 1 : 0) >= kDeepestElement) return false;
  const bool may_be_item =
      first ? element_type(*state).allows(ArgumentType::kArray) &&
                  would_feed(*state, "[")
            : state->json.level->array && would_feed(*state, ", ");
  if (may_be_item && static_cast<char>(byte) == kItemElement[0]) {
    state->held = kItemElement[0];
    return true;
  }
  if (!first) {
    return !state->json.level->array && feed(state, next_member(*state)) &&
           read_element_name(state, byte);
  }
  return begin_member(state) && read_element_name(state, byte);
}

// The first member of an object begins.
bool CallMachine::begin_member(State* state) const {
  return element_type(*state).allows(ArgumentType::kObject) &&
         feed(state, "{\"");
}

bool CallMachine::read_element_name(State* state, uint8_t byte) const {
  const char c = static_cast<char>(byte);
  if (!state->held.empty()) {
    if (c == '>' && state->held == kItemElement) {
      state->held.clear();
      return feed(state, begins_value(*state) ? "[" : ", ") &&
             begin_element_value(state);
    }
    if (kItemElement.substr(state->held.size()).starts_with(c)) {
      state->held += c;
      return true;
    }
    const std::string name = std::exchange(state->held, std::string());
    if (!begins_value(*state) || !begin_member(state) || !feed(state, name)) {
      return false;
    }
  }
  const std::string& name = state->json.text;
  if (c == '>') {
    return !name.empty() && name.back() != ' ' && feed(state, "\": ") &&
           begin_element_value(state);
  }
  return is_element_byte(c) && name.size() < kLongestElementName &&
         (c != ' ' || !name.empty()) && json_->step(&state->json, byte);
}

bool CallMachine::begin_element_value(State* state) const {
  state->stage = Stage::kValue;
  state->offset = 0;
  state->watched = {};
  state->held.clear();
  const ArgumentType type = element_type(*state);
  state->raw = type.is_text();
  state->or_null = state->raw && type.allows(ArgumentType::kNull) &&
                   would_feed(*state, "null");
  return !state->raw || state->or_null || feed(state, "\"");
}

bool CallMachine::read_element_value(State* state, uint8_t byte) const {
  const char c = static_cast<char>(byte);
  if (begins_value(*state)) {
    if (c == literal(Literal::kKeyBegin)[0]) {
      if (!may_be_elements(*state)) return false;
      state->stage = Stage::kElement;
      state->offset = 0;
      return read_element(state, byte);
    }
    return c != '[' && c != '{' && json_->step(&state->json, byte);
  }
  if (value_is_over(*state, byte)) {
    if (state->json.phase == Json::Phase::kBare &&
        json_->lexer().accepted(state->json.lex).empty()) {
      return false;
    }
    state->stage = Stage::kElementEnd;
    state->offset = 0;
    state->watched = {};
    return read_element_end(state, byte);
  }
  uint16_t* matched = state->watched.data();
  *matched = form_.value_mark.next(*matched, c);
  return !form_.value_mark.found(*matched) && json_->step(&state->json, byte);
}

bool CallMachine::read_element_end(State* state, uint8_t byte) const {
  const std::string end = element_end(*state);
  if (static_cast<uint8_t>(end[state->offset]) != byte) return false;
  return ++state->offset < end.size() || expect_element(state);
}

}  // namespace rc::text::chat
