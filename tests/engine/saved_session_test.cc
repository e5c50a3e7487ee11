// Sessions that are written to files and come back.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "file_size_limit.h"
#include "files/gguf/writer.h"
#include "session_util.h"
#include "temporary.h"

namespace rc::engine::test {
namespace {

class Saved : public ::testing::Test {
 protected:
  std::shared_ptr<Session> restore(const std::vector<std::byte>& bytes,
                                   const SessionOptions& options = {}) {
    return engine_->restore_session(
        *gguf::File::from_memory(nullptr, bytes, "saved"), options, nullptr);
  }
  // The file with something changed.
  std::vector<std::byte> changed(
      const std::function<bool(gguf::Writer&, const gguf::Entry&)>& entry,
      const std::function<bool(gguf::Writer&, const gguf::Tensor&)>& tensor =
          {}) {
    const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
    gguf::Writer writer;
    writer.end_with_checksum();
    for (const gguf::Entry& e : file->entries()) {
      if (!entry || !entry(writer, e)) writer.add(e);
    }
    for (const gguf::Tensor& t : file->tensors()) {
      if (!tensor || !tensor(writer, t)) {
        writer.add_tensor(t.name, t.dtype, t.shape,
                          [&](const auto& put) { put(file->read(t)); });
      }
    }
    return writer.write_memory();
  }
  template <class Value>
  std::vector<std::byte> with(const std::string& key, const Value& value) {
    return changed([&](gguf::Writer& writer, const gguf::Entry& entry) {
      if (entry.key != key) return false;
      if constexpr (std::is_same_v<Value, std::vector<int32_t>>) {
        writer.add_array(key, value);
      } else {
        writer.add(key, value);
      }
      return true;
    });
  }
  std::vector<std::byte> without(const std::string& name) {
    return changed(
        [&](gguf::Writer&, const gguf::Entry& e) { return e.key == name; },
        [&](gguf::Writer&, const gguf::Tensor& t) { return t.name == name; });
  }

  void SetUp() override {
    engine_ = load();
    session_ = session_with(*engine_, some_tokens(75));
    expected_ = decoded(*session_);
    session_->append({5, 6});
    bytes_ = session_->save();
  }

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Session> session_;
  uint64_t expected_ = 0;
  std::vector<std::byte> bytes_;
};

TEST_F(Saved, RestoresTokensLogitsAndPages) {
  const auto restored = restore(bytes_);
  EXPECT_EQ(restored->tokens(), session_->tokens());
  EXPECT_EQ(decoded(*restored), decoded(*session_));
  // It has the pages, too: only the two new tokens need to be evaluated.
  EXPECT_EQ(generate(*restore(bytes_), greedy({7}, 1)).report.prompt_tokens, 3);
}

TEST_F(Saved, RestoresFromAFile) {
  const auto path =
      std::filesystem::temp_directory_path() / "runcible_session_test.gguf";
  session_->save(path.string());
  const auto restored = engine_->restore_session(
      *gguf::File::open(path.string()), SessionOptions(), nullptr);
  EXPECT_EQ(decoded(*restored), decoded(*session_));
  // One bit of a number in the cache.
  const size_t middle = bytes_.size() * 3 / 4;
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(file.is_open()) << path;
    file.seekp(static_cast<std::streamoff>(middle));
    file.put(static_cast<char>(bytes_[middle] ^ std::byte{1}));
  }
  expect_status(
      RC_E_FORMAT,
      [&] {
        engine_->restore_session(*gguf::File::open(path.string()),
                                 SessionOptions(), nullptr);
      },
      "checksum");
  std::filesystem::remove(path);
  expect_status(
      RC_E_NOT_FOUND, [&] { session_->save("/nowhere/at/all.gguf"); },
      "/nowhere/at/all.gguf");
}

// By default the signal of the limit ends the process.
TEST_F(Saved, ExceedingTheSizeLimitNamesTheFile) {
  const rc::test::TemporaryFolder folder;
  const std::string path = folder.path() / "saved";
  {
    const rc::test::FileSizeLimit limit(4096);
    expect_status(
        RC_E_IO, [&] { session_->save(path); }, path);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  session_->save(path);
  EXPECT_EQ(std::filesystem::file_size(path), bytes_.size());
}

TEST_F(Saved, RestoresEmptyAndUnevaluatedSessions) {
  const auto empty = engine_->create_session({}, nullptr);
  EXPECT_EQ(restore(empty->save())->position(), 0);
  empty->append(some_tokens(5));
  EXPECT_EQ(restore(empty->save())->tokens(), some_tokens(5));
}

TEST_F(Saved, RestoresOnAnotherBackend) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    EngineOptions options = small_options();
    options.cache_dtype = dtype;
    const auto cpu = load(options, "cpu", 1, "llama3");
    const auto reference = load(options, "reference", 1, "llama3");
    const auto session = session_with(*cpu, some_tokens(75));
    session->decode(false);
    const auto bytes = session->save();
    const auto file = gguf::File::from_memory(nullptr, bytes, "saved");
    const auto moved = reference->restore_session(*file, {}, nullptr);
    EXPECT_EQ(moved->tokens(), session->tokens());
    // Nothing of it is lost on the way there and back.
    const auto again = moved->save();
    const auto back = cpu->restore_session(
        *gguf::File::from_memory(nullptr, again, "saved"), {}, nullptr);
    EXPECT_EQ(decoded(*back), decoded(*session));
  }
}

