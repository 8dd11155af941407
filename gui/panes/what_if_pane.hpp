// The what-if pane: a slider, a number and a sensitivity bar for each parameter of a machine.
#pragma once

#include "analysis/what_if/sensitivity.hpp"

#include <QWidget>
#include <optional>
#include <vector>

class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace eyeroof::gui {

class SnapSlider;

// How much faster the network gets by 10 % more of one parameter, drawn against the best of them.
class GainBar : public QWidget {
    Q_OBJECT

  public:
    explicit GainBar(QWidget* parent = nullptr);
    void show_gain(const analysis::Sensitivity& sensitivity, double most);
    void clear();
    // Grey until the next gain: what stands there is of the machine before the last change.
    void wait();
    bool waits() const { return waits_; }
    std::optional<double> gain() const { return gain_; }
    QString number() const; // as it stands there
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    int number_width() const;

    std::optional<double> gain_; // speed-up - 1
    double share_ = 0.0;         // of the largest
    bool waits_ = false;
};

class WhatIfPane : public QWidget {
    Q_OBJECT

  public:
    explicit WhatIfPane(QWidget* parent = nullptr);

    void set_machine(const model::Machine& machine); // nothing turned
    void set_changes(const std::vector<analysis::Change>& changes, double host_speed);
    const std::vector<analysis::Change>& changes() const { return changes_; }
    double host_speed() const { return host_speed_; } // as the scenario has it
    const model::Machine& machine() const { return machine_; }
    bool is_changed() const { return !changes_.empty(); }
    bool is_held() const; // a slider, by the pointer
    void reset();
    // In the parameter's unit; false when the machine has none of this key.
    bool turn_to(const std::string& key, double value);
    void show_gains(const std::vector<analysis::Sensitivity>& gains);
    void await_gains(); // those that are shown are of another machine or mapping
    // Marks a parameter and brings it into sight; false when the machine has none of this key.
    bool select(const std::string& key);
    std::string selected() const { return selected_; }

  signals:
    void turned(const QString& what); // changes() are others; what: the parameter's key
    void released();                  // the drag is over
    void save_wanted();
    void next_wanted(const QString& key); // the next value that helps

  private:
    struct Row {
        analysis::Parameter parameter;
        double base = 0.0;  // that is in force while the row is not turned
        double value = 0.0; // that is in force
        bool turned = false;
        QLabel* label = nullptr;
        SnapSlider* slider = nullptr;
        QLineEdit* number = nullptr;
        GainBar* bar = nullptr;
        QToolButton* next = nullptr;
        QString wrong = {}; // why what stands in the field is not taken

        const std::string& key() const { return parameter.key; }
    };
    void add_row(const analysis::Parameter& parameter);
    void turn(std::size_t row, double value);
    void enter(std::size_t row);
    void show_wrong();
    void show_value(Row& row);
    std::vector<double> values_with(const std::vector<analysis::Change>& changes) const;
    void show_in_force();
    void apply(const QString& what);
    void mark();

    model::Machine machine_;
    std::vector<analysis::Change> changes_;
    double host_speed_ = 1.0;
    std::vector<Row> rows_;
    std::string selected_;
    QWidget* parameters_ = nullptr; // holds the rows; rebuilt for every machine
    QGridLayout* grid_ = nullptr;
    QLabel* head_ = nullptr;
    QLabel* wrong_ = nullptr;
    QPushButton* reset_ = nullptr;
    QPushButton* save_ = nullptr;
};

} // namespace eyeroof::gui
