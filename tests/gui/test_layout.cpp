// No value is ever cut: every text of the window is held against the room that it has, on windows
// of many sizes, with small and large fonts, in light and dark, at the first start and later.
#include "gui/panes/asking_pane.hpp"
#include "gui/panes/elided_label.hpp"
#include "gui/panes/short_names.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/window/first_size.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/text_recorder.hpp"
#include "tests/gui/window_tools.hpp"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStyleOptionComboBox>
#include <QTableView>
#include <QTemporaryDir>

namespace test_gui_layout {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestLayout : public QObject {
    Q_OBJECT

  private slots:
    void init();
    void cleanup();
    void no_value_is_cut_data();
    void no_value_is_cut();
    void the_second_start_cuts_nothing_either();
    void the_first_window_is_no_larger_than_the_screen();
    void a_pane_in_front_of_the_plot_makes_no_window_grow();
    void ladders_keep_their_texts_apart();
    void the_plot_keeps_its_axes();
    void long_names_are_cut_where_they_differ_least();
    void a_long_kernel_name_leaves_the_numbers_in_sight();

  private:
    QFont font_;
    QPalette palette_;
};

namespace {

QPalette dark() {
    return {QColor(66, 71, 83), QColor(30, 33, 39)};
}

bool has_number(const QString& text) {
    return std::any_of(text.begin(), text.end(), [](QChar c) { return c.isDigit(); });
}

int width_of(const QWidget& widget, const QString& text) {
    return widget.fontMetrics().horizontalAdvance(text);
}

// The room that a widget's text has, and the text; nothing for other widgets and for names.
std::optional<std::pair<int, QString>> room_of(const QWidget& widget) {
    if (const auto* bar = qobject_cast<const GainBar*>(&widget)) {
        return std::pair(bar->width(), bar->number());
    }
    if (const auto* spin = qobject_cast<const QAbstractSpinBox*>(&widget)) {
        const auto* edit = spin->findChild<QLineEdit*>();
        return std::pair(edit->width(), spin->text());
    }
    if (const auto* edit = qobject_cast<const QLineEdit*>(&widget)) {
        const bool value = edit->objectName().endsWith(" value");
        return value ? std::optional(std::pair(edit->width() - 8, edit->text())) : std::nullopt;
    }
    if (const auto* combo = qobject_cast<const QComboBox*>(&widget)) {
        QStyleOptionComboBox option;
        option.initFrom(combo);
        option.editable = combo->isEditable();
        const QRect field = combo->style()->subControlRect(QStyle::CC_ComboBox, &option,
                                                           QStyle::SC_ComboBoxEditField, combo);
        return combo->isEditable() ? std::nullopt // a name, or a path
                                   : std::optional(std::pair(field.width(), combo->currentText()));
    }
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
        const QString text = QString(button->text()).remove('&');
        return button->icon().isNull() ? std::optional(std::pair(button->width(), text))
                                       : std::nullopt;
    }
    const auto* label = qobject_cast<const QLabel*>(&widget);
    if (label != nullptr && qobject_cast<const ElidedLabel*>(label) == nullptr &&
        !label->wordWrap() && label->textFormat() != Qt::RichText && !label->text().contains('<')) {
        return std::pair(label->width(), QString(label->text()).remove('&'));
    }
    return std::nullopt;
}

// What is not in sight although it looks as if it were: values cut by their own widget, or by the
// edge of what they stand in.
QStringList cut_in(QWidget& window) {
    QStringList cut;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible() || widget->window() != &window) {
            continue;
        }
        const auto room = room_of(*widget);
        if (!room || !has_number(room->second)) {
            continue;
        }
        const QRegion seen = widget->visibleRegion();
        const bool off = !seen.isEmpty() && seen.boundingRect().width() < widget->width();
        if (off || width_of(*widget, room->second) > room->first) {
            cut << QString("%1 '%2' needs %3 of %4 px%5")
                       .arg(widget->objectName(), room->second)
                       .arg(width_of(*widget, room->second))
                       .arg(room->first)
                       .arg(off ? ", beyond an edge" : "");
        }
    }
    return cut;
}

