#include "base/exec_texts.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace eyeroof {

namespace {

std::vector<std::string>
environment_with(const std::vector<std::pair<std::string, std::string>>& set) {
    std::vector<std::string> texts;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto replaced = [&](const auto& pair) { return text.starts_with(pair.first + "="); };
        if (std::ranges::none_of(set, replaced)) {
            texts.emplace_back(text);
        }
    }
    for (const auto& [name, value] : set) {
        texts.push_back(name + "=" + value);
    }
    return texts;
}

// They point into the texts.
std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

} // namespace

ExecTexts::ExecTexts(std::vector<std::string> words,
                     const std::vector<std::pair<std::string, std::string>>& set)
    : words_(std::move(words)), texts_(environment_with(set)), word_pointers_(pointers(words_)),
      text_pointers_(pointers(texts_)) {}

} // namespace eyeroof
