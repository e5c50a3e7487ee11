#include "text/chat/known_templates.h"

#include <algorithm>
#include <array>

namespace rc::text::chat {
namespace {

// The end of a prompt is written like the beginning of an assistant's message
// for most families. Content is written unchanged, but for the families whose
// makers trim it.

constexpr std::string_view kAlpaca =
    R"({%- for message in messages %}
{%- if message.role == 'system' %}{{ message.content + '\n\n' }}
{%- elif message.role == 'user' %}
{{- '### Instruction:\n' + message.content + '\n\n' }}
{%- else %}{{ '### Response:\n' + message.content + eos_token + '\n\n' }}
{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{ '### Response:\n' }}{%- endif %})";

constexpr std::string_view kChatml =
    R"({%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %})";

constexpr std::string_view kCommandR =
    R"({{- bos_token }}
{%- set names = {'system': 'SYSTEM', 'user': 'USER', 'assistant': 'CHATBOT'} %}
{%- for message in messages %}
{{- '<|START_OF_TURN_TOKEN|><|' + names[message.role] + '_TOKEN|>' }}
{{- message.content if message.role == 'system' else message.content | trim }}
{{- '<|END_OF_TURN_TOKEN|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{%- endif %})";

// DeepSeek V2 and its Coder Instruct of the same time.
constexpr std::string_view kDeepseek2 =
    R"({{- bos_token }}
{%- for message in messages %}
{%- if message.role == 'user' %}{{ 'User: ' + message.content + '\n\n' }}
{%- elif message.role == 'assistant' %}
{{- 'Assistant: ' + message.content + eos_token }}
{%- else %}{{ message.content + '\n\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ 'Assistant:' }}{%- endif %})";

// DeepSeek V2.5, V3 and R1.
constexpr std::string_view kDeepseek3 =
    R"({{- bos_token }}
{%- for message in messages if message.role == 'system' %}
{{- message.content }}{%- if not loop.last %}{{ '\n\n' }}{%- endif %}
{%- endfor %}
{%- for message in messages if message.role != 'system' %}
{%- if message.role == 'user' %}{{ '<｜User｜>' + message.content }}
{%- else %}
{{- '<｜Assistant｜>' + message.content + '<｜end▁of▁sentence｜>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<｜Assistant｜>' }}{%- endif %})";

constexpr std::string_view kFalcon3 =
    R"({%- for message in messages %}
{{- '<|' + message.role + '|>\n' + message.content }}
{{- eos_token if message.role == 'assistant' }}{{ '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{%- endif %})";

constexpr std::string_view kGemma =
    R"({{- bos_token }}
{%- set first = namespace(text='') %}
{%- if messages[0].role == 'system' %}
{%- set first.text = messages[0].content | trim + '\n\n' %}
{%- set messages = messages[1:] %}{%- endif %}
{%- for message in messages %}
{%- set role = 'model' if message.role == 'assistant' else message.role %}
{{- '<start_of_turn>' + role + '\n' + first.text + message.content | trim }}
{{- '<end_of_turn>\n' }}{%- set first.text = '' %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{%- endif %})";

constexpr std::string_view kGlm4 =
    R"([gMASK]<sop>
{%- for message in messages %}
{{- '<|' + message.role + '|>\n' + message.content }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{%- endif %})";

constexpr std::string_view kGranite =
    R"({%- for message in messages %}
{{- '<|start_of_role|>' + message.role + '<|end_of_role|>' }}
{{- message.content + '<|end_of_text|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|start_of_role|>assistant<|end_of_role|>' }}{%- endif %})";

constexpr std::string_view kLlama2 =
    R"({%- set first = namespace(text='') %}
{%- if messages[0].role == 'system' %}
{%- set first.text = '<<SYS>>\n' + messages[0].content + '\n<</SYS>>\n\n' %}
{%- set messages = messages[1:] %}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}
{{- bos_token + '[INST] ' + (first.text + message.content) | trim }}
{{- ' [/INST]' }}{%- set first.text = '' %}
{%- elif message.role == 'assistant' %}
{{- ' ' + message.content | trim + ' ' + eos_token }}
{%- else %}
{{- raise_exception('a system message must be the first') }}
{%- endif %}
{%- endfor %})";

constexpr std::string_view kLlama3 =
    R"({{- bos_token }}
{%- for message in messages %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
{{- message.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %})";

// Of the first versions, and with a tokenizer of SentencePiece.
constexpr std::string_view kMistral =
    R"({{- bos_token }}
{%- set first = namespace(text='') %}
{%- if messages[0].role == 'system' %}
{%- set first.text = messages[0].content + '\n\n' %}
{%- set messages = messages[1:] %}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}
{{- ' [INST] ' + first.text + message.content + ' [/INST]' }}
{%- set first.text = '' %}
{%- elif message.role == 'assistant' %}
{{- ' ' + message.content + eos_token }}
{%- else %}
{{- raise_exception('a system message must be the first') }}
{%- endif %}
{%- endfor %})";

// Of the versions with the tokenizer Tekken, before those with a mark for the
// system prompt, which is a part of the last message here.
constexpr std::string_view kMistralTekken =
    R"({{- bos_token }}
{%- set system = '' %}
{%- if messages[0].role == 'system' %}
{%- set system = messages[0].content + '\n\n' %}
{%- set messages = messages[1:] %}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}
{{- '[INST]' + (system if loop.last else '') + message.content + '[/INST]' }}
{%- elif message.role == 'assistant' %}{{ message.content + eos_token }}
{%- else %}
{{- raise_exception('a system message must be the first') }}
{%- endif %}
{%- endfor %})";