TEST_F(Saved, AnotherModelOrCacheTypeIsRefused) {
  const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
  const auto other = load(small_options(), "cpu", 1, "smollm");
  expect_status(
      RC_E_UNSUPPORTED, [&] { other->restore_session(*file, {}, nullptr); },
      "another model");
  EngineOptions options = small_options();
  options.cache_dtype = RC_DTYPE_F32;
  const auto wide = load(options);
  expect_status(
      RC_E_UNSUPPORTED, [&] { wide->restore_session(*file, {}, nullptr); },
      "cache_dtype");
  SessionOptions shorter;
  shorter.context_length = 70;
  expect_status(
      RC_E_CONTEXT_FULL, [&] { restore(bytes_, shorter); }, "77");
}

TEST_F(Saved, HostileFilesAreRefused) {
  const std::string prefix = "runcible.session.";
  const auto refused = [&](const std::vector<std::byte>& bytes,
                           const std::string& part,
                           rc_status status = RC_E_FORMAT) {
    expect_status(
        status, [&] { restore(bytes); }, part);
  };
  refused(with("general.architecture", std::string_view("llama")),
          "not a saved session");
  refused(with(prefix + "version", uint32_t{1}), "version 1", RC_E_UNSUPPORTED);
  refused(with(prefix + "version", uint32_t{3}), "version 3", RC_E_UNSUPPORTED);
  refused(with(prefix + "model", uint64_t{1}), "another model",
          RC_E_UNSUPPORTED);
  refused(with(prefix + "model", int32_t{1}), "model");
  refused(with(prefix + "cache_type", std::string_view("Q4_K")), "Q4_K",
          RC_E_UNSUPPORTED);
  refused(with(prefix + "evaluated", uint64_t{78}), "78");
  refused(with(prefix + "evaluated", uint64_t{74}), "blk.0.key");
  refused(with(prefix + "evaluated", ~uint64_t{0}), "evaluated");
  refused(with(prefix + "evaluated", int32_t{-1}), "-1");
  refused(with(prefix + "tokens", std::vector<int32_t>(77, 272)), "272");
  refused(with(prefix + "tokens", std::vector<int32_t>(77, -1)), "-1");
  refused(with(prefix + "tokens", std::vector<int32_t>(257, 1)), "257",
          RC_E_CONTEXT_FULL);
  for (const char* key :
       {"version", "model", "cache_type", "tokens", "evaluated"}) {
    refused(without(prefix + key), prefix + key);
  }
  refused(without("blk.1.value"), "blk.1.value");
  refused(changed({},
                  [](gguf::Writer& writer, const gguf::Tensor& tensor) {
                    if (tensor.name != "blk.1.key") return false;
                    std::vector<int64_t> shape = tensor.shape;
                    std::swap(shape[0], shape[1]);
                    writer.add_tensor(tensor.name, tensor.dtype, shape,
                                      [size = tensor.bytes](const auto& put) {
                                        put(std::vector<std::byte>(size));
                                      });
                    return true;
                  }),
          "blk.1.key");
}

