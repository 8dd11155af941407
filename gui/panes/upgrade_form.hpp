// The question of the upgrade view: networks with their shares, the GPU that runs them now, the
// GPUs in question, prices, batches and precisions.
#pragma once

#include "gui/jobs/offered.hpp"
#include "gui/jobs/upgrade_answer.hpp"
#include "gui/panes/fields.hpp"

#include <QStringList>
#include <QWidget>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;
class QVBoxLayout;

namespace eyeroof::gui {

class UpgradeOwner;

class UpgradeForm : public QWidget {
    Q_OBJECT

  public:
    explicit UpgradeForm(QWidget* parent = nullptr);

    void fill(const Offered& offered);
    analysis::UpgradeQuestion question() const;
    void set_question(const analysis::UpgradeQuestion& question); // sends nothing

    // Where nothing was entered, the boxes show the catalog's prices; sends nothing.
    void show_catalog_prices(const analysis::UpgradeQuestion& question,
                             const UpgradeAnswer& answer);

    void add_network(const QString& name, double weight = 1.0);
    void add_target(const analysis::AskedGpu& gpu);
    void set_from(const QString& name);
    void set_phase(const QString& phase);

  signals:
    void changed();

  private:
    struct NetworkRow {
        QWidget* row = nullptr;
        QString name;
        QDoubleSpinBox* weight = nullptr;
    };
    struct GpuRow {
        QWidget* row = nullptr;
        QString name;
        QComboBox* type = nullptr;
        QDoubleSpinBox* per_hour = nullptr;
        QDoubleSpinBox* buy = nullptr;
    };

    QComboBox* types(const QString& what);
    QComboBox* list(const char* name, const QString& what, const Entries& entries);
    void show_owned();
    void show_open();
    void make_more();
    void read_more();
    QDoubleSpinBox* price(const QString& prefix, const QString& none, const QString& what,
                          double most, double step);
    void heading(const QString& text);
    void make_networks();
    void make_old();
    void make_new();
    void make_sweep();
    void show_weights();
    void remove_network(const QString& name);
    void remove_target(const QString& name);
    void read_lists();

    QVBoxLayout* column_ = nullptr;
    QVBoxLayout* network_rows_ = nullptr;
    QVBoxLayout* gpu_rows_ = nullptr;
    QComboBox* network_ = nullptr;
    QComboBox* from_ = nullptr;
    QComboBox* to_ = nullptr;
    QComboBox* phase_ = nullptr;
    QSpinBox* batch_ = nullptr;
    QComboBox* launch_ = nullptr;
    QComboBox* layout_ = nullptr;
    QCheckBox* compiled_ = nullptr;
    QCheckBox* largest_ = nullptr; // batch that fits both GPUs
    QLineEdit* prices_ = nullptr;  // files of the user's own tables
    QLineEdit* more_ = nullptr;    // other options, as on the command line
    QSpinBox* count_ = nullptr;
    QCheckBox* owned_ = nullptr;
    QComboBox* from_host_ = nullptr;
    QComboBox* to_host_ = nullptr;
    GpuRow old_;
    UpgradeOwner* owner_ = nullptr;
    QLineEdit* batches_ = nullptr;
    QLineEdit* types_ = nullptr;
    std::vector<NetworkRow> networks_;
    std::vector<GpuRow> gpus_;
    std::vector<Count> sweep_batches_;
    std::vector<analysis::DtypePair> sweep_types_;
    QString more_read_; // the last that could be read
};

} // namespace eyeroof::gui
