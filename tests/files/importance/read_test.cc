// Importance files, of which none is trusted.
#include "files/importance/read.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "files/gguf/writer.h"
#include "temporary.h"

namespace rc::importance {
namespace {

class ReadImportance : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "i").string(); }
  void write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  std::string failure() const {
    try {
      read(path());
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
      EXPECT_NE(error.message().find(path()), std::string::npos);
      return error.message();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }

 private:
  test::TemporaryFolder folder_;
};

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string older_file() {
  return raw<int32_t>(1) + raw<int32_t>(1) + "m" + raw<int32_t>(4) +
         raw<int32_t>(2) + raw(8.0f) + raw(2.0f) + raw<int32_t>(3) +
         raw<int32_t>(4) + "text";
}

TEST_F(ReadImportance, ReadsTheOlderFormat) {
  write(older_file());
  const Importance importance = read(path());
  EXPECT_EQ(importance.values.at("m"), (std::vector<float>{2.0f, 0.5f}));
  EXPECT_EQ(importance.chunks, 3);
  EXPECT_EQ(importance.dataset, "text");
}

TEST_F(ReadImportance, TruncatedFilesAreRefused) {
  const std::string whole = older_file();
  for (size_t size = 1; size < whole.size(); ++size) {
    if (size == whole.size() - 12) continue;  // the end may be missing
    write(whole.substr(0, size));
    failure();
  }
}

TEST_F(ReadImportance, InvalidNumbersAreRefused) {
  const std::string whole = older_file();
  for (const size_t at : {0, 4, 9, 13}) {
    for (const int32_t value : {-1, INT32_MAX, INT32_MIN, 0x7fffff}) {
      if (at == 9 && value > 0) continue;  // so many calls may have been
      std::string bytes = whole;
      bytes.replace(at, 4, raw(value));
      write(bytes);
      failure();
    }
  }
  for (const float value : {NAN, INFINITY, -1.0f}) {
    std::string bytes = whole;
    bytes.replace(17, 4, raw(value));
    write(bytes);
    EXPECT_NE(failure().find("'m'"), std::string::npos);
  }
}

class ReadGgufImportance : public ReadImportance {
 protected:
  void write(const char* type, const std::vector<float>& sums,
             const std::vector<float>& counts,
             const char* counts_name = "m.weight.counts") const {
    gguf::Writer writer;
    writer.add("general.type", type);
    writer.add_strings("imatrix.datasets",
                       std::vector<std::string>{"one", "two"});
    writer.add("imatrix.chunk_count", uint32_t{9});
    writer.add("imatrix.chunk_size", uint32_t{512});
    writer.add_tensor("m.weight.in_sum2", RC_DTYPE_F32,
                      std::vector<int64_t>{2, 2}, sums);
    writer.add_tensor(
        counts_name, RC_DTYPE_F32,
        std::vector<int64_t>{static_cast<int64_t>(counts.size()), 1}, counts);
    writer.write_file(path());
  }
};

TEST_F(ReadGgufImportance, ReadsMeansOfExperts) {
  write("imatrix", {8, 4, 3, 1}, {4, 0});
  const Importance importance = read(path());
  EXPECT_EQ(importance.values.at("m.weight"), (std::vector<float>{2, 1, 0, 0}));
  EXPECT_EQ(importance.dataset, "one, two");
  EXPECT_EQ(importance.chunks, 9);
}

TEST_F(ReadGgufImportance, ErrorsNameTheTensor) {
  write("model", {1, 1, 1, 1}, {1, 1});
  EXPECT_NE(failure().find("general.type"), std::string::npos);
  write("imatrix", {1, 1, 1, 1}, {1, 1, 1});
  EXPECT_NE(failure().find("'m.weight.counts' has 3"), std::string::npos);
  write("imatrix", {1, 1, 1, 1}, {1, 1}, "x");
  EXPECT_NE(failure().find("no counts"), std::string::npos);
  write("imatrix", {1, NAN, 1, 1}, {1, 1});
  EXPECT_NE(failure().find("'m.weight'"), std::string::npos);
  write("imatrix", {1, 1, 1, 1}, {1, -1});
  EXPECT_NE(failure().find("'m.weight'"), std::string::npos);
}

}  // namespace
}  // namespace rc::importance
