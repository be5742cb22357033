// How the page draws a filter: its bits, and the curves between keys and bits.
"use strict";

const path = (name, d) => `<path class="${name}" d="M${d}"/>`; // of numbers alone
const drawn = {}; // the bits of each kind when they were last drawn
let column; // of a table, that the user chose

function showDrawing(f) {
  $("drawing").className = f.table ? "table" : "";
  $("asked-row").hidden = state.ask === "";
  $("asked").textContent = state.ask;
  const before = drawn[f.kind];
  // Bits that changed rise, unless all did.
  const cell = (row, i, mark, order = 0) => {
    const bit = f.rows[row][i];
    const e = element("i", (bit === "1" ? "on " : "") + mark, bit);
    if (before?.length === f.rows.length && before[row].length === f.rows[row].length &&
      before[row][i] !== bit) {
      e.classList.add("changed");
      e.style.animationDelay = order * 0.15 + "s";
    }
    return e;
  };
  (f.table ? showTable : showBytes)(f, cell);
  drawn[f.kind] = f.rows;
  const owners = f.probes.flatMap(p => p.owners ?? []);
  const active = document.activeElement;
  const focused = $("stored").contains(active) && active.textContent;
  $("stored").replaceChildren(element("span", "", "stored keys"), ...storedKeys().map(key => {
    const b = element("button", "pill" + (owners.includes(key) ? " owner" : ""), key);
    b.type = "button";
    b.addEventListener("click", () => ask(key));
    return b;
  }));
  [...$("stored").children].find(e => e.textContent === focused)?.focus();
  $("whose").replaceChildren(...f.probes.map(p => element("li", "", `bit ${p.bit} is ` +
    (p.owners ? "1, set by " + listed(p.owners) : "0"))));
  $("legend").textContent = legendOf(f);
  drawCurves(f);
}

// resize makes bits as large as fits.
function resize(columns, most, beside = 0) {
  const cell = Math.floor(($("drawing").clientWidth - beside) / columns);
  $("bits").style.setProperty("--cell", Math.max(8, Math.min(most, cell)) + "px");
}

// showBytes draws the bits of a Bloom filter, 2, 4 or 8 bytes in a line.
function showBytes(f, cell) {
  resize((f.rows.length > 16 ? 2 : 1) * ($("drawing").clientWidth < 600 ? 17.2 : 34.4), 26);
  $("bits").replaceChildren(...f.rows.map((bits, row) => element("span", "byte",
    ...[...bits].map((_, i) => {
      const order = f.probes.findIndex(p => p.bit === 8 * row + i);
      if (order < 0) return cell(row, i, "");
      const { owners } = f.probes[order];
      const shared = f.stored && owners[0] !== state.ask;
      return cell(row, i, "probe" + (!owners ? " unset" : shared ? " shared" : ""), order);
    }))));
  $("sum").textContent = "";
}

// showTable draws the slots of a ribbon filter, and beneath them the sums of those of the key.
function showTable(f, cell) {
  const e = f.equation, columns = [...f.rows[0]].map((_, i) => i);
  const wrong = e ? columns.filter(i => e.sums[i] !== e.fingerprint[i]) : [];
  const at = !e ? -1 : column ?? wrong[0] ?? 0;
  resize(columns.length, f.rows.length > 16 ? 18 : 26, 124);
  const focused = $("bits").contains(document.activeElement);
  const line = (name, className, cells) => element("tr", className, element("th", "", name),
    ...cells.map((c, i) => element("td", i === at ? "at" : "", c)));
  const choose = i => {
    const radio = element("input");
    radio.type = "radio";
    radio.name = "column";
    radio.ariaLabel = "column " + i;
    radio.checked = i === at;
    radio.addEventListener("input", () => { column = i; showDrawing(f); });
    return radio;
  };
  const table = element("table", "", line("column", "", columns.map(String)),
    line("", "", e ? columns.map(choose) : []),
    ...f.rows.map((_, row) => {
      const selected = e?.slots.includes(row);
      return line("slot " + row, selected ? "selected" : "",
        columns.map(i => cell(row, i, !selected ? "" : i === at ? "probe" : "row")));
    }));
  if (e) {
    table.append(line("sum", "sum", [...e.sums]), line("fingerprint", "", [...e.fingerprint]),
      line("", "", columns.map(i => wrong.includes(i) ? element("b", "miss", "≠") : "=")));
  }
  $("bits").replaceChildren(table);
  if (focused) table.querySelector(":checked")?.focus();
  $("sum").textContent = e ? inColumn(f, at) : "";
}

// drawCurves leads from the key to its bits, and from these to the keys that set them; in a table,
// to its slots.
function drawCurves(f) {
  const box = $("drawing").getBoundingClientRect();
  const place = e => {
    const r = e.getBoundingClientRect();
    return { x: r.left + r.width / 2 - box.left, y: r.top + r.height / 2 - box.top,
      left: r.left - box.left, top: r.top - box.top, bottom: r.bottom - box.top };
  };
  const curve = (x0, y0, x1, y1, name) => path(name,
    `${x0} ${y0}C${x0} ${0.4 * y0 + 0.6 * y1} ${x1} ${0.6 * y0 + 0.4 * y1} ${x1} ${y1}`);
  const asked = place($("asked")), paths = [];
  const pills = new Map([...document.querySelectorAll(".pill")]
    .map(e => [e.textContent, place(e)]));
  const cells = $("bits").querySelectorAll(".byte i");
  // The probes that are 0 come last, on top: they decide.
  for (const p of [...f.probes].sort((a, b) => !a.owners - !b.owners)) {
    const { x, top, bottom } = place(cells[p.bit]);
    paths.push(curve(asked.x, asked.bottom, x, top, p.owners ? "set" : "unset"));
    for (const pill of p.owners?.map(key => pills.get(key)) ?? []) {
      // The keys may have changed since the answer.
      if (pill) paths.push(curve(x, bottom, pill.x, pill.top, "owned"));
    }
  }
  for (const e of document.querySelectorAll(".selected th")) {
    const { left, y } = place(e), x = left - 14;
    paths.push(path("set", `${x} ${asked.bottom}V${y - 8}Q${x} ${y} ${left} ${y}`));
  }
  $("curves").innerHTML = paths.join("");
}
