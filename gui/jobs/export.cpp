#include "gui/jobs/export.hpp"

#include "base/csv.hpp"
#include "base/file.hpp"
#include "gui/views/drawing_view.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/views/roofline_view.hpp"
#include "report/answer/write.hpp"
#include "report/draw/drawing_write.hpp"
#include "report/draw/plot_html.hpp"
#include "report/roofline/roofline_answer.hpp"

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>

namespace eyeroof::gui {

namespace {

using Written = Result<Done>;

Written cannot_write(const QString& file) {
    return Written::failure("cannot-write", "cannot write " + file.toStdString());
}

QSize size_of(const report::Canvas& canvas) {
    return {static_cast<int>(canvas.width), static_cast<int>(canvas.height)};
}

Picture of_widget(const QWidget& widget, const QString& name, QSize size) {
    Picture picture;
    picture.name = name;
    picture.size = size;
    picture.theme = theme_of(widget);
    picture.ratio = widget.devicePixelRatioF();
    return picture;
}

// The plot's table is comma-separated; the clipboard wants tabs.
std::string tabs_for_commas(const std::string& csv) {
    std::string text;
    CsvReader reader(csv, {});
    CsvRecord record;
    for (Diagnostics found; reader.next(record, found);) {
        for (const CsvCell& cell : record.cells) {
            text += cell.text;
            text += &cell == &record.cells.back() ? '\n' : '\t';
        }
    }
    return text;
}

Written write_bytes(const QByteArray& bytes, const QString& file) {
    return write_file(file.toStdString(),
                      {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

Written write_pdf(const Picture& picture, const QString& file) {
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    QPdfWriter writer(&bytes);
    writer.setResolution(72); // a point is a pixel of the scene
    writer.setPageSize(QPageSize(QSizeF(picture.size), QPageSize::Point));
    writer.setPageMargins({});
    QPainter painter;
    if (!painter.begin(&writer)) {
        return cannot_write(file);
    }
    picture.paint(painter, report::Theme::light);
    return painter.end() ? write_bytes(bytes.data(), file) : cannot_write(file);
}

} // namespace

Picture picture_of(const RooflineView& view) {
    Picture picture = of_widget(view, "roofline", view.size());
    const auto scene = std::make_shared<const report::RooflineScene>(view.scene());
    const auto plot = std::make_shared<const report::PlotInput>(view.plot());
    const auto drawing = std::make_shared<const report::Drawing>(view.drawing());
    picture.paint = [drawing](QPainter& painter, report::Theme theme) {
        paint_scene(painter, *drawing, theme);
    };
    picture.svg = [drawing](report::SvgTheme theme) { return report::to_svg(*drawing, theme); };
    const auto answer = [scene, plot] { return report::roofline_answer(*scene, *plot); };
    picture.csv = [answer] { return report::to_csv(answer()); };
    picture.tsv = [answer] { return tabs_for_commas(report::to_csv(answer())); };
    picture.json = [answer] { return report::to_json(answer()); };
    picture.html = [scene, plot, answer] {
        return report::to_html({{"", *scene}}, *plot, report::html_lead(answer()),
                               report::html_notes(answer()));
    };
    return picture;
}

Picture picture_of(const DrawingView& view, const QString& name) {
    const report::Drawing drawing = view.drawing();
    if (drawing.texts.empty()) {
        return {};
    }
    Picture picture = of_widget(view, name, size_of(drawing.canvas));
    picture.paint = [drawing](QPainter& painter, report::Theme theme) {
        paint_scene(painter, drawing, theme);
    };
    picture.svg = [drawing](report::SvgTheme theme) { return report::to_svg(drawing, theme); };
    picture.csv = [drawing] { return report::to_csv(drawing.figures); };
    picture.tsv = [drawing] { return report::to_tsv(drawing.figures); };
    picture.json = [drawing] { return report::to_json(drawing.figures, drawing.title); };
    return picture;
}

QImage image_of(const Picture& picture) {
    QImage image(picture.size * picture.ratio, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(picture.ratio);
    if (!image.isNull()) {
        QPainter painter(&image);
        picture.paint(painter, picture.theme);
    }
    return image;
}

Written export_picture(const Picture& picture, const QString& file) {
    if (picture.size.isEmpty()) {
        return Written::failure("nothing", "there is nothing to export in this view",
                                "select a layer, or ask the question first");
    }
    const QString ending = QFileInfo(file).suffix().toLower();
    const std::string path = file.toStdString();
    if (ending == "png") {
        QBuffer bytes;
        bytes.open(QIODevice::WriteOnly);
        return image_of(picture).save(&bytes, "PNG") ? write_bytes(bytes.data(), file)
                                                     : cannot_write(file);
    }
    if (ending == "pdf") {
        return write_pdf(picture, file);
    }
    if (ending == "svg") {
        const bool dark = picture.theme == report::Theme::dark;
        return write_file(path,
                          picture.svg(dark ? report::SvgTheme::dark : report::SvgTheme::light));
    }
    for (const auto& [known, write] : {std::pair{"csv", &picture.csv},
                                       {"json", &picture.json},
                                       {"tsv", &picture.tsv},
                                       {"html", &picture.html}}) {
        if (ending == known && *write) {
            return write_file(path, (*write)());
        }
    }
    return Written::failure("unknown-format", "cannot tell a format from " + path,
                            "end the name in .png, .pdf, .svg, .csv, .json or .tsv" +
                                std::string(picture.html ? ", or .html" : ""));
}

} // namespace eyeroof::gui
