"use strict";
const $ = (id) => document.getElementById(id);
const n = (number) => number.toLocaleString("en");
const MOST_ROWS = 1000;
function make(tag, text, name) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}
// A line may end after these, so that a column is narrow and breaks no word.
function broken(text) {
  return String(text).split(/(?<=[\/._,:=|])(?=[^\s\/._,:=|])/).flatMap((part, at) => at ? [make("wbr"), part] : [part]);
}
// Rows are lists of cells; a head that is pressed sorts them, numbers from the largest.
function table(head, rows, show = (cell) => broken(cell)) {
  const made = make("table"), body = make("tbody"), line = make("tr"), top = make("thead");
  let turned = -1, down = false;
  const fill = () => body.replaceChildren(...rows.slice(0, MOST_ROWS).map((row) => {
    const made = make("tr");
    made.append(...row.map((cell, at) => {
      if (typeof cell === "number") return make("td", n(cell), "n");
      const one = make("td");
      one.append(...show(cell, at, row));
      return one;
    }));
    return made;
  }));
  head.forEach((word, at) => {
    const cell = make("th"), button = make("button", word);
    button.addEventListener("click", () => {
      down = turned === at ? !down : typeof (rows[0] || [])[at] === "number";
      turned = at;
      rows.sort((a, b) => (down ? -1 : 1) * (typeof a[at] === "number" ? a[at] - b[at] : String(a[at]).localeCompare(String(b[at]))));
      fill();
    });
    cell.append(button); line.append(cell);
  });
  top.append(line); made.append(top, body); fill();
  const frame = make("div", undefined, "table");
  frame.tabIndex = 0;
  frame.append(made);
  if (rows.length > MOST_ROWS) frame.append(make("p", `The first ${n(MOST_ROWS)} of ${n(rows.length)}.`));
  return frame;
}
// What is filled when it is first opened.
function folded(title, fill) {
  const box = make("details"), bar = make("summary");
  bar.append(...title);
  box.append(bar);
  box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(fill()); });
  return box;
}
