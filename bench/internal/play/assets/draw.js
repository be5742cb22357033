// How the page draws a filter: its bits, and the curves between keys and bits.
"use strict";

const $ = id => document.getElementById(id);
const path = (name, d) => `<path class="${name}" d="M${d}"/>`; // of numbers alone
const isRibbon = f => f.kind === "ribbon";

// layOut chooses the largest cells with which all bits of f fit, and says where they are.
function layOut(width, f, most, height) {
  const bytes = f.bits / 8;
  let cell = most, gap, perRow, rows;
  for (; ; cell = cell > 1 ? cell - 1 : cell / 2) {
    gap = cell >= 5 ? Math.round(cell / 3) : 0;
    perRow = Math.min(bytes, Math.max(1, Math.floor((width + gap) / (8 * cell + gap))));
    rows = Math.ceil(bytes / perRow);
    const fits = rows * cell <= height && rows <= (cell > 20 ? 1 : 4) * perRow;
    if (fits || cell < 0.1) break;
  }
  const left = Math.floor((width - perRow * (8 * cell + gap) + gap) / 2);
  const at = bit => {
    const byte = Math.floor(bit / 8), column = byte % perRow;
    return [left + column * (8 * cell + gap) + bit % 8 * cell, Math.floor(byte / perRow) * cell];
  };
  return { cell, at, width, height: rows * cell };
}

// drawBits draws the bits of f with those of the lookup lit, and returns where they are.
function drawBits(canvas, f, most, height) {
  const margin = 4;
  const g = layOut(canvas.clientWidth - 2 * margin, f, most, height);
  const scale = window.devicePixelRatio;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = (g.height + 2 * margin) * scale;
  canvas.style.height = g.height + 2 * margin + "px";
  const c = canvas.getContext("2d");
  c.scale(scale, scale);
  c.translate(margin, margin);
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.font = `${Math.round(g.cell * 0.5)}px ui-monospace, "DejaVu Sans Mono", monospace`;
  const style = getComputedStyle(document.documentElement);
  const colors = Object.fromEntries(
    ["on", "off", "digit-on", "digit-off", "probe", "probe-ink", "miss", "panel"]
      .map(name => [name, style.getPropertyValue("--" + name)]));
  const isSet = bit => f.array[bit >> 3] >> (bit & 7) & 1;
  const inset = g.cell >= 5 ? 1 : 0, side = g.cell - 2 * inset;
  const digit = (bit, ink) => {
    if (g.cell < 16) return;
    const [x, y] = g.at(bit);
    c.fillStyle = ink;
    c.fillText(isSet(bit), x + g.cell / 2, y + g.cell / 2 + 1);
  };
  for (let bit = 0; bit < f.bits; bit++) {
    const [x, y] = g.at(bit), on = isSet(bit);
    c.fillStyle = on ? colors.on : colors.off;
    c.fillRect(x + inset, y + inset, side, side);
    digit(bit, on ? colors["digit-on"] : colors["digit-off"]);
  }
  const lit = f.probes.map(p => p.bit).concat(f.deciding);
  const radius = isRibbon(f) ? Math.max(1, g.cell / 2) : Math.max(3.5, g.cell / 2 + 1);
  for (const bit of lit) {
    const [x, y] = g.at(bit), set = isSet(bit) || isRibbon(f);
    c.beginPath();
    c.arc(x + g.cell / 2, y + g.cell / 2, radius - (set ? 0 : 1), 0, 7);
    c.fillStyle = set ? colors.probe : colors.panel;
    c.fill();
    if (!set) {
      c.strokeStyle = colors.miss;
      c.lineWidth = 2;
      c.stroke();
    }
    digit(bit, set ? colors["probe-ink"] : colors.miss);
  }
  return { ...g, margin };
}

// drawCurves leads from the key to its probes, and from these to the keys that set them.
function drawCurves(f, g) {
  const box = $("drawing").getBoundingClientRect();
  const place = e => {
    const r = e.getBoundingClientRect();
    return { x: r.left + r.width / 2 - box.left, top: r.top - box.top, bottom: r.bottom - box.top };
  };
  const canvas = place($("bits")), left = $("bits").getBoundingClientRect().left - box.left;
  const curve = (x0, y0, x1, y1, name, bend = (y1 - y0) * 0.6) =>
    path(name, `${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`);
  const half = g.cell / 2, paths = [], asked = place($("asked"));
  const pills = new Map([...document.querySelectorAll(".pill")].map(p => [p.textContent, p]));
  const spot = bit => {
    const [x, y] = g.at(bit);
    return [left + g.margin + x + half, canvas.top + g.margin + y];
  };
  // The probes that are not set come last, on top: they decide.
  for (const p of [...f.probes].sort((a, b) => b.set - a.set)) {
    const [x, y] = spot(p.bit);
    paths.push(curve(asked.x, asked.bottom, x, y, p.set ? "set" : "unset"));
    for (const owner of p.owners ?? []) {
      if (!pills.has(owner)) continue;
      const pill = place(pills.get(owner));
      paths.push(curve(x, y + g.cell, pill.x, pill.top, "owned"));
    }
  }
  for (const bit of f.deciding.slice(0, 1000)) {
    paths.push(curve(asked.x, asked.bottom, ...spot(bit), "many"));
  }
  $("curves").innerHTML = paths.join("");
}