// Columns of numbers narrower than what stands in them.
QStringList cut_in_table(const QTableView& table) {
    QStringList cut;
    const QAbstractItemModel& rows = *table.model();
    for (int column = 0; column < rows.columnCount(); ++column) {
        for (int row = 0; row < std::min(20, rows.rowCount()); ++row) {
            const QString text = rows.index(row, column).data().toString();
            if (!table.isColumnHidden(column) && has_number(text) &&
                table.fontMetrics().horizontalAdvance(text) > table.columnWidth(column) - 4) {
                cut << text;
            }
        }
    }
    return cut;
}

// Texts of a scene beyond its edges, or over each other.
QStringList wrong_in(const std::vector<PaintedText>& texts, const QSizeF& size) {
    QStringList wrong;
    const QRectF whole(QPointF(), size);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!whole.adjusted(-1, -1, 1, 1).contains(texts[i].box)) {
            wrong << "beyond the edge: " + texts[i].text;
        }
        for (std::size_t j = i + 1; j < texts.size(); ++j) {
            const QRectF common = texts[i].box.intersected(texts[j].box);
            if (!texts[i].turned && !texts[j].turned && common.width() > 1.0 &&
                common.height() > 1.0) {
                wrong << texts[i].text + " over " + texts[j].text;
            }
        }
    }
    return wrong;
}

std::vector<PaintedText> texts_of(const report::Drawing& scene, report::Theme theme) {
    Recorder recorder(QSize(4000, 4000));
    QPainter painter(&recorder);
    painter.setFont(QApplication::font());
    paint_scene(painter, scene, theme);
    painter.end();
    return recorder.texts();
}

QFont larger(const QFont& font, double factor) {
    QFont result = font;
    result.setPointSizeF(font.pointSizeF() * factor);
    return result;
}

void settle() {
    for (int i = 0; i < 5; ++i) {
        QCoreApplication::processEvents();
    }
}

} // namespace

void TestLayout::init() {
    font_ = QApplication::font();
    palette_ = QApplication::palette();
}

void TestLayout::cleanup() {
    QApplication::setFont(font_);
    QApplication::setPalette(palette_);
}

void TestLayout::no_value_is_cut_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<double>("scale");
    QTest::addColumn<bool>("in_the_dark");
    // Scaled screens have fewer pixels of their own: 2560x1440 at 200 % is 1280x720.
    QTest::newRow("1024x700") << QSize(1024, 700) << 1.0 << false;
    QTest::newRow("1280x800") << QSize(1280, 800) << 1.0 << true;
    QTest::newRow("1600x1000") << QSize(1600, 1000) << 1.0 << false;
    QTest::newRow("2560x1440") << QSize(2560, 1440) << 1.0 << true;
    QTest::newRow("2560x1440 at 200 %") << QSize(1280, 720) << 1.0 << false;
    QTest::newRow("1600x1000 at 150 %") << QSize(1066, 666) << 1.0 << true;
    QTest::newRow("1280x800, fonts at 125 %") << QSize(1280, 800) << 1.25 << false;
    QTest::newRow("1600x1000, fonts at 150 %") << QSize(1600, 1000) << 1.5 << false;
    QTest::newRow("2560x1440, fonts at 200 %") << QSize(2560, 1440) << 2.0 << true;
}

