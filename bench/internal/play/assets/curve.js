// The curves of false positives against bits per key.
"use strict";

const steps = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]; // bits per key
let curve, curveRequest;

const named = kind => kind === "bloom" && state.tuned ? "bloom+tuned" : kind;
const choice = () => ({ kind: named(state.kind), bits: state.bits, n: Number(state.planned) });
const describe = c => `${c.kind}, ${c.bits} bits per key, ${plural(c.n, "key")} in a filter`;
const row = (...cells) => element("tr", "", ...cells.map(c => element("td", "", c)));

// updateCurve asks for one point after the other, unless it shows them.
async function updateCurve() {
  const { n } = choice(), name = `${named("bloom")}, ${n} keys`;
  if (curve?.name === name) return showCurve();
  curveRequest?.abort();
  const { signal } = curveRequest = new AbortController();
  const mine = curve = { name, bloom: [], ribbon: [], needed: {} };
  try {
    for (const kind of ["ribbon", "bloom"]) {
      showCurve();
      $("progress").textContent = "Computing bits per key for 1 %.";
      mine.needed[kind] = await post("/bits", { kind, bits: 10, n }, signal);
    }
    for (const bits of steps) {
      for (const kind of ["ribbon", "bloom"]) {
        $("progress").textContent = `Computing ${bits} of 20 bits per key.`;
        mine[kind].push(await post("/rate", { kind: named(kind), bits, n }, signal));
        showCurve();
      }
    }
    $("progress").textContent = "";
  } catch (error) {
    if (!signal.aborted) $("progress").textContent = problem(error);
  }
}

// showCurve draws with a logarithmic scale.
function showCurve() {
  const { needed, bloom, ribbon } = curve;
  $("needed").textContent = plural(choice().n, "key") + " at 1 % of false positives: Ribbon " +
    `${needed.ribbon ?? "…"} bits per key, Bloom ${needed.bloom ?? "…"}.`;
  const left = 76, right = $("curve").clientWidth - 24, top = 30, bottom = 300;
  const low = Math.min(0.01, ...bloom, ...ribbon) / 2;
  const x = bits => left + (bits - 2) / 18 * (right - left);
  const y = r => top + Math.log(r) / Math.log(low) * (bottom - top);
  const text = (x, y, anchor, s) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${s}</text>`;
  let svg = text(0, 14, "start", `false positives, ${plural(choice().n, "key")} in a filter`) +
    text(right, bottom + 36, "end", "bits per key");
  for (const bits of steps) {
    svg += path("grid", `${x(bits)} ${top}V${bottom}`) + text(x(bits), bottom + 18, "middle", bits);
  }
  for (let r = 1; r > low; r /= 10) {
    svg += path("grid", `${left} ${y(r)}H${right}`) + text(left - 8, y(r) + 4, "end", percentOf(r));
  }
  svg += path("now", `${x(state.bits)} ${top}V${bottom}`);
  for (const kind of ["bloom", "ribbon"]) {
    const line = curve[kind].map((rate, i) => x(steps[i]) + " " + y(rate));
    if (line.length > 0) svg += path(kind, line.join("L"));
  }
  $("curve").innerHTML = svg; // of numbers alone
  $("numbers").replaceChildren(...bloom.map((rate, i) =>
    row(String(steps[i]), percentOf(rate), percentOf(ribbon[i]))));
}
