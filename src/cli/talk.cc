#include "talk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "nearest.h"
#include "output_file.h"
#include "terminal.h"
#include "usage.h"

namespace cli {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

const std::vector<Talk::Command>& Talk::commands() {
  static const std::vector<Command> all = {
      {"/help", "this list", &Talk::help},
      {"/system", "TEXT: instructions for the model, before all messages",
       &Talk::system},
      {"/undo", "forget the last question and its answer", &Talk::undo},
      {"/retry", "answer the last question again", &Talk::retry},
      {"/save", "FILE: write the messages, as JSON; --force replaces a file",
       &Talk::save},
      {"/load", "FILE: go on with the messages of a file",
       &Talk::load_messages},
      {"/model", "MODEL: go on with another model", &Talk::change_model},
      {"/backend", "SPEC: go on with another device", &Talk::change_backend},
      {"/stats", "tokens and speed of the last answer", &Talk::stats},
      {"/quit", "end; Ctrl-D does the same", &Talk::quit}};
  return all;
}

Talk::Talk(const TalkOptions& options, LineReader* lines)
    : options_(options), lines_(lines) {
  Json messages = Json::array();
  if (!options.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", options.system}});
  }
  loaded_ = load(options.model.path, messages);
}

Talk::Loaded Talk::load(const std::string& path, const Json& messages) const {
  ModelChoice choice = options_.model;
  choice.path = path;
  if (!backend_spec_.empty()) choice.backend = backend_spec_;
  Loaded loaded = {path, choice.open_backend(), nullptr, nullptr, nullptr};
  rc_model_options loading = choice.options();
  loading.output = RC_OUTPUT_LOGITS;
  loaded.model = choice.load(loaded.backend, loading);
  begin(messages, &loaded);
  return loaded;
}

void Talk::begin(const Json& messages, Loaded* loaded) const {
  Session session =
      make<Session>(rc_session_create, loaded->model.get(), nullptr);
  const rc_chat_options options = options_.chat.options();
  Chat chat = make<Chat>(rc_chat_create, session.get(), &options);
  if (!messages.empty()) {
    const std::string text =
        messages.dump(-1, ' ', false, Json::error_handler_t::replace);
    check(rc_chat_add(chat.get(), text.data(), text.size()));
  }
  loaded->chat = std::move(chat);
  loaded->session = std::move(session);
}

std::string Talk::loaded_text() const {
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  check(rc_backend_device(loaded_.backend.get(), &device));
  return loaded_.path + " on " + device.id;
}

void Talk::add(const Json& message) {
  const std::string text =
      message.dump(-1, ' ', false, Json::error_handler_t::replace);
  check(rc_chat_add(loaded_.chat.get(), text.data(), text.size()));
}

Talk::Json Talk::messages() const {
  char* text = nullptr;
  size_t length = 0;
  check(rc_chat_messages(loaded_.chat.get(), &text, &length));
  const Returned<char> owned(text);
  return Json::parse(text, text + length);
}

std::optional<std::string> Talk::read() {
  std::optional<std::string> line = lines_->next("> ");
  if (!line) return line;
  constexpr const char* kQuotes = "\"\"\"";
  if (line->starts_with(kQuotes)) {
    std::string text = line->substr(3);
    while (text.find(kQuotes) == text.npos) {
      const auto more = lines_->next(". ");
      if (!more) break;
      text += '\n' + *more;
    }
    return text.substr(0, text.find(kQuotes));
  }
  while (line->ends_with('\\')) {
    line->back() = '\n';
    const auto more = lines_->next(". ");
    if (!more) break;
    *line += *more;
  }
  return line;
}

void Talk::run() {
  // Between answers and lines Ctrl-C must not end the conversation either.
  std::optional<InterruptWatch> watch;
  if (lines_->interactive()) {
    watch.emplace();
    if (!lines_->hindrance().empty()) note(lines_->hindrance());
    note("Type /help for a list of commands.");
  }
  while (const auto text = read()) {
    if (trimmed(*text).empty()) continue;
    try {
      if (!take(*text)) return;
    } catch (const Failure& failure) {
      // In a terminal a mistake is no reason to lose a conversation.
      if (!lines_->interactive() || failure.code == kBrokenPipe ||
          terminated()) {
        throw;
      }
      if (!failure.message.empty()) complain(failure.message);
    }
  }
  if (lines_->interactive()) print("\n");
}

bool Talk::take(const std::string& text) {
  if (!text.starts_with('/')) {
    ask(text);
    return true;
  }
  const size_t space = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string name = text.substr(0, space);
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (name == command.name) {
      return (this->*command.act)(trimmed(text.substr(space)));
    }
    names.emplace_back(command.name);
  }
  // Such as a pasted text that begins with a path.
  if (text.find('\n') != text.npos) {
    ask(text);
    return true;
  }
  throw Failure{kUsage, "there is no command " + name +
                            did_you_mean(name, names) + "; see /help"};
}