// Since Mistral Large 2411.
constexpr std::string_view kMistralV7 =
    R"({{- bos_token }}
{%- for message in messages %}
{%- if message.role == 'user' %}{{ '[INST] ' + message.content + '[/INST]' }}
{%- elif message.role == 'system' %}
{{- '[SYSTEM_PROMPT] ' + message.content + '[/SYSTEM_PROMPT]' }}
{%- else %}{{ ' ' + message.content + eos_token }}{%- endif %}
{%- endfor %})";

constexpr std::string_view kOpenchat =
    R"({{- bos_token }}
{%- for message in messages %}
{{- 'GPT4 Correct ' + message.role.title() + ': ' }}
{{- message.content + '<|end_of_turn|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ 'GPT4 Correct Assistant:' }}{%- endif %})";

constexpr std::string_view kPhi3 =
    R"({%- for message in messages %}
{{- '<|' + message.role + '|>\n' + message.content + '<|end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{%- endif %})";

constexpr std::string_view kPhi4 =
    R"({%- for message in messages %}
{{- '<|im_start|>' + message.role + '<|im_sep|>' }}
{{- message.content + '<|im_end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant<|im_sep|>' }}{%- endif %})";

constexpr std::string_view kVicuna =
    R"({%- for message in messages %}
{%- if message.role == 'system' %}{{ message.content + '\n\n' }}
{%- elif message.role == 'user' %}{{ 'USER: ' + message.content + '\n' }}
{%- else %}{{ 'ASSISTANT: ' + message.content + '</s>\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ 'ASSISTANT:' }}{%- endif %})";

constexpr std::string_view kZephyr =
    R"({%- for message in messages %}
{{- '<|' + message.role + '|>\n' + message.content + eos_token + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{%- endif %})";

constexpr auto kKnown = std::to_array<KnownTemplate>({
    {"alpaca", kAlpaca},
    {"chatml", kChatml},
    {"command-r", kCommandR},
    {"deepseek", kDeepseek3},
    {"deepseek2", kDeepseek2},
    {"falcon3", kFalcon3},
    {"gemma", kGemma},
    {"glm4", kGlm4},
    {"granite", kGranite},
    {"llama2", kLlama2},
    {"llama3", kLlama3},
    {"mistral", kMistral},
    {"mistral-tekken", kMistralTekken},
    {"mistral-v7", kMistralV7},
    {"openchat", kOpenchat},
    {"phi3", kPhi3},
    {"phi4", kPhi4},
    {"vicuna", kVicuna},
    {"zephyr", kZephyr},
});

}  // namespace

std::span<const KnownTemplate> known_templates() { return kKnown; }

std::string_view known_template(std::string_view name) {
  const auto found =
      std::find_if(kKnown.begin(), kKnown.end(),
                   [&](const KnownTemplate& one) { return one.name == name; });
  return found == kKnown.end() ? std::string_view() : found->source;
}

}  // namespace rc::text::chat
