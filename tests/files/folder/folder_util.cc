#include "files/folder/folder_util.h"

#include <fstream>

#include "files/folder/model_folder.h"
#include "model/model_file.h"
#include "test_data.h"

namespace rc::folder::test {

void FolderTest::copy(const std::string& name) {
  std::filesystem::remove_all(folder_);
  std::filesystem::copy(rc::test::source_path("tests/golden/folders") / name,
                        folder_);
}

void FolderTest::change(const std::string& name, std::string_view patch) const {
  auto json = nlohmann::json::parse(std::ifstream(folder_ / name));
  json.merge_patch(nlohmann::json::parse(patch));
  write(name, json.dump());
}

std::shared_ptr<const gguf::File> FolderTest::open() const {
  return open_folder(folder_.string());
}

void FolderTest::expect_refused(rc_status status,
                                std::string_view message) const {
  try {
    model::ModelFile::from_gguf(open());
    ADD_FAILURE() << "accepted, but should say: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(message), std::string::npos)
        << error.message();
  }
}

}  // namespace rc::folder::test
