#include "gui/window/network_sizes.hpp"

#include "formats/catalog.hpp"
#include "formats/network_names.hpp"
#include "formats/trace_network.hpp"
#include "gui/views/qt_text.hpp"

#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QMenu>
#include <QWidgetAction>
#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

QString plain(double value) {
    return QString::number(value, 'g', 12);
}

// The sizes that an ONNX file leaves open, as parameters; nullopt: none.
std::optional<formats::NetworkHead> open_sizes_of(const std::filesystem::path& path,
                                                  const Folders& folders) {
    formats::NetworkHead head;
    const auto read = formats::load_network(path.string(), folders.networks);
    for (const Diagnostic& problem : read.diagnostics()) {
        if (problem.code == "missing-dimension" && !problem.field.empty()) {
            formats::Parameter open;
            open.name = problem.field;
            open.meaning = problem.message;
            open.standard = open.min = 1.0;
            open.max = 1e8;
            head.parameters.push_back(open);
        }
    }
    return head.parameters.empty() ? std::nullopt : std::optional(head);
}

// The head behind a name or a path, and the values of the name where it is a variant's. Reads that
// file alone: it happens with every network that is opened.
std::optional<formats::NetworkHead> head_of(const std::string& base, const Folders& folders,
                                            std::map<std::string, double>& values) {
    std::filesystem::path path = base;
    if (formats::is_trace_file(base)) { // a step that ran leaves nothing open, and may be large
        return std::nullopt;
    }
    if (const auto named = formats::find_network(base, folders.networks, formats::Spelling::any)) {
        path = named->path;
        values.insert(named->variant.begin(), named->variant.end());
    }
    const auto head = path.has_extension() ? formats::load_network_head(path)
                                           : Result<formats::NetworkHead>::failure("none", "");
    return head                          ? std::optional(*head)
           : path.extension() == ".onnx" ? open_sizes_of(path, folders)
                                         : std::nullopt;
}

} // namespace

NetworkSizes::NetworkSizes(QWidget* parent) : QToolButton(parent) {
    setObjectName("sizes");
    setPopupMode(QToolButton::InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    setMenu(new QMenu(this));
    setAccessibleName(tr("Sizes of the network"));
    tell();
}

void NetworkSizes::show_network(const QString& name, const std::vector<std::string>& sizes,
                                const Folders& folders) {
    const QString shown = name + ":" + texts(sizes).join(',');
    if (shown == shown_) {
        return;
    }
    shown_ = shown;
    base_ = name;
    QStringList parts;
    if (const auto colon = name.lastIndexOf(':'); colon > 0 && name.indexOf('=', colon) > 0) {
        base_ = name.left(colon);
        parts = name.mid(colon + 1).split(',');
    }
    parts << texts(sizes);
    std::map<QString, double> given;
    for (const QString& part : parts) {
        given[part.section('=', 0, 0)] = part.section('=', 1).toDouble();
    }
    standard_.clear();
    head_ = head_of(base_.toStdString(), folders, standard_).value_or(formats::NetworkHead{});
    open_ = base_.endsWith(".onnx");
    for (const formats::Parameter& parameter : head_.parameters) {
        standard_.emplace(parameter.name, parameter.standard); // a variant's own stays
    }
    make_fields(given);
    tell();
}

void NetworkSizes::make_fields(const std::map<QString, double>& given) {
    menu()->clear();
    fields_.clear();
    auto* form = new QWidget(menu());
    auto* rows = new QFormLayout(form);
    for (const formats::Parameter& parameter : head_.parameters) {
        auto* field = new QDoubleSpinBox(form);
        const double standard = standard_.at(parameter.name);
        const bool whole = standard == std::floor(standard) && parameter.min >= 1.0;
        field->setDecimals(whole ? 0 : 4);
        field->setRange(parameter.min, parameter.max);
        field->setKeyboardTracking(false);
        const auto known = given.find(gui::text(parameter.name));
        field->setValue(known == given.end() ? standard : known->second);
        field->setObjectName("size " + gui::text(parameter.name));
        field->setAccessibleName(gui::text(parameter.name));
        field->setToolTip(gui::text(parameter.meaning));
        auto* label = new QLabel(gui::text(parameter.name), form);
        label->setToolTip(gui::text(parameter.meaning));
        label->setBuddy(field);
        rows->addRow(label, field);
        fields_.push_back(field);
        connect(field, &QDoubleSpinBox::valueChanged, this, [this] {
            tell();
            shown_ = base_ + ":" + texts(this->sizes()).join(',');
            emit chosen(base_, this->sizes());
        });
    }
    action_ = new QWidgetAction(menu());
    action_->setDefaultWidget(form);
    menu()->addAction(action_);
}

std::vector<std::string> NetworkSizes::sizes() const {
    std::vector<std::string> differ;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const std::string& name = head_.parameters[i].name;
        if (open_ || fields_[i]->value() != standard_.at(name)) {
            differ.push_back(name + "=" + plain(fields_[i]->value()).toStdString());
        }
    }
    return differ;
}

// What differs stands on the button; what it holds, in its tip.
void NetworkSizes::tell() {
    QStringList all, differ;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const QString name = gui::text(head_.parameters[i].name);
        all << QString("%1 %2").arg(name, plain(fields_[i]->value()));
        if (fields_[i]->value() != standard_.at(head_.parameters[i].name)) {
            differ << all.back();
        }
    }
    setEnabled(!fields_.empty());
    constexpr qsizetype kShown = 2;
    setText((differ.isEmpty()
                 ? tr("Sizes")
                 : differ.mid(0, kShown).join(", ") + (differ.size() > kShown ? " …" : "")) +
            " ▾");
    setToolTip(fields_.empty() ? tr("This network declares no sizes") : all.join("\n"));
}

} // namespace eyeroof::gui
