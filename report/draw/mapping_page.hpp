// A page of the mapping's picture: headings, wrapped lines, boxes and figures below each other.
#pragma once

#include "report/draw/drawing.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

class MappingPage {
  public:
    static constexpr double kRim = 10.0;
    static constexpr double kLine = 17.0;

    explicit MappingPage(double width);

    Drawing drawing;
    double y = kRim;
    double width() const { return width_; }
    double inner() const { return width_ - 2.0 * kRim; }

    void heading(const std::string& text);
    // Wrapped at blanks.
    void line(const std::string& text, double indent = 0.0, ColourRole role = ColourRole::text);
    void box(const Box& box, ColourRole role, double opacity, const std::string& tip = {});
    void figure(const std::string& part, const std::string& where, const std::string& what,
                double value);
    struct Key {
        ColourRole role;
        double opacity;
        std::string text;
    };
    void legend(const std::vector<Key>& keys);
    Drawing finish(const std::string& title);

  private:
    double width_;
};

} // namespace eyeroof::report
