// docs/models.md names what the library knows, and nothing else.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "files/folder/architecture.h"
#include "model/architecture.h"
#include "test_data.h"

namespace rc {
namespace {

// The words in `marks` of the second or the third column of all tables.
std::set<std::string> words_of_column(int column) {
  std::ifstream page(rc::test::source_path("docs/models.md"));
  std::set<std::string> words;
  std::string line;
  while (std::getline(page, line)) {
    if (!line.starts_with("| ")) continue;
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i <= column; ++i) std::getline(cells, cell, '|');
    for (size_t at = cell.find('`'); at != cell.npos;) {
      const size_t end = cell.find('`', at + 1);
      words.insert(cell.substr(at + 1, end - at - 1));
      at = cell.find('`', end + 1);
    }
  }
  return words;
}

TEST(ModelsPage, ListsTheArchitecturesOfFiles) {
  std::set<std::string> known;
  for (const auto* one : model::known_architectures()) known.emplace(one->name);
  EXPECT_EQ(words_of_column(2), known);
}

TEST(ModelsPage, ListsTheTypesOfFolders) {
  std::set<std::string> known;
  for (const auto* one : folder::known_architectures()) {
    known.emplace(one->model_type);
  }
  EXPECT_EQ(words_of_column(3), known);
}

}  // namespace
}  // namespace rc
