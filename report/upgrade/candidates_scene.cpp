#include "report/upgrade/candidates_scene.hpp"

#include "report/draw/fitted_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr double kHead = 40.0;  // title and what the marks mean
constexpr double kCard = 58.0;  // height of a card
constexpr double kGap = 6.0;    // between cards
constexpr double kSide = 12.0;  // free left and right
constexpr double kAxis = 20.0;  // below the cards
constexpr double kLeast = 1.25; // widest factor that is left empty beside the marks

struct Scale { // ln of speed-ups to pixels
    double from = 0.0, to = 1.0, left = 0.0, width = 1.0;

    double x(double speedup) const {
        const double at = (std::log(speedup) - from) / (to - from);
        return left + width * std::clamp(at, 0.0, 1.0);
    }
};

bool drawable(double speedup) {
    return std::isfinite(speedup) && speedup > 0.0;
}

// "v100" of "v100-sxm2-16gb".
std::string model_of(const std::string& gpu) {
    return gpu.substr(0, gpu.find('-'));
}

// Of the same two models of GPU: a speed-up over another GPU has no place on the card's scale.
std::vector<const analysis::NearEvidence*> of_the_pair(const analysis::PurchaseAnswer& a) {
    std::vector<const analysis::NearEvidence*> same;
    for (const analysis::NearEvidence& near : a.upgrade.nearest) {
        if (model_of(near.row.key.from) == model_of(a.now.gpu) &&
            model_of(near.row.key.to) == model_of(a.then.gpu) && drawable(near.row.speedup)) {
            same.push_back(&near);
        }
    }
    return same;
}

Scale scale_of(const analysis::Purchase& purchase, double width) {
    double low = 1.0;
    double high = 1.0;
    const auto take = [&](double speedup) {
        if (drawable(speedup)) {
            low = std::min(low, speedup);
            high = std::max(high, speedup);
        }
    };
    for (const analysis::PurchaseAnswer& a : purchase.answers) {
        for (const double speedup : {a.upgrade.speedup.low, a.upgrade.speedup.high, a.needed}) {
            take(speedup);
        }
        for (const analysis::NearEvidence* near : of_the_pair(a)) {
            take(near->row.speedup);
        }
    }
    return {std::log(low / kLeast), std::log(high * kLeast), 2.0 * kSide, width - 4.0 * kSide};
}

std::string cost_text(const analysis::PurchaseAnswer& a) {
    if (!a.upgrade.unfit.empty()) {
        return a.upgrade.unfit;
    }
    const double share = 100.0 * a.saved_share.value_or(0.0);
    const std::string cost = !a.saved_share ? std::string()
                                            : fmt::format("{:.0f} % {} a year, ", std::abs(share),
                                                          share >= 0.0 ? "less" : "more");
    return cost + analysis::chance_text(a.likely) + " likely to cost no more";
}

void add_marker(Drawing& d, Place at, double radius, const MarkerLook& look,
                const std::string& tip) {
    DrawnMarker marker{at, radius, d.add_look(look)};
    d.tips.push_back(tip);
    marker.tip = static_cast<std::uint32_t>(d.tips.size() - 1);
    d.markers.push_back(marker);
}

void add_marks(Drawing& d, const Scale& scale, const analysis::PurchaseAnswer& a, double top,
               ColourRole role) {
    const analysis::Interval& s = a.upgrade.speedup;
    const double y = top + kCard - 14.0;
    if (drawable(s.low) && drawable(s.high)) {
        d.boxes.push_back({{scale.x(s.low), y - 5.0, scale.x(s.high) - scale.x(s.low), 10.0},
                           role,
                           0.35,
                           false,
                           fmt::format("{:.2f}x to {:.2f}x: 80 % interval", s.low, s.high)});
    }
    if (drawable(a.needed) && a.upgrade.verdict != analysis::UpgradeVerdict::unpriced) {
        const double x = scale.x(a.needed);
        d.lines.push_back({{{x, y - 9.0}, {x, y + 9.0}}, ColourRole::text, 1.6, Dash::dashes});
    }
    for (const analysis::NearEvidence* near : of_the_pair(a)) {
        const analysis::EvidenceRow& row = near->row;
        add_marker(d, {scale.x(row.speedup), y}, 4.0,
                   {Marker::diamond, std::nullopt, ColourRole::text, 1.2},
                   fmt::format("published: {} {} to {}, {:.2f}x ({})", row.network, row.key.from,
                               row.key.to, row.speedup, row.source));
    }
    if (drawable(s.value)) {
        add_marker(d, {scale.x(s.value), y}, 5.0, {Marker::circle, role, ColourRole::plot, 1.0},
                   fmt::format("{:.2f}x", s.value));
    }
}

