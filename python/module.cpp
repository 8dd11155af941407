// The extension eyeroof._eyeroof: what python/exams.hpp offers, as Python's types and functions.
// Everything that takes time runs without the interpreter's lock.
#include "python/exams.hpp"
#include "python/interruptible.hpp"
#include "python/values.hpp"

#include <new>

namespace eyeroof::python {

namespace {

PyObject* error_type = nullptr; // those of the one module of the process
PyObject* network_type = nullptr;
PyObject* exam_type = nullptr;

// What `work` returns; where it throws, Python's exception is set and nothing is returned.
template <class Work> PyObject* guarded(Work work) noexcept {
    try {
        return work().release();
    } catch (const Raised&) {
    } catch (const BadInput& bad) {
        PyErr_SetString(error_type, bad.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& failed) {
        PyErr_SetString(PyExc_RuntimeError, failed.what());
    }
    return nullptr;
}

// An object of Python that owns a value of C++.
template <class T> struct Holder {
    PyObject_HEAD // NOLINT
        T* value;
};

template <class T> const T& held(PyObject* self) {
    return *reinterpret_cast<Holder<T>*>(self)->value; // NOLINT
}

template <class T> Object hold(PyObject* type, T value) {
    auto owned = std::make_unique<T>(std::move(value));
    Object made(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0)); // NOLINT
    reinterpret_cast<Holder<T>*>(made.get())->value = owned.release();          // NOLINT
    return made;
}

template <class T> void drop(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    delete reinterpret_cast<Holder<T>*>(self)->value;                   // NOLINT
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self); // NOLINT
    Py_DECREF(type);
}

PyObject* no_constructor(PyTypeObject*, PyObject*, PyObject*) {
    PyErr_SetString(PyExc_TypeError,
                    "no constructor; eyeroof.network() and eyeroof.exam() make them");
    return nullptr;
}

// A property or a method without arguments: `read` of the value that `self` holds.
template <class T, auto read> PyObject* property(PyObject* self, void*) {
    return guarded([self] { return to_python(read(held<T>(self))); });
}
template <class T, auto read> PyObject* method(PyObject* self, PyObject*) {
    return property<T, read>(self, nullptr);
}

template <class T>
Object type_of(const char* name, PyMethodDef* methods, PyGetSetDef* properties,
               lenfunc length = nullptr) {
    const auto slot = [](auto* function) { return reinterpret_cast<void*>(function); }; // NOLINT
    PyType_Slot slots[] = {{Py_tp_new, slot(&no_constructor)},
                           {Py_tp_dealloc, slot(&drop<T>)},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, properties},
                           {length != nullptr ? Py_sq_length : 0, slot(length)},
                           {0, nullptr}};
    PyType_Spec spec = {name, sizeof(Holder<T>), 0, Py_TPFLAGS_DEFAULT, slots};
    return Object(PyType_FromSpec(&spec));
}

Object network_class() {
    static PyGetSetDef properties[] = {
        {"id", property<Network, [](const Network& n) { return n.network().id; }>},
        {"name", property<Network, [](const Network& n) { return n.network().name; }>},
        {}};
    static PyMethodDef methods[] = {
        {"totals", method<Network, [](const Network& n) { return totals(n); }>, METH_NOARGS},
        {"yaml", method<Network, [](const Network& n) { return yaml_of(n); }>, METH_NOARGS},
        {}};
    return type_of<Network>("eyeroof._eyeroof.Network", methods, properties, [](PyObject* self) {
        return static_cast<Py_ssize_t>(held<Network>(self).network().layers.size());
    });
}

template <Document document>
constexpr auto kWritten = [](const Exam& exam) {
    const Unlocked unlocked;
    return written(exam, document);
};

