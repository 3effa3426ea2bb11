function ask(word) {
  search.value = word;
  search.dispatchEvent(new Event("input"));
  const first = found.querySelector("button");
  first.click();
  return [first.textContent, told.textContent.replace(/\s+/g, " ")];
}
const search = document.getElementById("search"), found = document.getElementById("found"), told = document.getElementById("told");
for (const word of WORDS) seen[word] = ask(word);
const root = () => chart.getModel().getSeriesByIndex(0).getViewRoot().getId();
seen.root = root();
search.value = "no such name";
search.dispatchEvent(new Event("input"));
seen.none = found.textContent;
document.querySelectorAll("details").forEach((one) => { one.open = true; one.dispatchEvent(new Event("toggle")); });
seen.rows = document.querySelectorAll("tbody tr").length;
for (const by of ["reason", "language", "share"]) {
  document.getElementById("colour").value = by;
  document.getElementById("colour").dispatchEvent(new Event("change"));
}