TEST_F(Saved, NanAndInfinityInTheCacheAreRefused) {
  std::vector<std::byte> data;
  const auto bytes =
      changed({}, [&](gguf::Writer& writer, const gguf::Tensor& tensor) {
        if (tensor.name != "blk.0.value") return false;
        data.resize(tensor.bytes);
        const uint16_t infinity = 0x7c00;
        std::memcpy(data.data() + 100, &infinity, sizeof infinity);
        const std::vector<int64_t> shape = tensor.shape;
        writer.add_tensor(tensor.name, tensor.dtype, shape,
                          [&](const auto& put) { put(data); });
        return true;
      });
  expect_status(
      RC_E_FORMAT, [&] { restore(bytes); }, "inf");
}

// Wrong numbers that look right are its own trouble, never anybody else's.
TEST_F(Saved, IsNotAddedToThePrefixCache) {
  const auto bytes =
      changed({}, [&](gguf::Writer& writer, const gguf::Tensor& tensor) {
        const std::vector<int64_t> shape = tensor.shape;
        const size_t size = tensor.bytes;
        writer.add_tensor(
            tensor.name, tensor.dtype, shape,
            [size](const auto& put) { put(std::vector<std::byte>(size)); });
        return true;
      });
  const auto other = load(small_options(), "cpu", 2);  // an empty cache
  const auto forged = other->restore_session(
      *gguf::File::from_memory(nullptr, bytes, "forged"), {}, nullptr);
  generate(*forged, greedy({7}, 60));
  auto prompt = some_tokens(75);
  prompt.insert(prompt.end(), {5, 6, 7});
  EXPECT_EQ(generate(*other, greedy(prompt, 30)).tokens,
            generate(*engine_, greedy(prompt, 30)).tokens);
}

// Bits that flip, bytes that are set, parts that are cut out, exchanged or put
// twice: wherever it is, nothing that was changed goes on with another text.
TEST_F(Saved, ChangedBytesAreRefused) {
  std::mt19937_64 random(1);
  const auto below = [&](size_t end) {
    return static_cast<size_t>(random() % end);
  };
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    std::vector<std::byte> bytes = bytes_;
    const size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<ptrdiff_t>(at);
    const size_t length = 1 + below(std::min<size_t>(bytes.size() - at, 100));
    const auto after = place + static_cast<ptrdiff_t>(length);
    switch (i % 7) {
      case 0:
      case 1:
        *place ^= std::byte{1} << below(8);
        break;
      case 2:
        *place = static_cast<std::byte>(below(256));
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(place, after);
        break;
      case 5:
        std::swap_ranges(place, after,
                         bytes.begin() + static_cast<ptrdiff_t>(
                                             below(bytes.size() - length + 1)));
        break;
      default: {
        const std::vector<std::byte> part(place, after);
        bytes.insert(after, part.begin(), part.end());
      }
    }
    if (bytes == bytes_) continue;
    try {
      restore(bytes);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_TRUE(error.status() == RC_E_FORMAT ||
                  error.status() == RC_E_UNSUPPORTED ||
                  error.status() == RC_E_CONTEXT_FULL)
          << error.message();
    }
  }
  EXPECT_EQ(accepted, 0);
}

TEST_F(Saved, EveryTruncationIsRefused) {
  for (size_t size = 0; size < bytes_.size(); size += 61) {
    const std::vector<std::byte> part(
        bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    expect_status(RC_E_FORMAT, [&] { restore(part); });
  }
}

// A model that gives hidden rows can be planned and loaded, but has no
// sessions.

}  // namespace
}  // namespace rc::engine::test
