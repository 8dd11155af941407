// Runs the test classes that are named on the command line, or all of them.
#include "tests/gui/registry.hpp"

#include <QApplication>
#include <QTest>

namespace eyeroof::gui::testing {

std::vector<MakeTest>& registered_tests() {
    static std::vector<MakeTest> tests;
    return tests;
}

} // namespace eyeroof::gui::testing

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QTEST_SET_MAIN_SOURCE_PATH
    const QStringList given = QApplication::arguments();
    const bool one = given.size() > 1 && !given[1].startsWith('-');
    QStringList options = given;
    if (one) {
        options.removeAt(1);
    }
    int failed = 0;
    bool found = false;
    for (const auto& make : eyeroof::gui::testing::registered_tests()) {
        const std::unique_ptr<QObject> test = make();
        const QString name = test->metaObject()->className();
        if (one && name.section("::", -1) != given[1]) {
            continue;
        }
        found = true;
        failed += QTest::qExec(test.get(), options);
    }
    if (!found) {
        qCritical("no window test is named %s", qPrintable(given.value(1)));
    }
    return failed + (found ? 0 : 1);
}
