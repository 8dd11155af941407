// What the lists of the window offer by name: read once, as every list has the same.
#pragma once

#include "gui/jobs/folders.hpp"
#include "hwdb/catalog.hpp"

#include <QString>
#include <QStringList>
#include <vector>

namespace eyeroof::gui {

struct Offered {
    QStringList networks;
    std::vector<hwdb::CatalogEntry> machines;
    QString trace; // a file: a recorded step of ResNet-50 on an H100; empty where it is not there

    QStringList machines_of(const char* family) const; // "gpus", "hosts"
};

Offered offered_by(const Folders& folders);

} // namespace eyeroof::gui
