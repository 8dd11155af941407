#include "gui/panes/error_list.hpp"

#include <QDesktopServices>
#include <QHeaderView>
#include <QUrl>

namespace eyeroof::gui {

ErrorList::ErrorList(QWidget* parent) : QTreeWidget(parent) {
    setHeaderLabels({tr("Message"), tr("File"), tr("Line"), tr("Column"), tr("What to do")});
    setRootIsDecorated(false);
    setAlternatingRowColors(true);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Errors and warnings"));
    connect(this, &QTreeWidget::itemDoubleClicked, this, [](QTreeWidgetItem* item) {
        if (!item->text(1).isEmpty()) {
            QDesktopServices::openUrl(QUrl::fromLocalFile(item->text(1)));
        }
    });
}

void ErrorList::show_all(const Diagnostics& diagnostics) {
    clear();
    for (const Diagnostic& diagnostic : diagnostics) {
        const auto number = [](int n) { return n > 0 ? QString::number(n) : QString(); };
        auto* item = new QTreeWidgetItem(
            this, {QString::fromStdString(diagnostic.message),
                   QString::fromStdString(diagnostic.where.file), number(diagnostic.where.line),
                   number(diagnostic.where.column), QString::fromStdString(diagnostic.hint)});
        item->setToolTip(0, QString::fromStdString(to_string(diagnostic)));
    }
    header()->resizeSections(QHeaderView::ResizeToContents);
}

} // namespace eyeroof::gui
