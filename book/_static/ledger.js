// A field and a menu above the ledger: rows that lack a word or have another verdict are hidden, and works without rows.
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
  for (const verdict of new Set(rows.map(verdictOf))) menu.add(new Option(verdict));
  const verdicts = new Map(rows.map((row) => [row, verdictOf(row)]));
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
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  section.firstElementChild.after(form);
  filter();
});
