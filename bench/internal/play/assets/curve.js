// The curve of false positives against the number of keys.
"use strict";

const steps = 15; // from a tenth to 1.5 times the planned number
let curve, curveRequest;

const choice = () => ({ kind: $("kinds").querySelector(":checked").value, bits: state.bits,
  n: Number(state.planned) });
const describe = c => `${c.kind}, ${c.bits} bits per key, ${plural(c.n, "key")} in a filter`;
const percentOf = rate => Number((100 * rate).toPrecision(3)) + "\u00a0%";
const row = (...cells) => element("tr", "", ...cells.map(c => element("td", "", c)));

// updateCurve asks for one number of keys after the other, unless it shows them.
async function updateCurve() {
  const planned = choice(), name = describe(planned), points = [];
  if (curve?.name === name) return;
  curveRequest?.abort();
  const { signal } = curveRequest = new AbortController();
  curve = { name, planned: planned.n, points };
  try {
    while (points.length < steps) {
      $("progress").textContent = `Computed: ${points.length} of ${steps} numbers of keys.`;
      const n = Math.round(planned.n * (points.length + 1) / 10);
      const p = { n, ...await post("/point", { ...planned, n }, signal) };
      p.mean = p.trials.reduce((sum, r) => sum + r, 0) / p.trials.length;
      const squares = p.trials.reduce((sum, r) => sum + (r - p.mean) ** 2, 0);
      p.deviation = Math.sqrt(squares / (p.trials.length - 1));
      points.push(p);
      showCurve();
    }
    $("progress").textContent = "";
  } catch (error) {
    if (!signal.aborted) $("progress").textContent = problem(error);
  }
}

// showCurve draws with a logarithmic scale. What is below it, as 0 is, lies on its lower end.
function showCurve() {
  const { planned, points } = curve, left = 76, right = $("curve").clientWidth - 24;
  const top = 30, bottom = 300;
  const rates = points.flatMap(p => [p.computed, p.textbook, p.mean + p.deviation, ...p.trials]);
  const low = Math.min(...rates.filter(r => r > 0)) / 1.3, high = Math.max(...rates) * 1.3;
  const x = n => left + (n / planned - 0.05) / 1.5 * (right - left);
  const y = r => top + Math.log(high / Math.max(r, low)) / Math.log(high / low) * (bottom - top);
  const text = (x, y, anchor, s) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${s}</text>`;
  const line = (all, rate) => all.map(p => x(p.n) + " " + y(rate(p))).join("L");
  let svg = text(0, 14, "start", "false positives among absent keys, logarithmic") +
    text(right, bottom + 36, "end", "keys in a filter");
  for (const n of [0.1, 0.5, 1, 1.5].map(part => part * planned)) {
    svg += path("grid", `${x(n)} ${top}V${bottom}`) + text(x(n), bottom + 18, "middle", whole(n));
  }
  const marks = high / low > 300 ? [1] : high / low > 5 ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7];
  for (const r of [-8, -7, -6, -5, -4, -3, -2, -1].flatMap(e => marks.map(m => m * 10 ** e))) {
    if (r < low || r > high) continue;
    svg += path("grid", `${left} ${y(r)}H${right}`) + text(left - 8, y(r) + 4, "end", percentOf(r));
  }
  svg += path("band", line(points, p => p.mean + p.deviation) + "L" +
    line(points.toReversed(), p => p.mean - p.deviation));
  for (const p of points) {
    for (const r of p.trials) svg += `<circle cx="${x(p.n)}" cy="${y(r)}" r="2.5"/>`;
  }
  for (const of of ["textbook", "computed", "mean"]) svg += path(of, line(points, p => p[of]));
  $("curve").innerHTML = svg; // of numbers alone
  $("numbers").replaceChildren(...points.map(p => row(whole(p.n), percentOf(p.computed),
    percentOf(p.textbook), percentOf(p.mean) + " ± " + percentOf(p.deviation))));
}
