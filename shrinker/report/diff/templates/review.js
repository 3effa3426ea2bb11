async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
}
const [CELLS, FATE, CAUSE, PATH, LINE, UPSTREAM, CHAIN] = [0, 1, 2, 3, 4, 5, 6];
const slug = (title) => title.toLowerCase().replace(/[^a-z]+/g, "-").replace(/^-|-$/g, "");
const boxes = new Map();
let data, texts, risks, causes;

// ---- links
function link(text, address) {
  const made = make("a", text);
  made.href = address;
  return made;
}
// Pull requests and commits within a text; the rest with places where a line may end.
function linked(text, commits) {
  const sought = commits ? /(#\d+|\b[0-9a-f]{10,40}\b)/ : /(#\d+)\b/;
  return text.split(sought).flatMap((part, at) => {
    if (at % 2 === 0 || !data.repository) return broken(part);
    return [link(part, `${data.repository}/${part[0] === "#" ? `pull/${part.slice(1)}` : `commit/${part}`}`)];
  });
}
// Where a side of the comparison has a file in upstream's repository.
function upstream(path, line, removed) {
  const ref = data.refs[removed ? 0 : 1];
  return data.repository && ref ? [link("upstream", `${data.repository}/blob/${ref}/${path}${line ? `#L${line}` : ""}`)] : [];
}
const anchor = (path, line, removed) => `#${encodeURI(path)}${line ? `:${removed ? "-" : "+"}${line}` : ""}`;

// ---- filters
const folderOf = (path) => path.split("/").slice(0, -1).join("/");
const under = (path, folder) => !folder || path.startsWith(`${folder}/`);
function wanted() {
  const word = $("word").value.trim().toLowerCase(), [folder, fate, cause, risk] = ["folder", "fate", "cause", "risk"].map((id) => $(id).value);
  const risky = (path) => !risk || (risks.get(path) || []).some((one) => risk === "any" || one === risk);
  return {
    row: (row) => under(row[PATH], folder) && (!fate || row[FATE] === fate) && (!cause || row[CAUSE] === cause) && risky(row[PATH])
      && (!word || row[CELLS].some((cell) => cell.toLowerCase().includes(word))),
    file: (file) => under(file.path, folder) && (!fate || file.fate === fate) && (!cause || (causes.get(file.path) || new Set()).has(cause)) && risky(file.path)
      && (!word || file.path.toLowerCase().includes(word) || file.text.toLowerCase().includes(word)),
  };
}
function choices(id, counted) {
  $(id).append(...[...counted].sort((a, b) => a[0] < b[0] ? -1 : 1).map(([value, count]) => {
    const made = make("option", `${value} (${n(count)})`);
    made.value = value;
    return made;
  }));
}
function prepare() {
  risks = new Map(); causes = new Map();
  const kinds = new Map(), folders = new Map();
  for (const [path, kind] of data.risks) {
    risks.set(path, [...(risks.get(path) || []), kind]);
    kinds.set(kind, (kinds.get(kind) || 0) + 1);
  }
  for (const section of data.sections) for (const row of section.rows)
    if (row[CAUSE] && row[PATH]) causes.set(row[PATH], (causes.get(row[PATH]) || new Set()).add(row[CAUSE]));
  data.files = data.files.map(([path, text, commits]) => {
    const fate = text.startsWith("--- /dev/null") ? "added" : text.split("\n", 2)[1] === "+++ /dev/null" ? "removed" : "changed";
    for (let folder = folderOf(path); folder; folder = folderOf(folder)) folders.set(folder, (folders.get(folder) || 0) + 1);
    return { path, text, commits, fate };
  });
  texts = new Map(data.files.map((file) => [file.path, file]));
  choices("folder", folders);
  if (risks.size) choices("risk", [["any", risks.size], ...kinds]);
}

// ---- the page
function cell(section) {
  return (text, at, { of: row }) => {
    const path = row[PATH], removed = row[FATE] === "removed", told = linked(text, section.columns[at] === "commits");
    if (at || section.columns[0] === "commits") return told;
    const code = make("code"), more = make("small"), out = [code];
    code.append(...broken(text));
    if (path && !path.endsWith("/")) {
      more.append(make("br"), ...(texts.has(path) ? [link("hunk", anchor(path, row[LINE], removed))] : []), ...upstream(path, row[UPSTREAM], removed));
      out.push(more);
    }
    if (row[CHAIN].length) out.push(folded(["why"], () => make("pre", row[CHAIN].join("\n"))));
    return out;
  };
}
function counted(text) {
  const rows = text.split("\n").slice(2);
  return `+${n(rows.filter((row) => row[0] === "+").length)} −${n(rows.filter((row) => row[0] === "-").length)}`;
}
function hunks(file) {
  const made = make("pre", undefined, "hunks");
  let before = 0, after = 0;
  made.append(...file.text.replace(/\n$/, "").split("\n").slice(2).map((text) => {
    const sign = text[0], one = make("span", text, { "+": "a", "-": "d", "@": "h" }[sign]);
    const head = sign === "@" && /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(text);
    if (head) [before, after] = [+head[1], +head[3]];
    else if (sign !== "\\") {
      one.dataset.o = (sign === "+" ? "" : before++).toString().padStart(5);
      one.dataset.w = (sign === "-" ? "" : after++).toString().padStart(5);
    }
    return one;
  }));
  const links = make("p");
  links.append(...linked(file.commits.join(", "), true), " ", ...(file.fate === "added" ? [] : upstream(file.path, 0, true)), " ", ...(file.fate === "removed" ? [] : upstream(file.path, 0, false)));
  const box = make("div");
  box.append(links, made);
  return box;
}
function entry(parent, id, title, shown, all) {
  const made = link(title, `#${id}`);
  made.append(make("span", shown === all ? n(all) : `${n(shown)} of ${n(all)}`));
  parent.append(made);
}
function draw() {
  const passes = wanted(), contents = $("contents"), sections = [], was = new Set([...boxes].filter(([, box]) => box.open).map(([id]) => id));
  boxes.clear();
  contents.replaceChildren(...(data.sections.some((one) => one.first) ? [make("b", "Look at this first")] : []));
  data.sections.forEach((section, at) => {
    if (!section.first && (!at || data.sections[at - 1].first)) contents.append(make("b", "All that differs"));
    const id = slug(section.title), rows = section.rows.filter(passes.row).map((row) => Object.assign([...row[CELLS]], { of: row }));
    entry(contents, id, section.title, rows.length, section.rows.length);
    if (!rows.length) return;
    const box = folded([make("h2", section.title), ` (${n(rows.length)})`], () => {
      const inside = make("div");
      inside.append(...(section.intro ? [make("p", section.intro)] : []), table(section.columns, rows, cell(section)));
      return inside;
    });
    box.id = id;
    boxes.set(id, box); sections.push(box);
    box.open = was.size ? was.has(id) : section.first;
  });
  $("sections").replaceChildren(...sections);
  const files = data.files.filter(passes.file);
  if (data.files.length) {
    contents.append(make("b", "Text"));
    entry(contents, "files", "Unified diff by file", files.length, data.files.length);
  }
  $("files").replaceChildren(...(files.length ? [make("h2", `Unified diff of the generated trees (${n(files.length)})`)] : []), ...files.map((file) => {
    const name = make("code"), box = folded([name, ` ${counted(file.text)}`], () => hunks(file));
    name.append(...broken(file.path));
    box.id = file.path; boxes.set(file.path, box);
    box.open = was.has(file.path);
    return box;
  }));
}
// `#section`, `#path`, or a line of a path: `#path:+12` after, `#path:-12` before.
function go() {
  const [, id, side, line] = /^(.*?)(?::([+-])(\d+))?$/.exec(decodeURI(location.hash.slice(1)));
  const box = boxes.get(id) || (id === "files" && $("files"));
  if (!box) return;
  box.open = true;
  if (box.children.length === 1) box.dispatchEvent(new Event("toggle"));
  let target = box;
  if (line) {
    const key = side === "+" ? "w" : "o", far = (one) => Math.abs(+one.dataset[key] - +line);
    const lines = [...box.querySelectorAll(".hunks span")].filter((one) => (one.dataset[key] || "").trim());
    target = lines.reduce((best, one) => !best || far(one) < far(best) ? one : best, null) || box;
    document.querySelectorAll(".here").forEach((one) => one.classList.remove("here"));
    target.classList.add("here");
  }
  target.scrollIntoView({ block: line ? "center" : "start" });
}
const ready = unpacked($("data").textContent).then((found) => {
  data = found;
  prepare(); draw(); go();
});
for (const id of ["word", "folder", "fate", "cause", "risk"]) $(id).addEventListener("input", draw);
addEventListener("hashchange", go);
addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); $("word").focus(); }
});
