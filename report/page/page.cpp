#include "report/page/page.hpp"

#include "base/lines.hpp"
#include "base/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace eyeroof::report {

namespace {

constexpr std::string_view kScript = R"js(
const prefixes={f:1e-15,p:1e-12,n:1e-9,u:1e-6,m:1e-3,k:1e3,K:1e3,M:1e6,G:1e9,T:1e12,P:1e15};
function number(text){
  const m=text.replace('\u2212','-').match(
    /^\s*([-+]?\d[\d.]*(?:e[-+]?\d+)?)\s*(?:(?!MAC)([fpnumkKMGTP])(?=$|[A-Za-z]))?/);
  return m?parseFloat(m[1])*(m[2]?prefixes[m[2]]:1):NaN;}
function sort(table,cell){
  const column=cell.cellIndex,rows=[...table.rows].slice(1);
  const text=r=>r.cells[column]?r.cells[column].textContent.trim():'';
  const values=new Map(rows.map(r=>[r,number(text(r))]));
  const numeric=rows.filter(r=>!isNaN(values.get(r))).length*2>rows.length;
  const now=cell.getAttribute('aria-sort');
  const down=now?now==='ascending':numeric;
  for(const other of table.rows[0].cells)other.removeAttribute('aria-sort');
  cell.setAttribute('aria-sort',down?'descending':'ascending');
  rows.sort((a,b)=>{
    const x=values.get(a),y=values.get(b);
    if(numeric&&isNaN(x)!==isNaN(y))return isNaN(x)?1:-1;
    const order=numeric&&!isNaN(x)?x-y:text(a).localeCompare(text(b));
    return down?-order:order;});
  rows[0]?.parentNode.append(...rows);}
for(const table of document.querySelectorAll('table.sort'))
  for(const cell of table.rows[0].cells){
    cell.tabIndex=0;cell.title='Sort by this column';
    cell.addEventListener('click',()=>sort(table,cell));
    cell.addEventListener('keydown',e=>{if(e.key==='Enter')sort(table,cell);});}
function save(svg){
  const box=svg.viewBox.baseVal,canvas=document.createElement('canvas'),image=new Image();
  canvas.width=Math.max(1600,2*svg.clientWidth);canvas.height=canvas.width*box.height/box.width;
  image.onload=()=>{
    canvas.getContext('2d').drawImage(image,0,0,canvas.width,canvas.height);
    const link=document.createElement('a');
    link.download=(document.title||'picture').replace(/[^\w.-]+/g,'-')+'.png';
    link.href=canvas.toDataURL('image/png');link.click();};
  const copy=svg.cloneNode(true);
  copy.setAttribute('width',box.width);copy.setAttribute('height',box.height);
  image.src='data:image/svg+xml;charset=utf-8,'+
    encodeURIComponent(new XMLSerializer().serializeToString(copy));}
function zoomable(svg){
  const b=svg.viewBox.baseVal,home=[b.x,b.y,b.width,b.height];
  let x=b.x,y=b.y,wide=b.width,held=null,moved=false;
  const zoomed=()=>wide<home[2]*.999,high=()=>wide*home[3]/home[2];
  const show=()=>{x=Math.max(home[0],Math.min(home[0]+home[2]-wide,x));
    y=Math.max(home[1],Math.min(home[1]+home[3]-high(),y));
    svg.setAttribute('viewBox',[x,y,wide,high()].join(' '));
    svg.style.touchAction=zoomed()?'none':'';svg.style.cursor=zoomed()?'grab':'';};
  const zoom=(by,u=.5,v=.5)=>{const next=Math.max(home[2]/64,Math.min(home[2],wide*by)),less=wide-next;
    x+=u*less;y+=v*less*home[3]/home[2];wide=next;show();};
  const at=e=>{const r=svg.getBoundingClientRect();
    return [(e.clientX-r.left)/r.width,(e.clientY-r.top)/r.height];};
  svg.addEventListener('wheel',e=>{if(!e.ctrlKey&&!zoomed())return;
    e.preventDefault();zoom(e.deltaY>0?1.25:.8,...at(e));},{passive:false});
  svg.addEventListener('dblclick',e=>zoom(.5,...at(e)));
  svg.addEventListener('pointerdown',e=>{held=zoomed()?at(e):null;moved=false;});
  svg.addEventListener('pointermove',e=>{if(!held||!e.buttons)return;
    const to=at(e),u=held[0]-to[0],v=held[1]-to[1];
    if(!moved&&Math.hypot(u,v)<.01)return;
    if(!moved)svg.setPointerCapture(e.pointerId);
    moved=true;held=to;x+=u*wide;y+=v*high();show();});
  svg.addEventListener('click',e=>{if(moved)e.stopImmediatePropagation();moved=false;},true);
  return [['+','Zoom in',()=>zoom(.5)],['\u2212','Zoom out',()=>zoom(2)],
    ['Whole picture','Show all of it',()=>zoom(64)],['Save as PNG','Save what is shown',()=>save(svg)]];}
for(const svg of document.querySelectorAll('svg[viewBox]')){
  const tools=document.createElement('p');tools.className='tools';
  for(const [text,title,act] of zoomable(svg)){
    const button=document.createElement('button');
    button.textContent=text;button.title=title;button.addEventListener('click',act);tools.append(button);}
  tools.lastChild.className='png';svg.after(tools);}
function reveal(){
  const at=document.getElementById(location.hash.slice(1));
  for(let d=at;d;d=d.parentElement)if(d.tagName==='DETAILS')d.open=true;
  if(at)at.scrollIntoView();}
addEventListener('hashchange',reveal);reveal();
)js";

constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark;--ink:#1b1f24;--faint:#5b6470;--paper:#fff;--line:#d8dce2;
  --bar:#2c7fb8;--pale:#b9d7ea;--loss:#b3440e;--mark:#56b4e940}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--faint:#9aa3ad;--paper:#15181c;
  --line:#363c44;--bar:#4aa3df;--pale:#24506d;--loss:#ff9a5c}a{color:#8ab4f8}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70rem;
  margin:1.5rem auto;padding:0 1rem;overflow-wrap:break-word}
h1{font-size:1.4rem;margin:0 0 .4rem}h2{font-size:1.05rem;margin:1.8rem 0 .2rem}
p{margin:.2rem 0 .6rem}.answer{font-weight:600}.rest,summary{color:var(--faint)}
figure{margin:1rem 0;overflow-x:auto}svg{display:block;width:100%;height:auto}
svg text{pointer-events:none;font-family:inherit}
.tools{display:flex;gap:.4rem;margin:.3rem 0}button,input,select{font:inherit}
.frame{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4rem 0}
td,th{text-align:left;vertical-align:top;padding:.15rem .8rem .15rem 0;
  border-bottom:1px solid var(--line)}
th{font-weight:normal;color:var(--faint)}
td.n,th.n{text-align:right;white-space:nowrap}
table.sort tr:first-child th{cursor:pointer;user-select:none;white-space:nowrap}
th[aria-sort=ascending]::after{content:" \25b4"}th[aria-sort=descending]::after{content:" \25be"}
pre{white-space:pre-wrap;overflow-wrap:anywhere}summary{cursor:pointer}
.loss{color:var(--loss)}
.bar{position:relative;width:12rem;height:.8rem;border:1px solid var(--line)}
.bar i{position:absolute;inset:0 auto 0 0}
.could{background:var(--pale)}.done{background:var(--bar)}
@media (max-width:42rem){figure svg{min-width:40rem}table{font-size:.8rem}td,th{padding-right:.5rem}
  .frame td:first-child{min-width:5rem}.frame tr>:first-child{position:sticky;left:0;background:var(--paper)}}
@media print{body{margin:0;max-width:none;font-size:11px}.frame,figure{overflow:visible}
  td,th{padding-right:.4rem}tr,figure{break-inside:avoid}h2{break-after:avoid}
  button,input,select,form,details:not([open]){display:none}}
)css";

constexpr std::string_view kEnd = "</body></html>\n";

} // namespace

const PageScript& page_script() {
    static const PageScript script{kScript, "+w685/Z6yHXYw6jqrun7ThnjFME6lrSYur3GZPSimOg="};
    return script;
}

