// runcible chat, from a pipe and on a terminal.
#include <poll.h>
#include <pty.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "temporary.h"

namespace rc::test {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string fable() {
  return source_path("examples/model/fable.gguf").string();
}

std::vector<std::string> chat(std::vector<std::string> more = {}) {
  std::vector<std::string> all = {
      "chat", fable(),  "--template", "zephyr",    "-n",
      "12",   "--temp", "0",          "--backend", "reference"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class CommandChat : public ::testing::Test {
 protected:
  // Returns the messages that /save writes after these lines.
  OrderedJson saved(const std::string& lines,
                    const std::vector<std::string>& more = {}) const {
    const std::string path = file("saved.json");
    const Outcome outcome =
        run(chat(more), lines + "\n/save --force " + path + "\n");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read(path);
  }
  std::string file(const char* name) const {
    return (folder_.path() / name).string();
  }
  static OrderedJson read(const std::string& path) {
    std::ifstream in(path);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return OrderedJson::parse(text, nullptr, false);
  }
  static std::vector<std::string> roles(const OrderedJson& messages) {
    std::vector<std::string> all;
    for (const OrderedJson& message : messages)
      all.push_back(message.at("role"));
    return all;
  }

  const TemporaryFolder folder_;
};

using Roles = std::vector<std::string>;

TEST_F(CommandChat, AnswersLineByLine) {
  const Outcome outcome = run(chat(), "Tell me a fable.\n\nAnd then?");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2)
      << outcome.out;
  const OrderedJson messages = saved("Tell me a fable.\nAnd then?");
  EXPECT_EQ(roles(messages), (Roles{"user", "assistant", "user", "assistant"}));
  EXPECT_EQ(outcome.out, messages[1]["content"].get<std::string>() + "\n" +
                             messages[3]["content"].get<std::string>() + "\n");
  EXPECT_EQ(run(chat(), "").out, "");
  EXPECT_NE(run(chat({"--speed"}), "a").err.find(" tokens/s; generated: "),
            std::string::npos);
}

TEST_F(CommandChat, JoinsContinuedLines) {
  EXPECT_EQ(saved("one \\\ntwo")[0]["content"], "one \ntwo");
  EXPECT_EQ(saved("\"\"\"one\n\n /two\"\"\"")[0]["content"], "one\n\n /two");
}

TEST_F(CommandChat, SystemUndoAndRetryChangeTheMessages) {
  const Roles asked = {"system", "user", "assistant"};
  OrderedJson messages = saved("a", {"--system", "Be brief."});
  EXPECT_EQ(roles(messages), asked);
  EXPECT_EQ(messages[0]["content"], "Be brief.");
  EXPECT_EQ(saved("a\n/retry", {"--system", "Be brief."}), messages);
  EXPECT_EQ(saved("a\nb\n/undo", {"--system", "Be brief."}), messages);
  EXPECT_EQ(saved("/system Be brief.\na"), messages);
  EXPECT_EQ(roles(saved("/system Be brief.\na\n/system")),
            (Roles{"user", "assistant"}));
  expect_failure(run(chat(), "/undo"), 2, "no question");
  expect_failure(run(chat(), "/retry"), 2, "no question");
}

TEST_F(CommandChat, LoadsSavedConversations) {
  const OrderedJson before = saved("Tell me a fable.");
  const std::string path = file("other.json");
  std::ofstream(path) << before.dump();
  EXPECT_EQ(saved("/load " + path), before);
  const OrderedJson after = saved("/load " + path + "\nAnd then?");
  EXPECT_EQ(after, saved("Tell me a fable.\nAnd then?"));
  expect_failure(run(chat(), "/load"), 2, "/load");
  expect_failure(run(chat(), "/load no/such"), 3, "no/such");
  expect_failure(run(chat(), "/save"), 2, "/save");
  expect_failure(run(chat(), "/save no/such"), 3, "no/such");
  std::ofstream(path) << "7";
  expect_failure(run(chat(), "/load " + path), 4, path);
  std::ofstream(path) << "[{}]";
  expect_failure(run(chat(), "/load " + path), 2, "messages[0].role");
}

TEST_F(CommandChat, OverwritesOnlyItsOwnFiles) {
  const std::string path = file("talk.json");
  std::ofstream(path) << "precious";
  expect_failure(run(chat(), "/save " + path), 3, "/save --force " + path);
  EXPECT_EQ(std::ifstream(path).peek(), 'p');
  EXPECT_EQ(run(chat(), "/save --force " + path + "\n/save " + path).code, 0);
  EXPECT_EQ(read(path), OrderedJson::array());
  EXPECT_EQ(run(chat(), "/load " + path + "\n/save " + path).code, 0);
  EXPECT_EQ(run(chat(), "/save " + file("new") + "\n/save " + file("new")).code,
            0);
}

TEST_F(CommandChat, ChangesItsModel) {
  const Outcome which = run(chat(), "/model");
  EXPECT_EQ(which.code, 0) << which.err;
  EXPECT_EQ(which.err, fable() + " on reference:0\n");
  const Outcome changed = run(chat({"--context", "128"}), "/model " + model());
  EXPECT_EQ(changed.err, "loaded " + model() + " on reference:0\n");
  EXPECT_EQ(roles(saved("a\n/model " + model() + "\nb", {"--context", "128"})),
            (Roles{"user", "assistant", "user", "assistant"}));
  // Whatever is wrong with the new one, the old one goes on.
  const std::string goes_on =
      "; the conversation goes on with " + fable() + " on reference:0";
  expect_failure(run(chat(), "/model no/such"), 3, "cannot load no/such: ");
  expect_failure(run(chat(), "/model no/such"), 3, goes_on);
  expect_failure(run(chat(), "/model " + source_path("README.md").string()), 4,
                 goes_on);
  expect_failure(
      run(chat(),
          "/model " +
              source_path("tests/golden/embeddings/bert-mean").string()),
      5, goes_on);
}

TEST_F(CommandChat, BackendCommandMovesTheConversation) {
  EXPECT_NE(run(chat(), "/backend").err.find("reference:0, "),
            std::string::npos);
  const Outcome there = run(chat(), "a\n/backend cpu\nb\n/backend");
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_NE(there.err.find("cpu:0, "), std::string::npos) << there.err;
  EXPECT_EQ(roles(saved("a\n/backend cpu\nb")),
            (Roles{"user", "assistant", "user", "assistant"}));
  expect_failure(run(chat(), "/backend nothing"), 3, "nothing");
}

TEST_F(CommandChat, HelpListsTheCommands) {
  const Outcome help = run(chat(), "/help\n/quit\nnever asked");
  EXPECT_EQ(help.code, 0) << help.err;
  EXPECT_EQ(help.out, "");
  const std::string lines = "\n" + help.err;
  for (const char* name : {"/help", "/system", "/undo", "/retry", "/save",
                           "/load", "/model", "/backend", "/stats", "/quit"}) {
    EXPECT_NE(lines.find(std::string("\n") + name + " "), std::string::npos)
        << name << " in " << lines;
  }
  EXPECT_EQ(run(chat(), "/stats").err, "no answer yet\n");
  const Outcome stats = run(chat(), "a\n/stats");
  EXPECT_NE(stats.err.find("1 answers of 12 tokens; "), std::string::npos)
      << stats.err;
  expect_failure(run(chat(), "/nope"), 2, "there is no command /nope");
  expect_failure(run(chat(), "/modle x"), 2, "did you mean /model?");
  expect_failure(run({"chat", fable()}, "a"), 3, "tokenizer.chat_template");
  expect_failure(run(chat({"--date", "soon"}), "a"), 2, "soon");
}

// Runs the command on a separate terminal.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& arguments,
                      const char* kind = "xterm") {
    pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    std::vector<char*> argv = {const_cast<char*>(RC_COMMAND)};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    setenv("TERM", kind, 1);
    execv(RC_COMMAND, argv.data());
    _exit(127);
  }
  ~OnTerminal() {
    kill(pid_, SIGKILL);
    close(terminal_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  void type(const std::string& keys) const {
    EXPECT_EQ(write(terminal_, keys.data(), keys.size()),
              static_cast<ssize_t>(keys.size()));
  }
  // Waits until the text has come after what was waited for before.
  void expect(const std::string& text) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    size_t found = 0;
    while ((found = shown_.find(text, at_)) == std::string::npos) {
      pollfd watched = {terminal_, POLLIN, 0};
      char buffer[4096];
      ssize_t n = 0;
      if (std::chrono::steady_clock::now() > until ||
          (poll(&watched, 1, 60000) == 1 &&
           (n = ::read(terminal_, buffer, sizeof(buffer))) <= 0)) {
        kill(pid_, SIGKILL);  // so that nothing waits for it
        FAIL() << "no " << text << " in " << shown_.substr(at_);
      }
      shown_.append(buffer, static_cast<size_t>(n));
    }
    at_ = found + text.size();
  }
  void signal(int number) const { kill(pid_, number); }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
  size_t at_ = 0;
};

TEST_F(CommandChat, CtrlCEndsTheAnswerOnly) {
  const std::string path = file("talk.json");
  OnTerminal talk(
      {"chat", fable(), "--template", "zephyr", "--backend", "reference"});
  talk.expect("/help");
  talk.expect("> ");
  talk.type("half a line\x03");
  talk.expect("> ");
  talk.type("Tell me a fable.\r");
  talk.expect("fable.\r\n");
  talk.expect(" ");  // the answer has begun
  talk.type("\x03");
  talk.expect("> ");
  talk.type("/nope\r");
  talk.expect("there is no command /nope");
  talk.expect("> ");
  talk.type("/save " + path + "\r");
  talk.expect("> ");
  talk.type("\x04");
  EXPECT_EQ(talk.wait(), 0);
  const OrderedJson messages = read(path);
  EXPECT_EQ(roles(messages), (Roles{"user", "assistant"})) << messages;
  EXPECT_EQ(messages[0]["content"], "Tell me a fable.");
}

// Returns the messages of a conversation on a terminal of this kind after these
// keys.
class CommandChatTerminal : public CommandChat,
                            public testing::WithParamInterface<const char*> {
 protected:
  OrderedJson messages_after(const std::string& keys) const {
    const std::string path = file("talk.json");
    OnTerminal talk(chat(), GetParam());
    talk.expect("/help");
    talk.expect("> ");
    talk.type(keys);
    // Once this is answered, so are the keys.
    talk.type("/nope\r");
    talk.expect("see /help");
    talk.expect("> ");
    talk.type("/save --force " + path + "\r");
    talk.expect("> ");
    talk.type("\x04");
    EXPECT_EQ(talk.wait(), 0);
    return read(path);
  }
};

TEST_P(CommandChatTerminal, TakesAPasteAsOneMessage) {
  const auto pasted = [](const std::string& text) {
    return "\033[200~" + text + "\033[201~";
  };
  OrderedJson all = messages_after(pasted("one\rtwo\r\rthree\r") + "\r");
  EXPECT_EQ(roles(all), (Roles{"user", "assistant"})) << all;
  EXPECT_EQ(all[0]["content"], "one\ntwo\n\nthree");
  // Between keys that are typed, and with a slash at its beginning.
  all = messages_after("say: " + pasted("a\nb") + " now\r");
  EXPECT_EQ(all[0]["content"], "say: a\nb now");
  all = messages_after(pasted("/usr/bin\n/usr/lib") + "\r");
  EXPECT_EQ(all[0]["content"], "/usr/bin\n/usr/lib");
  all = messages_after("/system " + pasted("Be brief.\nBe kind.") + "\r");
  EXPECT_EQ(roles(all), (Roles{"system"}));
  EXPECT_EQ(all[0]["content"], "Be brief.\nBe kind.");
}

TEST_P(CommandChatTerminal, EscapeSequencesAreNotPartOfAMessage) {
  // Arrows, Home, Delete, F1, and one with Ctrl.
  const OrderedJson all =
      messages_after("he\033[A\033[B\033[C\033[3~\033OP\033[1;5Ay\r");
  ASSERT_FALSE(all.empty());
  const std::string content = all[0]["content"];
  EXPECT_EQ(content.find_first_of("\033[~"), std::string::npos) << all;
}

INSTANTIATE_TEST_SUITE_P(Kinds, CommandChatTerminal,
                         testing::Values("xterm", "dumb"));

TEST_F(CommandChat, WarnsIfTheTerminalCannotEditLines) {
  for (const char* kind : {"dumb", ""}) {
    OnTerminal talk(chat(), kind);
    talk.expect("lines cannot be edited here: TERM is ");
    talk.expect("xterm-256color");
    talk.expect("> ");
    talk.type("\x04");
    EXPECT_EQ(talk.wait(), 0);
  }
}

// The terminal marks pastes only while a line is read, also where a signal ends
// that.
TEST_F(CommandChat, RestoresTheTerminal) {
  {
    OnTerminal talk(chat());
    talk.expect("\033[?2004h");
    talk.expect("> ");
    talk.type("hello\r");
    talk.expect("\033[?2004l");
    talk.expect("\033[?2004h");
    talk.expect("> ");
    talk.type("\x04");
    talk.expect("\033[?2004l");
    EXPECT_EQ(talk.wait(), 0);
  }
  // Even between two answers SIGTERM ends it.
  for (const int number : {SIGTERM, SIGHUP, SIGQUIT}) {
    OnTerminal talk(chat());
    talk.expect("\033[?2004h");
    talk.expect("> ");
    talk.signal(number);
    talk.expect("\033[?2004l");
    EXPECT_EQ(talk.wait(), 128 + number);
  }
}

}  // namespace
}  // namespace rc::test
