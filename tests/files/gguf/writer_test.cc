#include "files/gguf/writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/cat.h"
#include "base/error.h"
#include "files/gguf/verify.h"
#include "files/gguf/written.h"
#include "test_data.h"

namespace rc::gguf {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = fs::temp_directory_path() / "runcible-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path path(const char* name) const { return path_ / name; }
  size_t count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

rc_status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return RC_OK;
}

template <class T>
void add_limits(Writer* writer, const std::string& name) {
  writer->add(name, std::numeric_limits<T>::lowest());
  writer->add_array(name + "s", std::array{std::numeric_limits<T>::lowest(),
                                           std::numeric_limits<T>::max()});
}

// All kinds of entries; copies must be equal byte for byte.
void add_everything(Writer* writer) {
  writer->add("architecture", "llama");
  writer->add("empty", "");
  writer->add("flag", true);
  add_limits<uint8_t>(writer, "u8");
  add_limits<int8_t>(writer, "i8");
  add_limits<uint16_t>(writer, "u16");
  add_limits<int16_t>(writer, "i16");
  add_limits<uint32_t>(writer, "u32");
  add_limits<int32_t>(writer, "i32");
  add_limits<uint64_t>(writer, "u64");
  add_limits<int64_t>(writer, "i64");
  add_limits<float>(writer, "f32");
  add_limits<double>(writer, "f64");
  writer->add_array("flags", std::array{true, false, true});
  writer->add_strings("tokens", std::array{"a", "", "\xF0\x9F\x98\x80"});
  writer->add_array("none", std::vector<float>());
}

TEST(Writer, EntriesKeepTheirOrderAndTypes) {
  Writer writer;
  add_everything(&writer);
  const auto file = reopen(writer);
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->entries().front().key, "architecture");
  EXPECT_EQ(file->entries().back().key, "none");
  EXPECT_EQ(file->get_string("architecture"), "llama");
  EXPECT_EQ(file->get_string("empty"), "");
  EXPECT_EQ(file->find_bool("flag"), true);
  EXPECT_EQ(file->find("u16")->type, ValueType::kU16);
  EXPECT_EQ(file->find_ints("i8s"), (std::vector<int64_t>{-128, 127}));
  EXPECT_EQ(file->find_ints("u32s"), (std::vector<int64_t>{0, 4294967295}));
  EXPECT_EQ(file->find("u64s")->element_type, ValueType::kU64);
  EXPECT_EQ(file->find("f64s")->count, 2u);
  EXPECT_EQ(file->find_ints("flags"), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(file->find_strings("tokens"),
            (std::vector<std::string_view>{"a", "", "\xF0\x9F\x98\x80"}));
  EXPECT_EQ(file->find_floats("none"), std::vector<float>());
}

TEST(Writer, CopiedEntriesAreTheSame) {
  Writer writer;
  add_everything(&writer);
  const auto file = reopen(writer);
  Writer copy;
  for (const Entry& entry : file->entries()) copy.add(entry);
  EXPECT_EQ(copy.write_memory(), writer.write_memory());
}

