// Output and files of each command.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

TEST(Command, TakesAModelByItsOption) {
  const std::vector<std::vector<std::string>> forms = {
      {"verify", model()},
      {"verify", "-m", model()},
      {"verify", "--model", model()}};
  for (const auto& form : forms) {
    EXPECT_EQ(run(form).out, model() + ": sound\n");
  }
  EXPECT_EQ(
      run({"run", "-m", model(), "-t", "1", "-n", "2", "--ignore-eos"}).code,
      0);
  EXPECT_EQ(run({"verify", model(), "-m", model()}).code, 2);
}

TEST(Command, ExplainsTheChoiceOfDevices) {
  const Outcome choice = run({"explain", "--backend", "quantum,reference"});
  ASSERT_EQ(choice.code, 0) << choice.err;
  for (const char* text :
       {"asked for   quantum,reference\n",
        "chosen      reference:0: ", "passed over quantum: "}) {
    EXPECT_NE(choice.out.find(text), std::string::npos) << choice.out;
  }
  EXPECT_EQ(choice.out.find("model "), std::string::npos) << choice.out;
  const std::vector<std::string> with_model = {"explain", model(), "--backend",
                                               "cpu"};
  const Outcome model_too = run(with_model);
  ASSERT_EQ(model_too.code, 0) << model_too.err;
  EXPECT_NE(model_too.out.find("on cpu:0: layers 0 to "), std::string::npos)
      << model_too.out;
  EXPECT_NE(model_too.out.find(" tokens, KV cache of F16\n"), std::string::npos)
      << model_too.out;
  EXPECT_NE(model_too.out.find("Every op runs on the device"),
            std::string::npos)
      << model_too.out;
  auto with_json = with_model;
  with_json.emplace_back("--json");
  const Json json = Json::parse(run(with_json).out);
  EXPECT_EQ(json["device"]["id"], "cpu:0");
  EXPECT_EQ(json["models"].size(), 1u);
  // A backend with few ops, if it is built.
  const std::string examples =
      std::filesystem::path(RC_COMMAND).parent_path() / "examples";
  if (!std::filesystem::exists(examples + "/librunciblebackend-example.so")) {
    return;
  }
  setenv("RUNCIBLE_PLUGIN_PATH", examples.c_str(), 1);
  const Outcome lacking = run({"explain", model(), "--backend", "example,cpu"});
  unsetenv("RUNCIBLE_PLUGIN_PATH");
  ASSERT_EQ(lacking.code, 0) << lacking.err;
  EXPECT_NE(
      lacking.out.find("fallback    ATTENTION: example:0 does not support "
                       "it, it runs on cpu:0"),
      std::string::npos)
      << lacking.out;
}

TEST(Command, RunAcceptsEveryFormOfItsArguments) {
  const std::vector<std::string> common = {
      "run", model(), "-n", "6", "--seed", "5", "--ignore-eos"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const Outcome plain = run(with({"-p", "hello"}));
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("generated: 6 tokens"), std::string::npos)
      << plain.err;
  // Not a terminal: no bar, no control sequences.
  EXPECT_EQ(plain.err.find('\r'), std::string::npos);
  EXPECT_EQ(run(with({"-p", "-"}), "hello").out, plain.out);

  const Outcome json = run(with({"-p", "hello", "--json"}));
  ASSERT_EQ(json.code, 0) << json.err;
  const Json result = Json::parse(json.out);
  EXPECT_EQ(result["reason"], "length");
  EXPECT_EQ(result["generated_tokens"], 6);
  EXPECT_EQ(result["tokens"].size(), 6u);
  EXPECT_EQ(result["seed"], 5);

  std::string prompt;
  for (const int token : result["prompt"]) {
    prompt += (prompt.empty() ? "" : ",") + std::to_string(token);
  }
  EXPECT_EQ(run(with({"--prompt-tokens", prompt})).out, plain.out);
  EXPECT_EQ(run(with({"-p", ""})).code, 0);
  EXPECT_EQ(run(with({})).code, 0);
}

