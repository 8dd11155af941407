// Large values that many views share: what is left of one is freed by another thread than the one
// that lets it go, which may be the window's between two frames.
#pragma once

#include <QThreadPool>
#include <memory>
#include <utility>

namespace eyeroof::gui {

template <class T> std::shared_ptr<T> freed_in_background(T value) {
    return {new T(std::move(value)),
            [](T* old) { QThreadPool::globalInstance()->start([old] { delete old; }); }};
}

} // namespace eyeroof::gui
