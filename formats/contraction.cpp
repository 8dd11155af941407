#include "formats/contraction.hpp"

#include <algorithm>

namespace eyeroof::formats {

namespace {

using VariableSet = std::set<std::string>;
using Members = unsigned; // a bit for each operand

class Planner {
  public:
    Planner(const std::vector<VariableSet>& operands, const VariableSet& output,
            const std::map<std::string, Count, std::less<>>& sizes)
        : operands_(operands), output_(output), sizes_(sizes) {}

    std::vector<Contraction> plan() {
        const Members all = (Members{1} << operands_.size()) - 1;
        best_.resize(all + 1);
        for (Members members = 1; members <= all; ++members) {
            best_[members].kept = kept_of(members);
            if ((members & (members - 1)) != 0) { // more than one
                halve(members);
            }
        }
        write(all);
        return std::move(steps_);
    }

  private:
    struct Best {
        double macs = 0.0; // of all steps down to the operands
        double own = 0.0;  // of the last
        Members left = 0;
        VariableSet kept;
    };

    VariableSet kept_of(Members members) const {
        VariableSet inside, outside = output_;
        for (std::size_t i = 0; i < operands_.size(); ++i) {
            VariableSet& side = (members >> i & 1U) != 0 ? inside : outside;
            side.insert(operands_[i].begin(), operands_[i].end());
        }
        if ((members & (members - 1)) == 0) {
            return inside; // an operand as it is
        }
        std::erase_if(inside, [&](const std::string& name) { return !outside.contains(name); });
        return inside;
    }

    double macs_of(const VariableSet& a, const VariableSet& b) const {
        VariableSet all = a;
        all.insert(b.begin(), b.end());
        double macs = 1.0;
        for (const std::string& name : all) {
            macs *= static_cast<double>(sizes_.find(name)->second);
        }
        return macs;
    }

    void halve(Members members) {
        Best& best = best_[members];
        for (Members left = (members - 1) & members; left > (members ^ left);
             left = (left - 1) & members) {
            const Members right = members ^ left;
            const double own = macs_of(best_[left].kept, best_[right].kept);
            const double macs = own + best_[left].macs + best_[right].macs;
            if (best.left == 0 || macs < best.macs) { // the first even where its MACs overflow
                best.macs = macs;
                best.own = own;
                best.left = left;
            }
        }
    }

    // The operand that stands for the members, after the steps that make it.
    std::size_t write(Members members) {
        if ((members & (members - 1)) == 0) {
            std::size_t operand = 0;
            while ((members >> operand & 1U) == 0) {
                ++operand;
            }
            return operand;
        }
        const Best& best = best_[members];
        const std::size_t a = write(best.left);
        const std::size_t b = write(members ^ best.left);
        steps_.push_back({std::min(a, b), std::max(a, b), best.kept, best.own});
        return operands_.size() + steps_.size() - 1;
    }

    const std::vector<VariableSet>& operands_;
    const VariableSet& output_;
    const std::map<std::string, Count, std::less<>>& sizes_;
    std::vector<Best> best_; // by members
    std::vector<Contraction> steps_;
};

} // namespace

std::vector<Contraction> contraction_order(const std::vector<VariableSet>& operands,
                                           const VariableSet& output,
                                           const std::map<std::string, Count, std::less<>>& sizes) {
    if (operands.size() < 2 || operands.size() > kMostContracted) {
        return {};
    }
    return Planner(operands, output, sizes).plan();
}

} // namespace eyeroof::formats
