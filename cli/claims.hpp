// Claims of the data folders, each asked again by its own commands.
#pragma once

#include "cli/context.hpp"
#include "report/claims/claims_write.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

// Those that are named, all where none is, by topic and then by name. Errors: a name that is
// none's, and folders without claims.
Result<std::vector<formats::Claim>> wanted_claims(const Context& context,
                                                  const std::vector<std::string>& names);

struct ClaimsAsked {
    bool measure = false;  // also what measures this machine
    bool pictures = false; // also run the command of each claim's picture
};

// The claims with what their commands answer. Errors: those of a command without an answer.
Result<report::ClaimsFound> ask_claims(Context& context, const std::vector<formats::Claim>& claims,
                                       ClaimsAsked asked);

} // namespace eyeroof::cli
