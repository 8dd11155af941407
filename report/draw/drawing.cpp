#include "report/draw/drawing.hpp"

namespace eyeroof::report {

DashPattern pattern_of(Dash dash) {
    switch (dash) {
    case Dash::whole:
        break;
    case Dash::dashes:
        return {4.0, 3.0};
    case Dash::long_dashes:
        return {7.0, 4.0};
    case Dash::dots:
        return {2.0, 3.0};
    }
    return {};
}

std::string tip_at(const Drawing& drawing, Place place) {
    for (auto box = drawing.boxes.rbegin(); box != drawing.boxes.rend(); ++box) {
        if (!box->tip.empty() && overlap(box->box, {place.x, place.y, 0.1, 0.1})) {
            return box->tip;
        }
    }
    return {};
}

} // namespace eyeroof::report
