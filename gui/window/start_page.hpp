// What an empty window shows: the two questions that the program answers, ready to be filled in,
// with an example of each.
#pragma once

#include "gui/jobs/offered.hpp"

#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QFrame;
class QHBoxLayout;
class QFormLayout;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace eyeroof::gui {

class StartPage : public QWidget {
    Q_OBJECT

  public:
    explicit StartPage(QWidget* parent = nullptr);
    void fill(const Offered& offered);
    void show_recent(const QStringList& files);
    // On which GPU a trace was measured that names none; empty: nothing to ask.
    void ask_gpu(const QString& trace);
    // The sizes that a network's file leaves open; empty: nothing to ask.
    void ask_sizes(const QString& file, const QStringList& names);

  signals:
    void file_wanted(const QString& file);
    void example_wanted(const QString& network, const QString& machine);
    // `phase` as in the upgrade view: "inference", or an optimizer.
    void upgrade_wanted(const QString& network, const QString& from, const QString& to,
                        const QString& phase);
    void open_wanted();
    void gpu_chosen(const QString& gpu);
    void sizes_given(const std::vector<std::string>& sizes); // "batch=1"

  private:
    QHBoxLayout* make_entries();
    QWidget* make_question();
    QWidget* make_sizes();
    QVBoxLayout* card(const QString& title, const QString& explanation, QWidget*& frame);
    QComboBox* chooser(QVBoxLayout& column, const QString& label, const QString& hint,
                       const char* name);
    QWidget* make_examine();
    QWidget* make_upgrade();
    void update_buttons();

    QLabel* files_ = nullptr; // a line of links
    QLabel* recent_ = nullptr;
    QWidget* question_ = nullptr;
    QLabel* asks_ = nullptr;
    QWidget* sizes_ = nullptr; // the frame that asks for sizes
    QLabel* sizes_of_ = nullptr;
    QFormLayout* size_rows_ = nullptr;
    QStringList size_names_;
    std::vector<QSpinBox*> size_fields_;
    QComboBox* measured_on_ = nullptr;
    QComboBox* network_ = nullptr;
    QComboBox* machine_ = nullptr;
    QPushButton* examine_ = nullptr;
    QComboBox* runs_ = nullptr;
    QComboBox* phase_ = nullptr;
    QComboBox* from_ = nullptr;
    QComboBox* to_ = nullptr;
    QPushButton* ask_ = nullptr;
};

} // namespace eyeroof::gui
