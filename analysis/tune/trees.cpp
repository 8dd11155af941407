#include "analysis/tune/trees.hpp"

namespace eyeroof::analysis::tune {

std::string_view loss_name(Loss loss) {
    return loss == Loss::rank ? "rank" : "regression";
}

std::optional<Loss> loss_from_name(std::string_view name) {
    return name == "rank"         ? std::optional(Loss::rank)
           : name == "regression" ? std::optional(Loss::regression)
                                  : std::nullopt;
}

} // namespace eyeroof::analysis::tune
