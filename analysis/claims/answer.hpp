// JSON results of commands, and the numbers in them.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis::claims {

// Answers by the names of their runs.
class Answers {
  public:
    Answers();
    Answers(Answers&&) noexcept;
    Answers& operator=(Answers&&) noexcept;
    ~Answers();

    // Errors: "not-json" where the text is none.
    Result<Done> add(const std::string& run, std::string_view text);

    // The numbers at a path: "/layers/0/time_s" (from 0), "/layers/name=CONV1/time_s" (all elements
    // whose member is that text or number), "/traffic/level=L2/tensor=input/read_bytes" (and
    // another member), "/layers/name^CONV/macs" (whose member begins with it), "/layers/*/macs"
    // (all). true is 1, false 0. Errors: "no-such-path" with how far the path leads,
    // "not-a-number".
    Result<std::vector<double>> numbers(const std::string& run, std::string_view path) const;

    // Their sum.
    Result<double> number(const std::string& run, std::string_view path) const;

    // 1 where the value at a path is this text, else 0.
    Result<double> is(const std::string& run, std::string_view path, std::string_view text) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace eyeroof::analysis::claims
