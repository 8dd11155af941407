#include "formats/hf/module_names.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

constexpr std::size_t kMostPatterns = 256, kMostLetters = 400;
constexpr std::int64_t kMostBytes = 1 << 16; // of a pattern's program

// "model.language_model.layers.3.mlp" as "layers.3.mlp"; towers keep their names whole.
std::string_view from_layers(std::string_view name) {
    constexpr std::string_view before = "abcdefghijklmnopqrstuvwxyz_.\\^*";
    const std::size_t at = name.find("layers");
    if (at == std::string_view::npos ||
        name.substr(0, at).find_first_not_of(before) != std::string_view::npos) {
        return name;
    }
    for (const char* tower : {"vis", "audio", "encoder", "tower"}) {
        if (name.substr(0, at).find(tower) != std::string_view::npos) {
            return name;
        }
    }
    return name.substr(at);
}

// Parts of a name with stars for any text, as an expression.
std::string expression_of(std::string_view stars) {
    std::string text = "(?:^|\\.)";
    for (std::size_t from = 0; from <= stars.size();) {
        const std::size_t to = std::min(stars.find('*', from), stars.size());
        text += re2::RE2::QuoteMeta(std::string(stars.substr(from, to - from)));
        text += to < stars.size() ? ".*" : "(?:\\.|$)";
        from = to + 1;
    }
    return text;
}

} // namespace

std::string ModuleNames::add(std::string_view name) {
    if (name.size() > kMostLetters) {
        return fmt::format("has more than {} characters", kMostLetters);
    }
    const bool is_expression = name.starts_with("re:");
    if (!is_expression && name.find('*') == std::string_view::npos) {
        plain_.emplace(from_layers(name));
        return {};
    }
    if (patterns_.size() == kMostPatterns) {
        return fmt::format("is one of more than {} patterns", kMostPatterns);
    }
    std::string_view own = from_layers(is_expression ? name.substr(3) : name);
    own.remove_prefix(is_expression && own.starts_with('^') ? 1 : 0);
    re2::RE2::Options quiet;
    quiet.set_log_errors(false);
    quiet.set_max_mem(kMostBytes);
    auto made = std::make_shared<const re2::RE2>(
        is_expression ? std::string(own) : expression_of(own), quiet);
    if (!made->ok()) {
        return "is no expression that RE2 reads: " + made->error();
    }
    patterns_.push_back(std::move(made));
    return {};
}

bool ModuleNames::lists(std::string_view path) const {
    for (std::size_t from = 0; from < path.size();) {
        for (std::size_t to = path.find('.', from);; to = path.find('.', to + 1)) {
            if (plain_.contains(path.substr(from, to == path.npos ? to : to - from))) {
                return true;
            }
            if (to == std::string_view::npos) {
                break;
            }
        }
        const std::size_t next = path.find('.', from);
        from = next == std::string_view::npos ? path.size() : next + 1;
    }
    return std::ranges::any_of(patterns_, [&](const std::shared_ptr<const re2::RE2>& pattern) {
        return re2::RE2::PartialMatch(re2::StringPiece(path.data(), path.size()), *pattern);
    });
}

bool ModuleNames::lists_beside(std::string_view path) const {
    const std::string_view part = path.substr(0, path.rfind('.') + 1); // with its point
    const auto near = plain_.lower_bound(part);
    return near != plain_.end() && near->starts_with(part);
}

} // namespace eyeroof::formats::hf
