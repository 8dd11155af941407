// Registers a QTest class with the one program that runs them all: `test_windows NAME [QTEST
// OPTIONS]`.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <vector>

namespace eyeroof::gui::testing {

using MakeTest = std::function<std::unique_ptr<QObject>()>;

// In no particular order.
std::vector<MakeTest>& registered_tests();

template <class Test> bool register_test() {
    registered_tests().push_back([] { return std::make_unique<Test>(); });
    return true;
}

} // namespace eyeroof::gui::testing

#define EYEROOF_WINDOW_TEST(Test)                                                                  \
    [[maybe_unused]] const bool registered_##Test = eyeroof::gui::testing::register_test<Test>();
