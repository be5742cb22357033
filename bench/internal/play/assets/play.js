// The page asks the server about its settings and shows the answer. All arithmetic of filters is
// the server's. Keys reach the page as text only, never as HTML.
"use strict";

const animals = "ant bee cat dog eel fox gnu hen ibis jay kiwi lynx".replaceAll(" ", "\n");
const first = { keys: animals, shape: "decimal", n: 0, bits: 8, ask: "zebra", kind: "bloom",
  planned: 1000 };
const inputs = ["ask", "keys", "shape", "planned"];
let state, answer, request, turn = 0;

const storedKeys = () => state.keys.split("\n").filter(key => key !== "");
// room is how many keys of a shape fit beside the others.
const room = () => Number($("keys").dataset.most) - storedKeys().length;

function readAddress() {
  state = { ...first, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
  state.n = Number(state.n);
  state.bits = Number(state.bits);
  for (const id of inputs) $(id).value = state[id];
  $("bits-per-key").value = state.bits;
  const radio = document.querySelector(`input[value="${CSS.escape(state.kind)}"]`);
  (radio ?? document.querySelector("input[type=radio]")).checked = true;
  update();
}

function change(settings) {
  state = { ...state, ...settings };
  history.replaceState(null, "", "#" + new URLSearchParams(state));
  update();
}

async function update() {
  $("bits-shown").textContent = state.bits;
  updateCurve();
  request?.abort();
  const mine = request = new AbortController();
  const { bits, ask, shape, n } = state;
  const keys = storedKeys();
  try {
    answer = await post("/filters", { keys, shape, n, bits, ask }, mine.signal);
    for (const f of answer.filters) {
      f.array = Uint8Array.from(atob(f.bytes), c => c.charCodeAt(0));
      for (const p of f.probes ??= []) p.more = p.owners?.splice(3).length;
      f.deciding ??= [];
      f.falsePositives ??= [];
    }
    $("problem").textContent = "";
    show();
  } catch (error) {
    if (!mine.signal.aborted) $("problem").textContent = problem(error);
  }
}

async function post(path, question, signal) {
  const response = await fetch(path, {
    method: "POST", signal, headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

const problem = error => error instanceof TypeError
  ? "The program no longer answers: start it again." : "Not possible: " + error.message + ".";

// element makes an element; what it holds is text or elements.
function element(name, className, ...children) {
  const e = document.createElement(name);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

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
  showCards();
  showVerdict(f);
  showDrawing(f);
  $("whose").replaceChildren(...f.probes.map(p => {
    const owners = (p.owners ?? []).join(", ") + (p.more ? ` and ${whole(p.more)} more` : "");
    return element("li", "", `bit ${whole(p.bit)} is ` + (p.set ? "set, by " + owners : "not set"));
  }));
  $("added").textContent = state.n
    ? `${whole(state.n)} keys of the shape ${state.shape}` +
      (f.between.asked ? ", 63 % of a range, the keys in between absent; " : "; ") +
      `${whole(answer.n)} stored in all` + (state.n < room() ? "." : ": no more fit.") : "";
  for (const b of document.querySelectorAll("[data-add]")) b.disabled = state.n >= room();
  $("try-stored").disabled = answer.n === 0;
  $("try-false").disabled = f.falsePositives.length === 0;
}

function showCards() {
  for (const f of answer.filters) {
    const card = document.querySelector(`[data-kind="${f.kind}"]`);
    const [word, className] = answerOf(f);
    card.querySelector(".answer").textContent = word;
    card.querySelector(".answer").className = "answer " + className;
    const rate = f.random.false / f.random.asked;
    card.querySelector("i").style.width =
      (rate > 0 ? Math.max(2, 100 + 20 * Math.log10(rate)) : 0) + "%";
    const figures = [["random keys", percent(f.random)]];
    if (f.between.asked) figures.push(["keys between", percent(f.between)]);
    figures.push(["size", plural(f.array.length, "byte")], [isRibbon(f) ? "columns" : "k", f.k]);
    card.querySelector(".figures").replaceChildren(...figures.map(([name, value]) =>
      element("span", "", name + " ", element("b", "", String(value)))));
  }
}

function showVerdict(f) {
  const [word, className] = answerOf(f);
  const unset = f.probes.filter(p => !p.set).length;
  let why = "Type a key, or try one of these.";
  if (word === "absent") {
    why = isRibbon(f)
      ? "The bits that this key selects add up to something else than its fingerprint. " +
        "They add up for every stored key, so it was never stored."
      : `A stored key sets all of its ${plural(f.k, "bit")}. ${unset} of this key's ${f.k} ` +
        (unset === 1 ? "is" : "are") + " not set, so it was never stored.";
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
  $("stored").replaceChildren(element("span", "", "stored"), ...pills.map(key => {
    const b = element("button", "pill" + (owners.includes(key) ? " owner" : ""), key);
    b.type = "button";
    b.addEventListener("click", () => ask(key));
    return b;
  }));
  if (focused) [...$("stored").children].find(e => e.textContent === focused)?.focus();
  if (answer.n > pills.length) {
    $("stored").append(element("span", "", `and ${whole(answer.n - pills.length)} more`));
  }
  $("bits").setAttribute("aria-label", `The ${whole(f.bits)} bits of the ${f.kind} filter.`);
  drawCurves(f, drawBits($("bits"), f, 30, 420));
  $("legend").textContent = isRibbon(f)
    ? "No bit belongs to a key: the bits solve one equation for each key and column, all at " +
      "once. The last 3 to 7 bytes describe the filter."
    : "Circles are the bits of the key that is looked up, counted from 0, row by row. Curves lead " +
      "to the stored keys that set them.";
}

function ask(key) {
  $("ask").value = key;
  change({ ask: key });
}

for (const id of inputs) $(id).addEventListener("input", e => change({ [id]: e.target.value }));
$("bits-per-key").addEventListener("input", e => change({ bits: Number(e.target.value) }));
$("time").addEventListener("click", timeFilters);
$("kinds").addEventListener("input", e => change({ kind: e.target.value }));
$("none").addEventListener("click", () => change({ n: 0 }));
for (const b of document.querySelectorAll("[data-add]")) {
  b.addEventListener("click", () =>
    change({ n: Math.min(state.n + Number(b.dataset.add), Math.max(state.n, room())) }));
}
$("try-stored").addEventListener("click", () => ask(answer.sample[turn++ % answer.sample.length]));
$("try-absent").addEventListener("click", () => ask(chosen().absent));
$("try-false").addEventListener("click", () => {
  const all = chosen().falsePositives;
  ask(all[turn++ % all.length]);
});
window.addEventListener("hashchange", readAddress);
window.addEventListener("resize", () => answer && show());
window.addEventListener("resize", () => curve.points.length && showCurve());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => answer && show());
readAddress();