void TestLayout::no_value_is_cut() {
    QFETCH(QSize, size);
    QFETCH(double, scale);
    QFETCH(bool, in_the_dark);
    QApplication::setFont(larger(font_, scale));
    if (in_the_dark) {
        QApplication::setPalette(dark());
    }
    MainWindow window(folders());
    window.resize(size);
    window.show();
    QSignalSpy analysed(&window, &MainWindow::analysed);
    report::Session session = session_of("alexnet", {"a100-sxm-40gb", "v100-sxm2-16gb"});
    session.scenario.training = analysis::TrainingOptions{"adam"}; // so that scaling has an answer
    QVERIFY(open_and_wait(window, session));
    QVERIFY(analysed.size() > 0 || analysed.wait(kPatience_ms));
    settle();
    QVERIFY2(window.width() <= size.width() && window.height() <= size.height(),
             qPrintable(QString("%1x%2").arg(window.width()).arg(window.height())));
    const QStringList cut = cut_in(window);
    QVERIFY2(cut.isEmpty(), qPrintable(cut.join("\n")));
    const QStringList cells = cut_in_table(window.table());
    QVERIFY2(cells.isEmpty(), qPrintable(cells.join("\n")));
    const QStringList plot =
        wrong_in(texts_of(window.plot().drawing(), theme_of(window)), QSizeF(window.plot().size()));
    QVERIFY2(plot.isEmpty(), qPrintable(plot.join("\n")));
    for (const bool network : {false, true}) {
        window.steps().show_network(network);
        const auto& scene = *window.ladder().scene();
        const QStringList wrong =
            wrong_in(texts_of(drawn(scene), theme_of(window)), QSizeF(window.ladder().size()));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }
    for (const char* page : {"mapping", "details", "errors"}) {
        window.show_page(page);
        settle();
        const QStringList more = cut_in(window);
        QVERIFY2(more.isEmpty(), qPrintable(QString(page) + "\n" + more.join("\n")));
    }
    for (const char* page : {"timeline", "memory", "scaling", "sparsity", "fusion"}) {
        auto* pane = window.findChild<AskingPane*>(QString(page) + " pane");
        QSignalSpy asked(pane, &AskingPane::answered);
        window.show_page(page);
        QVERIFY(asked.size() > 0 || asked.wait(kPatience_ms));
        if (auto* on = pane->findChild<QComboBox*>("sparse machine")) { // a GPU skips no zeros
            asked.clear();
            on->setCurrentIndex(on->findData("scnn"));
            emit on->activated(on->currentIndex());
            QVERIFY(asked.wait(kPatience_ms));
        }
        settle();
        const QStringList more = cut_in(window);
        QVERIFY2(more.isEmpty(), qPrintable(QString(page) + "\n" + more.join("\n")));
        const DrawingView& picture = *pane->picture_in_front();
        QVERIFY2(!picture.drawing().texts.empty(), page);
        const QStringList wrong =
            wrong_in(texts_of(picture.drawing(), theme_of(window)), QSizeF(picture.size()));
        QVERIFY2(wrong.isEmpty(), qPrintable(QString(page) + "\n" + wrong.join("\n")));
    }
    window.show_page("upgrade");
    window.upgrade().ask({"alexnet"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"});
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{2}, kPatience_ms);
    settle();
    const QStringList upgrade = cut_in(window);
    QVERIFY2(upgrade.isEmpty(), qPrintable(upgrade.join("\n")));
}

void TestLayout::the_second_start_cuts_nothing_either() {
    QTemporaryDir folder;
    QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
    for (const QSize size : {QSize(1280, 800), QSize(1024, 700), QSize(1024, 700)}) {
        MainWindow window(folders());
        window.remember_in(settings);
        window.resize(size);
        window.show();
        QSignalSpy analysed(&window, &MainWindow::analysed);
        QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
        QVERIFY(analysed.size() > 0 || analysed.wait(kPatience_ms));
        settle();
        const QStringList cut = cut_in(window);
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join("\n")));
        const QStringList wrong =
            wrong_in(texts_of(drawn(*window.ladder().scene()), report::Theme::light),
                     QSizeF(window.ladder().size()));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
        QVERIFY(!window.ladder().visibleRegion().isEmpty());
        QCOMPARE(window.ladder().visibleRegion().boundingRect().width(), window.ladder().width());
        window.close();
    }
}

void TestLayout::the_first_window_is_no_larger_than_the_screen() {
    QCOMPARE(first_size({2560, 1440}), QSize(1280, 800));
    QCOMPARE(first_size({1280, 720}), QSize(1280, 680)); // 2560x1440 at 200 %
    QCOMPARE(first_size({960, 540}), QSize(960, 500));   // 1920x1080 at 200 %
    QCOMPARE(first_size({}), QSize(1280, 800));
    MainWindow window(folders());
    window.resize(960, 500);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    settle();
    QVERIFY2(window.minimumSizeHint().width() <= 1024 && window.minimumSizeHint().height() <= 666,
             qPrintable(QString("%1x%2")
                            .arg(window.minimumSizeHint().width())
                            .arg(window.minimumSizeHint().height())));
}

