// --fail-if of every command that gives an answer: which names it has there, and exit code 1.
#pragma once

#include "analysis/calibrate/clusters.hpp"
#include "analysis/calibrate/machines.hpp"
#include "analysis/calibrate/networks.hpp"
#include "analysis/calibrate/pairs.hpp"
#include "analysis/calibrate/validate.hpp"
#include "analysis/exam/gate.hpp"
#include "analysis/search/map_network.hpp"
#include "analysis/upgrade/offload.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "cli/command.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::cli {

// What a condition may ask of an answer; docs/json.md lists the names. Those of an answer by
// default are the names alone.
analysis::GateFigures gate_figures(const analysis::MapReport& report);
analysis::GateFigures gate_figures(const analysis::Upgrade& result);
analysis::GateFigures gate_figures(const analysis::Offload& result);
analysis::GateFigures gate_figures(const analysis::Validation& result);
analysis::GateFigures gate_figures(const analysis::PairsValidation& result);
analysis::GateFigures gate_figures(const analysis::NetworksValidation& result);
analysis::GateFigures gate_figures(const analysis::ClusterValidation& result);
analysis::GateFigures gate_figures(const std::vector<analysis::MachineTable>& result);

void add_fail_if(CLI::App& app, std::string& expression);

// A command's condition, parsed before anything is computed.
class FailIf {
  public:
    // Errors: those of parse_gate().
    static Result<FailIf> parse(const std::string& expression, const analysis::GateKeys& keys);

    // Writes the answer; exit code 1, with the reason on stderr, when the condition holds.
    // `otherwise` is the code when it does not.
    Exit write(Context& context, std::string_view text, const std::string& file,
               const analysis::GateFigures& figures, Exit otherwise = Exit::done) const;
    // Says on stderr which comparisons held.
    void tell(Context& context, const analysis::Verdict& verdict) const;
    const std::optional<analysis::Gate>& gate() const { return gate_; }

  private:
    std::string expression_;
    std::optional<analysis::Gate> gate_;
};

} // namespace eyeroof::cli
