#include "hub/fake_hub.h"

#include <fstream>

#include "base/error.h"
#include "expect_error.h"

namespace rc::test {

FakeHub::FakeHub()
    : cdn_([this](const Asked& asked) { return answer_at_cdn(asked); }),
      hub_([this](const Asked& asked) { return answer(asked); }) {}

void FakeHub::put(const std::string& name, std::string content, bool large) {
  const std::lock_guard lock(mutex_);
  files_[name] = {std::move(content), large};
}

void FakeHub::send_instead(const std::string& name, std::string content) {
  const std::lock_guard lock(mutex_);
  instead_[name] = std::move(content);
}

void FakeHub::set_token(std::string token) {
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

void FakeHub::set_commit(std::string commit) {
  const std::lock_guard lock(mutex_);
  commit_ = std::move(commit);
}

void FakeHub::set_fault(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
}

std::string FakeHub::sent(const std::string& name) const {
  const auto found = instead_.find(name);
  return found == instead_.end() ? files_.at(name).content : found->second;
}

Reply FakeHub::describe() const {
  std::string list;
  for (const auto& [name, file] : files_) {
    const std::string size = std::to_string(file.content.size());
    list += std::string(list.empty() ? "" : ",") + "{\"rfilename\":\"" + name +
            "\",\"size\":" + size + ",\"blobId\":\"" +
            git_sha1(file.large ? "pointer to " + name : file.content) + "\"";
    if (file.large) {
      list += ",\"lfs\":{\"sha256\":\"" + sha256(file.content) +
              "\",\"size\":" + size + ",\"pointerSize\":130}";
    }
    list += "}";
  }
  return {200,
          {{"Content-Type", "application/json"}},
          "{\"id\":\"o/m\",\"sha\":\"" + commit_ + "\",\"siblings\":[" + list +
              "]}",
          -1,
          -1};
}

Reply FakeHub::answer(const Asked& asked) {
  const std::lock_guard lock(mutex_);
  Reply reply;
  const auto given = asked.headers.find("authorization");
  const std::string resolve = "/o/m/resolve/" + commit_ + "/";
  if (!token_.empty() &&
      (given == asked.headers.end() || given->second != "Bearer " + token_)) {
    reply = {401,
             {{"X-Error-Code", "GatedRepo"},
              {"X-Error-Message", "Access to model o/m is restricted."}},
             "",
             -1,
             -1};
  } else if (asked.path == "/api/models/o/m/revision/main?blobs=true" ||
             asked.path ==
                 "/api/models/o/m/revision/" + commit_ + "?blobs=true") {
    reply = describe();
  } else if (asked.path.starts_with(resolve) &&
             files_.contains(asked.path.substr(resolve.size()))) {
    const std::string name = asked.path.substr(resolve.size());
    const File& file = files_.at(name);
    if (file.large) {
      reply = {302,
               {{"Location", cdn_.address() + "/" + name + "?signature=s3cret"},
                {"X-Repo-Commit", commit_},
                {"X-Linked-Size", std::to_string(file.content.size())},
                {"X-Linked-Etag", "\"" + sha256(file.content) + "\""}},
               "",
               -1,
               -1};
    } else {
      reply =
          answer_file(asked, sent(name), "\"" + git_sha1(file.content) + "\"");
      reply.headers.emplace_back("X-Repo-Commit", commit_);
    }
  } else {
    reply = {404, {{"X-Error-Code", "EntryNotFound"}}, "", -1, -1};
  }
  if (fault_) fault_(asked, false, &reply);
  return reply;
}

Reply FakeHub::answer_at_cdn(const Asked& asked) {
  const std::lock_guard lock(mutex_);
  if (asked.headers.contains("authorization")) ++tokens_at_cdn_;
  const std::string name = asked.path.substr(1, asked.path.find('?') - 1);
  Reply reply = files_.contains(name)
                    ? answer_file(asked, sent(name), "\"cdn\"")
                    : Reply{404, {}, "", -1, -1};
  if (fault_) fault_(asked, true, &reply);
  return reply;
}

HubEnvironment::HubEnvironment(const std::string& endpoint)
    : hf_home_("HF_HOME", home_.path()), endpoint_("HF_ENDPOINT", endpoint) {}

bool can_fetch() {
  // An address without a server.
  hub::FetchRequest request = quick_request("http://127.0.0.1:1/");
  request.to = "/dev/null/none";
  request.manner.most_failures = 1;
  try {
    hub::fetch(request);
  } catch (const Error& error) {
    return error.status() != RC_E_UNSUPPORTED;
  }
  return true;
}

hub::FetchRequest quick_request(const std::string& source) {
  hub::FetchRequest request;
  request.source = source;
  request.manner.part_bytes = 4096;
  request.manner.connections = 3;
  request.manner.first_pause = std::chrono::milliseconds(1);
  return request;
}

std::string content_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_fetch_error(const hub::FetchRequest& request, rc_status status,
                        const std::string& message) {
  expect_error(status, message, [&] { hub::fetch(request); });
}

}  // namespace rc::test
