// Golden models with something changed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/gguf/file.h"
#include "files/gguf/writer.h"

namespace rc::test {

class Patient {
 public:
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<std::byte> data;
  };

  // A case of tests/golden/architectures.
  explicit Patient(const std::string& name);

  // Adds the entry or replaces its value.
  template <class Value>
  void set(const std::string& key, Value value) {
    write(key, [key, value](gguf::Writer& writer) { writer.add(key, value); });
  }
  template <class Value>
  void set_array(const std::string& key, std::vector<Value> values) {
    write(key, [key, values = std::move(values)](gguf::Writer& writer) {
      writer.add_array(key, values);
    });
  }
  void drop(const std::string& key);
  // To be changed at will; throws if there is none.
  Tensor& tensor(const std::string& name);
  void drop_tensor(const std::string& name);
  void add_tensor(Tensor tensor) { tensors_.push_back(std::move(tensor)); }

  // As it is now.
  std::shared_ptr<const gguf::File> file() const;

 private:
  using Write = std::function<void(gguf::Writer&)>;
  void write(const std::string& key, Write write);

  std::shared_ptr<const gguf::File> original_;
  std::vector<std::pair<std::string, Write>> entries_;
  std::vector<Tensor> tensors_;
};

}  // namespace rc::test
