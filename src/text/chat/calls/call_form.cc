#include "text/chat/calls/call_form.h"

#include "base/error.h"
#include "text/chat/calls/call_names.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/special_names.h"

namespace rc::text::chat {
namespace {

// The quotation mark of Gemma's strings.
constexpr std::string_view kGemmaQuote = "<|\"|>";

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
  if (use != CallUse::kNone) {
    for (size_t i = 0; i < tools.items.size(); ++i) {
      check_call_names(*tools.items[i].find("function"), shape,
                       cat("tools[", i, "].function"));
    }
  }
  numbered = written.numbered;
  const std::string begin = marked(written.begin);
  const std::string section = marked(written.section_begin);
  // Sections may contain several calls; those of harmony are whole messages.
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
    case CallShape::kElements: {
      // A call ends like its elements.
      string_end = literals[kValueEnd];
      value_mark = Watch(string_end);
      const std::string_view name =
          format.call_end.substr(format.value_end.size());
      literals[kEnd] = cat(string_end, name);
      if (use == CallUse::kRequired) {
        literals[kEnd] += marked(written.section_end);
      }
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
         " calls can't be distinguished from text before they are whole, so "
         "that none "
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
