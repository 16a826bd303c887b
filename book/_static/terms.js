// Links to a term of the glossary say its definition to whoever points at them or reaches them by key.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll('a[href*="#term-"]')) {
    const definition = DEFINITIONS[link.hash.slice(1)];
    if (!definition) continue;
    link.title = definition;
    link.classList.add("term");
  }
});
