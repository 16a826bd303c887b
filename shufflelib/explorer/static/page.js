// The page of the explorer: controls send their texts, the server says what to show.
"use strict";

const $ = (place, query) => place.querySelector(query);
const $$ = (place, query) => [...place.querySelectorAll(query)];
const visitor = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join("");
const door = document.body.dataset.door;
const PAUSE = 250; // ms between two drawings of one picture

let values = null; // texts of all controls, as the server last confirmed them
let changes = {}; // what was moved since
let slow = false; // whether slow answers were asked for
let seen = -1; // answers that the page shows
let query = location.search.slice(1);
let request = null; // the one that is on its way
let complaint = ""; // about what was changed last
let polling = false; // whether it waits for further answers only
let skipped = ""; // lines of the matrix that are no rows
let typing = ""; // the field whose text somebody changes, until it is sent
const drawn = {}; // picture → the version that is shown

// ---- controls

function show(name, state) {
  const field = document.getElementById(name);
  if (!field || name === typing || name in changes || field.ariaInvalid === "true") return;
  field.value = state.shown ?? state.value;
  const note = document.getElementById(`note-${name}`);
  if (note) note.textContent = state.said + skipped;
  const slider = $(document, `.slider[data-name="${name}"]`);
  if (!slider) return;
  slider.value = state.at;
  slider.setAttribute("aria-valuetext", state.said);
}

function change(name, value) {
  changes[name] = value;
  complaint = "";
  slow = false;
  seen = -1;
  document.body.classList.add("busy");
  ask();
}

function slide(slider) {
  const [value, shown, said] = JSON.parse(slider.dataset.steps)[slider.value];
  document.getElementById(slider.dataset.name).value = shown;
  slider.setAttribute("aria-valuetext", said);
  change(slider.dataset.name, value);
}

document.addEventListener("input", (event) => {
  if (event.target.matches(".slider")) slide(event.target);
  if (event.target.matches(".field")) typing = event.target.name;
});
document.addEventListener("focusout", (event) => {
  if (event.target.name === typing) typing = "";
});
document.addEventListener("change", (event) => {
  typing = "";
  if (event.target.matches(".field, select")) type(event.target);
  if (event.target.matches(".upload")) upload(event.target);
});

const LONGEST = 50000; // characters that a field sends
function type(field) {
  field.removeAttribute("aria-invalid");
  if (field.value.length > LONGEST) refuse(`At most ${LONGEST} characters are read`, {[field.name]: ""});
  else change(field.name, field.value);
}

async function upload(chooser) {
  const field = document.getElementById(chooser.dataset.name);
  const [file] = chooser.files;
  if (!file) return;
  field.value = (await file.text()).slice(0, LONGEST + 1);
  chooser.value = ""; // so that the same file can be chosen again
  type(field);
}

document.addEventListener("paste", (event) => {
  if (event.target.matches("textarea")) setTimeout(() => type(event.target));
});
document.addEventListener("submit", (event) => event.preventDefault());

// ---- asking

async function ask() {
  if (request) {
    if (polling) request.abort();
    return; // what is moved meanwhile is sent when the answer is here
  }
  const sent = Object.fromEntries(Object.entries(changes).slice(0, 1)); // one, so that a refusal is about it
  const body = {visitor, door, slow, seen, opened: $$(document, "details.part[open]").map((one) => one.id.slice(5))};
  if (values) body.values = {...values, ...sent};
  else if (Object.keys(sent).length) body.values = sent;
  else body.query = query;
  request = new AbortController();
  polling = seen >= 0;
  let again = 0;
  try {
    const answer = await fetch("/answer", {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify(body),
      signal: request.signal,
    });
    const state = await answer.json();
    const current = Object.keys(changes).length === Object.keys(sent).length
      && Object.entries(sent).every(([name, value]) => changes[name] === value);
    if (state.wrong !== undefined) {
      refuse(state.wrong, sent);
    } else {
      if (!values) reveal(state.controls);
      if ("matrix" in sent) skipped = state.skipped;
      values = state.values;
      for (const [name, value] of Object.entries(sent)) if (changes[name] === value) delete changes[name];
      last = state;
      if (current) tell(state);
    }
    again = Object.keys(changes).length || (last && !last.complete) ? 1 : 0;
  } catch (failure) {
    again = failure.name === "AbortError" ? 1 : 2000;
    if (again > 1) $(document, ".wrong").textContent = "The server does not answer; trying again.";
  }
  request = null;
  if (again) setTimeout(ask, again);
}

function refuse(wrong, sent) {
  for (const name of Object.keys(sent)) {
    delete changes[name];
    const note = document.getElementById(`note-${name}`);
    if (!note) continue; // the text stays, so that it can be repaired
    document.getElementById(name).ariaInvalid = "true";
    note.textContent = `${wrong}. The numbers are for the matrix before.`;
  }
  complaint = `${wrong}. ${values ? "The page keeps what it shows." : "Nothing is shown; move a control to begin."}`;
  $(document, ".wrong").textContent = complaint;
  document.body.classList.remove("busy");
  if (values) tell(last);
  else history.replaceState(null, "", location.pathname);
}

let last = null; // what the server last confirmed
function restore() {
  for (const [name, state] of Object.entries(last.controls)) show(name, state);
}

function reveal(controls) { // what a link sets
  for (const drawer of $$(document, "details.rarely"))
    drawer.open = Object.entries(JSON.parse(drawer.dataset.usual)).some(([name, usual]) => controls[name].value !== usual);
}

