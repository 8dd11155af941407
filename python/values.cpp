#include "python/values.hpp"

namespace eyeroof::python {

std::string text_of(PyObject* object) {
    const Object bytes(PyUnicode_AsUTF8String(object));
    char* data = nullptr;
    Py_ssize_t size = 0;
    check(PyBytes_AsStringAndSize(bytes.get(), &data, &size));
    return {data, static_cast<std::size_t>(size)};
}

std::vector<std::string> texts_of(PyObject* sequence) {
    if (PyUnicode_Check(sequence) != 0) { // a text is a sequence of its characters, too
        PyErr_SetString(PyExc_TypeError, "a list of str is expected, not a str");
        throw Raised{};
    }
    std::vector<std::string> texts;
    const Object list(PySequence_List(sequence));
    for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
        texts.push_back(text_of(PyList_GetItem(list.get(), i))); // borrowed from the list
    }
    return texts;
}

std::map<std::string, std::vector<std::string>> fields_of(PyObject* dict) {
    std::map<std::string, std::vector<std::string>> fields;
    const Object items(PyMapping_Items(dict));
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
        PyObject* item = PyList_GetItem(items.get(), i);
        fields[text_of(PyTuple_GetItem(item, 0))] = texts_of(PyTuple_GetItem(item, 1));
    }
    return fields;
}

} // namespace eyeroof::python