void Talk::ask(const std::string& text) {
  add({{"role", "user"}, {"content", text}});
  try {
    answer();
  } catch (const Failure& failure) {
    if (failure.code == kBrokenPipe) throw;
    // A question that cannot be answered is not in the way of the next.
    if (messages().back()["role"] == "user") {
      check(rc_chat_undo(loaded_.chat.get(), 1));
    }
    throw;
  }
}

void Talk::answer() {
  for (;;) {
    std::vector<Json> calls;
    last_ = stream(&calls);
    ++answers_;
    generated_ += last_.generated_tokens;
    if (options_.speed) note_usage(last_);
    if (last_.reason != RC_END_TOOL_CALLS || !add_results(calls)) return;
  }
}

rc_generate_report Talk::stream(std::vector<Json>* calls) {
  // The longest delay until Ctrl-C is noticed while no text comes.
  constexpr int64_t kLookMs = 50;
  const InterruptWatch watch;
  const Request request = make<Request>(
      [](rc_chat* chat, const rc_generate_options* options, rc_request** made) {
        return rc_chat_answer_async(chat, options, nullptr, nullptr, nullptr,
                                    made);
      },
      loaded_.chat.get(), &options_.generation);
  bool cancelled = false;
  rc_event_type shown = RC_EVENT_PIECE;
  for (;;) {
    if (interrupted() && !cancelled) {
      check(rc_request_cancel(request.get()));
      cancelled = true;
    }
    rc_event event = RC_EVENT_INIT;
    const rc_status status = rc_request_next(request.get(), kLookMs, &event);
    if (status == RC_E_TIMEOUT) continue;
    check(status);
    const std::string_view text(event.text, event.text_length);
    switch (event.type) {
      case RC_EVENT_REASONING:
        print(Style::kDim, text);
        break;
      case RC_EVENT_CALL_BEGIN:
      case RC_EVENT_CALL_ARGUMENTS:
        break;
      case RC_EVENT_CALL:
        print(Style::kStrong, std::string("\n") + event.call_name + "(");
        print(text);
        print(Style::kStrong, ")");
        calls->push_back({{"id", event.call_id}, {"name", event.call_name}});
        break;
      case RC_EVENT_END: {
        print("\n");
        const rc_generate_report report = *event.report;
        if (cancelled && lines_->interactive() && !terminated()) {
          forget_interrupt();
        } else if (report.status != RC_OK) {
          throw Failure{cancelled ? kInterrupted : exit_code(report.status),
                        cancelled ? "" : in_own_words(event.message)};
        }
        return report;
      }
      default:
        if (!text.empty() && shown == RC_EVENT_REASONING) print("\n");
        print(text);
        break;
    }
    if (event.text_length > 0) shown = event.type;
  }
}

bool Talk::add_results(const std::vector<Json>& calls) {
  for (const Json& call : calls) {
    const auto result =
        lines_->next("what " + call["name"].get<std::string>() + " gives: ");
    if (!result) return false;
    add({{"role", "tool"},
         {"tool_call_id", call["id"]},
         {"name", call["name"]},
         {"content", *result}});
  }
  return !calls.empty();
}

