#include "text/chat/calls/call_form.h"

#include "base/error.h"
#include "base/quote.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/special_names.h"

namespace rc::text::chat {
namespace {

// What opens and closes a string of Gemma's.
constexpr std::string_view kGemmaQuote = "<|\"|>";

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

void check_name(const JsonValue& function, const std::string& place) {
  const std::string& name = function.find("name")->text;
  for (const char c : name) {
    if (is_word_byte(c) || c == '/') continue;
    fail(RC_E_INVALID_ARGUMENT, place, ".name: ", quote(name),
         " can't be written by a model; use letters, digits, '_' and '-'");
  }
  if (!is_call_name(name)) {
    fail(RC_E_INVALID_ARGUMENT, place, ".name: ", name.size(),
         " bytes; the name of a function has 1 to 256");
  }
}

// Formats without quotes around the names of arguments.
void check_keys(const JsonValue& function, CallShape shape,
                const std::string& place) {
  const JsonValue* parameters = function.find_given("parameters");
  if (parameters == nullptr) return;
  const JsonValue* properties = parameters->find_given("properties");
  if (properties == nullptr) return;
  for (const auto& [name, schema] : properties->members) {
    bool good = !name.empty() && name.front() != ' ' && name.back() != ' ';
    for (const char c : name) {
      if (!is_word_byte(c) && !(shape == CallShape::kTags && c == ' ')) {
        good = false;
      }
    }
    if (!good) {
      fail(RC_E_INVALID_ARGUMENT, place,
           ".parameters.properties: ", quote(name),
           " is no name that this model's format of calls can "
           "write; use letters, digits, '_' and '-'");
    }
  }
}

}  // namespace

CallForm::CallForm(const ReplyFormat& format, const JsonValue& tools,
                   CallUse use,
                   const std::function<bool(std::string_view)>& is_special)
    : shape(format.shape),
      use(use),
      bare(format.bare && format.shape == CallShape::kObjects) {
  if (shape == CallShape::kNone) {
    fail(
        RC_E_UNSUPPORTED,
        use == CallUse::kAllowed ? "tools: strict ones can't be kept so"
                                 : "tool_choice: no call can be forced",
        "; the chat template shows no way of writing calls that is known here");
  }
  const auto marked = [&](std::string_view text) {
    return with_special_names(text, is_special);
  };
  const WrittenAnswer& written = format.written;
  const bool by_keys = shape == CallShape::kTags ||
                       shape == CallShape::kPython ||
                       shape == CallShape::kGemma;
  if (use != CallUse::kNone) {
    for (size_t i = 0; i < tools.items.size(); ++i) {
      const std::string place = cat("tools[", i, "].function");
      const JsonValue& function = *tools.items[i].find("function");
      if (shape != CallShape::kObjects) check_name(function, place);
      if (by_keys) check_keys(function, shape, place);
    }
  }
  numbered = written.numbered;
  const std::string begin = marked(written.begin);
  const std::string section = marked(written.section_begin);
  // Sections may hold several calls; harmony's are messages of their own.
  const bool whole = !format.header_begin.empty();
  literals[kBegin] =
      use == CallUse::kRequired || whole ? section + begin : begin;
  literals[kNameEnd] = marked(written.name_end);
  literals[kKeyBegin] = marked(written.key_begin);
  literals[kNextKeyBegin] = marked(written.between) + literals[kKeyBegin];
  literals[kKeyEnd] = marked(written.key_end);
  literals[kStringKeyEnd] = written.string_key_end.empty()
                                ? literals[kKeyEnd]
                                : marked(written.string_key_end);
  literals[kValueEnd] = marked(written.value_end);
  literals[kEnd] = marked(written.end);
  if (use == CallUse::kRequired) literals[kEnd] += marked(written.section_end);
  set_reasoning(format, is_special);
  this->tools = ToolTypes(tools);
  null_text = format.python_values ? "None" : "null";
  switch (shape) {
    case CallShape::kTags: {
      const std::string mark = marked(format.value_end);
      const std::string& end = literals[kValueEnd];
      string_end = end.substr(0, end.find(mark) + mark.size());
      value_mark = Watch(mark);
      break;
    }
    case CallShape::kGemma:
      string_end = marked(kGemmaQuote);
      [[fallthrough]];
    case CallShape::kPython:
      value_mark = Watch(marked(format.call_end));
      break;
    default:
      break;
  }
  if (use == CallUse::kRequired) return;
  const std::string mark = whole ? literals[kBegin] : marked(format.call_begin);
  if (mark.empty()) {
    fail(RC_E_UNSUPPORTED, "tools: in the format ", format.name,
         " calls can't be told from text before they are whole, so that none "
         "can be kept strict, or out; leave \"strict\" out, or use the "
         "tool_choice required");
  }
  if (use == CallUse::kAllowed) {
    trigger = Watch(mark);
  } else {
    forbidden.emplace_back(mark);
  }
  if (!format.other_call_begin.empty()) {
    forbidden.emplace_back(marked(format.other_call_begin));
  }
  if (whole) {
    // The other place of a recipient, in the header's role.
    before = marked(cat(format.header_begin, "assistant"));
    forbidden.emplace_back(before + " to=");
  }
}

void CallForm::set_reasoning(
    const ReplyFormat& format,
    const std::function<bool(std::string_view)>& is_special) {
  const WrittenAnswer& written = format.written;
  const bool own = !written.reasoning_begin.empty();
  literals[kReasoningBegin] = with_special_names(
      own ? written.reasoning_begin : format.reasoning_begin, is_special);
  reasoning_end = Watch(with_special_names(
      own ? written.reasoning_end : format.reasoning_end, is_special));
}

CallForm CallForm::of_text(
    const ReplyFormat& format,
    const std::function<bool(std::string_view)>& is_special) {
  CallForm form(CallShape::kObjects, CallUse::kRequired);
  form.literals[kBegin] =
      with_special_names(format.written.text_begin, is_special);
  form.literals[kEnd] = with_special_names(format.written.text_end, is_special);
  form.set_reasoning(format, is_special);
  return form;
}

}  // namespace rc::text::chat
