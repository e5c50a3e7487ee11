#include "text/chat/calls/call_grammar.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "text/chat/calls/call_form.h"
#include "text/chat/calls/call_machine.h"
#include "text/chat/calls/call_masks.h"
#include "text/chat/calls/call_schema.h"
#include "text/grammar/compile.h"
#include "text/grammar/machine_grammar.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

constexpr size_t kDeepestChoice = 8;
// A schema and what is around it.
constexpr size_t kDeepestResponseFormat = 202;

ToolChoice choice_by_word(std::string_view word) {
  using Kind = ToolChoice::Kind;
  if (word == "auto") return {Kind::kAuto};
  if (word == "none") return {Kind::kNone};
  if (word == "required") return {Kind::kRequired};
  fail(RC_E_INVALID_ARGUMENT, "tool_choice: ", quote(word),
       " is not auto, none, required, or an object that names a function");
}

bool is_strict(const JsonValue& function) {
  const JsonValue* strict = function.find("strict");
  return strict != nullptr && strict->is(Type::kTrue);
}

bool any_strict(const JsonValue& tools) {
  return std::any_of(
      tools.items.begin(), tools.items.end(),
      [](const JsonValue& tool) { return is_strict(*tool.find("function")); });
}

CallUse use_of(ToolChoice::Kind kind) {
  switch (kind) {
    case ToolChoice::Kind::kRequired:
      return CallUse::kRequired;
    case ToolChoice::Kind::kNone:
      return CallUse::kNone;
    case ToolChoice::Kind::kAuto:
      break;
  }
  return CallUse::kAllowed;
}

// All of a form and the beginning of an answer, for a hash.
std::string source_of(const CallForm& form, const AnswerBegin& begin) {
  std::string source =
      cat(static_cast<int>(form.shape), ",", static_cast<int>(form.use), ",",
          form.numbered, form.bare, begin.within_reasoning, begin.may_reason);
  const auto add = [&](std::string_view text) {
    source += cat(text.size(), ":", text);
  };
  for (const std::string& literal : form.literals) add(literal);
  for (const Watch* watch :
       {&form.trigger, &form.reasoning_end, &form.value_mark}) {
    add(watch->text());
  }
  source += cat(form.forbidden.size(), ";");
  for (const Watch& watch : form.forbidden) add(watch.text());
  add(form.before);
  add(form.string_end);
  add(form.null_text);
  const auto add_type = [&](const ArgumentType& type) {
    source += cat(static_cast<int>(type.bits), ";");
  };
  for (const auto& [function, arguments] : form.tools.tools()) {
    add(function);
    add_type(arguments.others);
    source += cat(arguments.named.size(), ";");
    for (const auto& [name, type] : arguments.named) {
      add(name);
      add_type(type);
    }
    // Types within arguments.
    if (form.shape == CallShape::kElements && arguments.parameters != nullptr) {
      add(json_text(*arguments.parameters));
    }
  }
  return source;
}

std::shared_ptr<const grammar::Grammar> grammar_of(CallForm form,
                                                   const JsonValue& schema,
                                                   const AnswerBegin& begin,
                                                   const Tokenizer& tokenizer,
                                                   std::function<bool()> stop) {
  grammar::JsonOptions options;
  options.should_stop = std::move(stop);
  options.one_space = true;
  options.short_numbers = true;
  options.reader.plain_integers = true;
  options.reader.closed = true;
  // Models write the members of calls in the order of their format.
  options.reader.ordered = form.shape == CallShape::kNone;
  const std::string text = json_text(schema);
  auto vocabulary = tokenizer.grammar_vocabulary(/*names_special=*/true);
  const grammar::TextHash hash = grammar::json_source_hash(
      source_of(form, begin), text, options, *vocabulary);
  CallMachine::Begin first = CallMachine::Begin::kCall;
  if (begin.within_reasoning) {
    first = CallMachine::Begin::kWithin;
  } else if (begin.may_reason) {
    first = CallMachine::Begin::kEither;
  }
  return grammar::compile(hash, [&](std::shared_ptr<grammar::KnownFailures>
                                        failures) {
    auto json = std::make_shared<grammar::JsonMachine>(
        std::make_shared<grammar::JsonModel>(text, options));
    auto machine =
        std::make_shared<CallMachine>(std::move(form), std::move(json), first);
    return std::make_shared<grammar::MachineGrammar<CallMachine, CallMasks>>(
        std::move(machine), std::move(vocabulary), std::move(failures));
  });
}

}  // namespace