// ---- showing

function tell(state) {
  seen = state.seen;
  query = state.query;
  $(document, ".wrong").textContent = complaint;
  document.body.classList.remove("busy");
  history.replaceState(null, "", `${location.pathname}?${query}`);
  for (const link of $$(document, ".doors a")) link.href = `/${link.dataset.door}?${query}`;
  restore();
  for (const control of $$(document, ".control")) control.hidden = !state.visible.includes(control.id.slice(8));
  for (const [name, words] of Object.entries(state.parts)) write($(document, `#part-${name} > .words`), words);
  for (const link of $$(document, ".report")) link.href = `/report.html?${query}`;
  for (const [name, picture] of Object.entries(state.pictures)) frame(name, picture);
}

const written = new Map();
function write(place, words) {
  if (written.get(place) === words) return;
  written.set(place, words);
  const open = $$(place, "details[open]").map((one) => $(one, "summary").textContent);
  place.innerHTML = words;
  for (const one of $$(place, "details")) one.open = open.includes($(one, "summary").textContent);
}

const along = {}; // picture → places from left to right, each with its values in words
function point(figure, place, hint) {
  const stops = along[figure.dataset.picture];
  const at = Math.max(0, Math.min(place, stops.length - 1));
  const pointer = $(figure, ".pointer");
  pointer.setAttribute("aria-valuemax", stops.length - 1);
  pointer.setAttribute("aria-valuenow", at);
  pointer.setAttribute("aria-valuetext", stops[at][1]);
  $(pointer, "span").style.left = `${100 * stops[at][0]}%`;
  $(figure, ".values").textContent = hint ?? stops[at][1];
}

for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, (event) => {
  if (!event.target.matches(".pointer")) return;
  const figure = event.target.closest("figure");
  const share = event.offsetX / event.target.clientWidth;
  const far = along[figure.dataset.picture].map(([place]) => Math.abs(place - share));
  point(figure, far.indexOf(Math.min(...far)));
});
document.addEventListener("keydown", (event) => {
  const step = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -99, End: 99}[event.key];
  if (!step || !event.target.matches(".pointer")) return;
  event.preventDefault();
  point(event.target.closest("figure"), Number(event.target.getAttribute("aria-valuenow")) + step);
});

const wanted = new Map(); // picture → what to draw next
function frame(name, picture) {
  const figure = document.getElementById(`figure-${name}`);
  figure.hidden = !picture;
  if (!picture) return;
  $(figure, ".progress").textContent = picture.progress;
  $(figure, "img").alt = picture.alt;
  const pointer = $(figure, ".pointer");
  const fresh = pointer.hidden;
  along[name] = picture.values;
  pointer.hidden = !picture.values.length;
  if (picture.values.length) {
    const place = fresh ? 0 : Number(pointer.getAttribute("aria-valuenow"));
    const hint = "Point at the curves, or press ← and →, to see their values.";
    point(figure, place, fresh || $(figure, ".values").textContent === hint ? hint : undefined);
  }
  for (const link of $$(figure, ".files a")) {
    link.href = `/picture/${name}.${link.dataset.form}?${query}`;
    link.download = `${name}.${link.dataset.form}`;
  }
  const version = `${query} ${picture.version}`;
  if (drawn[name] === version) return;
  if (!drawn[name]?.startsWith(`${query} `)) figure.classList.add("old");
  const idle = !wanted.has(name);
  wanted.set(name, version);
  if (idle) draw(figure, name);
}

async function draw(figure, name) {
  while (drawn[name] !== wanted.get(name)) {
    const version = wanted.get(name);
    const asked = version.split(" ")[0];
    const image = $(figure, "img");
    try {
      const answer = await fetch(`/picture/${name}.svg?${asked}`);
      if (!answer.ok) throw new Error(answer.statusText);
      const before = image.src;
      image.src = URL.createObjectURL(await answer.blob());
      await image.decode();
      image.hidden = false;
      if (before.startsWith("blob:")) URL.revokeObjectURL(before);
      if (wanted.get(name).startsWith(`${asked} `)) figure.classList.remove("old");
      drawn[name] = version;
    } catch {
      await new Promise((resume) => setTimeout(resume, 1000));
    }
    if ($(figure, ".data").open) fill(figure, name);
    if (drawn[name] !== wanted.get(name)) await new Promise((resume) => setTimeout(resume, PAUSE));
  }
  wanted.delete(name);
}

async function fill(figure, name) {
  const answer = await fetch(`/picture/${name}.table?${query}`);
  if (answer.ok) $(figure, ".table").innerHTML = await answer.text();
}

document.addEventListener("toggle", (event) => {
  if (!event.target.open) return;
  if (event.target.matches(".data")) fill(event.target.closest("figure"), event.target.closest("figure").dataset.picture);
  if (event.target.matches("details.part")) {
    seen = -1;
    ask();
  }
}, true);

document.addEventListener("click", async (event) => {
  if (event.target.matches(".ask")) {
    slow = true;
    seen = -1;
    ask();
  }
  if (event.target.matches(".choose")) change("chosen", event.target.dataset.chosen);
  if (event.target.matches(".python")) getSelection().selectAllChildren(event.target);
  if (["copy", "publish"].includes(event.target.id)) {
    await navigator.clipboard.writeText(event.target.id === "copy" ? location.href : $(document, "p.copy").textContent);
    event.target.nextElementSibling.textContent = "Copied.";
  }
});
addEventListener("pagehide", () => navigator.sendBeacon("/gone", visitor));
ask();
