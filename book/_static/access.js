// Names for the theme's controls, and animations that can be paused.
document.addEventListener("DOMContentLoaded", () => {
  // What is read out is what stands there.
  for (const named of document.querySelectorAll("details.hide > summary, .search-button__button")) {
    if (named.textContent.trim()) named.removeAttribute("aria-label");
  }
  for (const fold of document.querySelectorAll(".has-children > details > summary")) {
    fold.setAttribute("aria-label", `Pages below ${fold.closest("li").querySelector("a").textContent.trim()}`);
  }
  document.querySelector(".sidebar-primary-items__start")?.setAttribute("role", "search");
  for (const scrolls of document.querySelectorAll("article pre, article .pst-scrollable-table-container")) {
    if (scrolls.scrollWidth > scrolls.clientWidth) scrolls.tabIndex = 0;
  }

  // A drawing of the first stage takes the place of an animation, at once where people ask for less motion.
  for (const moving of document.querySelectorAll('article img[src$=".gif"]')) {
    const still = document.createElement("canvas"), button = document.createElement("button");
    still.setAttribute("role", "img");
    still.setAttribute("aria-label", moving.alt);
    button.className = "pause";
    const show = (paused) => {
      if (paused) {
        Object.assign(still, { width: moving.naturalWidth, height: moving.naturalHeight });
        still.getContext("2d").drawImage(moving, 0, 0);
      } else {
        moving.src = moving.getAttribute("src"); // from the beginning
      }
      moving.hidden = paused;
      still.hidden = !paused;
      button.textContent = paused ? "Play" : "Pause";
    };
    button.addEventListener("click", (event) => {
      event.preventDefault();
      show(still.hidden);
    });
    moving.decode().then(() => {
      moving.after(still, button);
      show(matchMedia("(prefers-reduced-motion: reduce)").matches);
    });
  }
});
