// The program of report.html: lists the nodes of a box, finds nodes by name, moves and zooms the graph.  The page is
// complete without it.  All text goes into the page as textContent, never as markup.
"use strict";

const SHOWN = 200; // rows of a list that are shown at a time
const data = readNodes();
const graph = document.getElementById("parts-graph");
const panel = document.getElementById("panel");

/** The nodes that the page holds as JSON; null: it holds none, as those of very large models. */
function readNodes() {
  const holder = document.getElementById("nodes");
  return holder && JSON.parse(holder.textContent);
}

/** Gives the page its listeners, and finds the nodes that its address names (#find=TEXT). */
function start() {
  if (graph) moveAndZoom();
  if (!data) return;
  for (const e of document.querySelectorAll("span.script, input.script")) e.hidden = false;
  const search = document.getElementById("search");
  const follow = () => { // a link to report.html#find=MatMul
    const [, text] = /^#find=(.+)/.exec(location.hash) || [];
    if (text) find(search.value = decodeURIComponent(text));
  };
  search.addEventListener("input", () => find(search.value));
  if (graph) openBoxes();
  window.addEventListener("hashchange", follow);
  follow();
}

/** Lets the boxes of the graph be opened, by the pointer and by the keyboard. */
function openBoxes() {
  for (const box of graph.querySelectorAll("[data-box]")) {
    const open = () => showBox(Number(box.dataset.box));
    box.addEventListener("click", open);
    box.addEventListener("keydown", e => {
      if (e.key === "Enter" || e.key === " ") { e.preventDefault(); open(); }
    });
  }
}

/** Makes an element with a text and children. */
function make(tag, text, ...children) {
  const e = document.createElement(tag);
  if (text !== undefined && text !== null) e.textContent = text;
  e.append(...children);
  return e;
}

/** "745.5 us" for a time in ps, "1.5 MiB" for bytes. */
function inUnits(value, step, units) {
  let u = 0;
  for (; value >= step && u + 1 < units.length; u++) value /= step;
  return (u ? Number(value.toPrecision(4)) : value) + " " + units[u];
}
const time = ps => inUnits(ps, 1000, ["ps", "ns", "us", "ms", "s"]);
const bytes = n => inUnits(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);

/** A table of nodes, [box, node] each; the first SHOWN of them, then a button for more. */
function nodeTable(list, withBox) {
  const body = make("tbody"), more = make("button");
  const titles = ["node", "operator", "time", "results", ...(withBox ? ["part"] : [])];
  let shown = 0;
  const add = () => {
    for (const [box, node] of list.slice(shown, shown + SHOWN)) body.append(nodeRow(box, node, withBox));
    shown += SHOWN;
    more.hidden = shown >= list.length;
    more.textContent = `${list.length - shown} more`;
  };
  more.addEventListener("click", add);
  add();
  return [make("table", null, make("thead", null, make("tr", null, ...titles.map(t => make("th", t)))), body), more];
}

/** The row of a node in the table of nodes; with `withBox`, its last column names the node's box. */
function nodeRow(box, node, withBox) {
  const [name, operator, ps, size] = node;
  const row = make("tr", null, make("td", name), make("td", data.operators[operator]),
    make("td", time(ps)), make("td", bytes(size)));
  row.children[2].className = row.children[3].className = "n";
  if (withBox) {
    const go = make("button", `${data.boxes[box].file} on ${data.boxes[box].device}`);
    go.addEventListener("click", () => {
      showBox(box, node);
      panel.scrollIntoView({block: "nearest"});
    });
    row.append(make("td", null, go));
  }
  return row;
}

/** Shows the nodes of a box beside the graph; `hit` is the node that was looked for. */
function showBox(i, hit) {
  const box = data.boxes[i];
  if (!box || !graph) return;
  const close = make("button", "close"), all = box.nodes.map(n => [i, n]);
  const sum = box.nodes.reduce((t, n) => t + n[2], 0);
  close.className = "close";
  close.addEventListener("click", () => { panel.hidden = true; choose(null); });
  if (hit) all.unshift(all.splice(box.nodes.indexOf(hit), 1)[0]);
  panel.replaceChildren(close, make("h3", `${box.file} on ${box.device} (${box.class})`),
    make("p", `${box.nodes.length} nodes, ${time(sum)}`), ...nodeTable(all, false));
  if (hit) panel.querySelector("tbody tr").className = "hit";
  panel.hidden = false;
  panel.scrollTop = 0;
  choose(i);
}

/** Marks box `i` of the graph and no other (null: none at all). */
function choose(i) {
  for (const e of graph.querySelectorAll(".chosen")) e.classList.remove("chosen");
  if (i !== null) graph.querySelector(`[data-box="${i}"]`).classList.add("chosen");
}

/** Lists the nodes whose name holds the text, or whose operator it is, and fades the boxes without such a node.  A
 * single node is shown in its box, too. */
function find(text) {
  const found = document.getElementById("found"), wanted = text.trim().toLowerCase(), hits = [], boxes = new Set();
  const operators = data.operators.map(o => o.toLowerCase() === wanted);
  for (let i = 0; wanted && i < data.boxes.length; i++)
    for (const node of data.boxes[i].nodes)
      if (operators[node[1]] || node[0].toLowerCase().includes(wanted)) {
        hits.push([i, node]);
        boxes.add(i);
      }
  found.hidden = !wanted;
  found.replaceChildren(make("h2", `${hits.length} node${hits.length === 1 ? "" : "s"} found`),
    ...(hits.length ? nodeTable(hits, true) : []));
  for (const e of graph ? graph.querySelectorAll("[data-box]") : [])
    e.classList.toggle("faded", Boolean(wanted) && !boxes.has(Number(e.dataset.box)));
  if (hits.length === 1) showBox(...hits[0]);
}

/** Lets the graph be dragged, and zoomed by Ctrl and the wheel or by three buttons. */
function moveAndZoom() {
  const whole = graph.getAttribute("viewBox").split(" ").map(Number);
  let view = [...whole], last = null;
  const show = () => graph.setAttribute("viewBox", view.join(" "));
  const scale = () => Math.max(view[2] / graph.clientWidth, view[3] / graph.clientHeight);
  const zoom = (by, x, y) => {
    view = [x - (x - view[0]) * by, y - (y - view[1]) * by, view[2] * by, view[3] * by];
    show();
  };
  const middle = by => zoom(by, view[0] + view[2] / 2, view[1] + view[3] / 2);
  graph.parentElement.classList.add("live");
  graph.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(graph.getScreenCTM().inverse());
    zoom(Math.exp(e.deltaY / 400), at.x, at.y);
  }, {passive: false});
  graph.addEventListener("pointerdown", e => { last = [e.clientX, e.clientY]; });
  window.addEventListener("pointerup", () => { last = null; });
  window.addEventListener("pointermove", e => {
    if (!last) return;
    view[0] -= (e.clientX - last[0]) * scale();
    view[1] -= (e.clientY - last[1]) * scale();
    last = [e.clientX, e.clientY];
    show();
  });
  const buttons = [["+", () => middle(1 / 1.4)], ["\u2212", () => middle(1.4)], ["fit", () => { view = [...whole]; show(); }]];
  const bar = make("div", null, ...buttons.map(([label, act]) => {
    const b = make("button", label);
    b.addEventListener("click", act);
    return b;
  }));
  bar.className = "zoom";
  graph.parentElement.after(bar);
}

start();
