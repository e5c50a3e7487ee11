// Which templates answers are read by, and that what these make of a call is
// read as that call.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "text/chat/prompt_util.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::text::chat {
namespace {

using Type = ReplyEvent::Type;
using Events = std::vector<ReplyEvent>;

TEST(ReplyFormats, AreRecognisedByTheTemplate) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  const std::vector<std::pair<std::string, std::string>> known = {
      {"Apertus-8B-Instruct", "apertus"},
      {"Apriel-1.6-15b-Thinker-fixed", "apriel"},
      {"ByteDance-Seed-OSS", "seed-oss"},
      {"CohereForAI-c4ai-command-r-plus-tool_use", "command-r"},
      {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "command-r7b"},
      {"GLM-4.6", "glm-4.5"},
      {"GigaChat3-10B-A1.8B", "gigachat3"},
      {"GigaChat3.1-10B-A1.8B", "gigachat3.1"},
      {"HuggingFaceTB-SmolLM3-3B", "smollm3"},
      {"Kimi-K2-Instruct", "kimi-k2"},
      {"LFM2-8B-A1B", "lfm2"},
      {"LFM2.5-Instruct", "lfm2.5"},
      {"MiniMax-M2", "minimax-m2"},
      {"Mistral-Small-3.2-24B-Instruct-2506", "mistral-v11"},
      {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen3-coder"},
      {"NVIDIA-Nemotron-Nano-v2", "nemotron-v2"},
      {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "hermes"},
      {"Qwen-Qwen2.5-7B-Instruct", "hermes"},
      {"Qwen-Qwen3-0.6B", "hermes"},
      {"Qwen3-Coder", "qwen3-coder"},
      {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek-v3"},
      {"deepseek-ai-DeepSeek-V3.1", "deepseek-v3.1"},
      {"deepseek-ai-DeepSeek-V3.2", "deepseek-v3.2"},
      {"google-gemma-2-2b-it", "plain"},
      {"google-gemma-4-31B-it", "gemma4"},
      {"ibm-granite-granite-3.3-2B-Instruct", "granite"},
      {"ibm-granite-granite-4.0", "hermes"},
      {"meetkai-functionary-medium-v3.1", "functionary-v3.1"},
      {"meetkai-functionary-medium-v3.2", "functionary-v3.2"},
      {"meta-llama-Llama-3.1-8B-Instruct", "llama3"},
      {"microsoft-Phi-3.5-mini-instruct", "plain"},
      {"mistralai-Mistral-Nemo-Instruct-2407", "mistral"},
      {"openai-gpt-oss-120b", "harmony"},
      {"upstage-Solar-Open-100B", "solar"}};
  for (const auto& [name, format] : known) {
    EXPECT_EQ(reply_format_of(read_text(folder / (name + ".jinja"))).name,
              format)
        << name;
  }
}

// A call that a template writes is parsed as that call.
TEST(ReplyFormats, CallsOfPublishedTemplatesAreParsed) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  const Json user = {{"role", "user"}, {"content", "Look."}};
  const Json arguments = {{"city", "Oslo"}, {"days", 3}};
  const Json call = {
      {"id", "abcdef123"},
      {"type", "function"},
      {"function", {{"name", "get_weather"}, {"arguments", arguments}}}};
  const Json tools = {
      {{"type", "function"},
       {"function",
        {{"name", "get_weather"},
         {"description", "Weather."},
         {"parameters",
          {{"type", "object"},
           {"properties",
            {{"city", {{"type", "string"}, {"description", "Where."}}},
             {"days", {{"type", "integer"}, {"description", "How many."}}}}},
           {"required", {"city"}}}}}}}};
  PromptOptions options;
  options.now = recorded_time().now;
  std::map<std::string, std::string> failed;
  size_t read = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".jinja") continue;
    const std::string name = file.path().stem().string();
    const std::string source = read_text(file.path());
    if (!names_word(source, "tool_calls")) continue;
    const auto chat =
        ChatTemplate::create(source, tokenizer_with(names_in(source)));
    const Json* offered = chat->dialect().knows_tools ? &tools : nullptr;
    std::string begin, whole;
    try {
      begin = render(*chat, Json::array({user}), offered, options).text;
      options.add_generation_prompt = false;
      whole = render(*chat,
                     {user,
                      {{"role", "assistant"},
                       {"content", nullptr},
                       {"tool_calls", Json::array({call})}},
                      {{"role", "tool"},
                       {"tool_call_id", "abcdef123"},
                       {"content", "cold"}}},
                     offered, options)
                  .text;
      options.add_generation_prompt = true;
    } catch (const Error& error) {
      options.add_generation_prompt = true;
      failed[name] = error.message();
      continue;
    }
    // The text after the prompt, from the beginning of a mark on.
    size_t split = static_cast<size_t>(
        std::mismatch(begin.begin(), begin.end(), whole.begin(), whole.end())
            .second -
        whole.begin());
    const size_t mark = split == 0 ? 0 : whole.rfind('<', split - 1);
    if (mark != std::string::npos && whole.find('>', mark) >= split) {
      split = mark;
    }
    const std::string answer = whole.substr(split);
    const ReplyFormat& format = reply_format_of(source);
    ReplyParser parser(format, {.tools = ToolTypes(tree_of(tools))});
    Events events;
    parser.feed(answer, &events);
    parser.finish(&events);
    const auto end = std::find_if(
        events.begin(), events.end(),
        [](const ReplyEvent& e) { return e.type == Type::kCallEnd; });
    if (end == events.end() || end->name != "get_weather" ||
        Json::parse(end->text) != arguments) {
      failed[name] = std::string(format.name) + ": " + answer;
      continue;
    }
    ++read;
  }
  for (const auto& [name, why] : failed) {
    std::cout << name << ": " << why.substr(0, 300) << "\n";
  }
  EXPECT_GE(read, 43u);
}

}  // namespace
}  // namespace rc::text::chat
