#include "gui/window/help.hpp"

#include "gui/panes/fields.hpp"

#include <QAction>
#include <QApplication>
#include <QCoreApplication>
#include <QDialog>
#include <QMenu>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

// Linkers leave out what nothing of a static library asks for. Has to stand in no namespace.
static void bring_documents() {
    Q_INIT_RESOURCE(docs);
}

namespace eyeroof::gui {

namespace {

constexpr const char* kShortcuts =
    "<table cellpadding=4>"
    "<tr><td colspan=2><b>Plot</b></td></tr>"
    "<tr><td>wheel, + and -</td><td>zoom at the pointer, in the middle</td></tr>"
    "<tr><td>Shift + drag</td><td>zoom to a rectangle</td></tr>"
    "<tr><td>right drag, arrows</td><td>move the plot</td></tr>"
    "<tr><td>Backspace, Alt+Left</td><td>undo the zoom</td></tr>"
    "<tr><td>0, double click</td><td>show everything</td></tr>"
    "<tr><td>F</td><td>fit the axes to the points</td></tr>"
    "<tr><td>right click</td><td>what can be done with a point</td></tr>"
    "<tr><td>click, drag</td><td>select; with Ctrl add to the selection</td></tr>"
    "<tr><td>N, P</td><td>select the next, the previous point</td></tr>"
    "<tr><td>Esc</td><td>select nothing; cancel what is running</td></tr>"
    "<tr><td colspan=2><b>Timeline</b></td></tr>"
    "<tr><td>Shift + drag</td><td>a ruler between two marks; Shift + click removes it</td></tr>"
    "<tr><td>, and .</td><td>the kernel before, the kernel after</td></tr>"
    "<tr><td>F, R</td><td>fit the selected kernel; a ruler over it</td></tr>"
    "<tr><td colspan=2><b>Steps and what if</b></td></tr>"
    "<tr><td>click a step, 1 to 7</td><td>the parameter behind it is selected</td></tr>"
    "<tr><td>Ctrl+Z, Ctrl+Shift+Z</td><td>undo, redo what was turned</td></tr>"
    "<tr><td>right click on a view</td><td>copy or export it</td></tr>"
    "<tr><td colspan=2><b>Menus</b></td></tr>";

QString help_text(const char* words) {
    return QCoreApplication::translate("Help", words);
}

// Of every entry of the window's menus that has keys, in their order.
QString keys_of(const QWidget& window) {
    QString rows;
    for (const QMenu* menu : window.findChildren<QMenu*>()) {
        for (const QAction* action : menu->actions()) {
            if (!action->shortcut().isEmpty()) {
                rows +=
                    QString("<tr><td>%1</td><td>%2</td></tr>")
                        .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                             QString(action->text()).remove('&').toHtmlEscaped());
            }
        }
    }
    return rows;
}

} // namespace

void show_documentation(QWidget& parent) {
    bring_documents();
    auto* dialog = new QDialog(&parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(help_text("Documentation"));
    dialog->setObjectName("documentation");
    auto* column = bare<QVBoxLayout>(dialog);
    auto* pages = new QTextBrowser(dialog);
    pages->setAccessibleName(help_text("Documentation"));
    pages->setOpenExternalLinks(true);
    pages->setSource(QUrl("qrc:/docs/explorer.md"), QTextDocument::MarkdownResource);
    column->addWidget(pages);
    dialog->resize(parent.size() * 3 / 4);
    dialog->show();
}

void show_shortcuts(QWidget& parent) {
    auto* sheet = new QDialog(&parent);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->setWindowTitle(help_text("Shortcuts"));
    sheet->setObjectName("shortcuts");
    auto* column = bare<QVBoxLayout>(sheet);
    auto* keys = new QTextBrowser(sheet);
    keys->setAccessibleName(help_text("Shortcuts"));
    keys->setHtml(help_text(kShortcuts) + keys_of(parent) + "</table>");
    column->addWidget(keys);
    sheet->resize(460, parent.height() * 3 / 4);
    sheet->open();
}

void show_about(QWidget& parent) {
    auto* about = new QMessageBox(
        QMessageBox::NoIcon, help_text("About Eyeroof"),
        help_text(
            "<b>Eyeroof</b><p>Predict how fast a network runs on a machine, what bounds it, and "
            "what would make it faster. "
            "Seven-step bounds after Eyexam, rooflines, an exact mapper, a GPU model with fitted "
            "constants.</p><p>Every figure is one of <code>eyeroof</code> on the command "
            "line.</p>"),
        QMessageBox::Close, &parent);
    about->setAttribute(Qt::WA_DeleteOnClose);
    about->setObjectName("about");
    about->open();
}

} // namespace eyeroof::gui