// A model that was trained to converse, and its answer to a message.
TEST(Command, AnswersAMessage) {
  const std::string fabulist =
      source_path("examples/chat_model/fabulist.gguf").string();
  const std::vector<std::string> common = {"run", fabulist, "--temperature",
                                           "0",   "-n",     "24"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const std::string question = "Tell me a fable.";
  const Outcome plain = run(with({"-p", question}));
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.err.rfind("the model has a chat template", 0), 0u)
      << plain.err;
  EXPECT_NE(plain.err.find("--chat"), std::string::npos);
  const Outcome answer = run(with({"--chat", "-p", question}));
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err.find("chat template"), std::string::npos) << answer.err;
  EXPECT_GT(answer.out.size(), 20u) << answer.out;
  // The same as in a conversation, whatever the form.
  const Outcome talk = run({"chat", fabulist, "--temperature", "0", "-n", "24"},
                           question + "\n");
  EXPECT_EQ(answer.out, talk.out);
  EXPECT_EQ(run(with({"--chat"}), question).out, answer.out);
  EXPECT_NE(run(with({"--chat", "-p", question, "--system", "Be brief."})).err,
            answer.err);
  const Outcome json = run(with({"--chat", "-p", question, "--json"}));
  ASSERT_EQ(json.code, 0) << json.err;
  const Json result = Json::parse(json.out);
  EXPECT_EQ(result["text"].get<std::string>() + "\n", answer.out);
  EXPECT_EQ(result["status"], "ok");
  EXPECT_EQ(result["prompt"].size(), result["prompt_tokens"]);
  EXPECT_GT(result["prompt"].size(), 5u);
  // A prompt that is written by hand for the template has no note.
  EXPECT_EQ(run(with({"-p", "<|user|>", "--parse-special"}))
                .err.find("chat template"),
            std::string::npos);
  EXPECT_EQ(
      run({"run", model(), "-p", "a", "-n", "1"}).err.find("chat template"),
      std::string::npos);
  expect_failure(run({"run", "no/such.gguf", "--chat", "-p", ""}), 2, "--chat");
  expect_failure(run({"run", model(), "--chat", "--echo"}), 2, "--chat");
}

// With --json every command prints JSON.
TEST(Command, EveryCommandPrintsJsonWithTheOption) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "o.gguf").string();
  const TemporaryVariable cache("HF_HUB_CACHE", folder.path().string());
  const std::vector<std::vector<std::string>> commands = {
      {"run", model(), "-n", "1", "-p", "\xff"},
      {"devices"},
      {"devices", "--forget-quarantine", "cpu"},
      {"explain", "reference"},
      {"models"},
      {"inspect", model()},
      {"verify", model()},
      {"plan", model()},
      {"convert", model(), out},
      {"quantize", model(), out, "Q8_0", "--force"},
      {"tokenize", model(), "--text", "\xff"},
      {"tokenize", model(), "--decode", "1,2"},
      {"config"},
      {"rerank", source_path("tests/golden/embeddings/bert-cross").string(),
       "a", source_path("LICENSE").string(), "--truncate", "--top", "1"}};
  for (std::vector<std::string> words : commands) {
    words.emplace_back("--json");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << words[0] << ": " << outcome.err;
    EXPECT_TRUE(Json::accept(outcome.out)) << words[0] << ": " << outcome.out;
    EXPECT_EQ(outcome.out.find("RC_"), std::string::npos) << outcome.out;
  }
  // Where generating fails on the way, the object says so.
  const Outcome failed = run({"run", model(), "--json", "--context-length", "8",
                              "-p", "far too long a text"});
  EXPECT_EQ(failed.code, 9);
  const Json result = Json::parse(failed.out);
  EXPECT_EQ(result["status"], "context_full");
  EXPECT_NE(result["message"], "");
}

