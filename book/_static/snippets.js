// Under each result of a search: the words around the first hit. They come from a script, as a page that is
// opened from a file may not fetch other pages.
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase(); // as long as the text
  const query = plain(new URLSearchParams(location.search).get("q") ?? "").match(/[\p{L}\p{N}_]+/gu);
  if (!results || !query) return;
  const stemmer = new Stemmer();
  const words = [...new Set(query.flatMap((word) => [word, stemmer.stemWord(word)]))];
  const show = () => {
    for (const link of results.querySelectorAll("li > a:first-child")) {
      const [page, anchor] = link.getAttribute("href").split("#");
      const text = TEXTS[page.replace(/\.html$/, "")];
      if (!text || link.parentElement.querySelector(".context")) continue;
      const lower = plain(text), title = plain(link.textContent.split(" > ").at(-1));
      const from = anchor ? lower.indexOf(title) : 0;
      const word = from < 0 ? undefined : words.find((one) => lower.includes(one, from));
      if (word === undefined) continue;
      const place = lower.indexOf(word, from);
      const start = Math.max(text.lastIndexOf(" ", place - 100), 0), marked = document.createElement("mark");
      marked.textContent = text.slice(place, place + word.length);
      const summary = document.createElement("p");
      summary.className = "context";
      summary.append(`${start ? "…" : ""}${text.slice(start, place)}`, marked);
      summary.append(`${text.slice(place + word.length, place + 140)}…`);
      link.parentElement.append(summary);
    }
  };
  const script = document.createElement("script");
  script.src = `${document.documentElement.dataset.content_root ?? ""}_static/texts.js`;
  script.addEventListener("load", () => {
    new MutationObserver(show).observe(results, { childList: true, subtree: true });
    show();
  });
  document.head.append(script);
});
