/* What a reader may do with a page: sort and filter its tables, ask the marks of its figures, take figures away.
   All that it says is there without this script. */
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...content) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...content);
    return element;
  };

  // Tables. A row of one wide cell begins a group; rows are sorted and counted within theirs.

  const UNITS = {
    ns: 1e-9, "µs": 1e-6, ms: 1e-3, min: 60, h: 3600, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30,
    "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
  };
  const NUMBER = /^[<>≥≤×+]?\s*([-−]?\d[\d.]*(?:e[-+]?\d+)?)\s*([^\s\d,;]*)/;
  const LONG = 12;

  const value = (text) => {
    const found = NUMBER.exec(text);
    return found ? Number(found[1].replace("−", "-")) * (UNITS[found[2]] ?? 1) : NaN;
  };
  const said = (row, column) => (row.cells[column]?.innerText ?? "").trim();
  const empty = (text) => text === "" || text === "–";
  const isGroup = (row) => row.classList.contains("group");

  const compare = (column, numeric, sign) => (a, b) => {
    const [x, y] = [said(a, column), said(b, column)];
    if (empty(x) || empty(y)) return empty(x) - empty(y);
    return sign * (numeric ? value(x) - value(y) : x.localeCompare(y, "en", { numeric: true }));
  };

  const sort = (body, original, column, direction) => {
    const rows = original.filter((row) => !isGroup(row) && !empty(said(row, column)));
    const numeric = rows.every((row) => !Number.isNaN(value(said(row, column))));
    const groups = [[]];
    for (const row of original) {
      if (isGroup(row)) groups.push([]);
      groups.at(-1).push(row);
    }
    for (const group of groups) {
      const head = group.filter(isGroup);
      const rest = group.filter((row) => !isGroup(row));
      if (direction) rest.sort(compare(column, numeric, direction === "ascending" ? 1 : -1));
      body.append(...head, ...rest);
    }
  };

  const makeSortable = (table, body) => {
    const original = [...body.rows];
    const heads = [...table.tHead.rows].at(-1).cells;
    [...heads].forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = make("button", { type: "button", className: "sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.ariaSort] ?? (head.ariaSort ? null : "ascending");
        for (const other of heads) other.removeAttribute("aria-sort");
        if (next) head.setAttribute("aria-sort", next);
        sort(body, original, column, next);
      });
    });
  };

  const makeFilter = (box, body) => {
    const rows = [...body.rows];
    const total = rows.filter((row) => !isGroup(row)).length;
    const input = make("input", { type: "search", placeholder: "words that a row must have" });
    const count = make("output");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0, head = null;
      for (const row of body.rows) {
        if (isGroup(row)) {
          head = row;
          row.hidden = words.length > 0;
          continue;
        }
        const text = `${head?.textContent ?? ""} ${row.textContent}`.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        if (row.hidden) continue;
        left += 1;
        if (head) head.hidden = false;
      }
      count.value = words.length ? `${left} of ${total} rows` : "";
    });
    box.before(make("p", { className: "filter" }, make("label", {}, "Filter ", input), " ", count));
  };

  for (const table of all("table")) {
    const body = table.tBodies[0];
    const rows = body ? [...body.rows].filter((row) => !isGroup(row)) : [];
    if (!table.tHead || table.matches(".matrix, .answer") || rows.length < 2) continue;
    makeSortable(table, body);
    if (rows.length >= LONG) makeFilter(table.closest(".scroll") ?? table, body);
  }

  // Figures. A mark's <title> becomes a tip for pointer, finger and keys: the arrows go from mark to mark.

  const tip = make("div", { className: "tip", role: "status", hidden: true });
  document.body.append(tip);
  let shown = null;

  const hide = () => {
    shown?.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };
  const show = (mark) => {
    if (mark === shown) return;
    hide();
    shown = mark;
    mark.classList.add("on");
    tip.textContent = mark.dataset.told;
    tip.hidden = false;
    const at = mark.getBoundingClientRect();
    const left = at.left + at.width / 2 - tip.offsetWidth / 2;
    tip.style.left = `${scrollX + Math.max(8, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.top = `${scrollY + (above > 0 ? above : at.bottom + 8)}px`;
  };
  const nearest = (marks, event, reach) => {
    let best = null, least = reach;
    for (const mark of marks) {
      const at = mark.getBoundingClientRect();
      const away = Math.hypot(at.left + at.width / 2 - event.clientX, at.top + at.height / 2 - event.clientY);
      if (away < least) [best, least] = [mark, away];
    }
    return best;
  };

  const makeAskable = (svg) => {
    const marks = all("title", svg).map((title) => {
      const mark = title.parentNode;
      mark.dataset.told = title.textContent;
      title.remove();
      return mark;
    });
    if (!marks.length) return;
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-description", "The arrow keys go from mark to mark.");
    const answer = (reach) => (event) => {
      const mark = nearest(marks, event, reach);
      mark ? show(mark) : hide();
    };
    svg.addEventListener("pointermove", answer(12));
    svg.addEventListener("click", answer(28));
    svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const now = marks.indexOf(shown);
      show(marks[now < 0 ? 0 : (now + step + marks.length) % marks.length]);
      shown.scrollIntoView({ block: "nearest" });
    });
  };

  const drawing = (svg) => {
    const copy = svg.cloneNode(true);
    const style = getComputedStyle(document.documentElement);
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    for (const [name, content] of Object.entries({ width, height, "font-family": "Helvetica, Arial, sans-serif" })) {
      copy.setAttribute(name, content);
    }
    const text = new XMLSerializer().serializeToString(copy);
    return { text: text.replace(/var\((--[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim()), width, height };
  };
  const take = (blob, name) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const takeVector = (svg, name) => take(new Blob([drawing(svg).text], { type: "image/svg+xml" }), `${name}.svg`);
  const takeBitmap = async (svg, name) => {
    const { text, width, height } = drawing(svg);
    const image = make("img", { src: `data:image/svg+xml,${encodeURIComponent(text)}` });
    await image.decode();
    const canvas = make("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => take(blob, `${name}.png`));
  };

  for (const figure of all("figure[id]")) {
    const wide = figure.querySelector("svg");
    if (!wide) continue;
    const name = figure.id.replace(/^figure-/, "");
    const button = (label, act) => {
      const made = make("button", { type: "button", className: "take", title: `Save this figure as ${label}` }, label);
      made.addEventListener("click", () => act(wide, name));
      return made;
    };
    figure.querySelector("figcaption")?.append(" ", button("SVG", takeVector), " ", button("PNG", takeBitmap));
    all("svg", figure).forEach(makeAskable);
  }

  // The contents are folded on a phone; what is folded is printed all the same.

  for (const contents of all("details.contents")) {
    const narrow = matchMedia("(max-width: 72rem)");
    const fold = () => { contents.open = !narrow.matches; };
    narrow.addEventListener("change", fold);
    fold();
    contents.addEventListener("click", (event) => { if (narrow.matches && event.target.matches("a")) contents.open = false; });
  }
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open]):not(.contents)");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of folded) details.open = false; });
})();
