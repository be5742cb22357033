// The page asks the server about its settings and shows the answer. All arithmetic of filters is
// the server's. Keys reach the page as text only, never as HTML.
"use strict";

const animals = "ant bee cat dog eel fox gnu hen ibis jay kiwi lynx".split(" ");
const first = { keys: animals, shape: "decimal", n: 0, bits: 8, ask: "zebra", kind: "exact" };
const adders = document.querySelectorAll("[data-add]");
let state, answer, request, turn = 0;

const storedKeys = () => state.keys.filter(key => key !== "");
// room returns how many keys of a shape the page takes besides the others.
const room = () => Math.max(0, $("settings").dataset.maxKeys - storedKeys().length);

// set changes settings. The address may ask for any n, and buttons for more than there is room for.
function set(settings) {
  state = { ...state, ...settings };
  state.n = Math.min(Math.max(0, Math.trunc(state.n) || 0), room());
}

function readAddress() {
  const p = new URLSearchParams(location.hash.slice(1));
  const text = name => p.get(name) ?? first[name];
  set({
    keys: p.has("keys") ? p.get("keys").split("\n") : first.keys,
    shape: text("shape"), n: Number(text("n")), bits: Number(text("bits")),
    ask: text("ask"), kind: text("kind"),
  });
  $("keys").value = state.keys.join("\n");
  $("shape").value = state.shape;
  $("bits-per-key").value = state.bits;
  $("ask").value = state.ask;
  const radio = document.querySelector(`input[value="${CSS.escape(state.kind)}"]`);
  (radio ?? document.querySelector("input[type=radio]")).checked = true;
  update();
}

function writeAddress() {
  const p = new URLSearchParams({ ...state, keys: state.keys.join("\n") });
  history.replaceState(null, "", "#" + p);
}

function change(settings) {
  set(settings);
  writeAddress();
  update();
}

async function update() {
  $("bits-shown").textContent = state.bits;
  request?.abort();
  const mine = request = new AbortController();
  const { bits, ask, shape, n } = state;
  const keys = storedKeys();
  try {
    const response = await fetch("/filters", {
      method: "POST", signal: mine.signal, headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ keys, shape, n, bits, ask }),
    });
    if (!response.ok) throw new Error((await response.text()).trim());
    answer = await response.json();
    for (const f of answer.filters) {
      f.array = Uint8Array.from(atob(f.bytes), c => c.charCodeAt(0));
      f.probes ??= [];
      f.deciding ??= [];
      f.falsePositives ??= [];
    }
    $("problem").textContent = "";
    show();
  } catch (error) {
    if (mine.signal.aborted) return;
    $("problem").textContent = error instanceof TypeError
      ? "The program no longer answers: start it again." : "Not possible: " + error.message + ".";
  }
}

