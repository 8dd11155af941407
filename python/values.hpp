// Values of C++ and objects of Python, by the stable interface of CPython 3.9 (Py_LIMITED_API): one
// extension for that and every later version. Everything here is called with the interpreter's lock
// held.
#pragma once

#define PY_SSIZE_T_CLEAN
#include "base/checked.hpp"

#include <Python.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace eyeroof::python {

// Thrown where Python's exception is set already.
struct Raised {};

// One reference. Thrown: Raised, where Python returned none.
class Object {
  public:
    explicit Object(PyObject* owned) : object_(owned) {
        if (owned == nullptr) {
            throw Raised{};
        }
    }
    Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    Object& operator=(Object&&) = delete;
    ~Object() { Py_XDECREF(object_); }

    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }

  private:
    PyObject* object_;
};

inline void check(int status) {
    if (status != 0) {
        throw Raised{};
    }
}

// Without the interpreter's lock as long as it lives.
class Unlocked {
  public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    ~Unlocked() { PyEval_RestoreThread(state_); }

  private:
    PyThreadState* state_;
};

inline Object to_python(double value) {
    return Object(PyFloat_FromDouble(value));
}
inline Object to_python(int value) {
    return Object(PyLong_FromLong(value));
}
inline Object to_python(Count value) {
    return Object(PyLong_FromLongLong(value));
}
inline Object to_python(const std::string& text) {
    return Object(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}
inline Object to_python(const std::vector<std::string>& texts) {
    Object list(PyList_New(0));
    for (const std::string& text : texts) {
        check(PyList_Append(list.get(), to_python(text).get()));
    }
    return list;
}
inline Object to_python(const std::map<std::string, Count>& counts) {
    Object dict(PyDict_New());
    for (const auto& [key, count] : counts) {
        check(PyDict_SetItemString(dict.get(), key.c_str(), to_python(count).get()));
    }
    return dict;
}
template <class... T> Object to_python(const std::tuple<T...>& values) {
    return std::apply(
        [](const auto&... value) {
            return Object(PyTuple_Pack(sizeof...(value), to_python(value).get()...));
        },
        values);
}
template <class T> Object to_python(const std::optional<T>& value) {
    if (value) {
        return to_python(*value);
    }
    Py_INCREF(Py_None);
    return Object(Py_None);
}

std::string text_of(PyObject* object); // as UTF-8
std::vector<std::string> texts_of(PyObject* sequence);
std::map<std::string, std::vector<std::string>> fields_of(PyObject* dict);

} // namespace eyeroof::python
