// The formats in which models write reasoning and calls of tools, as data.
//
// Each format is a row of a table: the marks around reasoning and around calls,
// and the shape of what is between them. One parser reads them all; see
// reply_parser.h. They lie within the room of chat templates because both are
// sides of one agreement: the template writes what the parser reads, and which
// format a model has is seen in its template.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace rc::text::chat {

// The form of the text between the marks of a call.
enum class CallShape : unsigned char {
  kNone,      // the format has no calls
  kObjects,   // JSON: {"name": ..., "arguments": {...}}, or an array of such
  kNamed,     // the name, a mark, and the arguments as a JSON object
  kTags,      // the name, and each argument between marks
  kPython,    // [f(a=1, b="x"), g()]
  kGemma,     // call:f{a:1,b:<|"|>x<|"|>}
  kElements,  // the name, and arguments as elements, which values are too
};

// An answer as models of a format write it, for grammars that make them write
// one: what is around a call, of which one answer may have a section, or around
// text.
struct WrittenAnswer {
  std::string_view section_begin = {};
  // Before the name; of kObjects: before the JSON.
  std::string_view begin = {};
  // kObjects: calls are objects in an array.
  bool array = false;
  bool numbered = false;  // after the name come ":" and a number
  std::string_view name_end = {};
  // Of kTags, kPython, kGemma and kElements: around the keys and values of
  // arguments.
  std::string_view key_begin = {};
  std::string_view key_end = {};
  std::string_view string_key_end = {};  // where the value is a string
  std::string_view value_end = {};
  std::string_view between = {};  // two arguments
  std::string_view end = {};
  std::string_view section_end = {};
  std::string_view text_begin = {};
  std::string_view text_end = {};
  // Where the marks of the format are not all that is around reasoning that
  // comes before the others.
  std::string_view reasoning_begin = {};
  std::string_view reasoning_end = {};
};

// Empty texts are marks that the format does not have.
struct ReplyFormat {
  std::string_view name = {};
  // Texts that all occur in templates of this format.
  std::array<std::string_view, 2> signs = {};

  std::string_view reasoning_begin = "<think>";
  std::string_view reasoning_end = "</think>";

  CallShape shape = CallShape::kNone;
  std::string_view call_begin = {};
  std::string_view other_call_begin = {};  // that some models write instead
  std::string_view call_end = {};  // without it a call ends with its JSON

  // kObjects: the members. Without name_key the only member of a call is its
  // arguments, under its name.
  std::string_view name_key = "name";
  std::string_view arguments_key = "arguments";
  std::string_view id_key = "id";
  // Models of the format write objects without the mark, also of kPython.
  bool bare = false;

  // kNamed, kTags and kElements. The name is what is between the beginning of
  // the call, or name_begin, and name_end; id_begin divides it from the call's
  // id. kTags without name_end: the name ends where the arguments begin.
  std::string_view name_begin = {};
  std::string_view id_begin = {};
  std::string_view name_end = {};
  // kTags: what comes after name_end up to this is no argument.
  std::string_view name_tail_end = {};
  // kNamed: all before name_end is the id, the name is without the number after
  // its last ':'. Where answers are written with "functions." before the name,
  // it is none of it.
  bool id_is_name = false;
  // kNamed: the id is what is before name_begin.
  bool id_is_first = false;

  // kTags: around the name and the value of an argument, and what may come
  // after the last one.
  std::string_view key_begin = {};
  std::string_view key_end = {};
  std::string_view value_begin = {};
  std::string_view value_end = {};
  std::string_view body_end = {};
  // kElements: key_begin, a name and ">" begin an argument, and value_end, the
  // name and ">" end it. Its value is a text, or elements: those of an object
  // are named as its members, those of an array "item". The call itself ends
  // like one of them.
  //
  // kTags: what stands between key_end and value_begin where the value is a
  // string. With another value in place of this one's, it is JSON.
  std::string_view string_attribute = {};
  // kTags: texts may stand between <![CDATA[ and ]]>.
  bool cdata = false;
  // kPython: strings are written as they are between their quotes, without
  // escapes.
  bool raw_strings = false;
  // Each value is on separate lines: a line break on either side does not
  // belong to it.
  bool values_on_lines = false;
  // Constants, lists and objects are written as Python prints them.
  bool python_values = false;

  // Marks that are left out of text.
  std::array<std::string_view, 6> dropped = {};

  // An answer is several messages, each with a header before it; it begins
  // within the first one. A header that has a name, as kNamed says, begins a
  // call; but one that is text_header begins text, and one that has
  // reasoning_header in it reasoning.
  std::string_view header_begin = {};
  std::string_view header_end = {};
  std::string_view text_header = {};
  std::string_view reasoning_header = {};

  WrittenAnswer written = {};
};

// In the order in which they are looked for in templates.
std::span<const ReplyFormat> reply_formats();

// By its name; nullptr: there is no such format.
const ReplyFormat* reply_format(std::string_view name);

// The format of a template, by its text. Without a sign of any in it, it is
// "plain": reasoning between <think> and </think>, and no calls.
const ReplyFormat& reply_format_of(std::string_view template_source);

}  // namespace rc::text::chat
