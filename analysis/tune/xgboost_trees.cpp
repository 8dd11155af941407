// The same trees by XGBoost's C interface, where it was found when this was built.
#include "analysis/tune/own_trees.hpp"

#ifdef EYEROOF_HAS_XGBOOST
#include <xgboost/c_api.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#endif

namespace eyeroof::analysis::tune {

#ifdef EYEROOF_HAS_XGBOOST

namespace {

class Matrix {
  public:
    explicit Matrix(const Table& table) {
        ok_ = XGDMatrixCreateFromMat(table.values.data(), table.rows(), table.columns,
                                     std::numeric_limits<float>::quiet_NaN(), &handle_) == 0;
    }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    ~Matrix() {
        if (ok_) {
            XGDMatrixFree(handle_);
        }
    }
    void set(const char* field, const std::vector<float>& values) {
        ok_ = ok_ && XGDMatrixSetFloatInfo(handle_, field, values.data(), values.size()) == 0;
    }
    void set(const char* field, const std::vector<unsigned>& values) {
        ok_ = ok_ && XGDMatrixSetUIntInfo(handle_, field, values.data(), values.size()) == 0;
    }
    bool ok() const { return ok_; }
    DMatrixHandle handle() const { return handle_; }

  private:
    DMatrixHandle handle_ = nullptr;
    bool ok_ = false;
};

class LibraryTrees final : public Trees {
  public:
    explicit LibraryTrees(BoosterHandle handle) : handle_(handle) {}
    LibraryTrees(const LibraryTrees&) = delete;
    LibraryTrees& operator=(const LibraryTrees&) = delete;
    ~LibraryTrees() override { XGBoosterFree(handle_); }

    std::vector<float> predict(const Table& table) const override {
        std::vector<float> answers(table.rows(), 0.0F);
        Matrix matrix(table);
        matrix.set("base_margin", answers); // zeros: margins are the caller's
        static constexpr const char* kMargins =
            R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0,)"
            R"( "strict_shape": false})";
        const bst_ulong* shape = nullptr;
        bst_ulong dims = 0;
        const float* found = nullptr;
        if (matrix.ok() && XGBoosterPredictFromDMatrix(handle_, matrix.handle(), kMargins, &shape,
                                                       &dims, &found) == 0) {
            std::copy_n(found, answers.size(), answers.begin());
        }
        return answers;
    }

  private:
    BoosterHandle handle_;
};

std::vector<std::pair<const char*, std::string>> parameters(const TreeOptions& options) {
    return {{"objective", options.loss == Loss::rank ? "rank:pairwise" : "reg:squarederror"},
            {"max_depth", std::to_string(options.depth)},
            {"eta", std::to_string(options.eta)},
            {"gamma", std::to_string(options.gamma)},
            {"min_child_weight", std::to_string(options.min_child_weight)},
            {"lambda", std::to_string(options.lambda)},
            {"subsample", std::to_string(options.subsample)},
            {"tree_method", "exact"},
            {"nthread", "1"},
            {"seed", std::to_string(options.seed % 1'000'000'007U)},
            {"verbosity", "0"}};
}

} // namespace

bool has_xgboost() {
    return true;
}

std::unique_ptr<const Trees> fit_trees(const TrainingSet& training_set,
                                       const TreeOptions& options) {
    Matrix matrix(training_set.table);
    std::vector<float> margins = training_set.margins;
    margins.resize(training_set.targets.size(), 0.0F);
    matrix.set("label", training_set.targets);
    matrix.set("base_margin", margins);
    if (options.loss == Loss::rank) {
        std::vector<unsigned> groups = training_set.groups;
        if (groups.empty()) {
            groups = {static_cast<unsigned>(training_set.targets.size())};
        }
        matrix.set("group", groups);
    }
    const DMatrixHandle handle = matrix.handle();
    BoosterHandle booster = nullptr;
    if (!matrix.ok() || XGBoosterCreate(&handle, 1, &booster) != 0) {
        return nullptr;
    }
    auto trees = std::make_unique<LibraryTrees>(booster);
    for (const auto& [name, value] : parameters(options)) {
        if (XGBoosterSetParam(booster, name, value.c_str()) != 0) {
            return nullptr;
        }
    }
    for (int round = 0; round < options.rounds; ++round) {
        if (XGBoosterUpdateOneIter(booster, round, handle) != 0) {
            return nullptr;
        }
    }
    return trees;
}

#else

bool has_xgboost() {
    return false;
}

std::unique_ptr<const Trees> fit_trees(const TrainingSet&, const TreeOptions&) {
    return nullptr;
}

#endif

} // namespace eyeroof::analysis::tune
