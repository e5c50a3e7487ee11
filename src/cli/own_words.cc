#include "own_words.h"

#include <cctype>
#include <cstring>

namespace cli {
namespace {

const CLI::App* g_command = nullptr;

// Functions and phrases of C, and what does the same here. The longer ones of
// one beginning come first.
struct Phrase {
  const char* in_c;
  const char* here;
};
constexpr Phrase kPhrases[] = {
    {"; where models of architecture", "; models of architecture"},
    {"load it with output = RC_OUTPUT_LOGITS", "use one that generates text"},
    {"give a template, or the name of one of",
     "give --template-file, or --template-name with one of"},
    {"not logits; load it for embeddings", "not logits; use runcible embed"},
    {"rc_discover", "runcible devices"},
    {"rc_model_fetch", "runcible pull"},
    {"rc_model_quantize", "runcible quantize"},
    {"rc_model_convert", "runcible convert"},
    {"rc_model_plan", "runcible plan"},
    {"rc_model_verify", "runcible verify"},
    {"rc_backend_explain", "runcible explain"},
    {"rc_calibrate", "runcible calibrate"},
    {"rc_device_test", "runcible devices --self-test"},
    {"rc_quarantine_forget", "runcible devices --forget-quarantine"},
};

// Options that are given by positional words, or by another option.
struct Renamed {
  const char* in_c;
  const char* here;
};
constexpr Renamed kRenamed[] = {{"template_text", "--template-file"},
                                {"text_path", "TEXT"},
                                {"choices_path", "--choices"}};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// "--max-tokens" for "max_tokens", if the command has that; else "".
std::string option_of(const std::string& word) {
  for (const Renamed& renamed : kRenamed) {
    if (word == renamed.in_c) return renamed.here;
  }
  if (g_command == nullptr) return "";
  std::string name = "--" + word;
  for (char& c : name) c = c == '_' ? '-' : c;
  return g_command->get_option_no_throw(name) == nullptr ? "" : name;
}

// "full error" for "RC_FULL_ERROR".
std::string plain(const std::string& word) {
  std::string text = word.substr(std::strlen("RC_"));
  if (text.rfind("E_", 0) == 0) text.erase(0, 2);
  for (char& c : text) {
    c = c == '_'
            ? ' '
            : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string with_phrases(std::string text) {
  for (const Phrase& phrase : kPhrases) {
    size_t at = 0;
    while ((at = text.find(phrase.in_c, at)) != std::string::npos) {
      text.replace(at, std::strlen(phrase.in_c), phrase.here);
      at += std::strlen(phrase.here);
    }
  }
  return text;
}

}  // namespace

void set_current_command(const CLI::App* command) { g_command = command; }

std::string in_own_words(const std::string& message) {
  constexpr char kPointer[] = "options->";
  const std::string text = with_phrases(message);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char before = at == 0 ? ' ' : text[at - 1];
    // Parts of paths and of longer names are no names of options.
    const bool begins = before == ' ' || before == '(' || before == '"';
    if (!begins || !is_word(text[at])) {
      out += text[at++];
      continue;
    }
    const bool pointed = text.compare(at, std::strlen(kPointer), kPointer) == 0;
    const size_t from = pointed ? at + std::strlen(kPointer) : at;
    size_t end = from;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(from, end - from);
    const bool has_line = word.find('_') != std::string::npos;
    // One word without a line is a name where a value follows it.
    const bool is_subject = at == 0 && text.compare(end, 4, " is ") == 0;
    const bool in_path =
        end < text.size() &&
        (text[end] == '/' ||
         (text[end] == '.' && end + 1 < text.size() && is_word(text[end + 1])));
    std::string name;
    if (!in_path && (pointed || has_line || is_subject)) name = option_of(word);
    if (name.empty() && word.rfind("RC_", 0) == 0) name = plain(word);
    out += name.empty() ? word : name;
    at = end;
  }
  return out;
}

}  // namespace cli
