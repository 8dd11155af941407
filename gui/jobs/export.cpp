#include "gui/jobs/export.hpp"

#include "gui/views/paint_scene.hpp"
#include "study/write/file.hpp"
#include "study/write/plot_csv.hpp"
#include "study/write/plot_html.hpp"
#include "study/write/svg.hpp"

#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>

namespace eyeroof::gui {

namespace {

using Written = model::Result<model::Done>;

Written cannot_write(const QString& file) {
    return Written::failure("cannot-write", "cannot write " + file.toStdString());
}

Written write_png(const RooflineView& view, const QString& file) {
    const double ratio = view.devicePixelRatioF();
    QImage image(view.size() * ratio, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(ratio);
    QPainter painter(&image);
    paint_scene(painter, view.scene(), theme_of(view));
    painter.end();
    return image.save(file) ? Written(model::Done{}) : cannot_write(file);
}

Written write_pdf(const RooflineView& view, const QString& file) {
    QPdfWriter writer(file);
    writer.setResolution(72); // a point is a pixel of the scene
    writer.setPageSize(QPageSize(QSizeF(view.size()), QPageSize::Point));
    writer.setPageMargins({});
    QPainter painter;
    if (!painter.begin(&writer)) {
        return cannot_write(file);
    }
    paint_scene(painter, view.scene(), study::Theme::light);
    return painter.end() ? Written(model::Done{}) : cannot_write(file);
}

} // namespace

Written export_plot(const RooflineView& view, const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    const std::string path = file.toStdString();
    if (ending == "png") {
        return write_png(view, file);
    }
    if (ending == "pdf") {
        return write_pdf(view, file);
    }
    if (ending == "svg") {
        const bool dark = theme_of(view) == study::Theme::dark;
        return study::write_file(
            path, to_svg(view.scene(), dark ? study::SvgTheme::dark : study::SvgTheme::light));
    }
    if (ending == "csv") {
        return study::write_file(path, to_csv(view.scene(), view.plot()));
    }
    if (ending == "json") {
        return study::write_file(path, to_json(view.scene(), view.plot()));
    }
    if (ending == "html") {
        return study::write_file(path, to_html(view.scene(), view.plot()));
    }
    return Written::failure("unknown-format", "cannot tell a format from " + path,
                            "end the name in .png, .pdf, .svg, .csv, .json or .html");
}

} // namespace eyeroof::gui
