// A field and a menu first on the page: claims that lack a word or have another verdict are hidden, and works without
// claims. The address keeps both, so that a filtered list can be linked.
document.addEventListener("DOMContentLoaded", () => {
  const section = document.getElementById("every-claim");
  const rows = [...document.querySelectorAll("table.claims tbody tr")];
  if (!section || !rows.length) return;
  const verdictOf = (row) => row.cells[2].innerText.split(/[(\n]/)[0].trim();
  const form = document.createElement("form");
  form.className = "filter-claims";
  form.innerHTML =
    '<label>Words <input type="search" placeholder="such as: tight subset"></label> ' +
    '<label>Verdict <select><option value="">all</option></select></label> <output></output>';
  const [words, menu, count] = ["input", "select", "output"].map((name) => form.querySelector(name));
  const verdicts = new Map(rows.map((row) => [row, verdictOf(row)]));
  for (const verdict of new Set(verdicts.values())) menu.add(new Option(verdict));
  const works = [...section.querySelectorAll("section")];
  const title = (row) => row.closest("section").firstElementChild.textContent;
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase(); // é is found as e
  const texts = new Map(rows.map((row) => [row, plain(`${title(row)} ${row.textContent}`)]));
  const filter = () => {
    const wanted = plain(words.value).split(/\s+/);
    for (const row of rows) {
      const asked = !menu.value || verdicts.get(row) === menu.value;
      row.hidden = !(asked && wanted.every((word) => texts.get(row).includes(word)));
    }
    for (const work of works) work.hidden = !rows.some((row) => !row.hidden && work.contains(row));
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  };
  const read = () => {
    const address = new URLSearchParams(location.hash.slice(1));
    words.value = address.get("words") ?? "";
    menu.value = address.get("verdict") ?? "";
    if (menu.selectedIndex < 0) menu.value = ""; // no such verdict
    filter();
  };
  form.addEventListener("input", () => {
    const kept = Object.entries({ words: words.value, verdict: menu.value }).filter(([, text]) => text);
    history.replaceState(null, "", kept.length ? `#${new URLSearchParams(kept)}` : location.pathname);
    filter();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", read);
  document.querySelector("article h1").after(form);
  read();
});