ToolChoice parse_tool_choice(std::string_view text) {
  if (text.find_first_of("{\"[") == text.npos) return choice_by_word(text);
  const JsonValue choice = parse_json(text, "tool_choice", kDeepestChoice);
  if (choice.is(Type::kString)) return choice_by_word(choice.text);
  const JsonValue* function = choice.find("function");
  const JsonValue* name =
      function == nullptr ? nullptr : function->find("name");
  if (name == nullptr || !name->is(Type::kString) || name->text.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "tool_choice: ", type_name(choice),
         " that names no function; give auto, none, required, or "
         "{\"type\": \"function\", \"function\": {\"name\": NAME}}");
  }
  return {ToolChoice::Kind::kRequired, name->text};
}

void check_tool_choice(const JsonValue* tools, const ToolChoice& choice) {
  if (choice.kind != ToolChoice::Kind::kRequired) return;
  if (tools == nullptr || tools->items.empty()) {
    fail(RC_E_INVALID_ARGUMENT,
         "tool_choice: a call is required, but the conversation has no tools");
  }
  if (choice.name.empty()) return;
  const bool there = std::any_of(
      tools->items.begin(), tools->items.end(), [&](const JsonValue& tool) {
        return tool.find("function")->find("name")->text == choice.name;
      });
  if (!there) {
    fail(RC_E_INVALID_ARGUMENT, "tool_choice: there is no tool ",
         quote(choice.name));
  }
}

std::shared_ptr<const grammar::Grammar> call_grammar(
    const ReplyFormat& format, const JsonValue* tools, const ToolChoice& choice,
    const AnswerBegin& begin, const Tokenizer& tokenizer,
    const std::function<bool(std::string_view)>& is_special,
    std::function<bool()> should_stop) {
  using Kind = ToolChoice::Kind;
  const bool required = choice.kind == Kind::kRequired;
  check_tool_choice(tools, choice);
  if (!required &&
      (tools == nullptr || tools->items.empty() ||
       (choice.kind == Kind::kAuto && !any_strict(*tools)) ||
       (choice.kind == Kind::kNone && format.shape == CallShape::kNone))) {
    return nullptr;
  }
  CallForm form(format, *tools, use_of(choice.kind), is_special);
  const JsonValue schema = call_schema(
      *tools, format,
      [&](std::string_view name) {
        return choice.name.empty() || name == choice.name;
      },
      [&](const JsonValue& function) {
        return required || (choice.kind == Kind::kAuto && is_strict(function));
      });
  return grammar_of(std::move(form), schema, begin, tokenizer,
                    std::move(should_stop));
}

std::optional<JsonValue> parse_response_format(std::string_view json) {
  const JsonValue format =
      parse_json(json, "response_format", kDeepestResponseFormat);
  const JsonValue* type = format.find("type");
  if (type == nullptr || !type->is(Type::kString)) {
    fail(RC_E_INVALID_ARGUMENT, "response_format.type: ",
         type == nullptr ? "absent" : type_name(*type),
         ", but it must be 'text', 'json_object' or 'json_schema'");
  }
  if (type->text == "text") return std::nullopt;
  if (type->text == "json_object") {
    JsonValue object{.type = Type::kObject};
    object.members.emplace_back(
        "type", JsonValue{.type = Type::kString, .text = "object"});
    return object;
  }
  if (type->text != "json_schema") {
    fail(RC_E_INVALID_ARGUMENT, "response_format.type: ", quote(type->text),
         " is not 'text', 'json_object' or 'json_schema'");
  }
  const JsonValue* named = format.find("json_schema");
  const JsonValue* schema = named == nullptr ? nullptr : named->find("schema");
  if (schema == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "response_format.json_schema.schema: absent");
  }
  return *schema;
}

std::shared_ptr<const grammar::Grammar> response_grammar(
    const ReplyFormat& format, const JsonValue& schema,
    const AnswerBegin& begin, const Tokenizer& tokenizer,
    const std::function<bool(std::string_view)>& is_special,
    std::function<bool()> should_stop) {
  try {
    return grammar_of(CallForm::of_text(format, is_special), schema, begin,
                      tokenizer, std::move(should_stop));
  } catch (const Error& error) {
    if (error.status() != RC_E_INVALID_ARGUMENT &&
        error.status() != RC_E_UNSUPPORTED) {
      throw;
    }
    fail(error.status(), "response_format: ", error.message());
  }
}

}  // namespace rc::text::chat
