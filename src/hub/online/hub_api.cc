#include "hub/online/hub_api.h"

#include <charconv>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "hub/settings.h"

namespace rc::hub {
namespace {

// Repositories of many files take some 300 bytes for each.
constexpr size_t kMostDescription = size_t{64} << 20;
constexpr size_t kDeepestDescription = 64;

[[noreturn]] void fail_description(const std::string& what, const char* why) {
  fail(RC_E_FORMAT, what, ": the hub's description of it is none: ", why);
}

const JsonValue* find_string(const JsonValue& object, const char* name) {
  const JsonValue* value = object.find_given(name);
  return value != nullptr && value->is(JsonValue::Type::kString) ? value
                                                                 : nullptr;
}

bool read_size(const JsonValue& object, uint64_t* size) {
  const JsonValue* value = object.find_given("size");
  if (value == nullptr || !value->is(JsonValue::Type::kNumber)) return false;
  const char* end = value->text.data() + value->text.size();
  const auto [rest, error] = std::from_chars(value->text.data(), end, *size);
  // Larger than any model, and sums of as many as a description can name do not
  // overflow.
  return error == std::errc() && rest == end && *size < uint64_t{1} << 43;
}

bool is_hexadecimal(std::string_view text, size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

// False: it does not say what the file is.
bool read_file(const JsonValue& sibling, RepositoryFile* file,
               Checksum* checksum) {
  const JsonValue* lfs = sibling.find_given("lfs");
  if (lfs != nullptr && lfs->is(JsonValue::Type::kObject)) {
    const JsonValue* sha256 = find_string(*lfs, "sha256");
    if (sha256 == nullptr || !is_hexadecimal(sha256->text, 64)) return false;
    *checksum = {Digest::Kind::kSha256, sha256->text, false};
    return read_size(*lfs, &file->size);
  }
  const JsonValue* id = find_string(sibling, "blobId");
  if (id == nullptr || !is_hexadecimal(id->text, 40)) return false;
  *checksum = {Digest::Kind::kSha1, id->text, true};
  return read_size(sibling, &file->size);
}

}  // namespace

Hub::Hub() : endpoint_(endpoint()) {
  access_.origin = parse_url(endpoint_).origin;
  access_.token = token();
}

Url Hub::file_url(const Reference& reference, const std::string& commit,
                  const std::string& file) const {
  return parse_url(cat(endpoint_, "/", reference.repository(), "/resolve/",
                       commit, "/", escape_url(file, true)));
}

HubRevision Hub::describe(const Manner& manner, const Reference& reference,
                          const std::string& revision,
                          const Heartbeat& heartbeat) const {
  const std::string what =
      cat(reference.text(), revision == "main" ? "" : "@" + revision);
  Question question;
  question.request.url =
      parse_url(cat(endpoint_, "/api/models/", reference.repository(),
                    "/revision/", escape_url(revision, false), "?blobs=true"));
  question.what = what;
  question.most_body = kMostDescription;
  const Answer answer = ask(manner, access_, std::move(question), heartbeat);
  JsonValue description;
  try {
    description = parse_json(answer.body, "the answer", kDeepestDescription);
  } catch (const Error& error) {
    if (error.status() != RC_E_INVALID_ARGUMENT) throw;
    fail_description(what, error.message().c_str());
  }
  const JsonValue* commit = find_string(description, "sha");
  const JsonValue* siblings = description.find_given("siblings");
  if (commit == nullptr || !is_commit(commit->text)) {
    fail_description(what, "it names no commit");
  }
  if (is_commit(revision) && commit->text != revision) {
    fail_description(what, "it is that of another commit");
  }
  if (siblings == nullptr || !siblings->is(JsonValue::Type::kArray)) {
    fail_description(what, "it lists no files");
  }
  HubRevision found;
  found.commit = commit->text;
  for (const JsonValue& sibling : siblings->items) {
    const JsonValue* name = find_string(sibling, "rfilename");
    RepositoryFile file;
    Checksum checksum;
    // Names that lead elsewhere are those of no model.
    if (name == nullptr || !is_safe_file_name(name->text)) continue;
    file.name = name->text;
    if (!read_file(sibling, &file, &checksum)) checksum.text.clear();
    found.files.push_back(std::move(file));
    found.checksums.push_back(std::move(checksum));
  }
  return found;
}

}  // namespace rc::hub
