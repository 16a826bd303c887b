"use strict";
// Plan: which mechanism, with how much noise, at what error.

// What a device does; its numbers are rounded up, which is more noise.
const DEVICE = {
  rr: (odds, d) => `Each device reports its own option, or, with probability ${written((d - 1) / (odds + d - 1), 3)}, ` +
    "one of the others, each equally likely.",
  unary: (odds) => "Each device reports one bit for each option: for its own option 1 or 0, each with probability 1/2; " +
    `for every other option 1 with probability ${written(1 / (odds + 1), 3)}.`,
  duchi: (odds) => {
    const least = written(1 / (odds + 1), 3);
    return `Each device reports one bit: 1 with probability ${least} + (1 − 2 · ${least}) · value, otherwise 0.`;
  },
  piecewise: (odds) => {
    const root = Math.sqrt(odds), most = written((root + 1) / (root - 1), 3);
    return `Each device draws a number from [−C, C], where C = ${most}: with probability ${written(1 / (root + 1), 3)} ` +
      "evenly from outside the interval [a, a + C − 1], otherwise evenly from inside it, where a = (C + 1) · value − C.";
  },
  laplace: (odds) => `Each device adds Laplace noise of scale ${written(1 / Math.log(odds), 3)} to its value.`,
};

const CANDIDATES = {
  histogram: (d) => [
    { text: "Randomized response", kind: "rr", mechanism: responseTable(d),
      python: d === 2 ? "binary_rr(eps0=EPS0)" : `generalized_rr(eps0=EPS0, d=${d})`, bytes: 1 },
    { text: "Optimized unary encoding", kind: "unary", mechanism: "optimized_unary",
      python: `optimized_unary(eps0=EPS0, d=${d})`, bytes: Math.ceil(d / 8) },
  ],
  mean: () => [
    { text: "The piecewise mechanism", kind: "piecewise", mechanism: "piecewise", python: "piecewise(eps0=EPS0)", bytes: 8 },
    { text: "One random bit (Duchi et al.)", kind: "duchi", mechanism: "binary_rr", python: "binary_rr(eps0=EPS0)", bytes: 1 },
    { text: "Laplace noise", scale: " of scale 1/eps0", kind: "laplace", mechanism: "laplace",
      python: "laplace(eps0=EPS0)", bytes: 8 },
  ],
};

// Every mechanism for a task that is proved to meet the target, smallest error first.
function plans({ task, d, n, eps, delta }) {
  return CANDIDATES[task](d)
    .map((one) => ({ ...one, eps0: largestBudget(one.mechanism, n, eps, delta) }))
    .filter((one) => one.eps0 !== undefined)
    .map((one) => {
      const [usual, worst] = variances(one.kind, one.eps0, d).map((variance) => Math.sqrt(variance / n));
      const alone = Math.sqrt(variances(one.kind, eps, d)[0] / n);
      const sensitivity = task === "histogram" ? Math.SQRT2 : 1;
      const curator = (sensitivity * centralNoise(eps, delta)) / n;
      return { ...one, usual, worst, alone, curator };
    })
    .sort((one, other) => one.usual - other.usual);
}

let chosen = 0;

const MEANINGLESS = 1000; // odds at which nothing is protected

// Why a target protects nobody, and an answer tells nothing; an empty text where neither is so.
function warning({ n, eps, delta }, error = 0) {
  const found = [];
  if (delta > eps) found.push(`δ = ${power(delta)} is larger than ε = ${eps}: are the two exchanged?`);
  if (delta * n > 1 - 1e-12) {
    found.push(`δ = ${power(delta)} is not below 1 / users: publishing the value of one user, drawn at random, has this δ too.`);
  }
  if (eps >= Math.log(MEANINGLESS)) {
    found.push(`ε = ${eps} lets a result be ${written(Math.exp(eps), 3)} times as likely: no meaningful protection.`);
  }
  if (error > 0.2) found.push("This error is too large to be useful: use more users or a larger ε.");
  return found.length === 0 ? "" : `Warning: ${found.join(" ")}`;
}

// What one report reveals to whoever knows its sender.
function breach(eps0) {
  return Math.exp(eps0) >= MEANINGLESS ? "one report can reveal its sender's value: no meaningful protection remains" :
    `one report makes any guess about its sender at most ${written(Math.exp(eps0), 3)} times as likely as before`;
}

