#include "text/pre_tokenizer_families.h"

#include "files/ggml/pre_tokenizer_patterns.h"
#include "text/pre_tokenizer.h"

namespace rc::text {
namespace {

// The patterns are those of the models' own tokenizers, written for PCRE2;
// those that need no change for it are in files/ggml/pre_tokenizer_patterns.h.

constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kChineseAndKana =
    R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kLineBreak = R"([\r\n])";
constexpr std::string_view kFalconPunctuation = R"([\p{P}$+<=>^~|`]+)";
constexpr std::string_view kThreeDigits = R"([0-9][0-9][0-9])";
constexpr std::string_view kEastAsian =
    R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";

// Cased letters by the ranges that the model lists; they leave out some, such
// as the mathematical alphabets.
constexpr std::string_view kDeepseekLetters =
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA})"
    R"(\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373})"
    R"(\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C})"
    R"(\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F})"
    R"(\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD})"
    R"(\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B})"
    R"(\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15})"
    R"(\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
    R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D})"
    R"(\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB})"
    R"(\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102})"
    R"(\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126})"
    R"(\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139})"
    R"(\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184})"
    R"(\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2})"
    R"(\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F})"
    R"(\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
    R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"
    R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"
    R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr std::string_view kDeepseekPunctuation =
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F})"
    R"(\x{3000}-\x{3002}]+)";
// Beginning after no space keeps it from trying each space of a long run.
constexpr std::string_view kTrailingSpaces = R"((?<!\s)\s+\z)";

// Digits by threes from the right. Only at the first one of a run is it looked
// where the run ends, so that long runs take no longer than others.
constexpr std::string_view kGrouped =
    R"((?<!\p{N})\p{N}{1,2}(?=(?:\p{N}{3})+(?!\p{N}))|\p{N}{3}|\p{N}{1,2})";
// The same, unless a word goes on behind them.
constexpr std::string_view kGroupedToBorder =
    R"((?<!\d)\d++(?=[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9})"
    R"(\x{BC}-\x{BE}])(*SKIP)(*FAIL))"
    R"(|(?<!\d)\d{1,2}(?=(?:\d{3})+(?!\d))|\d{3}|\d{1,2})";
constexpr std::string_view kSentences =
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)";
constexpr std::string_view kLines = R"([^\n]+|\n+)";
constexpr std::string_view kAnyDigits = R"(\p{N}{1,3})";

// Spaces in runs of powers of two.
constexpr std::string_view kJais =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S))"
    R"(|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S))"
    R"(|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";

constexpr std::string_view kMinicpm =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+)"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Without contractions.
constexpr std::string_view kUfakzeka =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kSpark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
    R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n])"
    R"(|\s+(?!\S)|\s+)";

// Hangul, punctuation of Chinese, Bopomofo, Chinese and Kana, each alone.
constexpr std::string_view kYoutuScripts =
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[\x{FF01}\x{2026}\x{201C})"
    R"(\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C})"
    R"(\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+)"
    R"(|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr std::string_view kYoutuWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Scripts that are written without spaces.
constexpr std::string_view kAfmoeScripts =
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF})"
    R"(\x{3040}-\x{309F}\x{30A0}-\x{30FF}\x{FF65}-\x{FF9F})"
    R"(\x{2F00}-\x{2FDF}\x{E40}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF})"
    R"(\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF})"
    R"(\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)";

// That of GPT-4o with Chinese characters on their own.
constexpr std::string_view kKimi =
    R"(\p{sc:Han}+|[^\r\n\p{L}\p{N}]?)"
    R"((?:(?!\p{sc:Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*)"
    R"((?:(?!\p{sc:Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?)"
    R"((?:(?!\p{sc:Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+)"
    R"((?:(?!\p{sc:Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kChameleonMarks[] = {
    R"(<sentinel:[0-9]+>)", R"(IMGIMG[A-I]{1,4}Z)", R"([\t\n]|    |  )",
    R"([\p{P}!-/:-@\[-`{-~])"};

}  // namespace