TEST(Command, FollowsAGrammar) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const char* text) {
    const std::string path = (folder.path() / name).string();
    std::ofstream(path) << text;
    return path;
  };
  const std::string schema =
      file("age.json",
           R"({"type": "object", "properties": {"old": {"type": "boolean"}},
          "required": ["old"], "additionalProperties": false})");
  const std::string gbnf = file("a.gbnf", "root ::= \"(\" [ab] \")\"\n");
  const std::string lark = file("a.lark", "start: \"<\" (\"a\"|\"b\") \">\"\n");
  // Not 1.0.
  const std::string one =
      file("one.json", R"({"type": "integer", "const": 1})");
  struct Case {
    std::vector<std::string> option;
    std::vector<std::string> texts;
  };
  const std::vector<Case> cases = {
      {{"--schema", one}, {"1"}},
      {{"--schema", schema}, {"{\"old\":true}", "{\"old\":false}"}},
      {{"--grammar", gbnf}, {"(a)", "(b)"}},
      {{"--grammar", lark}, {"<a>", "<b>"}},
      {{"--regex", "[xy]"}, {"x", "y"}},
      {{"--choices", "yes,no,perhaps"}, {"yes", "no", "perhaps"}}};
  for (const Case& each : cases) {
    std::vector<std::string> arguments = {"run",   model(),  "-p",
                                          "hello", "--temp", "0"};
    arguments.insert(arguments.end(), each.option.begin(), each.option.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(std::count(each.texts.begin(), each.texts.end(),
                         outcome.out.substr(0, outcome.out.size() - 1)),
              1)
        << each.option[0] << ": " << outcome.out;
  }
  const auto failing = [&](std::vector<std::string> option) {
    option.insert(option.begin(), {"run", model(), "-p", "hello"});
    return run(option);
  };
  const std::string wrong = file("wrong.json", R"({"items": {"type": 1}})");
  expect_failure(failing({"--schema", wrong}), 2, wrong);
  expect_failure(failing({"--schema", wrong}), 2, "/items");
  expect_failure(failing({"--schema", "no/such.json"}), 3, "no/such.json");
  expect_failure(failing({"--schema-open"}), 2, "--schema");
  expect_failure(failing({"--regex", "a(b"}), 2, "a(b");
  expect_failure(failing({"--grammar", folder.path().string()}), 3,
                 "directory");
  expect_failure(failing({"--regex", "a", "--choices", "a"}), 2, "together");
  expect_failure(failing({"--regex", "a", "--ignore-eos"}), 2, "together");
}

TEST(Command, UsesTheBuiltinModelByDefault) {
  const std::filesystem::path folder =
      testing::TempDir() + "runcible_command_data_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(model(), folder / "fable.gguf");
  setenv("RUNCIBLE_DATA", folder.c_str(), 1);
  const std::vector<std::string> common = {"-n", "6", "--seed", "5",
                                           "--ignore-eos"};
  const auto run_with = [&](std::vector<std::string> first) {
    first.insert(first.end(), common.begin(), common.end());
    return run(first);
  };
  const Outcome unnamed = run_with({"run"});
  ASSERT_EQ(unnamed.code, 0) << unnamed.err;
  EXPECT_EQ(unnamed.err.rfind("no model was given; using builtin:fable", 0), 0u)
      << unnamed.err;
  const Outcome named = run_with({"run", "builtin:fable"});
  EXPECT_EQ(named.err.find("no model was given"), std::string::npos)
      << named.err;
  EXPECT_EQ(named.out, unnamed.out);
  EXPECT_EQ(run_with({"run", model()}).out, unnamed.out);
  EXPECT_NE(run({"plan"}).err.find("builtin:fable"), std::string::npos);
  EXPECT_NE(run({"bench", "--prompts", "8", "--batches", "1", "-n", "2",
                 "--repetitions", "1"})
                .err.find("builtin:fable"),
            std::string::npos);
  EXPECT_EQ(run({"verify", "builtin:fable"}).out, "builtin:fable: sound\n");
  expect_failure(run({"inspect", "builtin:no-such"}), 3, folder.string());
  expect_failure(run({"run", "builtin:../fable"}), 2, "./");
  unsetenv("RUNCIBLE_DATA");
  std::filesystem::remove_all(folder);
}

