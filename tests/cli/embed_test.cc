// Embeddings and scores on the command line.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "temporary.h"

namespace rc::test {
namespace {

std::string embedding_folder(const char* name) {
  return source_path(std::string("tests/golden/embeddings/") + name).string();
}

class CommandEmbed : public ::testing::Test {
 protected:
  std::string write(const char* name, const std::string& text) const {
    const auto path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string path_of(const char* name) const {
    return (folder_.path() / name).string();
  }

  const TemporaryFolder folder_;
};

TEST_F(CommandEmbed, WritesFilesThatNumpyReads) {
  const std::string lines = write("t.txt", "a spoon\nthe red fork\n");
  const std::string json =
      write("t.jsonl", "\"a spoon\"\n{\"text\": \"the red fork\"}\n");
  const Outcome shown = run({"embed", embedding_folder("bert-mean"), "--input",
                             lines, "--dimensions", "4"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 2);
  EXPECT_EQ(run({"embed", embedding_folder("bert-mean"), "--input", json,
                 "--dimensions", "4"})
                .out,
            shown.out);
  const std::string path = path_of("rows.npy");
  const Outcome outcome =
      run({"embed", embedding_folder("bert-mean"), "--input", json,
           "--dimensions", "4", "-o", path});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::string bytes = content(path);
  ASSERT_EQ(bytes.size(), 128 + 2 * 4 * sizeof(float));
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 61),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }  ");
  EXPECT_EQ(bytes[127], '\n');
  float row[4];
  std::memcpy(row, bytes.data() + 128, sizeof row);
  const auto first =
      nlohmann::json::parse(shown.out.substr(0, shown.out.find('\n')));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(first["embedding"][i].get<float>(), row[i]);
  }
  // Nothing else is left in the folder.
  const std::filesystem::directory_iterator all(folder_.path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 3);
}

TEST_F(CommandEmbed, ErrorsNameTheArgument) {
  const std::string lines = write("t.txt", "a spoon\n");
  const std::string bad = write("t.jsonl", "\"a\"\n[1]\n");
  expect_failure(run({"embed", embedding_folder("bert-mean"), "--input", bad}),
                 4, "t.jsonl:2");
  expect_failure(run({"embed", embedding_folder("bert-mean"), "--input", lines,
                      "--dimensions", "33"}),
                 2, "dimensions is 33");
  expect_failure(run({"embed", embedding_folder("bert-mean"), "--input",
                      path_of("nothing.txt")}),
                 3, "nothing.txt");
  expect_failure(run({"embed", embedding_folder("bert-mean"), "--input",
                      write("empty.txt", "\n")}),
                 2, "there is no text");
  expect_failure(run({"embed", embedding_folder("bert-mean"), "--input", lines,
                      "-o", path_of("no/such/folder.npy")}),
                 3, "folder.npy");
  expect_failure(run({"embed", embedding_folder("bert-mean"), "--input", lines,
                      "--pooling", "max"}),
                 2, "max");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The n-th row is that of the n-th line.
TEST_F(CommandEmbed, EmptyLinesKeepTheirPlace) {
  const std::string full = write("full.txt", "a spoon\nthe red fork\n");
  const std::string text = "\na spoon\n\n\r\nthe red fork\n\n";
  const std::string gaps = write("gaps.txt", text);
  const std::string json = write("gaps.jsonl",
                                 "\"\"\n\"a spoon\"\n\n{\"text\": \"\"}\n"
                                 "{\"text\": \"the red fork\"}\n\n");
  const std::vector<std::string> common = {
      "embed", embedding_folder("bert-mean"), "--dimensions", "4"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const auto rows = lines_of(run(with({"--input", full})).out);
  ASSERT_EQ(rows.size(), 2u);
  const std::string null = "{\"embedding\": null}";
  const std::vector<std::string> expected = {null, rows[0], null,
                                             null, rows[1], null};
  EXPECT_EQ(lines_of(run(with({"--input", gaps})).out), expected);
  EXPECT_EQ(lines_of(run(with({"--input", json})).out), expected);
  EXPECT_EQ(lines_of(run(with({}), text).out), expected);
  for (const std::string& line : expected) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
  const std::string path = path_of("gaps.npy");
  ASSERT_EQ(run(with({"--input", gaps, "-o", path})).code, 0);
  const std::string bytes = content(path);
  ASSERT_EQ(bytes.size(), 128 + 6 * 4 * sizeof(float));
  float numbers[6][4];
  std::memcpy(numbers, bytes.data() + 128, sizeof numbers);
  for (size_t i = 0; i < 6; ++i) {
    const auto row = nlohmann::json::parse(expected[i])["embedding"];
    for (size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(numbers[i][j], row.is_null() ? 0 : row[j].get<float>());
    }
  }
  // Scores are sorted; their index is that of the line.
  const Outcome scored = run({"rerank", embedding_folder("bert-cross"),
                              "the red green spoon", gaps, "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  std::vector<std::string> documents(6, "none");
  for (const std::string& line : lines_of(scored.out)) {
    const auto one = nlohmann::json::parse(line);
    documents.at(one["index"].get<size_t>()) = one["text"];
  }
  EXPECT_EQ(documents, (std::vector<std::string>{"", "a spoon", "", "",
                                                 "the red fork", ""}));
}

TEST_F(CommandEmbed, PromptsHaveNames) {
  const std::string lines = write("t.txt", "a spoon\n");
  const Outcome none = run({"embed", embedding_folder("bert-mean"), "--input",
                            lines, "--prompt-name", "no-such"});
  EXPECT_EQ(none.code, 3) << none.err;
  EXPECT_NE(none.err.find("no-such"), std::string::npos) << none.err;
  const std::vector<std::string> first = {
      "embed", embedding_folder("bert-mean"), "--input", lines, "--pooling"};
  auto with = [&](const char* pooling) {
    auto words = first;
    words.emplace_back(pooling);
    return run(words).out;
  };
  EXPECT_EQ(with("first"), with("cls"));
  EXPECT_NE(with("first"), with("last"));
}

TEST_F(CommandEmbed, RerankPrintsTheBestDocumentFirst) {
  const std::string documents =
      write("d.txt", "a spoon\nthe red fork\nsun over the river\n");
  const Outcome outcome = run({"rerank", embedding_folder("bert-cross"),
                               "the red green spoon", documents, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  double last = 2;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_LE(json["score"].get<double>(), last);
    last = json["score"].get<double>();
  }
  EXPECT_EQ(count, 3);
  const Outcome best = run({"rerank", embedding_folder("bert-cross"),
                            "the red green spoon", documents, "--top", "1"});
  EXPECT_EQ(std::count(best.out.begin(), best.out.end(), '\n'), 1);
  expect_failure(run({"rerank", embedding_folder("bert-mean"), "a", documents}),
                 5, "cls.output");
  expect_failure(run({"rerank", embedding_folder("bert-cross")}), 2, "QUERY");
}

}  // namespace
}  // namespace rc::test
