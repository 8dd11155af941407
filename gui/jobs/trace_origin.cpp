#include "gui/jobs/trace_origin.hpp"

#include "base/ascii.hpp"
#include "formats/catalog.hpp"
#include "formats/trace_gpu.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace eyeroof::gui {

namespace {

bool is_letter_or_digit(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// In lower case, other characters as blanks: " nvidia a100 sxm4 40gb ".
std::string plain(std::string_view text) {
    std::string result = " ";
    for (const char c : text) {
        result += is_letter_or_digit(c) ? lowered(c) : result.back() == ' ' ? '\0' : ' ';
        if (result.back() == '\0') {
            result.pop_back();
        }
    }
    return result + (result.back() == ' ' ? "" : " ");
}

// "a100", "4090": what tells models apart; sizes of memory do not.
std::set<std::string> model_numbers(const std::string& text) {
    std::set<std::string> numbers;
    std::string word;
    for (const char c : plain(text)) {
        if (c != ' ') {
            word += c;
            continue;
        }
        const bool digit = std::any_of(word.begin(), word.end(),
                                       [](unsigned char d) { return std::isdigit(d) != 0; });
        if (digit && !word.ends_with("gb") && !word.starts_with("sxm")) {
            numbers.insert(word);
        }
        word.clear();
    }
    return numbers;
}

} // namespace

bool same_model(const std::string& device, const std::string& machine) {
    const auto wanted = model_numbers(device);
    const auto numbers = model_numbers(machine);
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](const auto& number) { return wanted.contains(number); });
}

bool are_large(const std::vector<std::string>& paths) {
    constexpr std::uintmax_t kAtOnce = 64 * 1024; // packed traces are some twenty times as long
    return std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
        std::error_code wrong;
        const auto size = std::filesystem::file_size(path, wrong);
        return !wrong && size > kAtOnce;
    });
}

namespace {

struct ReadingStopped {};

// Importers report their progress and take no stop token: the report ends a stopped one.
Result<report::Opened> opened(const std::string& path, const Folders& folders,
                              const std::stop_token& stop, const ProgressCallback& progress) {
    try {
        return report::open_any(path, folders.machines, folders.networks, [&](const Progress& now) {
            if (stop.stop_requested()) {
                throw ReadingStopped{};
            }
            if (progress) {
                progress(now);
            }
        });
    } catch (const ReadingStopped&) {
        return Result<report::Opened>::failure("cancelled", "reading was cancelled");
    }
}

} // namespace

ReadFile read_file(const std::string& path, const Folders& folders, const std::stop_token& stop,
                   const ProgressCallback& progress) {
    ReadFile read{path, opened(path, folders, stop, progress)};
    const auto* profile = read.opened ? std::get_if<profiles::Profile>(&*read.opened) : nullptr;
    if (profile == nullptr) {
        return read;
    }
    if (auto trace = formats::network_of_trace(*profile, path);
        trace && formats::is_trace_file(path)) {
        read.trace = std::make_shared<const formats::TraceNetwork>(*std::move(trace));
    }
    const auto gpu = formats::gpu_of_run(profile->run, folders.machines);
    read.gpu = gpu ? *gpu : std::string();
    return read;
}

std::string network_of(const profiles::Profile& profile, const Folders& folders,
                       const std::stop_token& stop) {
    const auto heads = formats::list_networks(folders.networks);
    if (!heads) {
        return {};
    }
    const std::string command = plain(profile.run.command);
    std::string named, similar;
    std::size_t most = (profile.ranges.size() + 1) / 2;
    const std::set<std::string> ranges(profile.ranges.begin(), profile.ranges.end());
    for (const auto& head : *heads) {
        if (stop.stop_requested()) {
            break;
        }
        if (command.find(plain(head.id)) != std::string::npos && head.id.size() > named.size()) {
            named = head.id;
        }
        const auto network = ranges.empty() ? Result<model::Network>::failure("none", "")
                                            : formats::load_network(head.id, folders.networks);
        std::set<std::string> known;
        for (std::size_t i = 0; network && i < network->layers.size(); ++i) {
            if (ranges.contains(network->layers[i].name)) {
                known.insert(network->layers[i].name);
            }
        }
        if (!known.empty() && known.size() >= most + (similar.empty() ? 0 : 1)) {
            most = known.size();
            similar = head.id;
        }
    }
    return named.empty() ? similar : named;
}

} // namespace eyeroof::gui