void TestLayout::a_pane_in_front_of_the_plot_makes_no_window_grow() {
    for (const char* pane : {"timeline", "memory", "roofline"}) {
        MainWindow window(folders());
        window.resize(1024, 700);
        window.show();
        window.show_page(pane);
        QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
        settle();
        QCOMPARE(window.size(), QSize(1024, 700));
        window.show_page("roofline");
        settle();
        QCOMPARE(window.size(), QSize(1024, 700));
    }
}

void TestLayout::ladders_keep_their_texts_apart() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    for (const QSize size : {QSize(360, 264), QSize(430, 300), QSize(620, 420), QSize(1000, 500)}) {
        for (std::size_t layer = 0; layer < window.reports()[0].layers.size(); ++layer) {
            const auto scene = report::make_waterfall(
                window.reports()[0], layer,
                {static_cast<double>(size.width()), static_cast<double>(size.height())});
            const QStringList wrong = wrong_in(texts_of(drawn(scene), report::Theme::light), size);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
            QVERIFY(!scene.legend.empty()); // the tones are explained
            QVERIFY(scene.unit == "MAC/cycle" || scene.bars[1].value.ends_with("MAC/cycle"));
            QVERIFY(scene.bars_area.width >= size.width() * (size.width() < 760 ? 0.9 : 0.2));
        }
    }
}

void TestLayout::the_plot_keeps_its_axes() {
    for (const double scale : {1.0, 1.5, 2.0}) {
        QApplication::setFont(larger(font_, scale));
        MainWindow window(folders());
        window.resize(1280, 800);
        window.show();
        QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb", "a100-sxm-40gb"})));
        settle();
        const auto& scene = window.plot().scene();
        const QRect seen = window.plot().visibleRegion().boundingRect();
        QCOMPARE(seen.size(), window.plot().size());
        QVERIFY(scene.area.box.bottom() + 38.0 + 4.0 <= seen.height());
        QVERIFY(scene.area.box.height >= 80.0);
    }
}

void TestLayout::long_names_are_cut_where_they_differ_least() {
    const QString common = "void cutlass::gemm::kernel::DefaultGemmUniversal<float, ";
    const QStringList names = {"conv1", common + "64x64>::run(Params)",
                               common + "128x64>::run(Params)", common + "256x64>::run(Params)"};
    const QStringList shorter = short_names(names);
    QCOMPARE(shorter[0], names[0]);
    QSet<QString> different(shorter.begin(), shorter.end());
    QCOMPARE(different.size(), names.size());
    for (const QString& name : shorter) {
        QVERIFY2(name.size() <= kLongestName, qPrintable(name));
    }
    QVERIFY(shorter[1].contains("64x64") && shorter[2].contains("28x64"));
}

void TestLayout::a_long_kernel_name_leaves_the_numbers_in_sight() {
    QTemporaryDir folder;
    const QString name = "void_cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_" +
                         QString(200, 'x') + "_align8>";
    const QString run = written(folder.filePath("run.csv"),
                                ("kernel,layer,time_us,bytes_dram,flops_fp16_tensor\n\"" + name +
                                 "\",,60,40000000,211000000\n")
                                    .toUtf8());
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    settle();
    const QTableView& table = window.table();
    QVERIFY2(table.columnWidth(LayerTable::name) < table.width() / 2,
             qPrintable(QString::number(table.columnWidth(LayerTable::name))));
    QVERIFY(table.columnViewportPosition(LayerTable::share) +
                table.columnWidth(LayerTable::share) <=
            table.viewport()->width());
    const QAbstractItemModel& rows = *table.model();
    bool told = false;
    for (int row = 0; row < rows.rowCount(); ++row) {
        told = told ||
               rows.index(row, LayerTable::name).data(Qt::ToolTipRole).toString().contains(name);
    }
    QVERIFY(told); // whole, on hover
}

EYEROOF_WINDOW_TEST(TestLayout)

} // namespace test_gui_layout

#include "test_layout.moc"
