// Every text has a contrast of 4.5:1 or more against what it stands on, in both themes: the roles
// of the pictures, the palettes, and every widget of the window with all its panes.
#include "gui/views/paint_scene.hpp"
#include "gui/window/themes.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTableView>
#include <QTreeWidget>

namespace test_gui_contrast {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestContrast : public QObject {
    Q_OBJECT

  private slots:
    void cleanup() { use_theme("desktop"); }
    void colours_of_pictures_can_be_read();
    void steps_and_machines_wear_different_colours();
    void palettes_can_be_read_data() { themes(); }
    void palettes_can_be_read();
    void every_widget_can_be_read_data() { themes(); }
    void every_widget_can_be_read();

  private:
    static void themes() {
        QTest::addColumn<QString>("theme");
        QTest::newRow("light") << "light";
        QTest::newRow("dark") << "dark";
        QTest::newRow("desktop") << "desktop";
    }
};

namespace {

double contrast_of(const QColor& ink, const QColor& ground) {
    const auto rgb = [](const QColor& c) {
        return report::Rgb{static_cast<std::uint8_t>(c.red()), static_cast<std::uint8_t>(c.green()),
                           static_cast<std::uint8_t>(c.blue())};
    };
    // half transparent ink is mixed with what it stands on
    const auto mixed = [&](int own, int below) {
        return static_cast<int>(std::lround(ink.alphaF() * static_cast<float>(own) +
                                            (1.0F - ink.alphaF()) * static_cast<float>(below)));
    };
    return report::contrast(rgb({mixed(ink.red(), ground.red()), mixed(ink.green(), ground.green()),
                                 mixed(ink.blue(), ground.blue())}),
                            rgb(ground));
}

// Collects what cannot be read.
class Reader {
  public:
    QStringList faint;

    void read(const QString& what, const QColor& ink, const QColor& ground) {
        const double contrast = contrast_of(ink, ground);
        if (contrast < report::kReadable) {
            const QString line = QString("%1: %2 on %3 is %4:1")
                                     .arg(what, ink.name(), ground.name())
                                     .arg(contrast, 0, 'f', 2);
            faint.removeAll(line); // once
            faint << line;
        }
    }
    void read(const QWidget& widget, QPalette::ColorRole ink, QPalette::ColorRole ground) {
        const QString what = QString("%1 '%2' of %3")
                                 .arg(widget.metaObject()->className(), widget.objectName(),
                                      widget.parent() ? widget.parent()->objectName() : "");
        for (const auto group : {QPalette::Active, QPalette::Inactive}) {
            read(what, widget.palette().color(group, ink), widget.palette().color(group, ground));
        }
    }
};

// Colours that a text brings along.
void read_html(Reader& reader, const QLabel& label) {
    static const QRegularExpression colour("color: ?(#[0-9a-fA-F]{6})");
    auto all = colour.globalMatch(label.text());
    while (all.hasNext()) {
        reader.read(label.objectName() + " says " + label.text().left(60),
                    QColor(all.next().captured(1)), label.palette().color(QPalette::Window));
    }
}

void read_items(Reader& reader, const QAbstractItemView& view) {
    const QAbstractItemModel* rows = view.model();
    reader.read(view, QPalette::HighlightedText, QPalette::Highlight);
    reader.read(view, QPalette::Text, QPalette::Base);
    reader.read(view, QPalette::Text, QPalette::AlternateBase);
    for (int row = 0; rows != nullptr && row < std::min(rows->rowCount(), 30); ++row) {
        for (int column = 0; column < rows->columnCount(); ++column) {
            const QVariant ink = rows->index(row, column).data(Qt::ForegroundRole);
            for (const auto ground : {QPalette::Base, QPalette::AlternateBase}) {
                if (ink.isValid()) {
                    reader.read(view.objectName() + ": " +
                                    rows->index(row, column).data().toString(),
                                ink.value<QBrush>().color(), view.palette().color(ground));
                }
            }
        }
    }
}

void read_widget(Reader& reader, const QWidget& widget) {
    if (const auto* view = qobject_cast<const QAbstractItemView*>(&widget)) {
        read_items(reader, *view);
    } else if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        reader.read(*label, label->foregroundRole(), QPalette::Window);
        read_html(reader, *label);
        if (label->text().contains("<a ")) {
            reader.read(*label, QPalette::Link, QPalette::Window);
        }
    } else if (qobject_cast<const QAbstractButton*>(&widget) != nullptr) {
        reader.read(widget, QPalette::ButtonText, QPalette::Button);
    } else if (const auto* edit = qobject_cast<const QLineEdit*>(&widget)) {
        reader.read(*edit, edit->text().isEmpty() ? QPalette::PlaceholderText : QPalette::Text,
                    QPalette::Base);
        reader.read(*edit, QPalette::HighlightedText, QPalette::Highlight);
    } else if (qobject_cast<const QComboBox*>(&widget) != nullptr) {
        reader.read(widget, QPalette::ButtonText, QPalette::Button);
    } else if (qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr) {
        reader.read(widget, QPalette::Text, QPalette::Base);
    }
}

} // namespace

