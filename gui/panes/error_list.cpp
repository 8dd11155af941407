#include "gui/panes/error_list.hpp"

#include <QDesktopServices>
#include <QHeaderView>
#include <QStyle>
#include <QUrl>

namespace eyeroof::gui {

namespace {

constexpr int kSeverity = 5;

QString severity_name(Severity severity) {
    return severity == Severity::error     ? ErrorList::tr("error")
           : severity == Severity::warning ? ErrorList::tr("warning")
                                           : ErrorList::tr("note");
}

QStyle::StandardPixmap icon_of(Severity severity) {
    return severity == Severity::error     ? QStyle::SP_MessageBoxCritical
           : severity == Severity::warning ? QStyle::SP_MessageBoxWarning
                                           : QStyle::SP_MessageBoxInformation;
}

} // namespace

ErrorList::ErrorList(QWidget* parent) : QTreeWidget(parent) {
    setHeaderLabels(
        {tr("Message"), tr("File"), tr("Line"), tr("Column"), tr("What to do"), tr("Severity")});
    header()->moveSection(kSeverity, 0); // seen first
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
                   number(diagnostic.where.column), QString::fromStdString(diagnostic.hint),
                   severity_name(diagnostic.severity)});
        item->setIcon(kSeverity, style()->standardIcon(icon_of(diagnostic.severity)));
        item->setToolTip(0, QString::fromStdString(to_string(diagnostic)));
    }
    header()->resizeSections(QHeaderView::ResizeToContents);
}

} // namespace eyeroof::gui
