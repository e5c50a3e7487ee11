// The memory that compiling takes: in proportion to the text of the grammar, or
// up to the limits, which then are named. All bytes that are allocated on the
// way are counted too, which stands for time. The program's operator new is
// replaced for that, which sanitizers do themselves.
#include "base/utf8.h"
#include "text/grammar/grammar_util.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

namespace {

std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;
std::atomic<int64_t> all_bytes = 0;

}  // namespace

void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const auto bytes = static_cast<int64_t>(malloc_usable_size(memory));
  live_bytes += bytes;
  all_bytes += bytes;
  if (live_bytes > peak_bytes) peak_bytes = live_bytes.load();
  return memory;
}

void operator delete(void* memory) noexcept {
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace rc::text::grammar {
namespace {

struct Use {
  int64_t peak = 0;
  int64_t all = 0;
  std::string error{};  // "" if the grammar was compiled
};

enum class Form { kGbnf, kLark, kRegex, kSchema, kChoices };

Use use_of(Form form, const std::string& text) {
  const auto vocabulary = small_vocabulary();
  const auto compile = [&]() -> std::shared_ptr<const Grammar> {
    switch (form) {
      case Form::kGbnf:
        return Grammar::gbnf(text, {}, vocabulary);
      case Form::kLark:
        return Grammar::lark(text, {}, vocabulary);
      case Form::kRegex:
        return Grammar::regex(text, {}, vocabulary);
      case Form::kSchema:
        return schema(text);
      case Form::kChoices:
        break;
    }
    std::vector<std::string> choices;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find(',', at);
      choices.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return Grammar::choices(choices, {}, vocabulary);
  };
  const int64_t live = live_bytes;
  const int64_t all = all_bytes;
  peak_bytes = live;
  Use use;
  try {
    compile();
  } catch (const Error& error) {
    use.error = error.message();
  }
  use.peak = peak_bytes - live;
  use.all = all_bytes - all;
  return use;
}

// A list of n parts, each made of its number.
template <class Part>
std::string list(size_t n, std::string_view between, Part part) {
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) text += between;
    text += part(i);
  }
  return text;
}

std::string character(size_t i) {
  std::string text;
  append_utf8(static_cast<char32_t>(0x3400 + 2 * i), &text);
  return text;
}

struct Growing {
  const char* name;
  Form form;
  size_t n;
  std::function<std::string(size_t n)> text;
};
// For GoogleTest, which would print the bytes.
void PrintTo(const Growing& growing, std::ostream* out) {
  *out << growing.name;
}

std::string name_of(const testing::TestParamInfo<Growing>& info) {
  return info.param.name;
}

class LinearMemory : public testing::TestWithParam<Growing> {};
TEST_P(LinearMemory, CompilingTakesLinearMemory) {
  const auto& [name, form, n, text] = GetParam();
  use_of(form, text(10));  // what is made once for the whole process
  const Use few = use_of(form, text(n));
  const Use many = use_of(form, text(4 * n));
  EXPECT_EQ(few.error, "");
  EXPECT_EQ(many.error, "");
  // Quadratic memory would be 16 times as much.
  EXPECT_LT(many.peak, 7 * few.peak) << few.peak;
  EXPECT_LT(many.all, 7 * few.all) << few.all;
}

class LimitedMemory : public testing::TestWithParam<Growing> {};
TEST_P(LimitedMemory, CompilingIsRefusedWithinTheLimit) {
  const auto& [name, form, n, text] = GetParam();
  const Use use = use_of(form, text(n));
  EXPECT_NE(use.error.find("more than"), std::string::npos) << use.error;
  EXPECT_LT(use.peak, int64_t{500} << 20);
  EXPECT_LT(use.all, int64_t{2000} << 20);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LinearMemory,
    testing::Values(
        Growing{"Chain", Form::kGbnf, 1000,
                [](size_t n) {
                  return "root ::= r0\n" +
                         list(n, "",
                              [](size_t i) {
                                return cat("r", i, " ::= \"a\" r", i + 1, "\n");
                              }) +
                         cat("r", n, " ::= \"b\"\n");
                }},
        Growing{"ChainOnTheLeft", Form::kGbnf, 1000,
                [](size_t n) {
                  return "root ::= r0\n" +
                         list(n, "",
                              [](size_t i) {
                                return cat("r", i, " ::= r", i + 1, " \"a\"\n");
                              }) +
                         cat("r", n, " ::= \"b\"\n");
                }},
        Growing{"ChainOfRules", Form::kGbnf, 1000,
                [](size_t n) {
                  return "root ::= r0\n" +
                         list(n, "",
                              [](size_t i) {
                                return cat("r", i, " ::= r", i + 1, "\n");
                              }) +
                         cat("r", n, " ::= \"b\" root | \"c\"\n");
                }},
        Growing{"ChainOfLateRules", Form::kGbnf, 1000,
                [](size_t n) {
                  return "root ::= r0\n" +
                         list(n, "",
                              [&](size_t i) {
                                return cat("r", n - i - 1, " ::= \"a\" r",
                                           n - i, " | \"b\" root\n");
                              }) +
                         cat("r", n, " ::= \"b\"\n");
                }},
        Growing{"Alternatives", Form::kGbnf, 500,
                [](size_t n) {
                  return "root ::= " +
                         list(n, " | ",
                              [](size_t i) {
                                return cat("\"", character(i), "\" root");
                              }) +
                         " | \"z\"";
                }},
        Growing{"AlternativesOfRules", Form::kGbnf, 500,
                [](size_t n) {
                  return "root ::= (" +
                         list(n, " | ", [](size_t i) { return cat("r", i); }) +
                         ") root | \"z\"\n" + list(n, "", [](size_t i) {
                           return cat("r", i, " ::= \"", character(i),
                                      "\" root \"y\"\n");
                         });
                }},
        Growing{"Repetitions", Form::kGbnf, 500,
                [](size_t n) {
                  return std::string(10 * n, 'x') + " ::= " +
                         list(n, " ",
                              [](size_t i) {
                                return cat("(\"", character(i), "\" root)*");
                              }) +
                         "\nroot ::= \"b\" | " + std::string(10 * n, 'x');
                }},
        Growing{"LarkChain", Form::kLark, 500,
                [](size_t n) {
                  return "start: r0\n" +
                         list(n, "",
                              [](size_t i) {
                                return cat("r", i, ": \"a\" r", i + 1, "\n");
                              }) +
                         cat("r", n, ": \"b\"\n");
                }},
        Growing{"Class", Form::kGbnf, 2000,
                [](size_t n) {
                  return "root ::= [" + list(n, "", character) + "]";
                }}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Expressions, LinearMemory,
    testing::Values(
        Growing{"Literal", Form::kRegex, 5000,
                [](size_t n) { return "(?:" + std::string(n, 'a') + ")b"; }},
        Growing{"Class", Form::kRegex, 2000,
                [](size_t n) { return "[" + list(n, "", character) + "]"; }},
        Growing{"Characters", Form::kRegex, 2000,
                [](size_t n) { return list(n, "|", character); }},
        Growing{"Alternatives", Form::kRegex, 1000,
                [](size_t n) {
                  return list(n, "|",
                              [](size_t i) { return cat(character(i), "*b"); });
                }},
        Growing{"Properties", Form::kRegex, 100,
                [](size_t n) {
                  return list(n, "", [](size_t) {
                    return std::string("\\p{L}|[\\p{N}\\p{Z}]");
                  });
                }},
        Growing{"Choices", Form::kChoices, 2000,
                [](size_t n) {
                  return list(n, ",",
                              [](size_t i) {
                                return cat(character(i % 100), i);
                              }) +
                         ",";
                }}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Schemas, LinearMemory,
    testing::Values(
        Growing{"Properties", Form::kSchema, 1000,
                [](size_t n) {
                  const auto names = [&](const char* after) {
                    return list(n, ",", [&](size_t i) {
                      return cat("\"p", i, "\"", after);
                    });
                  };
                  return R"({"type": "object", "additionalProperties": false,)"
                         R"("properties": {)" +
                         names(": {\"type\": \"null\"}") +
                         R"(}, "required": [)" + names("") + "]}";
                }},
        Growing{"Enum", Form::kSchema, 2000,
                [](size_t n) {
                  return R"({"enum": [)" +
                         list(n, ",",
                              [](size_t i) { return cat("\"v", i, "\""); }) +
                         "]}";
                }},
        Growing{"AnyOf", Form::kSchema, 500,
                [](size_t n) {
                  return R"({"anyOf": [)" +
                         list(n, ",",
                              [](size_t i) {
                                return cat("{\"const\": \"v", i, "\"}");
                              }) +
                         "]}";
                }},
        Growing{"AllOf", Form::kSchema, 500,
                [](size_t n) {
                  return R"({"type": "object", "allOf": [)" +
                         list(n, ",",
                              [](size_t i) {
                                return cat("{\"properties\": {\"p", i,
                                           "\": {\"type\": \"null\"}}}");
                              }) +
                         "]}";
                }},
        Growing{"PrefixItems", Form::kSchema, 1000,
                [](size_t n) {
                  return cat(R"({"type": "array", "minItems": )", n,
                             R"(, "prefixItems": [)") +
                         list(n, ",",
                              [](size_t) {
                                return std::string("{\"type\": \"null\"}");
                              }) +
                         "]}";
                }},
        Growing{"Const", Form::kSchema, 1000,
                [](size_t n) {
                  return R"({"const": [)" +
                         list(n, ",",
                              [](size_t i) { return cat("\"v", i, "\""); }) +
                         "]}";
                }},
        Growing{
            "References", Form::kSchema, 1000,
            [](size_t n) {
              return R"({"type": "object", "properties": {)" +
                     list(n, ",",
                          [](size_t i) {
                            return cat("\"p", i, "\": {\"$ref\": \"#/$defs/d",
                                       i, "\"}");
                          }) +
                     "}, \"$defs\": {" +
                     list(n, ",",
                          [](size_t i) {
                            return cat("\"d", i, "\": {\"type\": \"null\"}");
                          }) +
                     "}}";
            }},
        Growing{"LongNames", Form::kSchema, 500,
                [](size_t n) {
                  return R"({"type": "object", "properties": {")" +
                         std::string(20 * n, 'a') + R"(": {"properties": {)" +
                         list(n, ",",
                              [](size_t i) {
                                return cat("\"p", i,
                                           "\": {\"type\": \"null\"}");
                              }) +
                         "}}}}";
                }},
        Growing{"LongIdentifiers", Form::kSchema, 500,
                [](size_t n) {
                  return R"({"$id": "http://a/)" + std::string(1000, 'a') +
                         R"(", "type": "object", "properties": {)" +
                         list(n, ",",
                              [](size_t i) {
                                return cat("\"p", i,
                                           "\": {\"type\": \"null\"}");
                              }) +
                         "}}";
                }}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Grammars, LimitedMemory,
    testing::Values(Growing{"ChainOfAlternatives", Form::kGbnf, 20'000,
                            [](size_t n) {
                              return "root ::= r0\n" +
                                     list(n, "",
                                          [](size_t i) {
                                            return cat("r", i, " ::= \"a", i,
                                                       "\" | r", i + 1, "\n");
                                          }) +
                                     cat("r", n, " ::= \"b\"\n");
                            }},
                    Growing{"ChainOfClasses", Form::kGbnf, 10'000,
                            [](size_t n) {
                              return "root ::= r0\n" +
                                     list(n, "",
                                          [](size_t i) {
                                            return cat("r", i, " ::= [",
                                                       character(i), "] | r",
                                                       i + 1, "\n");
                                          }) +
                                     cat("r", n, " ::= \"b\"\n");
                            }},
                    Growing{"Doubling", Form::kGbnf, 30,
                            [](size_t n) {
                              return "root ::= r0\n" +
                                     list(n, "",
                                          [](size_t i) {
                                            return cat("r", i, " ::= r", i + 1,
                                                       " r", i + 1, "\n");
                                          }) +
                                     cat("r", n, " ::= \"b\"\n");
                            }},
                    Growing{"Repetitions", Form::kGbnf, 4,
                            [](size_t n) {
                              return "root ::= (\"a\" root | \"b\")" +
                                     list(n, "", [](size_t) {
                                       return std::string("{2000}");
                                     });
                            }},
                    Growing{"Identifiers", Form::kSchema, 100'000,
                            [](size_t n) {
                              return R"({"$id": "http://a/)" +
                                     std::string(n, 'a') + "\"}";
                            }}),
    name_of);

}  // namespace
}  // namespace rc::text::grammar

#endif
