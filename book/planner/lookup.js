"use strict";
// What the table proves, and the errors of the mechanisms in it.

const NAMES = {
  generic: "any mechanism (the worst there is)",
  binary_rr: "randomized response, yes or no",
  generalized_rr_4: "randomized response, 4 options",
  generalized_rr_10: "randomized response, 10 options",
  generalized_rr_32: "randomized response, 32 options",
  generalized_rr_100: "randomized response, 100 options",
  optimized_unary: "optimized unary encoding",
  laplace: "Laplace noise",
  piecewise: "piecewise mechanism, for a number",
};

// The entries of the table, a block for each δ, are compressed differences between numbers of users, modulo 2¹⁶.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const view = new DataView(await new Response(stream).arrayBuffer());
  const numbers = new Uint16Array(view.byteLength / 2);
  for (let place = 0; place < numbers.length; place++) {
    numbers[place] = view.getUint16(2 * place, true) + (place % TABLE.users.length ? numbers[place - 1] : 0);
  }
  return numbers;
}

async function unpackAll() {
  for (const one of Object.values(TABLE.mechanisms)) one.numbers = await unpack(one.entries);
}

// The proved ε of an entry; its places count budgets, users and δ.
function entry(mechanism, budget, users, delta) {
  const { budgets, numbers } = TABLE.mechanisms[mechanism];
  const code = numbers[(delta * budgets.length + budget) * TABLE.users.length + users];
  return code === 0 ? 0 : TABLE.smallest * Math.exp(TABLE.step * code);
}

// The largest number of users in the table that is not above n: fewer users prove less.
function usersPlace(n) {
  return TABLE.users.findLastIndex((one) => one <= n);
}

// The smallest budget in the table that is not below ε₀; -1 if there is none.
function budgetPlace(mechanism, eps0) {
  return TABLE.mechanisms[mechanism].budgets.findIndex((one) => one >= eps0);
}

// A proved central ε; never more than the local budget, which holds without any shuffler.
function centralEpsilon(mechanism, eps0, n, delta) {
  const users = usersPlace(n), budget = budgetPlace(mechanism, eps0);
  if (users < 0 || budget < 0) return eps0;
  return Math.min(eps0, entry(mechanism, budget, users, TABLE.deltas.indexOf(delta)));
}

// The table that bounds randomized response with d options: at the same ε₀, more options have a smaller δ.
function responseTable(d) {
  if (d === 2) return "binary_rr";
  const tables = Object.keys(TABLE.mechanisms).filter((name) => Number(name.split("generalized_rr_")[1]) <= d);
  return tables.at(-1) ?? "generic"; // they stand in order
}

// The largest budget proved to meet the target, for this mechanism or for any; undefined if none is.
function largestBudget(mechanism, n, eps, delta) {
  const found = [mechanism, "generic"].map((name) =>
    TABLE.mechanisms[name].budgets.findLast((eps0) => centralEpsilon(name, eps0, n, delta) <= eps));
  return found.filter((eps0) => eps0 !== undefined).sort((one, other) => other - one)[0];
}

// Variance of one report's share of the estimate, at an ordinary value (or share) and at the worst one.
function variances(kind, eps0, d, share = 1 / d) {
  const odds = Math.exp(eps0);
  if (kind === "laplace") return [2 / eps0 ** 2, 2 / eps0 ** 2];
  if (kind === "piecewise") { // values in [-1, 1], of which a user's is 2x - 1
    const gap = Math.expm1(eps0 / 2), least = (gap + 4) / (3 * gap ** 2);
    return [(least + 1 / (3 * gap)) / 4, (least + 1 / gap) / 4];
  }
  if (kind === "duchi") {
    const most = 1 / Math.tanh(eps0 / 2) ** 2;
    return [(most - 1 / 3) / 4, most / 4];
  }
  const own = kind === "unary" ? 0.5 : odds / (odds + d - 1);
  const other = kind === "unary" ? 1 / (odds + 1) : 1 / (odds + d - 1);
  const at = (held) => (held * own * (1 - own) + (1 - held) * other * (1 - other)) / (own - other) ** 2;
  return [at(share), Math.max(at(0), at(1))];
}

