#include "report/page/page.hpp"

#include <fmt/format.h>

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
  canvas.width=2*box.width;canvas.height=2*box.height;
  image.onload=()=>{
    canvas.getContext('2d').drawImage(image,0,0,canvas.width,canvas.height);
    const link=document.createElement('a');
    link.download=(document.title||'picture').replace(/[^\w.-]+/g,'-')+'.png';
    link.href=canvas.toDataURL('image/png');link.click();};
  const copy=svg.cloneNode(true);
  copy.setAttribute('width',box.width);copy.setAttribute('height',box.height);
  image.src='data:image/svg+xml;charset=utf-8,'+
    encodeURIComponent(new XMLSerializer().serializeToString(copy));}
for(const svg of document.querySelectorAll('svg')){
  const button=document.createElement('button');
  button.textContent='Save as PNG';button.className='png';
  button.addEventListener('click',()=>save(svg));svg.after(button);}
)js";

constexpr std::string_view kPageStyle = R"css(
table.sort tr:first-child th{cursor:pointer;user-select:none}
th[aria-sort=ascending]::after{content:" \25b4"}th[aria-sort=descending]::after{content:" \25be"}
@media print{button.png,input,select{display:none}}
)css";

constexpr std::string_view kEnd = "</body></html>\n";

} // namespace

const PageScript& page_script() {
    static const PageScript script{kScript, "IemmOKIy01NiCKVm+kxW9XJBEmXPW149umbIOM5gS4s="};
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
                       allowed.empty() ? "" : "; script-src", allowed, title, style, kPageStyle);
}

std::string page_foot(const std::vector<PageScript>& scripts) {
    std::string text;
    for (const PageScript& script : scripts) {
        text += fmt::format("<script>{}</script>\n", script.text);
    }
    return text + std::string(kEnd);
}

std::string page_with(std::string page, std::string_view last) {
    if (page.ends_with(kEnd)) {
        page.insert(page.size() - kEnd.size(), last);
    }
    return page;
}

} // namespace eyeroof::report