void TestContrast::colours_of_pictures_can_be_read() {
    for (const report::Theme theme : {report::Theme::light, report::Theme::dark}) {
        for (std::size_t i = 0; i < report::kColourRoles; ++i) {
            const auto role = static_cast<report::ColourRole>(i);
            const report::Rgb ink = report::ink_of(role, theme);
            for (const auto behind : {report::ColourRole::background, report::ColourRole::plot}) {
                QVERIFY2(report::contrast(ink, report::colour_of(behind, theme)) >=
                             report::kReadable,
                         report::role_name(role));
            }
        }
    }
}

void TestContrast::steps_and_machines_wear_different_colours() {
    for (const report::Theme theme : {report::Theme::light, report::Theme::dark}) {
        for (std::size_t step = 1; step <= report::kStepRoles; ++step) {
            for (std::size_t machine = 0; machine < report::kSeriesRoles; ++machine) {
                QVERIFY(report::colour_of(report::step_role(step), theme) !=
                        report::colour_of(report::series_role(machine), theme));
            }
        }
    }
}

void TestContrast::palettes_can_be_read() {
    QFETCH(QString, theme);
    use_theme(theme);
    MainWindow window(folders()); // whose own palette changes what it has to
    Reader reader;
    for (const auto& [ink, ground] : {std::pair{QPalette::WindowText, QPalette::Window},
                                      {QPalette::Text, QPalette::Base},
                                      {QPalette::Text, QPalette::AlternateBase},
                                      {QPalette::ButtonText, QPalette::Button},
                                      {QPalette::PlaceholderText, QPalette::Base},
                                      {QPalette::PlaceholderText, QPalette::Window},
                                      {QPalette::HighlightedText, QPalette::Highlight},
                                      {QPalette::Link, QPalette::Window},
                                      {QPalette::Link, QPalette::Base},
                                      {QPalette::ToolTipText, QPalette::ToolTipBase}}) {
        reader.read(window, ink, ground);
    }
    QVERIFY2(reader.faint.isEmpty(), qPrintable(reader.faint.join("\n")));
}

void TestContrast::every_widget_can_be_read() {
    QFETCH(QString, theme);
    use_theme(theme);
    MainWindow window(folders());
    window.resize(1600, 1000);
    window.show();
    QSignalSpy analysed(&window, &MainWindow::analysed);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb", "a100-sxm-40gb"})));
    QVERIFY(analysed.size() > 0 || analysed.wait(kPatience_ms));
    Reader reader;
    int seen = 0;
    for (const char* page :
         {"roofline", "what-if", "mapping", "details", "measurements", "baseline", "traffic",
          "parameters", "advice", "errors", "layers", "timeline", "memory", "scaling", "sparsity",
          "fusion", "tuning", "upgrade"}) {
        window.show_page(page);
        QTest::qWait(1);
        for (const QWidget* widget : window.findChildren<QWidget*>()) {
            if (widget->isVisible() && widget->isEnabled()) {
                read_widget(reader, *widget);
                ++seen;
            }
        }
    }
    QVERIFY(seen > 500);
    QVERIFY2(reader.faint.isEmpty(), qPrintable(reader.faint.join("\n")));
}

EYEROOF_WINDOW_TEST(TestContrast)

} // namespace test_gui_contrast

#include "test_contrast.moc"