std::string page_head(std::string_view title, std::string_view style,
                      const std::vector<PageScript>& scripts) {
    std::string allowed;
    for (const PageScript& script : scripts) {
        allowed += fmt::format(" 'sha256-{}'", script.sha256);
    }
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; img-src data:{}{}\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n"
                       "<title>{}</title>\n<style>{}{}</style></head><body>\n",
                       allowed.empty() ? "" : "; script-src", allowed, title, kPageStyle, style);
}

std::string page_foot(const std::vector<PageScript>& scripts) {
    std::string text;
    for (const PageScript& script : scripts) {
        text += fmt::format("<script>{}</script>\n", script.text);
    }
    return text + std::string(kEnd);
}

std::string script_json(std::string_view json) {
    std::string safe;
    for (const char c : json) {
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    }
    return safe;
}

void fold_equal(PageTable& table) {
    std::map<std::vector<std::string>, std::size_t> known; // by the cells behind the first
    std::vector<std::vector<std::string>> rows;
    std::vector<std::size_t> equal;
    for (std::vector<std::string>& row : table.rows) {
        std::vector<std::string> key(row.begin() + (row.empty() ? 0 : 1), row.end());
        const auto [at, is_new] = known.emplace(std::move(key), rows.size());
        if (is_new) {
            rows.push_back(std::move(row));
            equal.push_back(0);
        }
        ++equal[at->second];
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (equal[i] > 1) {
            rows[i].front() += fmt::format(" ×{}", equal[i]);
        }
    }
    table.rows = std::move(rows);
}

std::string framed(std::string_view table) {
    return fmt::format("<div class=\"frame\">{}</div>\n", table);
}

std::string page_table(const PageTable& table) {
    std::string html = table.sortable ? "<table class=\"sort\"><tr>" : "<table><tr>";
    const auto add = [&](const char* tag, std::size_t column, const std::string& cell) {
        const bool number = column < table.columns.size() && table.columns[column].number;
        html += fmt::format("<{}{}>{}</{}>", tag, number ? " class=\"n\"" : "", cell, tag);
    };
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        add("th", c, table.columns[c].heading);
    }
    html += "</tr>\n";
    for (const std::vector<std::string>& row : table.rows) {
        html += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) {
            add("td", c, row[c]);
        }
        html += "</tr>\n";
    }
    return framed(html + "</table>");
}

std::string page_bars(const std::string& label, std::vector<PageBar> bars) {
    constexpr std::size_t most_bars = 20;
    constexpr std::size_t name_width = 34;
    constexpr double width = 800.0;
    constexpr double left_edge = 240.0;
    constexpr double step = 20.0;
    constexpr double longest = width - left_edge - 120.0;
    std::erase_if(bars, [](const PageBar& bar) { return !(bar.value > 0.0); });
    if (bars.empty()) {
        return {};
    }
    std::ranges::stable_sort(bars, std::ranges::greater{}, &PageBar::value);
    bars.resize(std::min(bars.size(), most_bars));
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" fill=\"currentColor\" "
        "font-family=\"sans-serif\" font-size=\"12\" role=\"img\" viewBox=\"0 0 {} {}\" "
        "aria-label=\"{} by row\">\n",
        width, step * static_cast<double>(bars.size()) + 4.0, label);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const PageBar& bar = bars[i];
        const double y = step * static_cast<double>(i);
        const double length = longest * bar.value / bars.front().value;
        std::string name = left(bar.name, std::min(name_width, display_width(bar.name)));
        svg += fmt::format(
            "<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>"
            "<rect x=\"{}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"14\" fill=\"#2c7fb8\"/>"
            "<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n",
            left_edge - 8.0, y + 13.0, html_escaped(name), left_edge, y + 2.0, length,
            left_edge + length + 6.0, y + 13.0, bar.text);
    }
    return svg + "</svg>";
}

std::string page_with(std::string page, std::string_view last) {
    if (page.ends_with(kEnd)) {
        page.insert(page.size() - kEnd.size(), last);
    }
    return page;
}

} // namespace eyeroof::report
