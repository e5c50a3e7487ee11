// The environment's settings for hubs: the variables that the package
// huggingface_hub reads, with the same meaning.
#pragma once

#include <string>

namespace rc::hub {

// The folder of the cache: HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, hub in HF_HOME,
// huggingface/hub in XDG_CACHE_HOME or ~/.cache. A relative path of HF_... is
// refused (RC_E_INVALID_ARGUMENT), a relative XDG_CACHE_HOME or HOME counts as
// absent. Throws RC_E_NOT_FOUND if none of these and no HOME is set.
std::string cache_folder();

// HF_ENDPOINT, or https://huggingface.co; without a slash at the end.
std::string endpoint();

// HF_TOKEN, HUGGING_FACE_HUB_TOKEN, or what the file of HF_TOKEN_PATH, or
// `token` in HF_HOME, holds unless HF_HUB_DISABLE_IMPLICIT_TOKEN is set. Empty:
// none. Throws RC_E_INVALID_ARGUMENT if it cannot be one.
std::string token();

// HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is 1, ON, YES or TRUE.
bool offline();

}  // namespace rc::hub