// Standard deviation of Gaussian noise by a trusted curator, for the same ε and δ and a sum of sensitivity 1.
function centralNoise(eps, delta) {
  const proved = (mu) => normal(mu / 2 - eps / mu) - Math.exp(eps) * normal(-mu / 2 - eps / mu) <= delta;
  let low = 1e-9, high = 1e3;
  for (let k = 0; k < 100; k++) {
    const middle = Math.sqrt(low * high);
    if (proved(middle)) low = middle;
    else high = middle;
  }
  return 1 / low;
}

// The normal distribution function; a continued fraction in the tails, a series between them.
function normal(x) {
  if (x > 0) return 1 - normal(-x);
  const density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  if (x < -3) {
    let tail = -x;
    for (let k = 60; k > 0; k--) tail = -x + k / tail;
    return density / tail;
  }
  let term = x, sum = x;
  for (let k = 1; k < 100; k++) sum += term *= (x * x) / (2 * k + 1);
  return 0.5 + density * sum;
}

// A number as people write it; up: rounded up, so that a guarantee stays one.
function written(value, digits = 2, up = true) {
  if (value === 0) return "0";
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  const steps = up ? Math.ceil(value / unit - 1e-9) : Math.floor(value / unit + 1e-9);
  return Number((steps * unit).toPrecision(digits + 1)).toLocaleString("en", { maximumSignificantDigits: digits + 1 });
}

// What somebody typed, as shufflelib/numerics/typed_numbers.py reads it: a count 1e5, 50k or 100,000, a share
// 5 % or 1/20, a number 0.5 or log(3); NaN for anything else, such as 0,5 and a count of 100.000.
const SPACE = "[ \u00a0\u2009\u202f]", PLAIN = "(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)", DECIMAL = `${PLAIN}(?:[eE][+-]?[0-9]+)?`;
const FORMS = [ // kinds, form, its number; the first that fits
  ["count", `[0-9]+\\.[0-9]{3}(?:${SPACE}?[kKM])?`, () => NaN], // the point may separate thousands
  ["count", `[1-9][0-9]{0,2}([,_]|${SPACE})[0-9]{3}(?:\\1[0-9]{3})*`, ([all]) => Number(all.replace(/[^0-9]/g, ""))],
  ["count share number", DECIMAL, ([all]) => Number(all)],
  ["count share number", "10\\^([+-]?[0-9]+)", ([, power]) => Number(`1e${power}`)],
  ["count number", `(${PLAIN})${SPACE}?([kKM])`, ([, all, unit]) => Number(`${all}e${unit === "M" ? 6 : 3}`)],
  ["share", `(${PLAIN})${SPACE}?%`, ([, all]) => Number(`${all}e-2`)],
  ["share", `(${DECIMAL})${SPACE}?/${SPACE}?(${DECIMAL})`, ([, above, below]) => above / below],
  ["number", `log\\(${SPACE}?(${DECIMAL})${SPACE}?\\)`, ([, inside]) => Math.log(inside)],
].map(([kinds, form, value]) => [kinds.split(" "), new RegExp(`^${form}$`), value]);

function typed(text, kind = "number") {
  const words = text.trim();
  const [, form, value] = FORMS.find(([kinds, form]) => kinds.includes(kind) && form.test(words)) ?? [];
  const found = form && words.length <= 300 ? value(words.match(form)) : NaN;
  return Number.isFinite(found) && (kind !== "count" || Number.isInteger(found)) ? found : NaN;
}

function power(delta) {
  const raised = String(Math.round(-Math.log10(delta))).replaceAll(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  return `10⁻${raised}`;
}