// What (ε, δ) leaves of a fact that was as likely as not: a loss exceeds ε + η with probability at most
// δ/(1 − exp(−η)), and exp(−η) is 0.9; empty where nothing is protected.
function belief({ eps, delta }) {
  if (Math.exp(eps) >= MEANINGLESS || delta >= 0.1) return "";
  const percent = written(100 / (1 + 0.9 * Math.exp(-eps)), 3), rare = Number((10 * delta).toPrecision(3)).toExponential();
  return "To somebody who knows all other users' values, a fact about this value that was as likely as not is " +
    `afterwards at most ${percent} % likely, except with probability at most ${rare}. `;
}

// The statement to publish: all that its guarantee depends on, as the Python package writes it.
function statement(one, asked) {
  const { task, d, n, eps, delta } = asked, held = task === "histogram" ? `one of ${d} options` : "a number in [0, 1]";
  const said = warning(asked, one.usual);
  return `${said}${said && " "}Each device randomises its value, ${held}, once, with ${lower(one.text)}${one.scale ?? ""} ` +
    `at eps0 = ${one.eps0}, and a shuffler mixes the reports of at least ${n.toLocaleString("en")} users. Whoever sees the ` +
    `shuffled reports learns at most epsilon = ${eps} at delta = ${delta.toExponential()} about any one user's value, provided that the ` +
    "shuffler and the other devices are honest, and that taking part does not depend on the values. " +
    `${belief(asked)}If the shuffler fails, ${breach(one.eps0)}.`;
}

function showPlan() {
  const asked = planAsked();
  const answer = byId("plan-answer"), table = byId("plan-table"), row = byId("plan-row");
  for (const label of document.querySelectorAll("[data-only]")) label.hidden = label.dataset.only !== asked.task;
  table.textContent = row.textContent = "";
  byId("plan-warning").textContent = asked.wrong ? "" : warning(asked);
  if (asked.wrong) {
    answer.textContent = asked.wrong;
    return;
  }
  if (asked.rounds > 1) {
    answer.textContent = "The table of this page is for one round. For all rounds together the Python package answers, " +
      "after pip install . in its folder:";
    row.innerHTML = `<pre><code>${command(asked)}</code></pre>`;
    return;
  }
  const found = plans(asked);
  if (found.length === 0) {
    answer.textContent = "No mechanism in the table meets this target: use more users, a larger ε or a larger δ.";
    return;
  }
  chosen = Math.min(chosen, found.length - 1);
  const best = found[0];
  answer.textContent = `${best.text}: each report may have ε₀ = ${best.eps0}${best.eps0 < 8 ? "" : ", where the table ends"}; ` +
    (asked.task === "histogram" ? `a share of ${written(100 / asked.d, 2, false)} %` : "the average") +
    ` is then known to about ± ${points(best.usual)}.`;
  byId("plan-warning").textContent = warning(asked, best.usual);
  fillTable(table, ["mechanism", "ε₀ of a report", "standard error", "at worst", "bytes"],
    found.map((one) => ["", one.eps0, ...[one.usual, one.worst].map((error) => percent(error)), one.bytes]));
  [...table.tBodies[0].rows].forEach((line, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = found[place].text;
    button.setAttribute("aria-pressed", place === chosen);
    button.addEventListener("click", () => {
      chosen = place;
      showPlan();
      byId("plan-table").tBodies[0].rows[place].querySelector("button").focus();
    });
    line.firstElementChild.append(button);
  });
  openRow(row, found[chosen], asked);
}

// The command line that answers the same question.
function command({ task, d, n, eps, delta, rounds }) {
  const options = task === "histogram" ? `--d ${d}` : "--task mean";
  return `shufflelib recommend --n ${n} --eps ${eps} --delta ${delta} ${options}${rounds > 1 ? ` --rounds ${rounds}` : ""}`;
}

