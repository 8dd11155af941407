// --fail-if of every command that gives an answer: which names it has there, and exit code 1.
// Used by exam, map, upgrade, offload and validate.
// Knows no engine; the condition itself is study/exam/gate.hpp.
#pragma once

#include "cli/command.hpp"
#include "study/calibrate/machines.hpp"
#include "study/calibrate/networks.hpp"
#include "study/calibrate/pairs.hpp"
#include "study/calibrate/validate.hpp"
#include "study/exam/gate.hpp"
#include "study/search/map_network.hpp"
#include "study/upgrade/offload.hpp"
#include "study/upgrade/upgrade.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::cli {

// What a condition may ask of an answer; docs/fail-if.md lists the names. Those of an answer by
// default are the names alone.
study::GateFigures gate_figures(const study::MapReport& report);
study::GateFigures gate_figures(const study::Upgrade& result);
study::GateFigures gate_figures(const study::Offload& result);
study::GateFigures gate_figures(const study::Validation& result);
study::GateFigures gate_figures(const study::PairsValidation& result);
study::GateFigures gate_figures(const study::NetworksValidation& result);
study::GateFigures gate_figures(const std::vector<study::MachineTable>& result);

void add_fail_if(CLI::App& app, std::string& expression);

// A command's condition, parsed before anything is computed.
class FailIf {
  public:
    // Errors: those of parse_gate().
    static model::Result<FailIf> parse(const std::string& expression, const study::GateKeys& keys);

    // Writes the answer; exit code 1, with the reason on stderr, when the condition holds.
    // `otherwise` is the code when it does not.
    Exit write(Context& context, std::string_view text, const std::string& file,
               const study::GateFigures& figures, Exit otherwise = Exit::done) const;
    // Says on stderr which comparisons held.
    void tell(Context& context, const study::Verdict& verdict) const;
    const std::optional<study::Gate>& gate() const { return gate_; }

  private:
    std::string expression_;
    std::optional<study::Gate> gate_;
};

} // namespace eyeroof::cli