void add_card(Drawing& d, const Scale& scale, const analysis::PurchaseAnswer& a, double top,
              bool chosen) {
    const double width = d.canvas.width;
    const ColourRole words = role_of(a.upgrade.verdict);
    const ColourRole role =
        words == ColourRole::faint || words == ColourRole::text ? ColourRole::series1 : words;
    d.boxes.push_back({{kSide, top, width - 2.0 * kSide, kCard}, ColourRole::plot});
    d.boxes.push_back({{kSide, top, width - 2.0 * kSide, kCard},
                       chosen ? ColourRole::selection : ColourRole::grid,
                       1.0,
                       true});
    const std::string name = a.then.gpu + ": " + verdict_word(a);
    d.texts.push_back({{2.0 * kSide, top + 17.0}, name, ColourRole::text, kFontPx, 0.0, true});
    const double taken = text_width(name, kFontPx) * 1.15 + 4.0 * kSide;
    d.texts.push_back({{width - 2.0 * kSide, top + 17.0},
                       fitted(cost_text(a), kFontPx, width - taken - 2.0 * kSide),
                       ColourRole::text,
                       kFontPx,
                       1.0});
    const analysis::Interval& s = a.upgrade.speedup;
    const std::string numbers =
        fmt::format("{:.2f}x as fast ({:.2f}x to {:.2f}x, 80 % interval){}", s.value, s.low, s.high,
                    a.upgrade.verdict == analysis::UpgradeVerdict::unpriced
                        ? "; no prices"
                        : fmt::format("; {:.2f}x costs the same", a.needed));
    d.texts.push_back({{2.0 * kSide, top + 32.0},
                       fitted(numbers, kSmallPx, width - 4.0 * kSide),
                       ColourRole::faint,
                       kSmallPx});
    add_marks(d, scale, a, top, role);
}

// Speed-ups in round numbers, and a line at once as fast through all cards.
void add_axis(Drawing& d, const Scale& scale, double bottom) {
    d.lines.push_back(
        {{{scale.left, bottom}, {scale.left + scale.width, bottom}}, ColourRole::frame, 1.0});
    double taken = 0.0; // right edge of the last number
    for (const double tick : {0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
        const double at = (std::log(tick) - scale.from) / (scale.to - scale.from);
        if (at < 0.0 || at > 1.0) {
            continue;
        }
        const double x = scale.x(tick);
        const std::string text = fmt::format("{:g}x", tick);
        const double half = 0.5 * text_width(text, kSmallPx);
        d.lines.push_back({{{x, bottom}, {x, bottom + 3.0}}, ColourRole::frame, 1.0});
        if (x - half > taken) {
            d.texts.push_back({{x, bottom + 14.0}, text, ColourRole::faint, kSmallPx, 0.5});
            taken = x + half + 4.0;
        }
    }
    if (scale.from < 0.0 && scale.to > 0.0) {
        d.lines.push_back({{{scale.x(1.0), kHead}, {scale.x(1.0), bottom}}, ColourRole::grid, 1.0});
    }
}

} // namespace

ColourRole role_of(analysis::UpgradeVerdict verdict) {
    switch (verdict) {
    case analysis::UpgradeVerdict::pays_off:
        return ColourRole::series3;
    case analysis::UpgradeVerdict::does_not:
    case analysis::UpgradeVerdict::does_not_fit:
        return ColourRole::warning;
    case analysis::UpgradeVerdict::unpriced:
        return ColourRole::text;
    default:
        return ColourRole::faint;
    }
}

std::string verdict_word(const analysis::PurchaseAnswer& answer) {
    switch (answer.upgrade.verdict) {
    case analysis::UpgradeVerdict::pays_off:
        return "pays off";
    case analysis::UpgradeVerdict::does_not:
        return "does not pay off";
    case analysis::UpgradeVerdict::undecided:
        return "undecided";
    case analysis::UpgradeVerdict::does_not_fit:
        return "does not fit";
    case analysis::UpgradeVerdict::unpriced:
        return "no prices";
    case analysis::UpgradeVerdict::equal:
        return "equal";
    }
    return {};
}

Drawing make_candidates(const analysis::Purchase& purchase, std::size_t chosen,
                        const Canvas& canvas) {
    Drawing d;
    const auto cards = static_cast<double>(purchase.answers.size());
    d.canvas = {std::max(canvas.width, 320.0), kHead + cards * (kCard + kGap) + kAxis};
    d.title = "Candidates: speedup, and what is needed";
    d.description = purchase.sentence;
    d.texts.push_back({{kSide, 15.0}, "Candidates", ColourRole::text, kFontPx, 0.0, true});
    d.texts.push_back(
        {{kSide, 31.0},
         fitted("band: 80 % interval · dashed: costs the same · diamonds: published for "
                "these two GPUs",
                kSmallPx, d.canvas.width - 2.0 * kSide),
         ColourRole::faint,
         kSmallPx});
    const Scale scale = scale_of(purchase, d.canvas.width);
    d.figures.columns = {"gpu",    "speedup", "low",         "high",
                         "needed", "likely",  "saved_share", "published"};
    for (std::size_t i = 0; i < purchase.answers.size(); ++i) {
        const analysis::PurchaseAnswer& a = purchase.answers[i];
        add_card(d, scale, a, kHead + static_cast<double>(i) * (kCard + kGap), i == chosen);
        d.figures.rows.push_back({a.then.gpu, a.upgrade.speedup.value, a.upgrade.speedup.low,
                                  a.upgrade.speedup.high, a.needed, a.likely,
                                  a.saved_share.value_or(std::nan("")),
                                  static_cast<double>(of_the_pair(a).size())});
    }
    if (!purchase.answers.empty()) {
        add_axis(d, scale, d.canvas.height - kAxis);
    }
    return d;
}

} // namespace eyeroof::report