function openRow(place, one, asked) {
  const { task, d, n, eps, delta } = asked;
  const python = `shuffle(randomizers.${one.python.replace("EPS0", one.eps0)}, n=${n}).epsilon(${delta})`;
  const words = statement(one, asked);
  const what = task === "histogram" ? `a share of ${written(100 / d, 2, false)} %` : "an average";
  const any = largestBudget("generic", n, eps, delta);
  place.innerHTML = `
<h2>${one.text}</h2>
<p>${DEVICE[one.kind](Math.exp(one.eps0), d)}</p>
<figure><svg id="dots" role="img"></svg><figcaption id="dots-words"></figcaption></figure>
<p>The noise causes a standard error of ${points(one.usual)} for ${what}. At the same ε, a trusted curator who sees all
values and adds Gaussian noise would have an error of ${points(one.curator)}, and the same mechanism without a shuffler ${points(one.alone)}.</p>
<p><strong>If the shuffler is compromised,</strong> each report alone still has ε₀ = ${one.eps0}: ${breach(one.eps0)}.</p>
<p>${any === undefined ? "For an arbitrary mechanism the table cannot guarantee this target from ε₀ alone." :
  `Any mechanism whose reports have ε₀ ≤ ${any} meets this target.`}</p>
<h3>A statement to publish</h3>
<p class="copy">${words}</p>
<button type="button" id="copy">Copy the statement</button>
<details><summary>Code</summary><pre><code>from shufflelib import randomizers, shuffle
${python}

# every mechanism for this target, from the command line
${command(asked)}</code></pre></details>`;
  byId("copy").addEventListener("click", async ({ target }) => {
    await navigator.clipboard?.writeText(words);
    target.textContent = navigator.clipboard ? "Copied" : "Select the text and copy it";
  });
  drawDots(byId("dots"), byId("dots-words"), one, asked);
}

// True shares of the picture, of the first ten options: each option is a quarter rarer than the one before.
function sharesOf(d) {
  const weights = Array.from({ length: d }, (_, place) => 0.75 ** place);
  const total = weights.reduce((sum, one) => sum + one);
  return weights.slice(0, 10).map((one) => one / total);
}

// The true values of the picture, the standard error of each, and twenty estimates with normal errors.
function surveys(one, { task, d, n }) {
  const truth = task === "histogram" ? sharesOf(d) : [0.5], random = generator(1);
  const errors = truth.map((share) => Math.sqrt(variances(one.kind, one.eps0, d, share)[0] / n));
  return [truth, errors, truth.map((share, place) => Array.from({ length: 20 }, () => share + errors[place] * gaussian(random)))];
}

function drawDots(svg, words, one, asked) {
  const { task, d } = asked, [truth, , outcomes] = surveys(one, asked);
  const wide = 600, high = 220, base = high - 24;
  const most = Math.max(...outcomes.flat(), ...truth) * 1.1, least = Math.min(0, ...outcomes.flat());
  const y = (value) => base - ((value - least) / (most - least)) * (base - 8);
  const step = wide / truth.length, bar = Math.min(0.7 * step, 60);
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  svg.innerHTML = truth.map((share, place) => {
    const middle = (place + 0.5) * step;
    const dots = outcomes[place].map((value, run) =>
      `<circle cx="${middle + ((run - 9.5) / 20) * 0.8 * bar}" cy="${y(value)}" r="3"/>`);
    const name = task === "histogram" ? `${place + 1}` : "average";
    return `<rect x="${middle - bar / 2}" width="${bar}" y="${y(share)}" height="${y(0) - y(share)}"/>` +
      dots.join("") + `<text x="${middle}" y="${high - 6}" text-anchor="middle">${name}</text>`;
  }).join("") + `<line x1="0" x2="${wide}" y1="${y(0)}" y2="${y(0)}"/>`;
  const furthest = Math.max(...outcomes.flatMap((values, place) => values.map((one) => Math.abs(one - truth[place]))));
  const bars = task !== "histogram" ? "bar" : truth.length < d ? `bars, the first ${truth.length} of ${d} options` : `bars, ${d} options`;
  words.textContent = `Twenty simulated surveys (dots, with normal errors) and the true values (${bars}): ` +
    `the largest error is ${points(furthest)}.`;
  svg.setAttribute("aria-label", words.textContent);
}

function lower(text) {
  return text.startsWith("Laplace") ? text : text[0].toLowerCase() + text.slice(1);
}

function points(error) {
  return `${percent(error).slice(0, -2)} percentage points`;
}

function percent(error) {
  return `${written(100 * error, 2, false)} %`;
}

// A small generator of random numbers with a seed, so that the same question has the same picture.
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function gaussian(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
