#include "formats/hf/module_names.hpp"

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

constexpr std::size_t kMostPatterns = 256, kMostLetters = 400;

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

// The characters of "\d", "\w", or of an escaped letter itself.
std::string escaped(char c) {
    constexpr std::string_view digits = "0123456789";
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return c == 'd'   ? std::string(digits)
           : c == 'w' ? std::string(letters).append(digits)
                      : std::string(1, c);
}

} // namespace

bool ModuleNames::add(std::string_view name) {
    if (name.size() > kMostLetters) {
        return false;
    }
    if (name.starts_with("re:")) {
        return add_expression(from_layers(name.substr(3)), 0);
    }
    if (name.find('*') == std::string_view::npos) {
        plain_.emplace(from_layers(name));
        return true;
    }
    Pattern pattern;
    pattern.whole_parts = true;
    for (const char c : from_layers(name)) {
        pattern.pieces.push_back({std::string(1, c), c == '*', false, c == '*' ? '*' : '1'});
    }
    patterns_.push_back(std::move(pattern));
    return patterns_.size() <= kMostPatterns;
}

// Groups are written out, one pattern for each choice.
bool ModuleNames::add_expression(std::string_view text, int depth) {
    constexpr int kDeepest = 6;
    const std::size_t open = text.find('(');
    if (open != std::string_view::npos && (open == 0 || text[open - 1] != '\\')) {
        const std::size_t close = text.find(')', open);
        std::string_view inner =
            text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
        inner = inner.substr(inner.starts_with("?:") ? 2 : 0);
        if (close == std::string_view::npos || inner.find_first_of("(?") != inner.npos ||
            depth >= kDeepest) {
            return false;
        }
        const std::string_view behind = text.substr(close + 1);
        if (behind.starts_with('*') || behind.starts_with('+') || behind.starts_with('{')) {
            return false;
        }
        const bool may_miss = behind.starts_with('?');
        const std::string before(text.substr(0, open));
        const std::string rest(behind.substr(may_miss ? 1 : 0));
        bool good = !may_miss || add_expression(before + rest, depth + 1);
        for (std::size_t at = 0; good && at <= inner.size();) {
            const std::size_t end = std::min(inner.find('|', at), inner.size());
            good =
                add_expression(before + std::string(inner.substr(at, end - at)) + rest, depth + 1);
            at = end + 1;
        }
        return good;
    }
    Pattern pattern;
    for (std::size_t i = text.starts_with('^') ? 1 : 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '$' && i + 1 == text.size()) {
            pattern.to_end = true;
        } else if ((c == '*' || c == '+' || c == '?') && !pattern.pieces.empty()) {
            pattern.pieces.back().times = c;
        } else if (c == '\\' && i + 1 < text.size()) {
            pattern.pieces.push_back({escaped(text[++i])});
        } else if (c == '[') {
            const std::size_t close = text.find(']', i);
            Piece piece;
            piece.negated = i + 1 < text.size() && text[i + 1] == '^';
            for (i += piece.negated ? 2 : 1; i < std::min(close, text.size()); ++i) {
                const bool range = i + 2 < close && text[i + 1] == '-';
                for (int at = text[i]; at <= (range ? text[i + 2] : text[i]); ++at) {
                    piece.set += static_cast<char>(at);
                }
                i += range ? 2 : 0;
            }
            if (close == std::string_view::npos) {
                return false;
            }
            pattern.pieces.push_back(std::move(piece));
        } else if (std::string_view("^$|{}").find(c) != std::string_view::npos) {
            return false;
        } else {
            pattern.pieces.push_back({std::string(1, c), c == '.'});
        }
    }
    patterns_.push_back(std::move(pattern));
    return patterns_.size() <= kMostPatterns;
}

bool ModuleNames::fits(const Pattern& pattern, std::string_view path) {
    std::vector<bool> at(path.size() + 1, !pattern.whole_parts);
    for (std::size_t i = 0; pattern.whole_parts && i < at.size(); ++i) {
        at[i] = i == 0 || path[i - 1] == '.';
    }
    for (const Piece& piece : pattern.pieces) {
        const bool many = piece.times == '*' || piece.times == '+';
        std::vector<bool> next(at.size(), false);
        for (std::size_t i = 0; i < path.size(); ++i) {
            const bool here =
                piece.any || (piece.set.find(path[i]) != std::string::npos) != piece.negated;
            next[i + 1] = here && (at[i] || (many && next[i]));
        }
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] = next[i] || (at[i] && (piece.times == '?' || piece.times == '*'));
        }
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
        const bool end = i == path.size();
        const bool ends_here = pattern.to_end ? end : !pattern.whole_parts || end || path[i] == '.';
        if (at[i] && ends_here) {
            return true;
        }
    }
    return false;
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
    return std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const Pattern& pattern) { return fits(pattern, path); });
}

bool ModuleNames::lists_near(std::string_view path) const {
    const std::string_view part = path.substr(0, path.rfind('.') + 1); // with its point
    const auto near = plain_.lower_bound(part);
    return lists(path) || (near != plain_.end() && near->starts_with(part));
}

} // namespace eyeroof::formats::hf
