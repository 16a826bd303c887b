"use strict";
// The page: doors, controls, and the address that keeps them.

const byId = (name) => document.getElementById(name);
const field = (name) => document.getElementsByName(name)[0];
const KEPT = ["task", "d", "n", "rounds", "eps", "delta", "mechanism", "eps0", "users", "delta2"];

function fillTable(table, heads, rows) {
  const line = (cells, open, close) => `<tr>${cells.map((cell) => open + cell + close).join("")}</tr>`;
  table.innerHTML = `<thead>${line(heads, '<th scope="col">', "</th>")}</thead>` +
    `<tbody>${rows.map((row) => line(row, "<td>", "</td>")).join("")}</tbody>`;
}

const EXAMPLES = { n: "1e5 or 100,000", users: "1e5 or 100,000", d: "12", rounds: "30" }; // whole numbers

// A number from a field, or what is wrong with it.
function asked(name, what, low, high) {
  const whole = name in EXAMPLES, value = typed(field(name).value, whole ? "count" : "number");
  const right = value >= low && value <= high;
  field(name).setAttribute("aria-invalid", !right);
  const range = `between ${low.toLocaleString("en")} and ${high.toLocaleString("en")}`;
  return right ? [value, ""] : [NaN, `${what} must be a ${whole ? "whole " : ""}number ${range}, such as ${EXAMPLES[name] ?? "0.5"}.`];
}

function usersAsked(name) {
  return asked(name, "The number of users", TABLE.users[0], TABLE.users.at(-1));
}

function planAsked() {
  const [n, one] = usersAsked("n"), [eps, other] = asked("eps", "ε", 0.001, 8);
  const task = field("task").value;
  const [d, third] = task === "mean" ? [2, ""] : asked("d", "The number of options", 2, 100);
  const [rounds, fourth] = asked("rounds", "The number of rounds", 1, 1e6), delta = Number(field("delta").value);
  return { task, d, n, rounds, eps, delta, wrong: third || one || fourth || other };
}

function understandAsked() {
  const [n, one] = usersAsked("users"), [eps0, other] = asked("eps0", "ε₀", 0.1, 8);
  return { mechanism: field("mechanism").value, eps0, n, delta: Number(field("delta2").value), wrong: one || other };
}

// A button below a table that saves it as CSV.
function offer(table, file) {
  const cells = (row) => [...row.cells].map((cell) => `"${cell.textContent.trim().replaceAll('"', '""')}"`).join(",");
  const link = byId(`${table.id}-csv`);
  link.hidden = table.rows.length === 0;
  link.download = `${file}.csv`;
  link.href = `data:text/csv;charset=utf-8,${encodeURIComponent([...table.rows].map(cells).join("\n") + "\n")}`;
}

let ready = false; // whether the table is unpacked
let fresh = false; // whether the next change is a new step for the browser's Back

function refresh(keep = true) {
  if (!ready) return;
  const door = document.querySelector('[data-door][aria-pressed="true"]').dataset.door;
  for (const name of ["plan", "understand"]) byId(name).hidden = name !== door;
  if (door === "plan") showPlan();
  else showUnderstand();
  offer(byId("plan-table"), "plan");
  offer(byId("chart-table"), "epsilon");
  if (!keep) return;
  const address = new URLSearchParams(KEPT.map((name) => [name, field(name).value]));
  address.set("door", door);
  if (`#${address}` === location.hash) return;
  history[fresh ? "pushState" : "replaceState"](null, "", `#${address}`);
  fresh = false;
}

function openDoor(door) {
  for (const button of document.querySelectorAll("[data-door]")) {
    button.setAttribute("aria-pressed", button.dataset.door === door);
  }
}

const followers = []; // sliders, which follow their fields

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  for (const name of KEPT) {
    if (!address.has(name)) continue;
    const before = field(name).value;
    field(name).value = address.get(name);
    if (field(name).value === "") field(name).value = before; // no such choice
  }
  if (["plan", "understand"].includes(address.get("door"))) openDoor(address.get("door"));
  for (const follow of followers) follow();
}

// A slider over a logarithmic scale that moves the field beside it, and follows it.
function slide(name, low, high, round) {
  const slider = field(`${name}-slider`), beside = field(name), span = Math.log(high / low);
  Object.assign(slider, { min: 0, max: 200, step: 1 });
  const follow = () => {
    slider.value = (200 * Math.log(typed(beside.value, name in EXAMPLES ? "count" : "number") / low)) / span;
    slider.setAttribute("aria-valuetext", beside.value);
  };
  slider.addEventListener("input", () => {
    beside.value = round(low * Math.exp((span * slider.value) / 200));
    slider.setAttribute("aria-valuetext", beside.value);
    refresh();
  });
  beside.addEventListener("input", follow);
  followers.push(follow);
}

function start() {
  for (const name of ["delta", "delta2"]) {
    field(name).innerHTML = TABLE.deltas.map((one) => `<option value="${one}">${power(one)}</option>`).join("");
    field(name).value = String(1e-6);
  }
  field("mechanism").innerHTML = Object.keys(TABLE.mechanisms)
    .map((name) => `<option value="${name}">${NAMES[name]}</option>`).join("");
  field("mechanism").value = "generalized_rr_10";
  slide("eps0", 0.1, 8, (value) => String(Number(value.toPrecision(2))));
  slide("users", TABLE.users[0], TABLE.users.at(-1), (value) => Number(value.toPrecision(2)).toLocaleString("en"));
  readAddress();
  for (const button of document.querySelectorAll("[data-door]")) {
    button.addEventListener("click", () => { fresh = true; openDoor(button.dataset.door); refresh(); });
  }
  for (const form of document.forms) {
    form.addEventListener("input", (event) => event.target.type !== "range" && refresh());
    form.addEventListener("change", () => (fresh = true)); // after a text was typed or a slider let go
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  addEventListener("hashchange", () => { readAddress(); refresh(false); }); // Back, or another link
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh(false));
  addEventListener("resize", () => refresh(false));
}

start();
unpackAll().then(() => {
  ready = true;
  refresh();
  fresh = true;
}).catch((error) => {
  byId("plan-answer").textContent = `This page needs a browser from 2023 or later (${error.message}).`;
});
