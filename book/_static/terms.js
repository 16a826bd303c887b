// A link to a term of the glossary shows its definition to whoever points at it or reaches it by key; Escape hides it.
// A tap follows the link.
document.addEventListener("DOMContentLoaded", () => {
  const notes = [];
  for (const link of document.querySelectorAll('a[href*="#term-"]')) {
    const title = DEFINITIONS[link.hash.slice(1)];
    if (!title) continue;
    link.classList.add("term");
    notes.push(new bootstrap.Tooltip(link, { title, customClass: "definition", trigger: "hover focus", delay: { show: 0, hide: 150 } }));
  }
  addEventListener("keydown", ({ key }) => key === "Escape" && notes.forEach((note) => note.hide()));
});