bool Talk::help(const std::string& /*rest*/) {
  for (const Command& command : commands()) {
    std::string name = command.name;
    name.resize(10, ' ');
    note(name + command.help);
  }
  note(
      "A line that ends with \\ goes on in the next, and so does a text "
      "between \"\"\" and \"\"\"; lines that are pasted are one message. "
      "Ctrl-C ends an answer.");
  return true;
}

bool Talk::system(const std::string& rest) {
  Json all = messages();
  if (!all.empty() && all[0]["role"] == "system") all.erase(0);
  if (!rest.empty()) {
    all.insert(all.begin(), Json{{"role", "system"}, {"content", rest}});
  }
  begin(all, &loaded_);
  return true;
}

bool Talk::undo(const std::string& /*rest*/) {
  const Json all = messages();
  size_t count = 0;
  for (size_t i = all.size(); i-- > 0;) {
    ++count;
    if (all[i]["role"] == "user") {
      check(rc_chat_undo(loaded_.chat.get(), count));
      return true;
    }
  }
  throw Failure{kUsage, "there is no question to forget"};
}

bool Talk::retry(const std::string& /*rest*/) {
  const Json all = messages();
  size_t count = 0;
  while (count < all.size() && all[all.size() - 1 - count]["role"] != "user") {
    ++count;
  }
  if (count == all.size()) {
    throw Failure{kUsage, "there is no question to answer again"};
  }
  check(rc_chat_undo(loaded_.chat.get(), count));
  answer();
  return true;
}

bool Talk::save(const std::string& rest) {
  constexpr std::string_view kForce = "--force ";
  const bool force = rest.starts_with(kForce);
  const std::string path = force ? trimmed(rest.substr(kForce.size())) : rest;
  if (path.empty()) throw Failure{kUsage, "/save needs the name of a file"};
  check_output(path, force || own_files_.contains(path), Writing::kThrough, {},
               "/save --force " + path + " replaces it");
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << json_text(messages());
  out.close();
  if (!out) {
    throw Failure{kFile, path + ": cannot be written: " + std::strerror(errno)};
  }
  own_files_.insert(path);
  return true;
}

bool Talk::load_messages(const std::string& rest) {
  if (rest.empty()) throw Failure{kUsage, "/load needs the name of a file"};
  const std::string text = read_file(rest);
  const Json read = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!read.is_array()) {
    throw Failure{kMalformed, rest + " holds no JSON array of messages"};
  }
  begin(read, &loaded_);
  own_files_.insert(rest);
  return true;
}

bool Talk::change_model(const std::string& rest) {
  if (rest.empty()) {
    note(loaded_text());
    return true;
  }
  try {
    // The old one stays until the new one is there.
    loaded_ = load(rest, messages());
  } catch (Failure& failure) {
    failure.message = "cannot load " + rest +
                      (failure.message.empty() ? "" : ": ") + failure.message +
                      "; the conversation goes on with " + loaded_text();
    throw;
  }
  note("loaded " + loaded_text());
  return true;
}

bool Talk::change_backend(const std::string& rest) {
  if (!rest.empty()) {
    check(rc_backend_switch(loaded_.backend.get(), rest.c_str(), nullptr));
    backend_spec_ = rest;
  }
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  check(rc_backend_device(loaded_.backend.get(), &device));
  note(std::string(device.backend) + ":" + std::to_string(device.index) + ", " +
       device.name);
  return true;
}

bool Talk::stats(const std::string& /*rest*/) {
  if (answers_ == 0) {
    note("no answer yet");
    return true;
  }
  note_usage(last_);
  int64_t position = 0;
  check(rc_session_position(loaded_.session.get(), &position));
  note(std::to_string(answers_) + " answers of " + std::to_string(generated_) +
       " tokens; " + std::to_string(position) + " tokens in the session");
  return true;
}

bool Talk::quit(const std::string& /*rest*/) { return false; }

}  // namespace cli
