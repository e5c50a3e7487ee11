#include "rows_file.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.h"
#include "terminal.h"

namespace cli {
namespace {

constexpr size_t kAlignment = 64;

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw Failure{kFile, path + ": cannot be read: " + std::strerror(errno)};
  }
  return text.str();
}

std::string text_of_json(const std::string& line, const std::string& place,
                         const std::vector<std::string>& names) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object()) {
    for (const std::string& name : names) {
      const auto member = json.find(name);
      if (member != json.end() && member->is_string()) {
        return member->get<std::string>();
      }
    }
  }
  throw Failure{kMalformed, place +
                                ": a line must be a JSON string, or an object "
                                "with a string \"" +
                                names.front() + "\""};
}

}  // namespace

RowsView wait_for_rows(const Embedding& embedding) {
  // The longest delay until Ctrl-C is noticed.
  constexpr int64_t kLookMs = 50;
  const InterruptWatch watch;
  rc_status status = RC_E_TIMEOUT;
  while (status == RC_E_TIMEOUT) {
    if (interrupted()) check(rc_embedding_cancel(embedding.get()));
    status = rc_embedding_wait(embedding.get(), kLookMs);
  }
  check(status);
  RowsView rows = {};
  check(rc_embedding_rows(embedding.get(), &rows.values, &rows.count,
                          &rows.columns));
  return rows;
}

std::string number_text(float value) {
  // JSON has no other numbers.
  if (!std::isfinite(value)) return "null";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string json_lines(const RowsView& rows, const std::vector<bool>& empty) {
  std::string text;
  size_t row = 0;
  for (const bool is_empty : empty) {
    if (is_empty) {
      text += "{\"embedding\": null}\n";
      continue;
    }
    text += "{\"embedding\": [";
    for (size_t j = 0; j < rows.columns; ++j) {
      text += (j == 0 ? "" : ", ") +
              number_text(rows.values[row * rows.columns + j]);
    }
    text += "]}\n";
    ++row;
  }
  return text;
}

std::string npy_bytes(const RowsView& rows, const std::vector<bool>& empty) {
  static_assert(std::endian::native == std::endian::little);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(empty.size()) + ", " +
                       std::to_string(rows.columns) + "), }";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  // Padded with spaces and a line feed, so that the numbers are aligned.
  const size_t before = bytes.size() + 2;
  const size_t whole =
      (before + header.size() + kAlignment) / kAlignment * kAlignment;
  header.resize(whole - before - 1, ' ');
  header += '\n';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  const size_t row_bytes = rows.columns * sizeof(float);
  size_t row = 0;
  for (const bool is_empty : empty) {
    if (is_empty) {
      bytes.append(row_bytes, '\0');
    } else {
      bytes.append(
          reinterpret_cast<const char*>(rows.values + row * rows.columns),
          row_bytes);
      ++row;
    }
  }
  return bytes;
}

std::vector<std::string> read_texts(const std::string& path,
                                    const std::vector<std::string>& names) {
  const bool from_stdin = path.empty() || path == "-";
  const std::string place = from_stdin ? "stdin" : path;
  std::istringstream lines(from_stdin ? read_stdin() : file_text(path));
  constexpr std::string_view kSuffix = ".jsonl";
  const bool json =
      path.size() >= kSuffix.size() &&
      path.compare(path.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
  std::vector<std::string> texts;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    texts.push_back(
        json && !line.empty()
            ? text_of_json(line, place + ":" + std::to_string(number), names)
            : line);
  }
  const bool any =
      std::any_of(texts.begin(), texts.end(),
                  [](const std::string& text) { return !text.empty(); });
  if (!any) throw Failure{kUsage, place + ": there is no text in it"};
  return texts;
}

}  // namespace cli
