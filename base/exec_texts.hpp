// Words and variables of a program as exec wants them. Made before a fork: a child may not
// allocate.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace eyeroof {

class ExecTexts {
  public:
    // The caller's own environment, with these variables set beside or instead of it.
    ExecTexts(std::vector<std::string> words,
              const std::vector<std::pair<std::string, std::string>>& set);

    char* const* words() const { return word_pointers_.data(); }
    char* const* environment() const { return text_pointers_.data(); }

  private:
    std::vector<std::string> words_, texts_;
    std::vector<char*> word_pointers_, text_pointers_;
};

} // namespace eyeroof
