// NVIDIA's own metric database: chips, metrics, passes. Answers without a GPU and without a driver.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace eyeroof::profiles {

class CuptiCatalog {
  public:
    // Errors: those of load_cupti.
    static Result<CuptiCatalog> open(const std::string& folder = {});

    std::vector<std::string> chips() const;
    // Those of `metrics` that the chip does not have. All of them for an unknown chip.
    std::vector<std::string> unknown_metrics(const std::string& chip,
                                             const std::vector<std::string>& metrics) const;
    // Replay passes that collecting them together takes. Errors "unavailable" with CUPTI's code.
    Result<std::size_t> passes(const std::string& chip,
                               const std::vector<std::string>& metrics) const;
    const std::string& library() const;

  private:
    struct State;
    explicit CuptiCatalog(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

} // namespace eyeroof::profiles
