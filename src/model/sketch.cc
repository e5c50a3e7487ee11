#include "model/sketch.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "files/gguf/writer.h"
#include "files/quantized_file.h"
#include "model/architecture.h"
#include "model/limits.h"
#include "model/weights.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace sketching {
namespace {

using Type = JsonValue::Type;
using Shape = std::vector<int64_t>;

constexpr const char* kName = "hyper-parameters";
constexpr const char* kTensors = "tensors";
constexpr const char* kArchitecture = "general.architecture";
constexpr size_t kMostBytes = size_t{16} << 20;

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  fail(RC_E_INVALID_ARGUMENT, kName, ": ", parts...);
}

bool is_whole(const JsonValue& value) {
  return value.is(Type::kNumber) &&
         value.text.find_first_of(".eE") == std::string::npos;
}

int64_t whole_of(const JsonValue& value, const std::string& key) {
  int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [rest, error] = std::from_chars(value.text.data(), end, number);
  if (!is_whole(value) || error != std::errc() || rest != end) {
    refuse(quote(key), " is ", json_text(value),
           ", but must be a whole number");
  }
  return number;
}

// JSON has no infinity: that is the text "inf" or "-inf".
double real_of(const JsonValue& value, const std::string& key) {
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [rest, error] = std::from_chars(value.text.data(), end, number);
  const bool number_like = value.is(Type::kNumber) || value.is(Type::kString);
  if (!number_like || error != std::errc() || rest != end) {
    refuse(quote(key), " is ", json_text(value), ", but must be a number");
  }
  return number;
}

// All data are ones, so that factors and frequencies are such as can be.
class Ones : public gguf::Source {
 public:
  Ones(uint64_t size, bool halves) : size_(size), halves_(halves) {}
  void add_half(uint64_t begin, uint64_t end) { ranges_.emplace(end, begin); }

  uint64_t size() const override { return size_; }
  void check_unchanged() const override {}
  const Identity& identity() const override { return identity_; }
  void read(uint64_t offset, std::span<std::byte> target,
            const std::string& /*what*/) const override {
    const auto found = ranges_.upper_bound(offset);
    const bool half = found != ranges_.end() && found->second <= offset;
    const uint16_t one_half = halves_ ? 0x3C00 : 0x3F80;  // F16, BF16
    const float one = 1;
    const auto* bytes = half ? reinterpret_cast<const std::byte*>(&one_half)
                             : reinterpret_cast<const std::byte*>(&one);
    const size_t count = half ? sizeof one_half : sizeof one;
    for (size_t i = 0; i < target.size(); ++i) {
      target[i] = bytes[(offset + i) % count];
    }
  }

 private:
  const uint64_t size_;
  const bool halves_;
  std::map<uint64_t, uint64_t> ranges_;  // of two bytes: their end and begin
  const Identity identity_;
};

class Sketch {
 public:
  Sketch(const JsonValue& given, DType type) : type_(type) {
    for (const auto& [key, value] : given.members) {
      if (key == "architecture" || key == kArchitecture) {
        if (!value.is(Type::kString)) {
          refuse(quote(key), " is ", json_text(value), ", but must be a text");
        }
        architecture_ = value.text;
      }
    }
    if (architecture_.empty()) {
      refuse("\"architecture\" is missing, such as \"llama\"");
    }
    for (const auto& [key, value] : given.members) {
      if (key == kTensors) {
        tensors_given_ = &value;
      } else if (key != "architecture" && key != kArchitecture) {
        values_.emplace_back(whole_key(key), &value);
      }
    }
    const auto file = make();
    const Architecture& known = find_architecture(*file);
    add_embedding(*file, known);
    if (tensors_given_ != nullptr) add_given(*file);
  }

  std::shared_ptr<const gguf::File> make() const {
    gguf::Writer writer;
    writer.add(kArchitecture, std::string_view(architecture_));
    for (const auto& [key, value] : values_) add_value(writer, key, *value);
    for (const auto& [name, tensor] : tensors_) {
      writer.add_tensor(name, tensor.plain ? RC_DTYPE_F32 : type_, tensor.shape,
                        gguf::Writer::Producer());
    }
    auto header =
        std::make_shared<const std::vector<std::byte>>(writer.header());
    const auto source =
        std::make_shared<Ones>(writer.size(), type_ == RC_DTYPE_F16);
    auto file = gguf::File::from_header(header, source, kName);
    for (const gguf::Tensor& tensor : file->tensors()) {
      if (tensor.dtype == RC_DTYPE_F32) continue;
      source->add_half(tensor.offset, tensor.offset + tensor.bytes);
    }
    return file;
  }

