"use strict";
// Understand: one mechanism, its central ε, and what it means to one person.

let chart = null;

function showUnderstand() {
  const asked = understandAsked();
  const answer = byId("understand-answer"), words = byId("understand-words");
  byId("picture").hidden = asked.wrong !== "";
  if (asked.wrong) {
    answer.textContent = asked.wrong;
    words.textContent = byId("understand-warning").textContent = "";
    return;
  }
  const { mechanism, eps0, n, delta } = asked;
  const eps = centralEpsilon(mechanism, eps0, n, delta);
  answer.textContent = `ε ≤ ${written(eps)}`;
  const none = "ε is 0: δ covers whatever the results differ by.";
  byId("understand-warning").textContent = [warning({ n, eps: 1, delta }), eps === 0 ? none : ""].join(" ").trim();
  const caught = 100 * Math.min(Math.exp(eps) * 0.05 + delta, 1 - Math.exp(-eps) * (0.95 - delta));
  words.textContent = `One report alone has ε₀ = ${eps0}; shuffled with the reports of ${n.toLocaleString("en")} users it has ` +
    `ε ≤ ${written(eps, 3)} at δ = ${power(delta)}. Suppose an attacker who knows everybody else's value tests whether you ` +
    `hold a certain value. With 5 % false alarms, the attacker detects at most ${written(caught, 3)} % of those who hold ` +
    `it; random guessing detects 5 %.`;
  drawCurve(asked, eps);
}

function drawCurve({ mechanism, eps0, n, delta }, eps) {
  const budget = budgetPlace(mechanism, eps0), column = TABLE.deltas.indexOf(delta);
  const curve = TABLE.users.map((_, place) => budget < 0 ? eps0 : Math.min(eps0, entry(mechanism, budget, place, column)));
  const shown = curve.map((value) => value || null);
  const at = TABLE.users.map((_, place) => (place === usersPlace(n) ? eps || null : null));
  const style = getComputedStyle(document.documentElement);
  const [ink, grey, accent] = ["--ink", "--grey", "--accent"].map((name) => style.getPropertyValue(name).trim());
  const number = (_, one) => (one ? written(one, 3) : "–");
  chart?.destroy();
  const powers = (_, ticks) => ticks.map((one) => (Math.abs(Math.log10(one) % 1) < 1e-9 ? one : null));
  const lines = { stroke: grey, width: 0.5, filter: powers };
  const axis = { stroke: ink, grid: lines, ticks: lines, font: "13px sans-serif", filter: powers };
  const plain = (_, ticks) => ticks.map((one) => one?.toLocaleString("en", { maximumSignificantDigits: 3 }) ?? "");
  const short = (_, ticks) => ticks.map((one) => one?.toLocaleString("en", { notation: "compact" }) ?? "");
  chart = new uPlot({
    padding: [10, 44, 0, 0], width: Math.min(720, byId("chart").clientWidth || 600), height: 300,
    scales: { x: { distr: 3, time: false }, y: { distr: 3 } },
    axes: [
      { ...axis, label: "number of users", values: short },
      { ...axis, label: "central ε", size: 80, values: plain },
    ],
    series: [
      { label: "users", value: (_, one) => one?.toLocaleString("en") ?? "–" },
      { label: "one report alone, ε₀", stroke: grey, dash: [6, 4], width: 2, value: number },
      // between two numbers of the table the ε of fewer users is proved
      { label: "shuffled, ε at most", stroke: accent, width: 3, value: number, paths: uPlot.paths.stepped({ align: 1 }) },
      { label: "your setting", stroke: ink, width: 0, points: { show: true, size: 12, fill: ink }, value: number },
    ],
  }, [TABLE.users, TABLE.users.map(() => eps0), shown, at], byId("chart"));
  const users = n.toLocaleString("en");
  const words = eps === 0 ? `With ${users} users, ε = 0 at this δ: δ covers everything.`
    : eps === eps0 ? `With ${users} users the table proves no amplification by shuffling.`
      : `Among ${users} users, ε is ${written(eps0 / eps, 2, false)} times smaller than ε₀.`;
  byId("chart-words").textContent = words;
  byId("chart").setAttribute("aria-label", `${words} Central ε against the number of users, both on logarithmic axes.`);
  const some = TABLE.users.map((users, place) => [users, place]).filter(([users]) => Number.isInteger(Math.log10(users)));
  fillTable(byId("chart-table"), ["users", "central ε, at most"],
    some.map(([users, place]) => [users.toLocaleString("en"), written(curve[place], 3)]));
}