Object exam_class() {
    using Interval = std::optional<std::tuple<double, double>>;
    constexpr auto interval = [](const Exam& e) {
        const auto& t = e.report.total;
        return t.low_s && t.high_s ? Interval({*t.low_s, *t.high_s}) : Interval();
    };
    static PyGetSetDef properties[] = {
        {"machine", property<Exam, [](const Exam& e) { return e.report.machine.name; }>},
        {"network", property<Exam, [](const Exam& e) { return e.report.network_name; }>},
        {"words", property<Exam, [](const Exam& e) { return e.report.words; }>},
        {"time_s", property<Exam, [](const Exam& e) { return e.report.total.time_s; }>},
        {"energy_j", property<Exam, [](const Exam& e) { return e.report.total.energy_j; }>},
        {"macs", property<Exam, [](const Exam& e) { return e.report.total.macs; }>},
        {"outer_bytes", property<Exam, [](const Exam& e) { return e.report.total.outer_bytes; }>},
        {"utilization", property<Exam, [](const Exam& e) { return e.report.total.utilization; }>},
        {"interval_s", property<Exam, interval>},
        {"uncosted_share", property<Exam, [](const Exam& e) { return e.report.uncosted_share; }>},
        {"warnings", property<Exam, [](const Exam& e) { return e.warnings; }>},
        {}};
    static PyMethodDef methods[] = {
        {"json", method<Exam, kWritten<Document::json>>, METH_NOARGS},
        {"csv", method<Exam, kWritten<Document::csv>>, METH_NOARGS},
        {"text", method<Exam, kWritten<Document::text>>, METH_NOARGS},
        {"markdown", method<Exam, kWritten<Document::markdown>>, METH_NOARGS},
        {"html", method<Exam, kWritten<Document::html>>, METH_NOARGS},
        {}};
    return type_of<Exam>("eyeroof._eyeroof.Exam", methods, properties);
}

// The arguments of a call, borrowed, as the format of PyArg_ParseTuple says.
template <class... T> void parse(PyObject* arguments, const char* format, T*... values) {
    if (PyArg_ParseTuple(arguments, format, values...) == 0) { // NOLINT
        throw Raised{};
    }
}

PyObject* call_set_folders(PyObject*, PyObject* folders) {
    return guarded([folders] {
        set_folders(texts_of(folders));
        return to_python(std::optional<int>());
    });
}

PyObject* call_network(PyObject*, PyObject* arguments) {
    return guarded([arguments] {
        PyObject* name = nullptr;
        PyObject* sizes = nullptr;
        parse(arguments, "UO:network", &name, &sizes);
        return hold(network_type, interruptible([name = text_of(name),
                                                 sizes = texts_of(sizes)](const std::stop_token&) {
                        return load_network(name, sizes);
                    }));
    });
}

PyObject* call_parse_network(PyObject*, PyObject* arguments) {
    return guarded([arguments] {
        PyObject* text = nullptr;
        PyObject* file = nullptr;
        parse(arguments, "UU:parse_network", &text, &file);
        return hold(network_type, interruptible([text = text_of(text),
                                                 file = text_of(file)](const std::stop_token&) {
                        return parse_network(text, file);
                    }));
    });
}

PyObject* call_exam(PyObject*, PyObject* arguments) {
    return guarded([arguments] {
        PyObject* network = nullptr;
        PyObject* fields = nullptr;
        int threads = 0;
        parse(arguments, "O!Oi:exam", network_type, &network, &fields, &threads);
        return hold(exam_type,
                    interruptible([network = held<Network>(network), fields = fields_of(fields),
                                   threads](const std::stop_token& stop) {
                        return examined(network, fields, threads, stop);
                    }));
    });
}

PyObject* call_fields(PyObject*, PyObject*) {
    return guarded([] { return to_python(field_names()); });
}

PyObject* call_command(PyObject*, PyObject* arguments) {
    return guarded([arguments] {
        return to_python(
            interruptible([arguments = texts_of(arguments)](const std::stop_token& stop) {
                return command(arguments, stop);
            }));
    });
}

PyObject* call_main(PyObject*, PyObject* arguments) {
    return guarded([arguments] {
        const Strings words = texts_of(arguments);
        int exit = 0;
        {
            const Unlocked unlocked;
            exit = run_as_process(words);
        }
        return to_python(exit);
    });
}

Object make_module() {
    static PyMethodDef functions[] = {{"set_folders", call_set_folders, METH_O},
                                      {"network", call_network, METH_VARARGS},
                                      {"parse_network", call_parse_network, METH_VARARGS},
                                      {"exam", call_exam, METH_VARARGS},
                                      {"fields", call_fields, METH_NOARGS},
                                      {"command", call_command, METH_O},
                                      {"main", call_main, METH_O},
                                      {}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_eyeroof", nullptr, -1, functions};
    Object module(PyModule_Create(&definition));
    check(PyModule_AddStringConstant(module.get(), "__version__", EYEROOF_VERSION));
    const auto add = [&module](const char* name, Object object) {
        check(PyObject_SetAttrString(module.get(), name, object.get()));
        return object.release(); // as long as the process lives
    };
    error_type = add(
        "Error", Object(PyErr_NewException("eyeroof._eyeroof.Error", PyExc_ValueError, nullptr)));
    network_type = add("Network", network_class());
    exam_type = add("Exam", exam_class());
    return module;
}

} // namespace

} // namespace eyeroof::python

PyMODINIT_FUNC PyInit__eyeroof() {
    return eyeroof::python::guarded([] { return eyeroof::python::make_module(); });
}
