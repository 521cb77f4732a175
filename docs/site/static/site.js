// Opened from a folder, pages cannot fetch other pages: the search then lists titles without their text.
if (typeof DOCUMENTATION_OPTIONS !== "undefined" && location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
// Tables of two columns have no head to show.
document.addEventListener("DOMContentLoaded", () => {
  for (const head of document.querySelectorAll("table.docutils thead")) {
    if (head.textContent.trim() === "") head.classList.add("empty");
  }
});
