"use strict";
// What moves on the page: filters, sorting, sections that open, and the dialog. All of what it shows is in #data.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const matrix = $("matrix"), overview = $("overview"), dialog = $("dialog");
let order = data.columns.map((_, n) => n); // the columns as they stand, by number
let hidden = new Set(); // numbers of columns

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function coded(text) { // a text whose parts between backticks are code
  return text.split("`").map((part, n, all) => (n % 2 && n < all.length - 1 ? element("code", {}, part) : n % 2 ? "`" + part : part));
}

// -- who conforms

function filterImplementations() {
  const word = $("find-implementation").value.trim().toLowerCase();
  const verdicts = new Set([...document.querySelectorAll("[data-verdict][aria-pressed=true]")].map((b) => b.dataset.verdict));
  const gone = new Set();
  for (const row of overview.tBodies[0].rows) {
    row.hidden = !verdicts.has(row.dataset.verdict) || !row.textContent.toLowerCase().includes(word);
    if (row.hidden) gone.add(row.dataset.label);
  }
  hidden = new Set(data.columns.flatMap((label, n) => (gone.has(label) ? [n] : [])));
  const all = overview.tBodies[0].rows.length;
  $("count").textContent = gone.size ? `${all - gone.size} of ${all} shown, here and below` : "";
  hideColumns();
  filterRequirements();
}

function sortOverview(head) {
  const down = head.getAttribute("aria-sort") === "ascending", at = head.cellIndex;
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => row.cells[at].dataset.value ?? row.dataset.label;
  const numbers = [...overview.tBodies[0].rows].every((row) => !isNaN(value(row)));
  const compare = (a, b) => (numbers ? value(a) - value(b) : value(a).localeCompare(value(b), undefined, { numeric: true }));
  overview.tBodies[0].append(...[...overview.tBodies[0].rows].sort((a, b) => (down ? compare(b, a) : compare(a, b))));
}

// -- the matrix

const sectionRows = [...matrix.querySelectorAll("tr.s")];
const style = document.head.appendChild(element("style"));

function hideColumns() {
  const places = order.flatMap((n, at) => (hidden.has(n) ? [`#matrix tr > :nth-child(${at + 2})`] : []));
  style.textContent = places.length ? `${places.join(",")} { display: none }` : "";
}

function sortColumns() {
  const failures = data.columns.map((_, n) => data.sections.flat().filter((r) => "fek".includes(r[6][n])).length);
  const by = { given: (a, b) => a - b, name: (a, b) => data.columns[a].localeCompare(data.columns[b]),
    fails: (a, b) => failures[b] - failures[a] || a - b }[$("order").value];
  const wanted = data.columns.map((_, n) => n).sort(by);
  const places = wanted.map((n) => order.indexOf(n) + 1);
  for (const row of matrix.rows) row.append(...places.map((at) => row.cells[at]));
  order = wanted;
  hideColumns();
}

function openSection(row, wanted = true) {
  const button = row.querySelector("button");
  if ((button.getAttribute("aria-expanded") === "true") === wanted) return;
  button.setAttribute("aria-expanded", wanted);
  if (wanted && !row.opened) {
    row.opened = data.sections[row.number].map((r) => requirementRow(r));
    row.after(...row.opened);
  }
  row.opened.forEach((r) => { r.hidden = !wanted || !matches(r.requirement, row); });
}

function requirementRow(requirement) {
  const [id, strength, quality, sentence] = requirement;
  const name = element("th", { scope: "row" }, element("b", {}, id), ` ${strength}${quality ? `, ${quality}` : ""}`, element("p", {}, ...coded(sentence)));
  const row = element("tr", { class: "r" }, name);
  row.requirement = requirement;
  for (const n of order) {
    const letter = requirement[6][n], cell = row.insertCell();
    if (letter !== " ") { cell.className = letter; cell.textContent = data.kinds[letter][0]; }
  }
  return row;
}

