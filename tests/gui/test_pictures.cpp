// The documents' pictures of the window are those of this program.
#include "tests/gui/perspective_pictures.hpp"
#include "tests/gui/registry.hpp"

namespace test_gui_pictures {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestPictures : public QObject {
    Q_OBJECT

  private slots:
    void every_perspective_has_its_pictures_in_every_size_and_theme();
    void the_pictures_of_the_documents_are_not_stale();
};

namespace {

constexpr double kOfOther = 0.03; // share of pixels by which pictures of other layouts differ

QString documents() {
    return QString::fromStdString(std::string(tests::source_dir()) + "/docs/images/window/");
}

// Pixels that are clearly another color: figures may move a point and a digit, a layout moves all.
double difference(const QImage& a, const QImage& b) {
    constexpr int clearly = 64;
    if (a.size() != b.size()) {
        return 1.0;
    }
    qint64 other = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            const QRgb one = a.pixel(x, y);
            const QRgb two = b.pixel(x, y);
            other += std::abs(qRed(one) - qRed(two)) > clearly ||
                             std::abs(qGreen(one) - qGreen(two)) > clearly ||
                             std::abs(qBlue(one) - qBlue(two)) > clearly
                         ? 1
                         : 0;
        }
    }
    return static_cast<double>(other) / static_cast<double>(a.width()) / a.height();
}

} // namespace

void TestPictures::every_perspective_has_its_pictures_in_every_size_and_theme() {
    for (const Perspective perspective : kPerspectives) {
        const QString name = perspective_name(perspective).toLower();
        for (const QString& theme : kPictureThemes) {
            QStringList files = {QString("%1-1024x700-%2-200.png").arg(name, theme)};
            for (const QSize& size : kPictureSizes) {
                files << QString("%1-%2x%3-%4.png")
                             .arg(name)
                             .arg(size.width())
                             .arg(size.height())
                             .arg(theme);
            }
            for (const QString& file : files) {
                const QImage picture(documents() + file);
                QVERIFY2(!picture.isNull(), qPrintable(file));
                QVERIFY2(!picture.text("font").isEmpty(), qPrintable(file));
            }
        }
    }
}

void TestPictures::the_pictures_of_the_documents_are_not_stale() {
    if (qApp->devicePixelRatio() != 1.0) {
        QSKIP("the screen is scaled");
    }
    const QTemporaryDir folder;
    use_theme("light");
    QImage before;
    for (const Perspective perspective : kPerspectives) {
        MainWindow window(folders());
        QVERIFY(show_perspective(window, perspective, kPictureSizes[1], folder));
        settle(window);
        const QString file = picture_name(perspective, kPictureSizes[1], "light");
        const QImage committed(documents() + file);
        const QImage now = document_picture(window);
        if (committed.text("font") != now.text("font")) {
            QSKIP("the pictures were taken with another font");
        }
        const double stale = difference(committed, now);
        qInfo("%s: %.2f %% of the pixels differ", qPrintable(file), 100.0 * stale);
        QVERIFY2(stale < kOfOther,
                 qPrintable(file + " is stale: build/dev/tests/gui/pictures docs/images/window "
                                   "perspectives"));
        QVERIFY(before.isNull() || difference(before, now) > kOfOther); // so much a layout moves
        before = now;
    }
}

EYEROOF_WINDOW_TEST(TestPictures)

} // namespace test_gui_pictures

#include "test_pictures.moc"
