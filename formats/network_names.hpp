// Names of networks: which file and which variant of it is meant, however the name is written.
// Reads the heads of files only, never their layers.
#pragma once

#include "formats/network_yaml.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

struct NamedNetwork {
    std::filesystem::path path;
    Variables variant; // values that the name stands for
    std::string id;
    std::string called = {}; // of a family's member: "bert-large"
};

// exact: as it is written in the catalog. any: letter case, blanks, hyphens, underscores and points
// make no difference: "ResNet-50", "resnet_50" and "resnet50" are one.
enum class Spelling { exact, any };

// Files in the folders, nearer ones first; a name with a slash is none.
std::optional<std::filesystem::path>
network_file(const std::string& name, const std::vector<std::filesystem::path>& folders);
std::optional<NamedNetwork> find_network(const std::string& name,
                                         const std::vector<std::filesystem::path>& folders,
                                         Spelling spelling);

// "./mine", "/data/mine", "a/b/c": with a slash, yet no PUBLISHER/NAME.
bool is_file_path(std::string_view name);

// The one network that has every word of the name ("sdxl" or "stable diffusion xl" of "sdxl-unet",
// "Qwen/Qwen3-32B" of "qwen3-32b"), in the nearest folder that has any; nothing where several do.
std::optional<NamedNetwork> find_short_name(const std::string& name,
                                            const std::vector<std::filesystem::path>& folders);

// YAML files of a folder by name; empty where there is no such folder.
std::vector<std::filesystem::path> network_files(const std::filesystem::path& folder);

// A head for each variant, with its values as the parameters' standard ones.
std::vector<NetworkHead> heads_of_variants(const NetworkHead& head);

// What may have been meant: "did you mean …?", or the names that begin as this one does.
std::string network_candidates(const std::string& name,
                               const std::vector<std::filesystem::path>& folders);

} // namespace eyeroof::formats
