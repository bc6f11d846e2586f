// @ts-check
/* Sorts, filters and folds the tables, and copies commands. Without it, every row is there. */
(() => {
  /** Rows that a folded table shows, and rows from which on a table can be filtered. */
  const fewRows = 10;
  const filteredFrom = 9;

  /** @param {string} className */
  function makeButton(className) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = className;
    return button;
  }

  /** @param {string} caption */
  function makeFilter(caption) {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "Filter";
    filter.autocomplete = "off";
    filter.setAttribute("aria-label", `Filter: ${caption}`);
    return filter;
  }

  /** @param {HTMLTableElement} table */
  function setUp(table) {
    const body = table.tBodies[0];
    const box = table.closest(".table");
    if (!body || !box) return;
    const asSent = Array.from(body.rows);
    const texts = new Map(asSent.map((row) => [row, (row.textContent ?? "").toLowerCase()]));
    const filter = makeFilter(table.caption?.textContent ?? "");
    const count = document.createElement("span");
    count.className = "count";
    count.setAttribute("aria-live", "polite");
    const unfold = makeButton("unfold");
    let isFolded = asSent.length > fewRows;

    function show() {
      const wanted = filter.value.trim().toLowerCase();
      let matching = 0;
      for (const row of Array.from(body.rows)) {
        const isMatch = texts.get(row)?.includes(wanted) ?? true;
        if (isMatch) matching += 1;
        row.classList.toggle("off", !isMatch || (isFolded && wanted === "" && matching > fewRows));
      }
      count.textContent = wanted === "" ? "" : `${matching} of ${asSent.length} rows`;
      unfold.textContent = isFolded ? `Show all ${asSent.length} rows` : `Show the first ${fewRows} rows`;
      unfold.hidden = asSent.length <= fewRows || wanted !== "";
      unfold.setAttribute("aria-expanded", String(!isFolded));
    }

    /** @param {readonly HTMLTableRowElement[]} rows */
    function arrange(rows) {
      body.append(...rows);
      show();
    }

    if (asSent.length >= filteredFrom) {
      const tools = document.createElement("div");
      tools.className = "tools";
      tools.append(filter, count);
      box.prepend(tools);
      table.closest(".scroll")?.after(unfold);
      filter.addEventListener("input", show);
      unfold.addEventListener("click", () => {
        isFolded = !isFolded;
        show();
      });
    }
    if (asSent.length > 1) sortByHeaders(table, asSent, arrange);
    show();
  }

  /**
   * The first click on a header sorts upwards, the second downwards, the third as the table was.
   * @param {HTMLTableElement} table
   * @param {readonly HTMLTableRowElement[]} asSent
   * @param {(rows: readonly HTMLTableRowElement[]) => void} arrange
   */
  function sortByHeaders(table, asSent, arrange) {
    const headers = Array.from(table.tHead?.rows[0]?.cells ?? []);
    headers.forEach((header, at) => {
      const button = makeButton("sort");
      button.append(...Array.from(header.childNodes));
      header.append(button);
      button.addEventListener("click", () => {
        const next = nextOrder(header.getAttribute("aria-sort"));
        for (const other of headers) other.removeAttribute("aria-sort");
        if (next) header.setAttribute("aria-sort", next);
        arrange(next ? sorted(asSent, at, next === "descending" ? -1 : 1) : asSent);
      });
    });
  }

  /** @param {string | null} order */
  function nextOrder(order) {
    if (order === null) return "ascending";
    return order === "ascending" ? "descending" : null;
  }

  /**
   * Cells without a value stand last in both directions.
   * @param {readonly HTMLTableRowElement[]} rows
   * @param {number} at
   * @param {1 | -1} direction
   */
  function sorted(rows, at, direction) {
    const keyed = rows.map((row) => {
      const cell = row.cells[at];
      const key = cell?.dataset.sort;
      return { row, text: cell?.textContent ?? "", key: key === undefined || key === "" ? undefined : Number(key) };
    });
    const isNumeric = rows.some((row) => row.cells[at]?.dataset.sort !== undefined);
    const order = new Intl.Collator("en", { numeric: true });
    keyed.sort((a, b) => {
      if (!isNumeric) return direction * order.compare(a.text, b.text);
      if (a.key === undefined || b.key === undefined) return Number(a.key === undefined) - Number(b.key === undefined);
      return direction * (a.key - b.key);
    });
    return keyed.map(({ row }) => row);
  }

  /** @param {Element} command */
  function addCopy(command) {
    const text = command.querySelector("code")?.textContent ?? "";
    const button = makeButton("copy");
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        getSelection()?.selectAllChildren(command.querySelector("code") ?? command);
        if (!document.execCommand("copy")) return;
      }
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
    command.append(button);
  }

  for (const table of Array.from(document.querySelectorAll("table"))) setUp(table);
  for (const command of Array.from(document.querySelectorAll(".command"))) addCopy(command);
})();