  DType type() const { return type_; }

  // Whether it is another file then.
  bool add(const MissingTensor& missing) {
    if (tensors_.size() >= gguf::kMaxTensors) return false;
    Tensor& tensor = tensors_[missing.name];
    if (tensor.settled) return false;
    tensor = {missing.shape, missing.plain, true};
    return true;
  }

  // A whole number counts as one of the other kind, where that is wanted.
  bool turn(const gguf::WrongType& wrong) {
    return reals_.insert(wrong.key).second;
  }

 private:
  struct Tensor {
    Shape shape = {1};
    bool plain = true;
    bool settled = false;  // the shape is what the program asks for
  };

  std::string whole_key(const std::string& key) const {
    for (const std::string_view known :
         {std::string_view("general."), std::string_view("tokenizer."),
          std::string_view("split."), std::string_view("xielu.")}) {
      if (key.starts_with(known)) return key;
    }
    const std::string prefix = architecture_ + ".";
    return key.starts_with(prefix) ? key : prefix + key;
  }

  void add_value(gguf::Writer& writer, const std::string& key,
                 const JsonValue& value) const {
    const bool real = reals_.contains(key);
    if (value.is_bool()) {
      writer.add(key, value.is(Type::kTrue));
    } else if (value.is(Type::kString)) {
      writer.add(key, std::string_view(value.text));
    } else if (value.is(Type::kArray)) {
      add_array(writer, key, value.items, real);
    } else if (is_whole(value) && !real) {
      writer.add(key, whole_of(value, key));
    } else {
      writer.add(key, real_of(value, key));
    }
  }

  static void add_array(gguf::Writer& writer, const std::string& key,
                        const std::vector<JsonValue>& items, bool real) {
    const auto all = [&](const auto& condition) {
      return std::all_of(items.begin(), items.end(), condition);
    };
    if (!real &&
        all([](const JsonValue& item) { return item.is(Type::kString); })) {
      std::vector<std::string_view> texts;
      for (const JsonValue& item : items) texts.push_back(item.text);
      writer.add_strings(key, texts);
    } else if (!real && all([](const JsonValue& item) {
                 return is_whole(item) || item.is_bool();
               })) {
      std::vector<int64_t> numbers;
      for (const JsonValue& item : items) {
        numbers.push_back(item.is_bool() ? (item.is(Type::kTrue) ? 1 : 0)
                                         : whole_of(item, key));
      }
      writer.add_array(key, numbers);
    } else {
      std::vector<double> numbers;
      for (const JsonValue& item : items) {
        numbers.push_back(real_of(item, key));
      }
      writer.add_array(key, numbers);
    }
  }

  void add_embedding(const gguf::File& file, const Architecture& known) {
    const auto number = [&](const char* key, int64_t most) {
      const std::string whole = architecture_ + "." + key;
      const int64_t value = file.get_int(whole);
      if (value < 1 || value > most) {
        refuse(quote(whole), " is ", value, ", but must be 1 to ", most);
      }
      return value;
    };
    Tensor table;
    table.plain = false;
    table.settled = true;
    table.shape = {number("vocab_size", kMaxVocabulary),
                   number("embedding_length", kMaxWidth)};
    tensors_[known.names.token_embedding] = table;
  }

  // {"output.weight": null, "blk.*.attn_q.bias": null, "x": [3, 4]}, or the
  // names alone.
  void add_given(const gguf::File& file) {
    const JsonValue& given = *tensors_given_;
    if (given.is(Type::kArray)) {
      for (const JsonValue& item : given.items) {
        if (!item.is(Type::kString)) {
          refuse(quote(kTensors), " holds ", json_text(item),
                 ", but must hold names");
        }
        add_named(file, item.text, nullptr);
      }
    } else if (given.is(Type::kObject)) {
      for (const auto& [name, shape] : given.members) {
        add_named(file, name, shape.is(Type::kNull) ? nullptr : &shape);
      }
    } else {
      refuse(quote(kTensors), " is ", type_name(given),
             ", but must be an array of names or an object of shapes");
    }
  }

