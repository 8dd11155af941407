#include "formats/conv_roles.hpp"

#include <algorithm>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

std::optional<Count> extent_of(Count positions, Count stride, Count taps, Count dilation) {
    const auto slid = checked_mul(positions - 1, stride);
    const auto reach = checked_mul(taps - 1, dilation);
    const auto sum = slid && reach ? checked_add(*slid, *reach) : std::nullopt;
    return sum ? checked_add(*sum, 1) : std::nullopt;
}

void pad_axis(Count& extent, Count& pad, Count wanted) {
    if (wanted > 0 && extent > 2 * wanted) {
        pad = wanted;
        extent -= 2 * wanted;
    }
}

} // namespace

bool ConvRoles::used(Dim dim) const {
    return std::any_of(dims_.begin(), dims_.end(),
                       [&](const auto& entry) { return entry.second == dim; });
}

std::optional<bool> ConvRoles::window(const std::string& position, const std::string& tap,
                                      bool columns) {
    const bool rows_free = !used(Dim::P) && !used(Dim::R);
    const bool columns_free = !used(Dim::Q) && !used(Dim::S);
    if (has(position) || has(tap) || (!rows_free && !columns_free)) {
        return std::nullopt;
    }
    const bool rows = rows_free && !(columns && columns_free);
    dims_[position] = rows ? Dim::P : Dim::Q;
    dims_[tap] = rows ? Dim::R : Dim::S;
    return rows;
}

bool ConvRoles::place(const std::string& name, const TensorsOf& t) {
    std::vector<Dim> fitting;
    if (t.output && t.input && t.weight) {
        fitting = {Dim::G};
    } else if (t.output && t.weight) {
        fitting = {Dim::K};
    } else if (t.output && t.input) {
        fitting = {Dim::P, Dim::Q, Dim::N};
    } else if (t.input && t.weight) {
        fitting = {Dim::C, Dim::R, Dim::S};
    }
    std::erase_if(fitting, [&](Dim d) { // a tap beside a position would make them a window
        const bool window = (d == Dim::P && used(Dim::R)) || (d == Dim::R && used(Dim::P)) ||
                            (d == Dim::Q && used(Dim::S)) || (d == Dim::S && used(Dim::Q));
        return used(d) || window;
    });
    if (fitting.empty()) {
        return false;
    }
    const auto same = std::find_if(fitting.begin(), fitting.end(), [&](Dim d) {
        return name == std::string(1, letter(d)) || (d == Dim::N && name == "B") ||
               (d == Dim::P && name == "OY") || (d == Dim::Q && name == "OX");
    });
    dims_[name] = same == fitting.end() ? fitting.front() : *same;
    return true;
}

void ConvRoles::place_single(const std::string& name) {
    const auto unused =
        std::find_if(kAllDims.begin(), kAllDims.end(), [&](Dim dim) { return !used(dim); });
    if (unused != kAllDims.end()) {
        dims_[name] = *unused;
    }
}

std::optional<Dim> folded_into(const TensorsOf& t) {
    return t.output && t.input && t.weight ? std::optional(Dim::G)
           : t.output && t.weight          ? std::optional(Dim::K)
           : t.output && t.input           ? std::optional(Dim::N)
           : t.input && t.weight           ? std::optional(Dim::C)
                                           : std::nullopt;
}

double unfolding_factor(Count positions, Count stride, Count taps, Count dilation) {
    const auto p = static_cast<double>(positions);
    const auto r = static_cast<double>(taps);
    const double reach =
        (p - 1.0) * static_cast<double>(stride) + (r - 1.0) * static_cast<double>(dilation) + 1.0;
    return p * r / std::min(p * r, reach);
}

std::optional<ConvShape> conv_of(const ConvLoops& loops) {
    const auto bound = [&](Dim d) { return loops.bounds[index(d)]; };
    const auto h = extent_of(bound(Dim::P), loops.stride.h, bound(Dim::R), loops.dilation.h);
    const auto w = extent_of(bound(Dim::Q), loops.stride.w, bound(Dim::S), loops.dilation.w);
    const auto c = checked_mul(bound(Dim::C), bound(Dim::G));
    const auto k = checked_mul(bound(Dim::K), bound(Dim::G));
    if (!h || !w || !c || !k) {
        return std::nullopt;
    }
    ConvShape s;
    s.n = bound(Dim::N);
    s.c = *c;
    s.k = *k;
    s.h = *h;
    s.w = *w;
    s.r = bound(Dim::R);
    s.s = bound(Dim::S);
    s.groups = bound(Dim::G);
    s.stride = loops.stride;
    s.dilation = loops.dilation;
    pad_axis(s.h, s.pad.h, loops.pad.h);
    pad_axis(s.w, s.pad.w, loops.pad.w);
    return s;
}

} // namespace eyeroof::formats
