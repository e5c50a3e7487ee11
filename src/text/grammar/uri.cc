#include "text/grammar/uri.h"

#include <algorithm>

namespace rc::text::grammar {
namespace {

// Section 3, without the fragment.
struct UriParts {
  std::string_view scheme;     // with its ':'
  std::string_view authority;  // with its "//"
  std::string_view path;
  std::string_view query;  // with its '?'
};

UriParts split_uri(std::string_view uri) {
  UriParts parts;
  uri = uri.substr(0, uri.find('#'));
  const size_t colon = uri.find_first_of(":/?");
  if (colon != std::string_view::npos && uri[colon] == ':' && colon > 0) {
    parts.scheme = uri.substr(0, colon + 1);
    uri.remove_prefix(colon + 1);
  }
  if (uri.starts_with("//")) {
    const size_t end = std::min(uri.find_first_of("/?", 2), uri.size());
    parts.authority = uri.substr(0, end);
    uri.remove_prefix(end);
  }
  const size_t query = std::min(uri.find('?'), uri.size());
  parts.path = uri.substr(0, query);
  parts.query = uri.substr(query);
  return parts;
}

// Section 5.2.4.
std::string remove_dot_segments(std::string_view path) {
  std::string result;
  const bool rooted = path.starts_with('/');
  while (!path.empty()) {
    if (path.starts_with('/')) path.remove_prefix(1);
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    const bool last = path.empty();
    if (segment == "..") {
      const size_t slash = result.rfind('/');
      result.erase(slash == std::string::npos ? 0 : slash);
    } else if (segment != ".") {
      if (!result.empty() || rooted) result += '/';
      result += segment;
      continue;
    }
    if (last) result += '/';
  }
  return result;
}

std::string join(std::string_view scheme, std::string_view authority,
                 std::string_view path, std::string_view query) {
  std::string result(scheme);
  result += authority;
  result += path;
  result += query;
  return result;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  const UriParts b = split_uri(base);
  const UriParts r = split_uri(reference);
  if (!r.scheme.empty()) {
    return join(r.scheme, r.authority, r.path, r.query);
  }
  if (!r.authority.empty()) {
    return join(b.scheme, r.authority, r.path, r.query);
  }
  if (r.path.empty()) {
    return join(b.scheme, b.authority, b.path,
                r.query.empty() ? b.query : r.query);
  }
  std::string path(r.path);
  if (!path.starts_with('/')) {
    const size_t slash = b.path.rfind('/');
    const std::string_view folder =
        slash == std::string_view::npos ? "" : b.path.substr(0, slash + 1);
    path.insert(0, folder.empty() && !b.authority.empty() ? "/" : folder);
  }
  return join(b.scheme, b.authority, remove_dot_segments(path), r.query);
}

std::string uri_fragment(std::string_view reference) {
  const size_t hash = reference.find('#');
  if (hash == std::string_view::npos) return "";
  const std::string_view text = reference.substr(hash + 1);
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_value(text[i + 1]) * 16 +
                                  hex_value(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace rc::text::grammar
