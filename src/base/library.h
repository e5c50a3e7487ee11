// Shared libraries that are loaded while the process runs. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rc {

// Owns one loading of a library, and unloads it in the end.
class Library {
 public:
  // Loads a library by its path or, if `name` contains no '/', from where the
  // system keeps them. Its symbols are for find() alone. is_loaded() says
  // whether it worked, and failure() why not.
  static Library load(const std::string& name);

  Library() = default;
  Library(Library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        is_kept_(other.is_kept_),
        failure_(std::move(other.failure_)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_kept_, other.is_kept_);
    std::swap(failure_, other.failure_);
    return *this;
  }
  ~Library();

  bool is_loaded() const { return handle_ != nullptr; }
  // The system's reason; "" if it gives none.
  const std::string& failure() const { return failure_; }

  // Returns the address of a function or variable; nullptr if the library has
  // none of that name. Requires: is_loaded().
  void* find(const char* symbol) const;
  // Sets the function pointer to find(); returns whether it found one.
  template <class Function>
  bool find(Function& function, const char* symbol) const {
    static_assert(std::is_pointer_v<Function>);
    function = reinterpret_cast<Function>(find(symbol));
    return function != nullptr;
  }

  // Whether any library of the process has a file whose name begins so.
  static bool is_in_process(std::string_view begin_of_name);

  // Leaves it loaded to the end of the process, as one must that has threads.
  void keep() noexcept { is_kept_ = true; }

 private:
  void* handle_ = nullptr;
  bool is_kept_ = false;
  std::string failure_;
};

}  // namespace rc