function describe(cell) { // in words, for a pointer and for who listens
  if (cell.title || !cell.textContent) return;
  const row = cell.parentNode, n = order[cell.cellIndex - 1];
  const counted = new Map();
  for (const r of row.requirement ? [row.requirement] : data.sections[row.number]) {
    const kind = data.kinds[r[6][n]];
    if (kind) counted.set(kind[1], (counted.get(kind[1]) || 0) + 1);
  }
  const words = [...counted].map(([word, times]) => (row.requirement ? word : `${times} ${word}`)).join(", ");
  cell.title = `${data.columns[n]}: ${words}`;
  cell.setAttribute("aria-label", `${row.requirement ? row.requirement[0] : row.cells[0].textContent}, ${cell.title}`);
}

function matches(requirement, sectionRow) {
  const word = $("find-requirement").value.trim().toLowerCase(), which = $("which").value;
  const letters = [...requirement[6]].filter((letter, n) => !hidden.has(n) && letter !== " ");
  if (which === "failing" && !letters.some((letter) => "fewkod".includes(letter))) return false;
  if (which === "apart" && new Set(letters.filter((letter) => letter !== "n")).size < 2) return false;
  return !word || [requirement[0], requirement[1], requirement[2], requirement[3], sectionRow.section, sectionRow.chapter]
    .some((text) => text && text.toLowerCase().includes(word));
}

function filterRequirements() {
  let shown = 0;
  for (const row of sectionRows) {
    const found = data.sections[row.number].filter((r) => matches(r, row));
    shown += found.length;
    row.hidden = !found.length;
    if (row.opened) row.opened.forEach((r) => { r.hidden = !isOpen(row) || !matches(r.requirement, row); });
  }
  for (const body of matrix.tBodies) body.hidden = [...body.querySelectorAll("tr.s")].every((row) => row.hidden);
  const all = data.sections.flat().length, searched = $("find-requirement").value.trim();
  $("rows").textContent = shown < all ? `${shown} of ${all} requirements` : "";
  if (searched && shown <= 40) sectionRows.filter((row) => !row.hidden).forEach((row) => openSection(row));
}

const isOpen = (row) => row.querySelector("button").getAttribute("aria-expanded") === "true";

// -- the dialog

function show(id, n) {
  const requirement = data.sections.flat().find((r) => r[0] === id);
  const [, strength, , sentence, passages, spec] = requirement;
  const said = $("said");
  $("dialog-title").textContent = `${id}: ${data.columns[n]}`;
  said.replaceChildren(element("p", {}, element("b", {}, `${strength}. `), ...coded(sentence)));
  for (const result of (data.results[id] || {})[n] || []) {
    const [number, anchor] = [result].flat(), [where, text, outcome] = data.said[number];
    const kind = data.kinds[outcome], line = element("p", {}, element("span", { class: `verdict k-${outcome}` }, `${kind[0]} ${kind[1]}`), ` ${data.texts[where]}`);
    if (data.texts[text]) line.append(": ", element("span", {}, ...coded(data.texts[text])));
    said.append(line);
    const block = anchor && $(anchor);
    if (block) { const copy = block.cloneNode(true); copy.removeAttribute("id"); said.append(copy); }
  }
  const about = element("section", {}, element("h3", {}, "The specification"));
  for (const n of passages) about.insertAdjacentHTML("beforeend", data.passages[n]);
  about.append(element("p", {}, spec[1] ? element("a", { href: spec[1] }, spec[0]) : element("code", {}, spec[0])));
  said.append(about);
  if (!dialog.open) dialog.showModal();
  settle(about);
  said.scrollTop = 0;
  dialog.address = address(id, n);
  history.replaceState(null, "", dialog.address);
}

function settle(within) { // without a font for mathematics what is above hangs over its letter
  const raised = within.querySelector("msup, msubsup");
  if (!raised) return;
  const [letter, above] = [raised.firstElementChild, raised.lastElementChild].map((part) => part.getBoundingClientRect());
  within.classList.toggle("plain-fonts", above.bottom < letter.top + letter.height / 4);
}

const address = (id, n) => `#${id}/${encodeURIComponent(data.columns[n])}`;

