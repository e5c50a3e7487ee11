// The terminals of Lark's grammar "common".
#pragma once

#include <array>
#include <string_view>

namespace rc::text::grammar {

struct CommonTerminal {
  std::string_view name;
  std::string_view pattern;  // see regex_syntax.h
};

inline constexpr std::array<CommonTerminal, 22> kCommonTerminals = {{
    {"DIGIT", "[0-9]"},
    {"HEXDIGIT", "[0-9A-Fa-f]"},
    {"INT", "[0-9]+"},
    {"SIGNED_INT", "[+-]?[0-9]+"},
    {"DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"},
    {"FLOAT",
     "[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"},
    {"SIGNED_FLOAT",
     "[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)"
     "(?:[eE][+-]?[0-9]+)?)"},
    {"NUMBER",
     "[0-9]+(?:\\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|"
     "\\.[0-9]+(?:[eE][+-]?[0-9]+)?"},
    {"SIGNED_NUMBER",
     "[+-]?(?:[0-9]+(?:\\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|"
     "\\.[0-9]+(?:[eE][+-]?[0-9]+)?)"},
    {"ESCAPED_STRING", "\"(?:[^\"\\\\\\n]|\\\\[^\\n])*\""},
    {"LCASE_LETTER", "[a-z]"},
    {"UCASE_LETTER", "[A-Z]"},
    {"LETTER", "[A-Za-z]"},
    {"WORD", "[A-Za-z]+"},
    {"CNAME", "[A-Za-z_][A-Za-z0-9_]*"},
    {"WS_INLINE", "[ \\t]+"},
    {"WS", "[ \\t\\f\\r\\n]+"},
    {"CR", "\\r"},
    {"LF", "\\n"},
    {"NEWLINE", "(?:\\r?\\n)+"},
    {"SH_COMMENT", "#[^\\n]*"},
    {"CPP_COMMENT", "//[^\\n]*"},
}};

}  // namespace rc::text::grammar
