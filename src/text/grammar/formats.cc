#include "text/grammar/formats.h"

#include <string>

#include "base/error.h"
#include "text/grammar/regex_syntax.h"

namespace rc::text::grammar {
namespace {

// RFC 3339, with the days of each month.
constexpr std::string_view kDate =
    "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|"
    "(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|"
    "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|"
    "(?:[02468][048]|[13579][26])00)-02-29)";
constexpr std::string_view kClock =
    "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?";
constexpr std::string_view kOffset = "(?:[zZ]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
constexpr std::string_view kLeapSecond =
    "23:59:60(?:\\.\\d+)?(?:[zZ]|[+-]00:00)";
constexpr std::string_view kAnyLeapSecond = "\\d\\d:\\d\\d:60(?:\\.\\d+)?[^]*";

// RFC 3339, appendix A.
constexpr std::string_view kDuration =
    "P(?:\\d+W|(?:\\d+D|\\d+M(?:\\d+D)?|\\d+Y(?:\\d+M(?:\\d+D)?)?)"
    "(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))?|"
    "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))";

// RFC 1123.
constexpr std::string_view kLabel =
    "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";

constexpr std::string_view kByte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

std::string ipv4() { return cat("(?:", kByte, "\\.){3}", kByte); }

// RFC 4291, section 2.2: eight groups, or fewer around "::".
std::string ipv6() {
  const std::string group = "[0-9A-Fa-f]{1,4}";
  const std::string last = cat("(?:", group, ":", group, "|", ipv4(), ")");
  std::string all = cat("(?:(?:", group, ":){6}", last);
  for (int after = 5; after >= 0; --after) {
    const int before = 5 - after;  // at most so many groups
    all += '|';
    if (before > 0) {
      all += cat("(?:(?:", group, ":){0,", before - 1, "}", group, ")?");
    }
    all += cat("::(?:", group, ":){", after, "}", last);
  }
  all += cat("|(?:(?:", group, ":){0,5}", group, ")?::", group);
  all += cat("|(?:(?:", group, ":){0,6}", group, ")?::)");
  return all;
}

// RFC 3986, appendix A; of IRIs (RFC 3987) with letters beyond ASCII.
struct UriSyntax {
  std::string absolute;
  std::string relative;
};
UriSyntax uri_syntax(bool international) {
  const std::string more =
      international ? "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}"
                      "\\u{10000}-\\u{EFFFD}"
                    : "";
  const std::string percent = "%[0-9A-Fa-f]{2}";
  const std::string plain = cat("A-Za-z0-9._~!$&'()*+,;=", more);
  const std::string pchar = cat("(?:[", plain, ":@-]|", percent, ")");
  const std::string host = cat("(?:\\[(?:", ipv6(),
                               "|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]"
                               "+)\\]|(?:[",
                               plain, "-]|", percent, ")*)");
  const std::string authority =
      cat("//(?:(?:[", plain, ":-]|", percent, ")*@)?", host, "(?::\\d*)?(?:/",
          pchar, "*)*");
  const std::string rooted = cat("/(?:", pchar, "+(?:/", pchar, "*)*)?");
  const std::string in_query =
      international ? "[/?\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}"
                      "\\u{100000}-\\u{10FFFD}]"
                    : "[/?]";
  const std::string tail =
      cat("(?:\\?(?:", pchar, "|", in_query, ")*)?(?:#(?:", pchar, "|[/?])*)?");
  const std::string rootless = cat(pchar, "+(?:/", pchar, "*)*");
  const std::string no_scheme =
      cat("(?:[", plain, "@-]|", percent, ")+(?:/", pchar, "*)*");
  return {cat("[A-Za-z][A-Za-z0-9+.-]*:(?:", authority, "|", rooted, "|",
              rootless, ")?", tail),
          cat("(?:", authority, "|", rooted, "|", no_scheme, ")?", tail)};
}

// RFC 5321 and 5322, without comments.
std::string email(bool international) {
  const std::string more = international ? "\\u{80}-\\u{10FFFF}" : "";
  const std::string atom = cat("[A-Za-z0-9!#$%&'*+/=?^_`{|}~", more, "-]+");
  const std::string label = international
                                ? cat("[A-Za-z0-9", more, "](?:[A-Za-z0-9",
                                      more, "-]{0,61}[A-Za-z0-9", more, "])?")
                                : std::string(kLabel);
  return cat("(?:", atom, "(?:\\.", atom, ")*|\"(?:[ !#-\\[\\]-~", more,
             "]|\\\\[ -~])*\")@(?:", label, "(?:\\.", label, ")*|\\[", ipv4(),
             "\\]|\\[IPv6:", ipv6(), "\\])");
}

// RFC 6570.
std::string uri_template() {
  const std::string name =
      "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
      ")*";
  const std::string variable = cat(name, "(?:\\*|:[1-9]\\d{0,3})?");
  return cat(
      "(?:[^\\x00-\\x20\\x7F-\\x9F\"%<>\\\\^`{|}]|%[0-9A-Fa-f]{2}|"
      "\\{[+#./;\\?&]?",
      variable, "(?:,", variable, ")*\\})*");
}

// Regular expressions without groups in groups.
std::string simple_regex() {
  const std::string quantifier =
      "(?:[*+?]\\??|\\{\\d{1,3}(?:,\\d{0,3})?\\}\\?{0,1})?";
  const std::string atom =
      "(?:[^\\\\()\\[\\]{}*+?|]|\\\\[dDwWsStnrfv./*+?()\\[\\]{}|^$\\\\]|"
      "\\[\\^?(?:[^\\]\\\\\\[-]|\\\\[dDwWsStnrfv.\\]\\[\\\\^]|a-z|A-Z|0-9)+\\]"
      ")";
  const std::string items = cat("(?:", atom, quantifier, ")*");
  const std::string group =
      cat("\\((?:\\?:)?", items, "(?:\\|", items, ")*\\)", quantifier);
  const std::string sequence = cat("(?:", atom, quantifier, "|", group, ")*");
  return cat(sequence, "(?:\\|", sequence, ")*");
}

constexpr std::string_view kPointer = "(?:/(?:[^~/]|~[01])*)*";

struct Regexes {
  std::string in;
  std::string maybe;  // what need not be wrong, beyond that
};

std::optional<Regexes> regexes(std::string_view name) {
  const auto exact = [](std::string in) { return Regexes{std::move(in), ""}; };
  if (name == "date") return exact(std::string(kDate));
  if (name == "time") {
    return Regexes{cat(kClock, kOffset, "|", kLeapSecond),
                   std::string(kAnyLeapSecond)};
  }
  if (name == "date-time") {
    return Regexes{
        cat(kDate, "[Tt](?:", kClock, kOffset, "|", kLeapSecond, ")"),
        cat(kDate, "[Tt]", kAnyLeapSecond)};
  }
  if (name == "duration") return exact(std::string(kDuration));
  if (name == "email") return Regexes{email(false), "[^]*@[^]*"};
  if (name == "idn-email") return Regexes{email(true), "[^]*@[^]*"};
  if (name == "ipv4") return exact(ipv4());
  if (name == "ipv6") return exact(ipv6());
  if (name == "uuid") {
    return exact("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}");
  }
  if (name == "uri") return exact(uri_syntax(false).absolute);
  if (name == "iri") return exact(uri_syntax(true).absolute);
  if (name == "uri-reference") {
    const UriSyntax uri = uri_syntax(false);
    return exact(cat(uri.absolute, "|", uri.relative));
  }
  if (name == "iri-reference") {
    const UriSyntax uri = uri_syntax(true);
    return exact(cat(uri.absolute, "|", uri.relative));
  }
  if (name == "uri-template") return exact(uri_template());
  if (name == "json-pointer") return exact(std::string(kPointer));
  if (name == "relative-json-pointer") {
    return exact(cat("(?:0|[1-9]\\d*)(?:#|", kPointer, ")"));
  }
  if (name == "regex") return Regexes{simple_regex(), "[^]*"};
  return std::nullopt;
}

LexicalSet host_names(ExprPool* pool) {
  const ExprId names =
      parse_regex(cat(kLabel, "(?:\\.", kLabel, ")*"), {}, pool);
  const ExprId sizes = pool->repeat(pool->set(CharSet::all()), 1, 253);
  const ExprId all = pool->both(names, sizes);
  // Hyphens in the third and fourth place mark encoded international names.
  const ExprId encoded =
      parse_regex("(?:^|\\.)[^.]{2}--", {.search = true}, pool);
  return {pool->both(all, pool->negate(encoded)), pool->negate(all)};
}

}  // namespace

std::optional<LexicalSet> find_format(std::string_view name, ExprPool* pool) {
  if (name == "idn-hostname") {
    fail(RC_E_UNSUPPORTED,
         "the format idn-hostname is not supported; use "
         "hostname");
  }
  if (name == "hostname") return host_names(pool);
  const std::optional<Regexes> found = regexes(name);
  if (!found) return std::nullopt;
  LexicalSet set;
  set.in = parse_regex(found->in, {}, pool);
  ExprId possible = set.in;
  if (!found->maybe.empty()) {
    possible = pool->either(possible, parse_regex(found->maybe, {}, pool));
  }
  set.out = pool->negate(possible);
  return set;
}

}  // namespace rc::text::grammar