TEST(Command, WritesRawLogits) {
  const std::string path = testing::TempDir() + "raw_logits.f32";
  const Outcome outcome =
      run({"run", model(), "--backend", "reference", "--prompt-tokens",
           "1,128,55,255", "-n", "3", "--temp", "0", "--ignore-eos",
           "--cache-type", "f32", "--raw-logits", path});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // Four of the prompt; of three generated tokens the last is not evaluated.
  ASSERT_EQ(std::filesystem::file_size(path), 6u * 272 * 4);
  std::vector<float> rows(6 * 272), golden(4 * 272);
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(rows.data()),
            static_cast<std::streamsize>(rows.size() * 4));
  std::ifstream(source_path("tests/golden/architectures/llama2.logits.f32"),
                std::ios::binary)
      .read(reinterpret_cast<char*>(golden.data()),
            static_cast<std::streamsize>(golden.size() * 4));
  for (size_t i = 0; i < golden.size(); ++i) {
    ASSERT_NEAR(rows[i], golden[i], 1e-3) << i;
  }
  // From the mapped file they are the same.
  const std::string mapped = testing::TempDir() + "mapped_logits.f32";
  ASSERT_EQ(run({"run", model(), "--backend", "reference", "--prompt-tokens",
                 "1,128,55,255", "-n", "3", "--temp", "0", "--ignore-eos",
                 "--cache-type", "f32", "--keep-mapped", "--guard-mapped",
                 "--raw-logits", mapped})
                .code,
            0);
  std::vector<float> mapped_rows(rows.size());
  std::ifstream(mapped, std::ios::binary)
      .read(reinterpret_cast<char*>(mapped_rows.data()),
            static_cast<std::streamsize>(mapped_rows.size() * 4));
  EXPECT_EQ(mapped_rows, rows);
  std::filesystem::remove(mapped);
  std::filesystem::remove(path);
  expect_failure(run({"run", model(), "-n", "0", "--json", "--raw-logits",
                      "no/such/folder/file"}),
                 3, "no/such/folder");
}

// If the model reads the prompt as a source, there is a row for the token that
// begins the answer, and one for each token of the answer but the last.
TEST(Command, WritesRawLogitsOfAnAnswerToASource) {
  const auto golden = source_path("tests/golden/architectures");
  const Json run_of_case =
      Json::parse(std::ifstream(golden / "flan-t5.json"))["runs"][0];
  std::string tokens;
  for (const auto& token : run_of_case["source"]) {
    tokens += (tokens.empty() ? "" : ",") + token.dump();
  }
  constexpr size_t kVocabulary = 73;
  std::vector<float> expected(kVocabulary);
  std::ifstream(golden / "flan-t5.logits.f32", std::ios::binary)
      .read(reinterpret_cast<char*>(expected.data()), kVocabulary * 4);
  const std::string path = testing::TempDir() + "raw_logits_of_answer.f32";
  for (const size_t count : {1u, 5u}) {
    ASSERT_EQ(run({"run", (golden / "flan-t5.gguf").string(), "--backend",
                   "reference", "--prompt-tokens", tokens, "-n",
                   std::to_string(count), "--temp", "0", "--ignore-eos",
                   "--cache-type", "f32", "--raw-logits", path})
                  .code,
              0);
    ASSERT_EQ(std::filesystem::file_size(path), count * kVocabulary * 4);
    std::vector<float> rows(count * kVocabulary);
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(rows.data()),
              static_cast<std::streamsize>(rows.size() * 4));
    for (size_t i = 0; i < kVocabulary; ++i) {
      ASSERT_NEAR(rows[i], expected[i], 1e-3) << i;
    }
    std::filesystem::remove(path);
  }
}

TEST(Command, InspectsFiles) {
  const Outcome text = run({"inspect", model()});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("general.architecture"), std::string::npos);
  EXPECT_NE(text.out.find("token_embd.weight"), std::string::npos);
  EXPECT_NE(text.out.find(",...]"), std::string::npos);
  const Json json = Json::parse(run({"inspect", model(), "--json"}).out);
  EXPECT_EQ(json["metadata"]["general.architecture"]["value"], "llama");
  EXPECT_EQ(json["metadata"]["tokenizer.ggml.tokens"]["value"].size(), 272u);
  EXPECT_GT(json["tensors"].size(), 10u);
  EXPECT_EQ(run({"verify", model()}).out, model() + ": sound\n");
}