TEST(Writer, TensorsRoundTrip) {
  std::vector<float> values(6 * 64);
  std::iota(values.begin(), values.end(), -100.0f);
  Writer writer(64);
  const std::array<int64_t, 3> shape = {2, 3, 64};
  writer.add_tensor("plain", RC_DTYPE_F32, shape,
                    std::as_bytes(std::span(values)));
  writer.add_tensor("q8", RC_DTYPE_Q8_0, shape, std::span<const float>(values));
  writer.add_tensor("one", RC_DTYPE_I8, std::array<int64_t, 1>{1},
                    [](const Writer::Put& put) {
                      const std::byte value{42};
                      put({});
                      put(std::span(&value, 1));
                    });
  const auto file = reopen(writer);
  EXPECT_EQ(file->alignment(), 64u);
  ASSERT_EQ(file->tensors().size(), 3u);
  for (const Tensor& tensor : file->tensors()) {
    EXPECT_EQ(tensor.offset % 64, 0u) << tensor.name;
  }
  const Tensor* plain = file->find_tensor("plain");
  EXPECT_EQ(plain->shape, std::vector<int64_t>(shape.begin(), shape.end()));
  EXPECT_EQ(
      std::memcmp(file->read(*plain).data(), values.data(), values.size() * 4),
      0);
  std::vector<float> decoded(values.size());
  decode_row(RC_DTYPE_Q8_0, file->read(*file->find_tensor("q8")).data(),
             decoded.data(), static_cast<int64_t>(decoded.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(decoded[i], values[i], 2.0f) << i;
  }
  EXPECT_EQ(file->read(*file->find_tensor("one"))[0], std::byte{42});
  EXPECT_NO_THROW(verify(*file));
}

TEST(Writer, MisuseIsRefusedAndChangesNothing) {
  Writer writer;
  writer.add("key", uint32_t{1});
  const std::array<int64_t, 1> one = {32};
  const std::vector<float> values(32);
  const std::span<const float> floats(values);
  writer.add_tensor("t", RC_DTYPE_F32, one, floats);
  const auto before = writer.write_memory();
  const auto refused = [&](const std::function<void()>& call) {
    EXPECT_EQ(status_of(call), RC_E_INVALID_ARGUMENT);
  };
  refused([&] { writer.add("key", "again"); });
  refused([&] { writer.add("", "x"); });
  refused([&] { writer.add("\xFF", "x"); });
  refused([&] { writer.add(std::string(65536, 'k'), "x"); });
  refused([&] { writer.add("general.alignment", uint32_t{8}); });
  refused([&] { writer.add_tensor("t", RC_DTYPE_F32, one, floats); });
  refused([&] { writer.add_tensor("", RC_DTYPE_F32, one, floats); });
  refused([&] {
    writer.add_tensor(std::string(65, 'n'), RC_DTYPE_F32, one, floats);
  });
  refused([&] { writer.add_tensor("u", 31, one, floats); });
  refused([&] { writer.add_tensor("u", RC_DTYPE_Q2_K, one, floats); });
  refused([&] {
    writer.add_tensor("u", RC_DTYPE_F32, std::array<int64_t, 1>{33}, floats);
  });
  refused([&] {
    writer.add_tensor("u", RC_DTYPE_F32, std::array<int64_t, 2>{-1, 32},
                      floats);
  });
  refused([&] {
    writer.add_tensor("u", RC_DTYPE_F32, std::array<int64_t, 5>{1, 1, 1, 1, 32},
                      floats);
  });
  refused([&] {
    writer.add_tensor("u", RC_DTYPE_F32,
                      std::array<int64_t, 3>{1 << 30, 1 << 30, 1 << 30},
                      [](const Writer::Put&) {});
  });
  refused([&] {
    writer.add_tensor("u", RC_DTYPE_F32, one, std::as_bytes(floats.first(31)));
  });
  refused([] { Writer bad(48); });
  EXPECT_EQ(writer.write_memory(), before);
}

TEST(Writer, ProducersMustProduceTheDeclaredSize) {
  for (const size_t given : {31, 33}) {
    Writer writer;
    writer.add_tensor("t", RC_DTYPE_I8, std::array<int64_t, 1>{32},
                      [given](const Writer::Put& put) {
                        put(std::vector<std::byte>(given));
                      });
    EXPECT_EQ(status_of([&] { writer.write_memory(); }), RC_E_INVALID_ARGUMENT);
    const Folder folder;
    EXPECT_EQ(status_of([&] { writer.write_file(folder.path("x")); }),
              RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(folder.count(), 0u);
  }
}

TEST(Writer, FilesEqualMemoryAndReplaceExistingOnes) {
  Writer writer;
  add_everything(&writer);
  std::vector<float> values(1 << 20, 0.5f);
  writer.add_tensor("big", RC_DTYPE_F32,
                    std::array<int64_t, 2>{1 << 10, 1 << 10},
                    std::span<const float>(values));
  const Folder folder;
  const fs::path path = folder.path("model.gguf");
  std::ofstream(path) << "older";
  writer.write_file(path);
  EXPECT_EQ(folder.count(), 1u);
  const auto file = OpenFile::open(path);
  std::vector<std::byte> bytes(file->size());
  file->read(0, bytes, "all");
  EXPECT_EQ(bytes, writer.write_memory());
}

// Whether a changed byte is found does not depend on how the file is read.
TEST(Writer, ChecksumsAreOfAllBytes) {
  Writer writer;
  writer.add("text", std::string(100, 'x'));
  const std::array numbers = {1.0f, 2.0f, 3.0f};
  writer.add_tensor("a", RC_DTYPE_F32, std::array<int64_t, 1>{3}, numbers);
  EXPECT_FALSE(reopen(writer)->ends_with_checksum());
  writer.end_with_checksum();
  const std::vector<std::byte> right = writer.write_memory();
  const Folder folder;
  const std::string path = folder.path("a.gguf").string();
  const auto put = [&](const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  const auto expect = [&](const std::vector<std::byte>& bytes, bool wanted) {
    put(bytes);
    EXPECT_EQ(File::open(path)->ends_with_checksum(), wanted);
    const auto copy = std::make_shared<std::vector<std::byte>>(bytes);
    EXPECT_EQ(File::from_memory(copy, *copy, "a")->ends_with_checksum(),
              wanted);
  };
  expect(right, true);
  for (const size_t from_end : {1, 8, 9, 20}) {  // of the sum, then of data
    std::vector<std::byte> changed = right;
    changed[changed.size() - from_end] ^= std::byte{1};
    expect(changed, false);
  }
}

TEST(Writer, UnwritablePathsAreRefused) {
  const Writer writer;
  const Folder folder;
  EXPECT_EQ(status_of([&] { writer.write_file(""); }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] {
              writer.write_file({"a\0b", 3});
            }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { writer.write_file(folder.path("no/x")); }),
            RC_E_NOT_FOUND);
  fs::create_directory(folder.path("folder"));
  EXPECT_EQ(status_of([&] { writer.write_file(folder.path("folder")); }),
            RC_E_IO);
  EXPECT_EQ(folder.count(), 1u);
}

// A limit on the size of files fails write() as a full disk does.
TEST(Writer, AFullDiskLeavesNoFile) {
  Writer writer;
  const std::vector<float> values(4 << 20, 1.0f);
  writer.add_tensor("big", RC_DTYPE_F32, std::array<int64_t, 1>{4 << 20},
                    std::span<const float>(values));
  const Folder folder;
  std::ofstream(folder.path("model")) << "older";
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = 3 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  rc_status status = RC_OK;
  std::string message;
  try {
    writer.write_file(folder.path("model"));
  } catch (const Error& error) {
    status = error.status();
    message = error.message();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status, RC_E_IO);
  EXPECT_NE(message.find("model: cannot be written"), std::string::npos)
      << message;
  EXPECT_EQ(folder.count(), 1u);
  EXPECT_EQ(fs::file_size(folder.path("model")), 5u);
}

TEST(Writer, RefusesMoreEntriesThanReadersAccept) {
  Writer writer;
  for (uint64_t i = 0; i < kMaxEntries; ++i) writer.add(cat("key.", i), i);
  EXPECT_EQ(status_of([&] { writer.add("one.more", uint64_t{0}); }),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(reopen(writer)->entries().size(), kMaxEntries);
}

}  // namespace
}  // namespace rc::gguf
