#include "gui/window/view_menu.hpp"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QMenu>

namespace eyeroof::gui {

void copy_image(const Picture& picture) {
    if (!picture.size.isEmpty()) {
        QApplication::clipboard()->setImage(image_of(picture));
    }
}

void copy_figures(const Picture& picture) {
    if (!picture.size.isEmpty()) {
        QApplication::clipboard()->setText(QString::fromStdString(picture.tsv()));
    }
}

void export_with_dialog(QWidget& parent, const Picture& picture, const TellProblems& tell) {
    if (picture.size.isEmpty()) {
        return tell(export_picture(picture, {}).diagnostics()); // no file need be named
    }
    const QString kinds = picture.html ? "*.svg *.png *.pdf *.csv *.json *.tsv *.html"
                                       : "*.svg *.png *.pdf *.csv *.json *.tsv";
    const QString file =
        QFileDialog::getSaveFileName(&parent, QObject::tr("Export"), picture.name + ".svg",
                                     QObject::tr("Pictures and tables (%1)").arg(kinds));
    if (file.isEmpty()) {
        return;
    }
    const auto written = export_picture(picture, file);
    if (!written) {
        tell(written.diagnostics());
    }
}

void fill_view_menu(QMenu& menu, QWidget& parent, const TakePicture& take,
                    const TellProblems& tell) {
    menu.addAction(QObject::tr("Copy picture"), &parent, [take] { copy_image(take()); });
    menu.addAction(QObject::tr("Copy figures"), &parent, [take] { copy_figures(take()); });
    menu.addAction(QObject::tr("Export…"), &parent,
                   [&parent, take, tell] { export_with_dialog(parent, take(), tell); });
}

void give_menu(QWidget& view, const std::function<void(QMenu&)>& fill) {
    view.setContextMenuPolicy(Qt::CustomContextMenu);
    QObject::connect(&view, &QWidget::customContextMenuRequested, &view, [&view, fill](QPoint at) {
        auto* menu = new QMenu(&view);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        fill(*menu);
        const auto* area = qobject_cast<const QAbstractScrollArea*>(&view);
        menu->popup((area != nullptr ? area->viewport() : &view)->mapToGlobal(at));
    });
}

void give_menu(QWidget& view, const TakePicture& take, const TellProblems& tell) {
    give_menu(view, [&view, take, tell](QMenu& menu) { fill_view_menu(menu, view, take, tell); });
}

} // namespace eyeroof::gui
