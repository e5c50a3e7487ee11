#include "text/chat/replies/call_reader.h"

#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/json_scanner.h"

namespace rc::text::chat {
namespace {

// kNamed: NAME, mark, JSON.
class NamedReader : public CallReader {
 public:
  NamedReader(const ReplyFormat& format, CallSink* sink)
      : format_(format), sink_(sink), end_(format.call_end) {}

  bool take_header(std::string_view header) {
    const std::string_view name = name_in_header(format_, header);
    if (format_.id_is_name) {
      id_ = without_spaces(header);
    } else if (!format_.id_begin.empty()) {
      const size_t at = header.find(format_.id_begin);
      if (at != header.npos) {
        id_ = without_spaces(header.substr(at + format_.id_begin.size()));
      }
    }
    in_header_ = false;
    if (!is_call_name(name)) return false;
    sink_->begin_call(name, id_);
    return true;
  }

  Result feed(char c) override {
    if (in_header_) {
      header_ += c;
      if (!header_.ends_with(format_.name_end)) return Result::kMore;
      header_.resize(header_.size() - format_.name_end.size());
      return take_header(header_) ? Result::kMore : Result::kBad;
    }
    if (at_end_) {
      if (!end_.feed(c)) return Result::kBad;
      return end_.is_over() ? Result::kDone : Result::kMore;
    }
    if (scanner_.depth() == 0) {
      if (is_reply_space(c)) return Result::kMore;
      if (c != '{') return Result::kBad;
    }
    const auto result = scanner_.feed(c);
    if (result == JsonScanner::Result::kBad) return Result::kBad;
    sink_->add_arguments({&c, 1});
    if (result == JsonScanner::Result::kMore) return Result::kMore;
    at_end_ = true;
    sink_->end_call(id_);
    return end_.is_over() ? Result::kDone : Result::kMore;
  }

  bool may_end() const override { return at_end_; }

 private:
  const ReplyFormat& format_;
  CallSink* sink_;
  bool in_header_ = true;
  bool at_end_ = false;
  std::string header_;
  std::string id_;
  JsonScanner scanner_;
  EndMark end_;
};

// Shapes that are read when they are whole.
class WholeReader : public CallReader {
 public:
  WholeReader(const ReplyFormat& format, CallSink* sink)
      : format_(format), sink_(sink) {}

  Result feed(char c) override {
    text_ += c;
    if (!text_.ends_with(format_.call_end)) return Result::kMore;
    text_.resize(text_.size() - format_.call_end.size());
    return read_literal_calls(format_.shape, text_, sink_) ? Result::kDone
                                                           : Result::kBad;
  }

 private:
  const ReplyFormat& format_;
  CallSink* sink_;
  std::string text_;
};

}  // namespace

std::string_view name_in_header(const ReplyFormat& format,
                                std::string_view header) {
  if (!format.name_begin.empty()) {
    const size_t at = header.find(format.name_begin);
    if (at == header.npos) return {};
    header.remove_prefix(at + format.name_begin.size());
  }
  if (!format.id_begin.empty()) {
    header = header.substr(0, header.find(format.id_begin));
  }
  header = without_spaces(header);
  if (format.id_is_name) header = header.substr(0, header.rfind(':'));
  // In a header with other words, a name ends with its word.
  if (!format.header_begin.empty()) {
    header = header.substr(0, header.find_first_of(" <"));
  }
  constexpr std::string_view kFunctions = "functions.";
  if (header.starts_with(kFunctions)) header.remove_prefix(kFunctions.size());
  return header;
}

std::unique_ptr<CallReader> make_call_reader(const ReplyFormat& format,
                                             const StringArguments& strings,
                                             CallSink* sink) {
  switch (format.shape) {
    case CallShape::kObjects:
      return make_object_reader(format, sink);
    case CallShape::kNamed:
      return std::make_unique<NamedReader>(format, sink);
    case CallShape::kTags:
      return make_tag_reader(format, strings, sink);
    default:
      return std::make_unique<WholeReader>(format, sink);
  }
}

std::unique_ptr<CallReader> make_argument_reader(const ReplyFormat& format,
                                                 std::string_view header,
                                                 CallSink* sink) {
  auto reader = std::make_unique<NamedReader>(format, sink);
  if (!reader->take_header(header)) return nullptr;
  return reader;
}

}  // namespace rc::text::chat
