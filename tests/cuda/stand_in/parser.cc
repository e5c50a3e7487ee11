#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "ptx.h"

namespace rc::ptx {
namespace {

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

uint64_t aligned(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Words, and marks of one character.
std::vector<std::string> tokens_of(std::string_view line) {
  std::vector<std::string> tokens;
  while (!line.empty()) {
    if (line.front() == ' ' || line.front() == '\t') {
      line.remove_prefix(1);
      continue;
    }
    const size_t length = std::max<size_t>(
        static_cast<size_t>(
            std::find_if_not(line.begin(), line.end(), is_of_word) -
            line.begin()),
        1);
    tokens.emplace_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return tokens;
}

class Parser {
 public:
  Module parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      line = line.substr(0, line.find("//"));
      tokens_ = tokens_of(line);
      next_ = 0;
      if (!tokens_.empty()) statement();
    }
    if (!has_version_ || !has_target_) stop("no .version or no .target");
    if (in_body_) stop("the text ends within a kernel");
    return std::move(module_);
  }

 private:
  [[noreturn]] void stop(const std::string& reason) const {
    throw std::runtime_error("line " + std::to_string(line_) + ": " + reason);
  }
  const std::string& peek() const {
    static const std::string kNothing;
    return next_ < tokens_.size() ? tokens_[next_] : kNothing;
  }
  std::string take() {
    if (next_ == tokens_.size()) stop("something is missing at the end");
    return tokens_[next_++];
  }
  void expect(const std::string& token) {
    const std::string found = take();
    if (found != token) stop("\"" + found + "\" in place of " + token);
  }
  bool accept(const std::string& token) {
    if (peek() != token) return false;
    ++next_;
    return true;
  }
  uint64_t number() {
    const bool negative = accept("-");
    const uint64_t bits = immediate(take());
    return negative ? ~bits + 1 : bits;
  }
  uint64_t immediate(const std::string& word) const {
    const std::string prefix = word.substr(0, 2);
    uint64_t bits = 0;
    const bool is_hex = prefix == "0x" || prefix == "0f" || prefix == "0F" ||
                        prefix == "0d" || prefix == "0D";
    const char* const begin = word.data() + (is_hex ? 2 : 0);
    const char* const end = word.data() + word.size();
    const auto [rest, error] =
        std::from_chars(begin, end, bits, is_hex ? 16 : 10);
    if (error != std::errc() || rest != end) stop("no number: " + word);
    return bits;
  }

  void statement() {
    const std::string word = take();
    if (word == ".version") {
      // That of shuffles and products of matrices; CUDA 10.0.
      if (std::stod(take()) < 6.3) stop("a version before 6.3");
      has_version_ = true;
    } else if (word == ".target") {
      has_target_ = true;
    } else if (word == ".address_size") {
      if (number() != 64) stop("addresses do not have 64 bits");
    } else if (word == ".visible" && peek() == ".entry") {
      begin_entry();
    } else if (word == ".visible") {
      variable(take());
    } else if (word == ".param") {
      parameter();
    } else if (word == ")" || word == ".pragma") {
    } else if (word == ".reqntid") {
      for (uint32_t& size : entry().group) {
        size = static_cast<uint32_t>(number());
        accept(",");
      }
    } else if (word == "{") {
      in_body_ = true;
    } else if (word == "}") {
      end_entry();
    } else if (word == ".reg") {
      registers();
    } else if (word == ".shared" || word == ".local" || word == ".const") {
      variable(word);
    } else if (accept(":")) {
      labels_[word] = entry().instructions.size();
    } else if (in_body_) {
      instruction(word);
    } else {
      stop("what is \"" + word + "\"?");
    }
  }

  Entry& entry() {
    if (entry_ == nullptr) stop("outside of a kernel");
    return *entry_;
  }

  void begin_entry() {
    expect(".entry");
    const std::string name = take();
    entry_ = &module_.entries[name];
    entry_->name = name;
    entry_->registers = kSpecialRegisters;
    registers_ = {{"%tid.x", kTidX},       {"%tid.y", kTidY},
                  {"%tid.z", kTidZ},       {"%ctaid.x", kCtaidX},
                  {"%ctaid.y", kCtaidY},   {"%ctaid.z", kCtaidZ},
                  {"%nctaid.x", kNctaidX}, {"%nctaid.y", kNctaidY},
                  {"%nctaid.z", kNctaidZ}, {"%ntid.x", kNtidX}};
    labels_.clear();
    branches_.clear();
  }

  static uint64_t bytes_of(const std::string& type) {
    const size_t digits = type.find_first_of("0123456789");
    return std::stoull(type.substr(digits)) / 8;
  }

  // `.param .align 8 .b8 name[112],` or `.param .u64 name`.
  void parameter() {
    uint64_t alignment = 0;
    if (accept(".align")) alignment = number();
    const uint64_t each = bytes_of(take());
    const std::string name = take();
    uint64_t count = 1;
    if (accept("[")) {
      count = number();
      expect("]");
    }
    Entry& to = entry();
    to.parameter_bytes =
        aligned(to.parameter_bytes, alignment != 0 ? alignment : each);
    variables_[name] = {Space::kParam, to.parameter_bytes, each * count};
    to.parameter_bytes += each * count;
  }

  // `.reg .b32 %r<219>;` or `.reg .b64 %SP;`
  void registers() {
    take();
    const std::string name = take();
    uint64_t count = 1;
    const bool is_range = accept("<");
    if (is_range) count = number();
    for (uint64_t i = 0; i < count; ++i) {
      registers_[is_range ? name + std::to_string(i) : name] =
          entry().registers++;
    }
  }

  // `.shared .align 4 .b8 name[4096];`, `.const .align 1 .b8 name[3] = {1, 2};`
  void variable(const std::string& word) {
    uint64_t alignment = 1;
    if (accept(".align")) alignment = number();
    const uint64_t each = bytes_of(take());
    const std::string name = take();
    uint64_t count = 1;
    if (accept("[")) {
      count = number();
      expect("]");
    }
    if (word == ".const") {
      uint64_t at = aligned(module_.constants.size(), alignment);
      variables_[name] = {Space::kConst, at, each * count};
      module_.constants.resize(at + each * count);
      if (!accept("=")) return;
      const bool is_list = accept("{");
      for (;; at += each) {
        if (at + each > module_.constants.size()) stop("too many numbers");
        const uint64_t bits = number();
        std::memcpy(module_.constants.data() + at, &bits, each);
        if (!is_list || !accept(",")) return;
      }
    }
    const bool is_shared = word == ".shared";
    uint64_t& bytes = is_shared ? entry().shared_bytes : entry().local_bytes;
    bytes = aligned(bytes, alignment);
    const Variable made = {is_shared ? Space::kShared : Space::kLocal, bytes,
                           each * count};
    variables_[name] = made;
    entry().variables.push_back(made);
    constexpr uint64_t kGap = 256;
    bytes += made.bytes + kGap;
  }

  Operand operand() {
    Operand made;
    if (peek() == "-") {
      made.bits = number();
      return made;
    }
    const std::string word = take();
    const auto reg = registers_.find(word);
    if (reg != registers_.end()) {
      made.is_register = true;
      made.number = reg->second;
      return made;
    }
    const auto found = variables_.find(word);
    made.bits =
        found != variables_.end() ? found->second.offset : immediate(word);
    return made;
  }

  static Space space_of(const std::string& name) {
    const std::pair<const char*, Space> kSpaces[] = {
        {".global", Space::kGlobal},
        {".shared", Space::kShared},
        {".local", Space::kLocal},
        {".const", Space::kConst},
        {".param", Space::kParam}};
    for (const auto& [word, space] : kSpaces) {
      if (name.find(word) != std::string::npos) return space;
    }
    return Space::kNone;
  }

  // A register, `{a, b}`, or `[base+offset]`.
  void operands(Instruction* made, std::vector<Operand>* to) {
    if (accept("{")) {
      do {
        to->push_back(operand());
      } while (accept(","));
      expect("}");
    } else if (accept("[")) {
      to->push_back(operand());
      if (accept("+")) made->offset = static_cast<int64_t>(number());
      expect("]");
    } else {
      to->push_back(operand());
    }
  }

  void instruction(std::string name) {
    Instruction made;
    made.line = line_;
    if (name == "@") {
      made.guard_is_negated = accept("!");
      made.guard = static_cast<int32_t>(operand().number);
      name = take();
    }
    made.space = space_of(name);
    if (name.find(".v2") != std::string::npos) made.width = 2;
    if (name.find(".v4") != std::string::npos) made.width = 4;
    std::vector<Operand> targets;
    std::vector<Operand> sources;
    if (name == "bra" || name == "bra.uni") {
      branches_.emplace_back(entry().instructions.size(), take());
    } else if (peek() != ";") {
      // What is stored is a source, its address a target.
      operands(&made, &targets);
      while (accept(",")) operands(&made, &sources);
    }
    expect(";");
    // Several registers to one or one to several.
    if (name.compare(0, 4, "mov.") == 0 &&
        targets.size() + sources.size() > 2) {
      name = (targets.size() > 1 ? "unpack." : "pack.") + name.substr(4);
      made.width =
          static_cast<uint8_t>(std::max(targets.size(), sources.size()));
    }
    const size_t most = std::size(made.targets);
    if (targets.size() > most || sources.size() > most) {
      made.operands = targets;
      made.operands.insert(made.operands.end(), sources.begin(), sources.end());
    } else {
      std::copy(targets.begin(), targets.end(), made.targets);
      std::copy(sources.begin(), sources.end(), made.sources);
    }
    made.execute = find_instruction(without(name, made));
    if (made.execute == nullptr) stop("unknown instruction " + name);
    entry().instructions.push_back(std::move(made));
  }

  // The name without the space and the vector.
  static std::string without(std::string name, const Instruction& made) {
    const auto drop = [&name](const std::string& part) {
      const size_t at = name.find(part);
      if (at != std::string::npos) name.erase(at, part.size());
    };
    if (made.space != Space::kNone) {
      for (const char* space :
           {".global", ".shared", ".local", ".const", ".param"}) {
        if (name.compare(0, 4, "cvta") != 0) drop(space);
      }
    }
    drop(".v2");
    drop(".v4");
    return name;
  }

  void end_entry() {
    Entry& ended = entry();
    for (const auto& [at, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) stop("no label " + label);
      ended.instructions[at].destination = found->second;
    }
    entry_ = nullptr;
    in_body_ = false;
  }

  Module module_;
  int line_ = 0;
  std::vector<std::string> tokens_;
  size_t next_ = 0;
  bool has_version_ = false;
  bool has_target_ = false;
  bool in_body_ = false;
  Entry* entry_ = nullptr;
  std::map<std::string, uint32_t> registers_;
  std::map<std::string, Variable> variables_;
  std::map<std::string, size_t> labels_;
  std::vector<std::pair<size_t, std::string>> branches_;
};

}  // namespace

Module parse(std::string_view text) { return Parser().parse(text); }

}  // namespace rc::ptx