function followAddress() { // #ATT-SCALE-1/name opens the dialog; #of-3 opens the failures of an implementation
  const [id, label] = location.hash.slice(1).split("/");
  const n = label === undefined ? -1 : data.columns.indexOf(decodeURIComponent(label));
  if (n >= 0 && data.sections.flat().some((r) => r[0] === id)) return show(id, n);
  const place = id && $(id), folded = place && place.closest("details");
  if (folded) { folded.open = true; place.scrollIntoView(); }
}

function act(cell) { // on a cell of the matrix
  const row = cell.parentNode, n = order[cell.cellIndex - 1];
  if (row.requirement && cell.textContent) return show(row.requirement[0], n);
  if (row.number === undefined || !cell.textContent) return;
  openSection(row);
  const worst = [...row.opened].filter((r) => !r.hidden).find((r) => "fewkod".includes(r.requirement[6][n])) || row.opened.find((r) => !r.hidden);
  if (worst) focusCell(worst.cells[cell.cellIndex]);
}

// -- from cell to cell

let current = null;

function focusCell(cell) {
  if (!cell) return;
  if (current) current.tabIndex = -1;
  current = cell;
  cell.tabIndex = 0;
  if (cell.tagName === "TD") describe(cell);
  cell.focus();
}

function walk(cell, key) {
  const rows = [...matrix.rows].filter((row) => row.offsetParent && !row.classList.contains("c") && !row.closest("thead"));
  const cells = [...cell.parentNode.cells].filter((c) => c.offsetParent);
  const at = rows.indexOf(cell.parentNode), beside = cells.indexOf(cell);
  if (key === "ArrowDown" || key === "ArrowUp") {
    const row = rows[at + (key === "ArrowDown" ? 1 : -1)];
    return row && row.cells[cell.cellIndex];
  }
  return { ArrowRight: cells[beside + 1], ArrowLeft: cells[beside - 1], Home: cells[0], End: cells.at(-1) }[key];
}

matrix.addEventListener("keydown", (event) => {
  const cell = event.target.closest("td, tbody th"), button = event.target.closest("button");
  if (!cell) return;
  if (/^(Arrow|Home|End)/.test(event.key)) { event.preventDefault(); target(walk(cell, event.key)); }
  else if ((event.key === "Enter" || event.key === " ") && !button) { event.preventDefault(); act(cell); }
});

function target(cell) { // the button of a section's name, else the cell
  const button = cell && cell.tagName === "TH" && cell.querySelector("button");
  if (button) button.focus(); else focusCell(cell);
}

matrix.addEventListener("click", (event) => {
  const button = event.target.closest("button"), cell = event.target.closest("td");
  if (button) openSection(button.closest("tr"), !isOpen(button.closest("tr")));
  else if (cell && cell.textContent) { focusCell(cell); act(cell); }
});
matrix.addEventListener("mouseover", (event) => { const cell = event.target.closest("tbody td"); if (cell) describe(cell); });

// -- at the start

sectionRows.forEach((row, number) => {
  const name = row.cells[0];
  Object.assign(row, { number, section: name.textContent, chapter: row.parentNode.rows[0].cells[0].textContent });
  name.replaceChildren(element("button", { type: "button", "aria-expanded": false }, name.textContent));
});
matrix.setAttribute("role", "grid");
matrix.setAttribute("aria-label", "Sections by implementations");
const first = matrix.querySelector("tr.s td");
if (first) { first.tabIndex = 0; current = first; first.addEventListener("focus", () => describe(first)); }
for (const head of overview.tHead.rows[0].cells) {
  const button = element("button", { type: "button" }, head.textContent);
  button.addEventListener("click", () => sortOverview(head));
  head.replaceChildren(button);
}
$("find-implementation").addEventListener("input", filterImplementations);
document.querySelectorAll(".chips button").forEach((button) => button.addEventListener("click", () => {
  button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
  filterImplementations();
}));
$("find-requirement").addEventListener("input", filterRequirements);
$("which").addEventListener("change", filterRequirements);
$("order").addEventListener("change", sortColumns);
$("close").addEventListener("click", () => sectionRows.forEach((row) => openSection(row, false)));
$("dialog-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => { if (location.hash === dialog.address) history.replaceState(null, "", "#requirements"); });
addEventListener("hashchange", followAddress);
followAddress();
