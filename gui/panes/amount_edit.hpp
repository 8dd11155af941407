// A field for an amount as people type it: "$30,000", "14d", "820/s". What cannot be read is marked
// and explained, and the last good amount stays in force.
#pragma once

#include "base/result.hpp"

#include <QLineEdit>
#include <functional>
#include <optional>
#include <string_view>

namespace eyeroof::gui {

class AmountEdit : public QLineEdit {
    Q_OBJECT

  public:
    using Parser = std::function<Result<double>(std::string_view)>;

    // `what` says what it is, `hint` stands in the empty field.
    AmountEdit(const char* name, const QString& what, const QString& hint, Parser parser,
               QWidget* parent);
    std::optional<double> value() const { return value_; } // nothing: left open
    void set_value(std::optional<double> value);           // sends nothing

  signals:
    void changed();

  private:
    bool read(); // whether the value is another now

    QString what_;
    Parser parser_;
    std::optional<double> value_;
};

// Text that is wrong is red, with the reason as the tooltip.
void mark_wrong(QLineEdit& edit, const QString& why, const QString& tooltip);

} // namespace eyeroof::gui