// element makes an element; what it holds is text or elements.
function element(name, className, ...children) {
  const e = document.createElement(name);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

// rule says where k comes from.
const rule = {
  exact: "LevelDB takes bits per key times 0.69, rounded down.",
  tuned: "Tuning chooses k and the size for these keys.",
  ribbon: "So small a ribbon filter is written as LevelDB's.",
};
// trade says what one gains with a kind, and what it costs.
const trade = {
  exact: ["C++ LevelDB and goleveldb read it.",
    "many false positives between keys that are close together."],
  tuned: ["the same readers, and fewer false positives between close keys.",
    "slower to build."],
  ribbon: ["the fewest false positives, with keys of every shape.",
    "slow to build and to ask; only levelbloom reads it."],
};
const chosen = () => answer.filters.find(f => f.kind === state.kind) ?? answer.filters[0];
const whole = n => n.toLocaleString("en");
const plural = (n, word) => whole(n) + " " + word + (n === 1 ? "" : "s");

function percent(r) {
  if (r.asked < 100 || r.false === 0) return whole(r.false) + " of " + whole(r.asked);
  return Number((100 * r.false / r.asked).toPrecision(2)) + " %";
}

function answerOf(f) {
  if (state.ask === "") return ["", ""];
  if (!f.contains) return ["absent", "good"];
  return f.stored ? ["may contain", "maybe"] : ["false positive", "maybe"];
}

function show() {
  const f = chosen();
  showVerdict(f);
  showDrawing(f);
  showDetails(f);
  showCards();
  $("added").textContent = state.n
    ? `${whole(state.n)} keys of the shape ${state.shape}` +
      (f.between.asked ? ", 63 % of a range, the keys in between absent; " : "; ") +
      `${whole(answer.n)} stored in all.` : "";
  $("k-note").textContent = isRibbon(f)
    ? `${plural(f.k, "column")}: a lookup adds up some bits in each. All sums are right for ` +
      `an absent key with a probability of 1 in ${whole(2 ** f.k)} or less.`
    : `k = ${f.k}: a key sets ${plural(f.k, "bit")}, its probes. ` + (rule[f.kind] ?? "");
  for (const b of adders) b.disabled = room() === state.n;
  $("try-stored").disabled = answer.n === 0;
  $("try-false").disabled = f.falsePositives.length === 0;
}

function showVerdict(f) {
  const [word, className] = answerOf(f);
  const unset = f.probes.filter(p => !p.set).length;
  let why = "Type a key, or try one of these.";
  if (word === "absent") {
    why = isRibbon(f)
      ? "The bits that this key selects add up to something else than its fingerprint. " +
        "They add up for every stored key, so it was never stored. Nothing is read from the disk."
      : `A stored key sets all of its ${plural(f.k, "bit")}. ${unset} of this key's ${f.k} ` +
        (unset === 1 ? "is" : "are") + " not set, so it was never stored. " +
        "Nothing is read from the disk.";
  } else if (word !== "") {
    why = isRibbon(f)
      ? `The bits that this key selects add up to its fingerprint. The answer depends on the ` +
        `${whole(f.deciding.length)} marked bits: flip one, and it is "absent". `
      : `All of its ${plural(f.k, "bit")} are set` + (f.stored ? ". " : ", but by other keys. ");
    why += f.stored ? "The database reads, and finds the key."
      : 'The filter says "may contain", but it was never stored: the database reads in vain.';
  }
  $("verdict").replaceChildren(...(word
    ? [element("b", className, word[0].toUpperCase() + word.slice(1) + "."), " ", why] : [why]));
}

function showDrawing(f) {
  $("asked-row").hidden = state.ask === "";
  $("asked").textContent = state.ask;
  const owners = [...new Set(f.probes.flatMap(p => p.set && p.owners ? p.owners : []))];
  const most = 16, sample = answer.sample ?? [];
  // The keys keep their places if all of them are shown.
  const pills = answer.n <= most ? sample : [...new Set([...owners, ...sample])].slice(0, most);
  const active = document.activeElement;
  const focused = $("stored").contains(active) && active.textContent;
  $("stored").replaceChildren(element("span", "", "the stored keys"), ...pills.map(key => {
    const b = element("button", "pill" + (owners.includes(key) ? " owner" : ""), key);
    b.type = "button";
    b.addEventListener("click", () => ask(key));
    return b;
  }));
  if (focused) [...$("stored").children].find(e => e.textContent === focused)?.focus();
  if (answer.n > pills.length) {
    $("stored").append(element("span", "", `and ${whole(answer.n - pills.length)} more`));
  }
  const canvas = $("bits");
  const g = drawBits(canvas, f, 30, 420);
  canvas.setAttribute("aria-label", `The ${whole(f.bits)} bits of the ${f.kind} filter; ` +
    `${Math.round(100 * f.fill)} % of them are set.`);
  drawCurves(f, g);
  const legend = [["on", "a bit that is set"], ["off", "a bit that is not set"]];
  if (isRibbon(f)) {
    if (f.deciding.length) legend.push(["hit", "a bit that this answer depends on"]);
  } else if (state.ask !== "") {
    legend.push(["hit", "probe of the key: set"], ["unset", "probe of the key: not set"]);
    if (owners.length) legend.push(["owner", "stored key that set such a bit"]);
  }
  $("legend").replaceChildren(...legend.map(([name, text]) =>
    element("span", "", element("i", name), text)));
}

function showDetails(f) {
  const items = f.probes.map(p => {
    const owners = (p.owners ?? []).join(", ") + (p.more ? ` and ${whole(p.more)} more` : "");
    return `bit ${whole(p.bit)} is ` + (p.set ? "set, by " + owners : "not set");
  });
  if (items.length === 0) {
    items.push(isRibbon(f) ? "In a ribbon filter, no bit belongs to a key: the bits solve one " +
      "equation for each key and column, all at once." : "Look up a key to see.");
  }
  $("whose").replaceChildren(...items.map(text => element("li", "", text)));
  const hex = array => [...array].map(b => b.toString(16).padStart(2, "0")).join(" ");
  const bits = f.array.subarray(0, f.bits / 8), trailer = f.array.subarray(f.bits / 8), most = 256;
  $("bytes").replaceChildren(hex(bits.subarray(0, most)),
    bits.length > most ? ` ... ${whole(bits.length - most)} more bytes ... ` : " ",
    element("b", "", hex(trailer)));
  $("bytes-note").textContent = `${f.encoding}, ${plural(f.array.length, "byte")}. ` +
    (f.encoding === "LevelDB Bloom" ? "The last byte is k. C++ LevelDB and goleveldb read this."
      : "The last bytes are the trailer: parameters, a check byte, and the encoding.");
}

function showCards() {
  for (const f of answer.filters) {
    const card = document.querySelector(`[data-kind="${f.kind}"]`);
    const [word, className] = answerOf(f);
    const label = card.querySelector(".answer");
    label.textContent = word;
    label.className = "answer " + className;
    drawBits(card.querySelector("canvas"), f, 12, 96);
    const rate = f.random.false / f.random.asked;
    const width = rate > 0 ? Math.max(2, 100 + 20 * Math.log10(rate)) : 0;
    card.querySelector("i").style.width = width + "%";
    const rows = [["random keys", percent(f.random)]];
    if (f.between.asked) rows.push(["keys in between", percent(f.between)]);
    rows.push(["size", plural(f.array.length, "byte")],
      [isRibbon(f) ? "columns" : "probes per key, k", f.k],
      ["bits set", Math.round(100 * f.fill) + " %"]);
    const [gain, cost] = trade[f.kind] ?? ["", ""];
    card.querySelector(".trade").replaceChildren(...["Gain", gain, "Cost", cost].map(text =>
      element("span", "", text)));
    card.querySelector(".figures").replaceChildren(...rows.flatMap(([name, value]) =>
      [element("span", name.includes("keys") ? "rate" : "", name),
        element("span", "", String(value))]));
  }
}

function ask(key) {
  $("ask").value = key;
  change({ ask: key });
}

$("ask").addEventListener("input", e => change({ ask: e.target.value }));
$("keys").addEventListener("input", e => change({ keys: e.target.value.split("\n") }));
$("shape").addEventListener("input", e => change({ shape: e.target.value }));
$("bits-per-key").addEventListener("input", e => change({ bits: Number(e.target.value) }));
$("kinds").addEventListener("input", e => {
  state.kind = e.target.value;
  writeAddress();
  if (answer) show();
});
$("none").addEventListener("click", () => change({ n: 0 }));
for (const b of adders) {
  b.addEventListener("click", () => change({ n: state.n + Number(b.dataset.add) }));
}
$("try-stored").addEventListener("click", () => ask(answer.sample[turn++ % answer.sample.length]));
$("try-absent").addEventListener("click", () => ask(chosen().absent));
$("try-false").addEventListener("click", () => {
  const all = chosen().falsePositives;
  ask(all[turn++ % all.length]);
});
window.addEventListener("hashchange", readAddress);
window.addEventListener("resize", () => answer && show());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => answer && show());
readAddress();
