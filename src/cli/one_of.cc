#include "one_of.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "nearest.h"

namespace cli {
namespace {

bool is_same_in_any_case(const std::string& a, const std::string& b) {
  const auto lower = [](char c) {
    return std::tolower(static_cast<unsigned char>(c));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& names,
                    bool any_case, const std::string& more) {
  const auto take = [names, any_case, more](std::string& given) {
    for (const std::string& name : names) {
      const bool same =
          any_case ? is_same_in_any_case(name, given) : name == given;
      if (!same) continue;
      given = name;
      return std::string();
    }
    return given + " is not one of " + (more.empty() ? joined(names) : more) +
           did_you_mean(given, names);
  };
  return option->transform(
      CLI::Validator(take, "{" + joined(names, ",") + "}"));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{');
  const size_t end = type.find('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string each; std::getline(list, each, ',');) {
    choices.push_back(each);
  }
  return choices;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : between) + word;
  }
  return text;
}

}  // namespace cli
