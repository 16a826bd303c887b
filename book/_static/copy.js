// A button in the corner of each piece of code copies it.
document.addEventListener("DOMContentLoaded", () => {
  for (const code of document.querySelectorAll("div.highlight")) {
    if (code.closest(".cell_output")) continue;
    const button = document.createElement("button");
    button.className = "copy-code";
    button.textContent = "copy";
    button.setAttribute("aria-label", "copy this code");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.querySelector("pre").innerText);
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    code.append(button);
  }
});
