#include "formats/network_names.hpp"

#include "base/meant_names.hpp"
#include "base/plain_name.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats {

namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

constexpr std::size_t kMaxNames = 10'000; // a folder with more files is not a catalog
constexpr std::size_t kMostCandidates = 12;
constexpr std::size_t kShortestStem = 2;

bool is_file(const fs::path& path) {
    std::error_code status;
    return fs::is_regular_file(path, status);
}

bool is_yaml(const fs::path& path) {
    return path.extension() == ".yaml" || path.extension() == ".yml";
}

bool same(std::string_view a, std::string_view b, Spelling spelling) {
    return spelling == Spelling::exact ? a == b : plain_name(a) == plain_name(b);
}

// Whether an id in the text may contain this plain name: the text does, or hides it in an escape.
bool may_contain(std::string_view text, std::string_view plain) {
    std::string all = plain_name(text);
    all.erase(std::remove(all.begin(), all.end(), '\n'), all.end());
    return all.find(plain) != std::string::npos || all.find('\\') != std::string::npos;
}

// The variants of a file, or none where no id of them contains the plain name. Parsing takes most
// of the time of a look for a name, so only a file that has variants and contains the name is
// parsed.
std::vector<Variant> variants_of(const fs::path& file, std::string_view plain = {}) {
    const auto text = read_text_file(file);
    const std::size_t begin = text ? text->find("variants:") : std::string::npos;
    if (begin == std::string::npos || !may_contain(std::string_view(*text).substr(begin), plain)) {
        return {};
    }
    auto head = parse_network_head(*text, file.string());
    return head ? std::move(head->variants) : std::vector<Variant>{};
}

std::vector<std::string> names_in(const Folders& folders) {
    std::vector<std::string> names;
    for (const fs::path& folder : folders) {
        for (const fs::path& file : network_files(folder)) {
            names.push_back(file.stem().string());
            for (Variant& variant : variants_of(file)) {
                names.push_back(std::move(variant.id));
            }
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace

std::vector<fs::path> network_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (is_yaml(at->path()) && is_file(at->path()) && files.size() < kMaxNames) {
            files.push_back(at->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::optional<fs::path> network_file(const std::string& name, const Folders& folders) {
    if (name.empty() || name.find('/') != std::string::npos) {
        return std::nullopt;
    }
    for (const fs::path& folder : folders) {
        for (const char* ending : {".yaml", ".yml"}) {
            if (fs::path path = folder / (name + ending); is_file(path)) {
                return path;
            }
        }
    }
    return std::nullopt;
}

std::optional<NamedNetwork> find_network(const std::string& name, const Folders& folders,
                                         Spelling spelling) {
    const std::string plain = plain_name(name);
    if (plain.empty() || name.find('/') != std::string::npos) {
        return std::nullopt;
    }
    if (auto path = network_file(name, folders)) {
        return NamedNetwork{std::move(*path), {}, name};
    }
    for (const fs::path& folder : folders) {
        for (const fs::path& file : network_files(folder)) {
            if (same(file.stem().string(), name, spelling)) {
                return NamedNetwork{file, {}, file.stem().string()};
            }
            for (const Variant& variant : variants_of(file, plain)) {
                if (same(variant.id, name, spelling)) {
                    return NamedNetwork{file, variant.values, variant.id, variant.id};
                }
            }
        }
    }
    return std::nullopt;
}

bool is_file_path(std::string_view name) {
    return name.find_first_of("./~") == 0 || name.find('/') != name.rfind('/');
}

std::optional<NamedNetwork> find_short_name(const std::string& name, const Folders& folders) {
    if (plain_name(name).size() < kShortestStem || is_file_path(name)) {
        return std::nullopt;
    }
    for (const fs::path& folder : folders) { // the nearest that has any
        const std::vector<std::string> names = names_in({folder});
        const MeantNames meant = meant_names(name, names, Where::at_start);
        if (meant.complete) {
            return meant.sure ? find_network(meant.names.front(), folders, Spelling::exact)
                              : std::nullopt;
        }
    }
    return std::nullopt;
}

std::vector<NetworkHead> heads_of_variants(const NetworkHead& head) {
    std::vector<NetworkHead> heads;
    for (const Variant& variant : head.variants) {
        NetworkHead own = head;
        own.id = variant.id;
        own.name += ": " + variant.id;
        own.variants.clear();
        for (Parameter& p : own.parameters) {
            const auto value = variant.values.find(p.name);
            p.standard = value != variant.values.end() ? value->second : p.standard;
        }
        heads.push_back(std::move(own));
    }
    return heads;
}

std::string network_candidates(const std::string& name, const Folders& folders) {
    const std::vector<std::string> names = names_in(folders);
    if (names.empty()) {
        return "no folder with networks was found; name a file";
    }
    const std::string wanted = plain_name(name);
    std::string list;
    std::size_t found = 0;
    for (const std::string& known : names) {
        if (wanted.size() >= kShortestStem && plain_name(known).find(wanted) != std::string::npos &&
            ++found <= kMostCandidates) {
            list += (list.empty() ? "" : ", ") + known;
        }
    }
    if (found > 0) {
        return "one of " + list +
               (found > kMostCandidates ? fmt::format(" and {} more", found - kMostCandidates)
                                        : "");
    }
    const MeantNames meant = meant_names(name, names, Where::at_start);
    const std::string near = meant.names.empty() ? closest(name, names) : "";
    if (meant.names.size() == 1 || !near.empty()) {
        return fmt::format("did you mean '{}'?", near.empty() ? meant.names.front() : near);
    }
    for (const std::string& known : meant.names) {
        list += (list.empty() ? "one of " : ", ") + known;
    }
    return !list.empty() ? list
                         : fmt::format("`eyeroof net list` lists {} networks; a model of your own "
                                       "comes as ONNX, config.json, or layer CSV",
                                       names.size());
}

} // namespace eyeroof::formats
