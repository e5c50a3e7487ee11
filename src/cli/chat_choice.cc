#include "chat_choice.h"

#include <fstream>
#include <iterator>

#include "one_of.h"

namespace cli {
namespace {

const char* given(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

}  // namespace

std::string read_file(const std::string& path) {
  if (path == "-") return read_stdin();
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) {
    throw Failure{kFile, "cannot read " + path};
  }
  return text;
}

std::string read_text_file(const std::string& path) {
  std::string text = read_file(path);
  const size_t at = text.find('\0');
  if (at != text.npos) {
    throw Failure{kMalformed, path + ": byte " + std::to_string(at) +
                                  " is NUL, which no text here can have; "
                                  "remove it"};
  }
  return text;
}

void ChatChoice::add_tools(CLI::App& command) {
  takes_file(
      command.add_option("--tools", tools_file_,
                         "a file with the functions that may be called: JSON "
                         "in the shape of OpenAI's chat completions"));
}

std::vector<CLI::Option*> ChatChoice::add_template(CLI::App& command) {
  CLI::Option* name =
      command
          .add_option("--template-name,--template", name_,
                      "a template by name: of a variant in the model's file, "
                      "or a well-known one such as chatml")
          ->type_name("NAME");
  CLI::Option* file = takes_file(
      command.add_option("--template-file", file_, "a file with a template"));
  name->excludes(file);
  CLI::Option* arguments =
      command
          .add_option("--template-arguments,--arguments", arguments_,
                      "more variables of the template: a JSON object")
          ->type_name("JSON");
  CLI::Option* now =
      command
          .add_option("--now,--date", now_,
                      "the date that the template takes for today, as in "
                      "2024-07-26")
          ->type_name("DATE");
  CLI::Option* thinking = one_of(
      command.add_option("--thinking", thinking_,
                         "for models that can do both: think first, or not"),
      {"on", "off"});
  return {name, file, arguments, now, thinking};
}

void ChatChoice::read() {
  if (!tools_file_.empty()) tools_ = read_text_file(tools_file_);
  if (!file_.empty()) source_ = read_text_file(file_);
}

rc_chat_options ChatChoice::options() const {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  if (has_tools()) options.tools = tools_.c_str();
  if (!file_.empty()) options.template_text = source_.c_str();
  options.template_name = given(name_);
  options.template_arguments = given(arguments_);
  options.now = given(now_);
  if (!thinking_.empty()) options.thinking = thinking_ == "on" ? 1 : 0;
  return options;
}

}  // namespace cli