const std::vector<PreTokenizerFamily>& pre_tokenizer_families() {
  static const std::vector<PreTokenizerFamily> kFamilies = {
      {.names = "default gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de "
                "jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 mellum "
                "modern-bert exaone4 jais olmo trillion granite-docling",
       .patterns = {kGpt2Pattern}},
      {.names = "mpt", .patterns = {kGpt2Pattern}, .nfc = true},
      {.names = "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 "
                "lfm2 jina-v5-nano",
       .patterns = {patterns::kLlama3},
       .ignore_merges = true,
       .add_bos = true},
      {.names = "glm4 glm5",
       .patterns = {patterns::kLlama3},
       .ignore_merges = true},
      {.names = "smaug-bpe dbrx chatglm-bpe", .patterns = {patterns::kLlama3}},
      {.names = "minicpm5",
       .patterns = {kAnyDigits, kMinicpm},
       .ignore_merges = true},
      {.names = "jais-2", .patterns = {kJais}},
      {.names = "seed-coder", .patterns = {kSeedCoder}},
      {.names = "qwen2", .patterns = {patterns::kQwen2}, .nfc = true},
      {.names = "deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan "
                "solar-open grok-2",
       .patterns = {patterns::kQwen2}},
      {.names = "ufakzeka", .patterns = {kUfakzeka}},
      {.names = "laguna", .patterns = {kLines, patterns::kQwen2}},
      {.names = "qwen35", .patterns = {patterns::kQwen35}, .nfc = true},
      {.names = "bailingmoe bailingmoe2 llada-moe",
       .patterns = {patterns::kBailing}},
      {.names = "exaone-moe", .patterns = {patterns::kExaoneMoe}},
      {.names = "starcoder refact smollm codeshell exaone minerva-7b mellum2",
       .patterns = {kDigit, kGpt2Pattern}},
      {.names = "command-r", .patterns = {kDigit, kGpt2Pattern}, .nfc = true},
      {.names = "falcon",
       .patterns = {kFalconPunctuation, kGpt2Pattern, kThreeDigits}},
      {.names = "deepseek-llm",
       .patterns = {kLineBreak, kDeepseekLetters, kDeepseekPunctuation,
                    kTrailingSpaces, kEastAsian, R"(\p{N}+)"}},
      {.names = "deepseek-coder",
       .patterns = {kLineBreak, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian,
                    kDigit}},
      {.names = "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
       .patterns = {kAnyDigits, kChineseAndKana, patterns::kDeepseek3}},
      {.names = "spark2_5",
       .patterns = {kAnyDigits, kChineseAndKana, kSpark, kDigit}},
      {.names = "afmoe",
       .patterns = {kGrouped, kAfmoeScripts, patterns::kDeepseek3}},
      {.names = "youtu",
       .patterns = {kYoutuScripts, kYoutuWords},
       .ignore_merges = true},
      {.names = "poro-chat bloom gpt3-finnish", .patterns = {kSentences}},
      {.names = "viking", .patterns = {kSentences, kDigit}},
      {.names = "tekken",
       .patterns = {patterns::kTekken},
       .ignore_merges = true,
       .add_bos = true},
      {.names = "gpt-4o llama4 kanana2 talkie minimax-m2",
       .patterns = {patterns::kGpt4o}},
      {.names = "granite-embed-multi-97m",
       .patterns = {patterns::kGpt4o},
       .ignore_merges = true},
      {.names = "tiny_aya cohere2moe",
       .patterns = {kGroupedToBorder, patterns::kGpt4o}},
      {.names = "kimi-k2", .patterns = {kKimi}},
      {.names = "chameleon",
       .patterns = {kChameleonMarks[0], kChameleonMarks[1], kChameleonMarks[2],
                    kDigit, kChameleonMarks[3], kGpt2Pattern},
       .add_bos = true},
  };
  return kFamilies;
}

}  // namespace rc::text