  void add_named(const gguf::File& file, const std::string& name,
                 const JsonValue* shape) {
    Tensor tensor;
    if (shape != nullptr) {
      if (!shape->is(Type::kArray) || shape->items.empty() ||
          shape->items.size() > gguf::kMaxRank) {
        refuse("the shape of ", quote(name), " is ", json_text(*shape),
               ", but must be an array of 1 to ", gguf::kMaxRank, " numbers");
      }
      tensor.shape.clear();
      for (const JsonValue& size : shape->items) {
        tensor.shape.push_back(whole_of(size, name));
        if (tensor.shape.back() < 1) {
          refuse("the shape of ", quote(name), " is ", json_text(*shape),
                 ", but its sizes must be at least 1");
        }
      }
      tensor.plain = tensor.shape.size() == 1;
      tensor.settled = true;
    }
    const size_t star = name.find('*');
    if (star == std::string::npos) {
      put(name, tensor);
      return;
    }
    const int64_t layers = file.get_int(architecture_ + ".block_count");
    if (layers < 1 || layers > kMaxLayers) {
      refuse(quote(architecture_ + ".block_count"), " is ", layers,
             ", but must be 1 to ", kMaxLayers);
    }
    for (int64_t i = 0; i < layers; ++i) {
      put(cat(name.substr(0, star), i, name.substr(star + 1)), tensor);
    }
  }

  void put(const std::string& name, const Tensor& tensor) {
    if (name.empty() || name.size() > gguf::kMaxTensorNameBytes ||
        name.find('\0') != std::string::npos) {
      refuse(quote(name), " is no name of a tensor: it has 1 to ",
             gguf::kMaxTensorNameBytes, " bytes");
    }
    if (tensors_.size() >= gguf::kMaxTensors) {
      refuse(quote(kTensors), " names more than ", gguf::kMaxTensors);
    }
    // Facts about the table of tokens stay.
    if (tensor.settled || !tensors_.contains(name)) tensors_[name] = tensor;
  }

  const DType type_;
  std::string architecture_;
  std::vector<std::pair<std::string, const JsonValue*>> values_;
  const JsonValue* tensors_given_ = nullptr;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> reals_;
};

std::optional<DType> plain_type(std::string type) {
  for (char& c : type) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  if (type.empty() || type == "F16") return RC_DTYPE_F16;
  if (type == "F32") return RC_DTYPE_F32;
  if (type == "BF16") return RC_DTYPE_BF16;
  return std::nullopt;
}

}  // namespace
}  // namespace sketching

std::shared_ptr<const gguf::File> sketch_file(
    const std::string& hyper_parameters, const std::string& type,
    std::optional<ForwardOutput> output) {
  using namespace sketching;
  if (hyper_parameters.size() > kMostBytes) {
    refuse(hyper_parameters.size(), " bytes; at most ", kMostBytes,
           " are possible");
  }
  const JsonValue given = parse_json(hyper_parameters, kName, 4);
  if (!given.is(Type::kObject)) {
    refuse("they are ", type_name(given), ", but must be an object");
  }
  const std::optional<DType> plain = plain_type(type);
  Sketch sketch(given, plain.value_or(RC_DTYPE_F16));
  for (;;) {
    std::shared_ptr<const gguf::File> file = sketch.make();
    // All in one pass: there may be thousands of layers.
    MissingTensors missing = {sketch.type(), {}};
    try {
      static_cast<void>(ModelFile::from_gguf(file, output, &missing));
      return plain ? file : quantized_file(std::move(file), type);
    } catch (const gguf::WrongType& wrong) {
      if (!sketch.turn(wrong)) throw;
    } catch (const MissingTensor& first) {
      if (missing.list.empty()) missing.list.push_back(first);
    } catch (const Error&) {
      // It may come of what is missing.
      if (missing.list.empty()) throw;
    }
    for (const MissingTensor& one : missing.list) {
      if (!sketch.add(one)) throw MissingTensor(one);
    }
  }
}

}  // namespace rc::model
