#include "files/safetensors/shards.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quote.h"

namespace rc::safetensors {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 16;

struct Promise {
  std::string tensor;
  size_t shard;
};

// Reads the map of an index. Its other members are skipped.
class IndexReader : public nlohmann::json_sax<Json> {
 public:
  explicit IndexReader(const std::string& name) : name_(name) {}

  std::vector<Promise> promises;  // of tensors by name, when it was read
  std::vector<std::string> shards;

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override {
    return other();
  }
  bool binary(binary_t&) override { return other(); }

  bool string(string_t& value) override {
    if (!in_map()) return true;
    if (key_.size() > kMaxNameBytes) {
      refuse("the name of tensor ", quote(key_), " has ", key_.size(),
             " bytes; at most ", kMaxNameBytes, " are possible");
    }
    if (promises.size() == kMaxTensors) {
      refuse("it names more than ", kMaxTensors, " tensors");
    }
    promises.push_back({std::move(key_), number_of(value)});
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ == 1 && top_ == "weight_map") {
      if (seen_) refuse("it has two weight_map");
      seen_ = true;
    } else if (in_map()) {
      return other();
    }
    return enter();
  }
  bool key(string_t& value) override {
    (depth_ == 1 ? top_ : key_) = std::move(value);
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override {
    if (depth_ == 0 || in_map()) return other();
    return enter();
  }
  bool end_array() override { return leave(); }
  bool parse_error(size_t at, const std::string& token,
                   const Json::exception& /*error*/) override {
    refuse("it is no JSON at byte ", at, ", at ", quote(token));
  }

  void finish() {
    if (!seen_) refuse("it has no weight_map");
    std::sort(
        promises.begin(), promises.end(),
        [](const Promise& a, const Promise& b) { return a.tensor < b.tensor; });
    const auto twice =
        std::adjacent_find(promises.begin(), promises.end(),
                           [](const Promise& a, const Promise& b) {
                             return a.tensor == b.tensor;
                           });
    if (twice != promises.end()) {
      refuse("tensor ", quote(twice->tensor), " occurs twice");
    }
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(RC_E_FORMAT, name_, ": ", parts...);
  }

  bool in_map() const { return depth_ == 2 && top_ == "weight_map"; }
  bool other() const {
    if (in_map()) refuse("tensor ", quote(key_), " is in no file by name");
    if (depth_ == 0) refuse("it is no JSON object");
    return true;
  }
  bool enter() {
    if (depth_ == kMaxDepth) refuse("values nest deeper than ", kMaxDepth);
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  size_t number_of(const std::string& shard) {
    const auto [place, added] = numbers_.emplace(shard, shards.size());
    if (added) {
      if (shards.size() == kMaxShards) {
        refuse("it names more than ", kMaxShards, " files");
      }
      shards.push_back(shard);
    }
    return place->second;
  }

  const std::string& name_;
  int depth_ = 0;
  bool seen_ = false;
  std::string top_;  // the member of the top that is being read
  std::string key_;
  std::map<std::string, size_t, std::less<>> numbers_;
};

}  // namespace

Shards Shards::of_file(std::shared_ptr<const OpenFile> file) {
  Shards shards;
  shards.add(File::open(std::move(file)));
  shards.sort();
  return shards;
}

Shards Shards::of_index(std::string_view index, const std::string& name,
                        const OpenShard& open) {
  IndexReader reader(name);
  Json::sax_parse(index, &reader);
  reader.finish();
  Shards shards;
  for (const std::string& shard : reader.shards) {
    shards.add(File::open(open(shard)));
  }
  shards.sort();
  // Both are in the order of names, which occur once in each.
  auto place = shards.places_.begin();
  for (const Promise& promise : reader.promises) {
    if (place != shards.places_.end() && place->tensor->name < promise.tensor) {
      fail(RC_E_FORMAT, place->file->name(), ": it holds tensor ",
           quote(place->tensor->name), ", which ", name, " does not name");
    }
    const File& promised = *shards.files_[promise.shard];
    if (place == shards.places_.end() ||
        place->tensor->name != promise.tensor || place->file != &promised) {
      fail(RC_E_FORMAT, promised.name(), ": tensor ", quote(promise.tensor),
           " is missing, which is there according to ", name);
    }
    ++place;
  }
  if (place != shards.places_.end()) {
    fail(RC_E_FORMAT, place->file->name(), ": it holds tensor ",
         quote(place->tensor->name), ", which ", name, " does not name");
  }
  return shards;
}

void Shards::add(std::shared_ptr<const File> file) {
  files_.push_back(std::move(file));
  const File& added = *files_.back();
  for (const Tensor& tensor : added.tensors()) {
    places_.push_back({&added, &tensor});
  }
}

void Shards::replace(std::vector<Place> places,
                     std::vector<std::shared_ptr<const TensorSource>> owners) {
  places_ = std::move(places);
  owners_ = std::move(owners);
  sort();
}

void Shards::sort() {
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return a.tensor->name < b.tensor->name;
  });
  const auto twice = std::adjacent_find(
      places_.begin(), places_.end(), [](const Place& a, const Place& b) {
        return a.tensor->name == b.tensor->name;
      });
  if (twice != places_.end()) {
    fail(RC_E_FORMAT, twice->file->name(), " and ", twice[1].file->name(),
         " both hold tensor ", quote(twice->tensor->name));
  }
}

}  // namespace rc::safetensors
