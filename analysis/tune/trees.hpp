// Boosted trees that predict the order of candidates from their features.
// Fitted by the learned strategy, by transfer and by the studies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis::tune {

struct Table { // row after row
    std::size_t columns = 0;
    std::vector<float> values;

    std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
    const float* row(std::size_t n) const { return values.data() + n * columns; }
};

// regression: squared error. rank: pairs of a group in the wrong order (log loss of their
// difference).
enum class Loss { regression, rank };
std::string_view loss_name(Loss loss);
std::optional<Loss> loss_from_name(std::string_view name);

struct TreeOptions {
    Loss loss = Loss::regression;
    int rounds = 80;
    int depth = 4;
    double eta = 0.2;
    double gamma = 1e-4;
    double min_child_weight = 1.0;
    double lambda = 1.0;
    double subsample = 1.0; // of the rows, for each tree
    std::uint64_t seed = 1;
};

// What is learned from: targets higher for better rows; `groups`: how many rows, one after the
// other, may be compared with each other (empty: all). margins: what is known before; the trees
// learn what is missing. Empty: 0.
struct TrainingSet {
    Table table;
    std::vector<float> targets;
    std::vector<unsigned> groups;
    std::vector<float> margins;
};

class Trees {
  public:
    virtual ~Trees() = default;
    // Without margins: of a row with margin 0.
    virtual std::vector<float> predict(const Table& table) const = 0;
};

// By XGBoost, with exact splits (Chen and Guestrin, KDD 2016), on one thread: the same trees for
// the same training set and seed. At least one row. nullptr where the library refuses, as without
// memory.
std::unique_ptr<const Trees> fit_trees(const TrainingSet& training_set, const TreeOptions& options);

} // namespace eyeroof::analysis::tune