TEST(Command, TokenizeAndDecodeRoundTrip) {
  const Json json =
      Json::parse(run({"tokenize", model(), "-p", "hello", "--json"}).out);
  std::string ids;
  for (const Json& token : json["tokens"]) {
    ids += (ids.empty() ? "" : ",") + token["id"].dump();
  }
  EXPECT_EQ(run({"tokenize", model(), "--decode", ids}).out, "hello\n");
  EXPECT_EQ(run({"tokenize", model(), "-p", "-", "--no-special"}, "").out, "");
}

TEST(Command, BenchMeasuresEachCombination) {
  const Outcome outcome =
      run({"bench", model(), "--json", "--prompts", "8,16", "--batches", "1,2",
           "--depths", "1,9,5000", "-n", "4", "--repetitions", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // More than the context holds.
  EXPECT_NE(outcome.err.find("behind 5000 are"), std::string::npos)
      << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["results"].size(), 6u);
  for (const Json& result : json["results"]) {
    EXPECT_GT(result["tokens_per_second"].get<double>(), 0);
  }
  EXPECT_EQ(json["results"][2]["depth"], 1);
  EXPECT_EQ(json["results"][5]["depth"], 9);
}

TEST(Command, ShowsAConversationAsAPrompt) {
  const std::string messages = R"([{"role": "user", "content": "hello </s>"}])";
  const std::vector<std::string> common = {
      "template", model(), "--messages", "-", "--template", "zephyr"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const Outcome plain = run(with({}), messages);
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.out.rfind("<|user|>\nhello </s></s>\n<|assistant|>\n\n\n", 0),
            0u)
      << plain.out;
  EXPECT_NE(plain.out.find("\tcontent\n"), std::string::npos) << plain.out;
  const Outcome text = run(with({"--json", "--no-answer"}), messages);
  ASSERT_EQ(text.code, 0) << text.err;
  const Json json = Json::parse(text.out);
  EXPECT_EQ(json["template"], "zephyr");
  EXPECT_EQ(json["text"], "<|user|>\nhello </s></s>\n");
  ASSERT_EQ(json["content"].size(), 1u);
  EXPECT_EQ(json["content"][0]["begin"], 9);
  EXPECT_EQ(json["content"][0]["end"], 19);
  // The input of the user is text; the text of the template ends the message.
  int ends = 0;
  for (const Json& token : json["tokens"]) {
    if (token["id"] != 2) continue;
    ++ends;
    EXPECT_FALSE(token["content"].get<bool>());
  }
  EXPECT_EQ(ends, 1);
  expect_failure(run(with({}), "[{\"role\"}]"), 2, "messages: not JSON");
  expect_failure(run(with({"--arguments", "1"}), messages), 2, "object");
  // A NUL in a message ends nothing.
  const std::string nul = R"([{"role": "user", "content": "a\u0000b"}])";
  const Json with_nul = Json::parse(run(with({"--json"}), nul).out);
  const std::string prompt = with_nul["text"];
  EXPECT_NE(prompt.find(std::string("a\0b", 3)), std::string::npos);
  std::string pieces;
  for (const auto& token : with_nul["tokens"]) {
    pieces += token["piece"].get<std::string>();
  }
  EXPECT_NE(pieces.find(std::string("a\0b", 3)), std::string::npos);
  EXPECT_NE(run(with({}), nul).out.find(std::string("a\0b", 3)),
            std::string::npos);
  // Files that become C strings must have none.
  const TemporaryFolder files;
  const std::string with_end = (files.path() / "a").string();
  std::ofstream(with_end) << std::string("[]\0[", 4);
  for (const char* option : {"--tools", "--template-file"}) {
    expect_failure(
        run({"template", model(), "--messages", "-", option, with_end},
            messages),
        4, with_end + ": byte 2 is NUL");
  }
  expect_failure(run({"template", model(), "--messages", "no/such"}), 3,
                 "no/such");
  expect_failure(run({"template", model(), "--messages", "-"}, messages), 3,
                 "chatml");
}

}  // namespace
}  // namespace rc::test
