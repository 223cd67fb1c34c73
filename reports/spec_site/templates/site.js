"use strict"; // search, the menu on a phone, and folded places that an address leads to; without it all can be read
document.documentElement.classList.remove("no-script");
const MOST = 40;
const field = document.getElementById("search"), list = document.getElementById("found"), count = document.getElementById("count");
const lower = entries.map(([, name, text]) => [name.toLowerCase(), text.toLowerCase()]);

function rank(at, words) { // smaller is better; undefined: a word is missing
  const [name, text] = lower[at];
  let all = 0;
  for (const word of words) {
    const place = name.indexOf(word);
    if (place < 0 && !text.includes(word)) return undefined;
    all += place === 0 ? 0 : place > 0 ? 1 : 2;
  }
  return all + { page: 0, choice: 0.05, requirement: 0.1, implementation: 0.15, section: 0.2, mutant: 0.5 }[entries[at][0]];
}

function search(words) {
  const ranked = entries.map((_, at) => [rank(at, words), at]).filter(([value]) => value !== undefined);
  return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, at]) => entries[at]);
}

function row([kind, name, text, address]) {
  const item = document.createElement("li"), link = item.appendChild(document.createElement("a"));
  link.href = address;
  link.appendChild(document.createElement("b")).textContent = name;
  link.appendChild(document.createElement("small")).textContent = kind === "mutant" ? "mistake" : kind;
  if (text) link.appendChild(document.createElement("span")).textContent = text;
  return item;
}

function show() {
  const words = field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? search(words) : [];
  list.hidden = !words.length;
  list.replaceChildren(...found.slice(0, MOST).map(row));
  const told = found.length > MOST ? `${found.length} found, the first ${MOST} shown` : `${found.length || "nothing"} found`;
  count.textContent = words.length ? told : "";
  if (!words.length || (found.length && found.length <= MOST)) return;
  const note = list.appendChild(document.createElement("li"));
  note.className = "none";
  note.textContent = told;
}

function close() {
  list.hidden = true;
}

field.addEventListener("input", show);
field.addEventListener("focus", show);
document.addEventListener("click", (event) => { if (!event.target.closest(".search")) close(); });
list.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
document.querySelector(".search").addEventListener("focusout", (event) => {
  if (event.relatedTarget && !event.relatedTarget.closest(".search")) close();
});
document.querySelector(".search").addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") { field.focus(); close(); }
  else if (step && !list.hidden) { event.preventDefault(); (links[at + step] || (step < 0 ? field : links[at])).focus(); }
  else if (event.key === "Enter" && at < 0 && links.length) { location.href = links[0].href; close(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, textarea")) { event.preventDefault(); field.focus(); field.select(); }
});

const menu = document.querySelector("nav.chapters details"), narrow = matchMedia("(max-width: 56rem)");
const fold = () => { menu.open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();

const raised = document.querySelector("msup, msubsup"); // without a font for mathematics what is above hangs over its letter
if (raised) {
  const [letter, above] = [raised.firstElementChild, raised.lastElementChild].map((part) => part.getBoundingClientRect());
  document.documentElement.classList.toggle("plain-fonts", above.bottom < letter.top + letter.height / 4);
}

function unfold() { // what an address leads to may be folded
  const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = place && place.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  if (place) place.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
