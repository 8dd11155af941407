// Perspectives of the window: chosen in the corner of the menu bar, or by what is opened.
#include "gui/panes/fields.hpp"
#include "gui/window/main_window.hpp"

#include <QComboBox>
#include <QDockWidget>
#include <QMenuBar>
#include <QTabWidget>

namespace eyeroof::gui {

void MainWindow::make_perspectives() {
    perspectives_ = list_field("perspective", tr("Perspective: which panes are shown"), {}, this);
    for (const Perspective p : kPerspectives) {
        perspectives_->addItem(perspective_name(p), static_cast<int>(p));
    }
    perspectives_->setCurrentIndex(perspectives_->findData(static_cast<int>(perspective_)));
    connect(perspectives_, &QComboBox::activated, this, [this](int index) {
        set_perspective(static_cast<Perspective>(perspectives_->itemData(index).toInt()));
    });
    menuBar()->setCornerWidget(perspectives_);
}

void MainWindow::set_perspective(Perspective perspective) {
    perspective_ = perspective;
    perspectives_->setCurrentIndex(perspectives_->findData(static_cast<int>(perspective)));
    docks_due_ = true;
    if (perspective == Perspective::upgrade) {
        show_page("upgrade");
    } else if (pages_->currentWidget() == upgrade_ ||
               !pages_->isTabVisible(pages_->currentIndex())) {
        show_page("roofline");
    }
    show_tabs();
    if (!docks_away_) {
        show_docks();
    }
}

// A trace is looked at beside its prediction; a GPU and an accelerator have panes of their own.
// What the user chose stays until something of another kind is opened.
void MainWindow::follow_content() {
    const model::Machine* machine = questions_.first();
    if (machine == nullptr) {
        return;
    }
    const bool accelerator = std::holds_alternative<model::Accelerator>(machine->kind);
    const Perspective fit = measurements_.last_profile() != nullptr ? Perspective::trace
                            : accelerator                           ? Perspective::accelerator
                                                                    : Perspective::gpu;
    if (fits_ == fit) {
        return;
    }
    fits_ = fit;
    if (pages_->currentWidget() != upgrade_) {
        set_perspective(fit);
    }
}

// What is in front stays, also where it was brought there by hand.
void MainWindow::show_tabs() {
    const PaneInput input = pane_input();
    for (const Pane* pane : panes_) {
        if (pane->place() == PanePlace::middle) {
            const int at = pages_->indexOf(pane);
            pages_->setTabVisible(
                at, at == pages_->currentIndex() ||
                        (pane->belongs(input) && applies(perspective_, pane->name())));
        }
    }
    const int upgrade = pages_->indexOf(upgrade_);
    pages_->setTabVisible(upgrade,
                          upgrade == pages_->currentIndex() || applies(perspective_, "upgrade"));
}

void MainWindow::show_docks() {
    if (!std::exchange(docks_due_, false)) {
        return;
    }
    for (const auto& [name, dock] : docks_) {
        dock->setVisible(applies(perspective_, name));
    }
    for (const char* front : {"layers", "what-if"}) {
        docks_[front]->raise();
    }
}

} // namespace eyeroof::gui
