#include "gui/window/start_page.hpp"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace eyeroof::gui {

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->addStretch();
    auto* head = new QLabel(tr("<h2>Why is this layer slow, and what would help?</h2>"
                               "<p>Choose a <b>network</b> and a <b>machine</b> above, or drop "
                               "files here: machines, networks, layer tables, measurements, "
                               "sessions.</p><p>Or begin with an example:</p>"),
                            this);
    head->setAlignment(Qt::AlignCenter);
    head->setWordWrap(true);
    column->addWidget(head);
    const auto button = [&](const QString& label) {
        auto* push = new QPushButton(label, this);
        push->setMinimumWidth(380);
        column->addWidget(push, 0, Qt::AlignHCenter);
        return push;
    };
    const auto example = [&](const QString& label, const QString& network, const QString& machine) {
        connect(button(label), &QPushButton::clicked, this,
                [=, this] { emit example_wanted(network, machine); });
    };
    example(tr("AlexNet on Eyeriss v1, an accelerator"), "alexnet", "eyeriss-v1");
    example(tr("ResNet-50 on an NVIDIA A100"), "resnet50", "a100-sxm-40gb");
    connect(button(tr("Does training BERT-large pay on an A100 instead of a V100?")),
            &QPushButton::clicked, this,
            [this] { emit upgrade_wanted("bert-large", "v100-sxm2-16gb", "a100-sxm-40gb"); });
    column->addStretch();
}

} // namespace eyeroof::gui
