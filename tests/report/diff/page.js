await ready;
const $$ = (query) => [...document.querySelectorAll(query)];
const rows = () => { $$("#sections details").forEach((one) => { one.open = true; one.dispatchEvent(new Event("toggle")); }); return $$("#sections tbody tr").length; };
const choose = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event("input")); };
const files = () => $$("#files > details").map((one) => one.id);
seen.contents = $$("#contents a").map((one) => one.textContent);
seen.folded = $$(".hunks").length;
seen.first = $$("#sections > details[open] h2").map((one) => one.textContent);
seen.all = [rows(), files()];
for (const [id, value] of [["folder", "python/sglang/lang"], ["fate", "added"], ["cause", "reach"], ["risk", "evaluates a text"], ["word", "old_77"]]) {
  choose(id, value);
  seen[id] = [rows(), files(), $$("#contents a")[0].textContent];
  choose(id, "");
}
rows();
seen.links = $$("#sections a").map((one) => one.getAttribute("href"));
location.hash = $$("#sections a").find((one) => one.textContent === "hunk" && one.hash.includes(":+")).hash;
await new Promise((done) => addEventListener("hashchange", () => setTimeout(done)));
const here = document.querySelector(".here");
seen.here = [here.textContent, here.closest("details").id, here.closest("details").open];
seen.narrow = $$("td").filter((one) => one.clientWidth < 40).length;
