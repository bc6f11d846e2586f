// @ts-check
/* Sorts, filters and folds the tables, and copies commands. Without the script, the page shows every row. */
(() => {
  /** Maximum rows of a folded table. */
  const fewRows = 10;

  /** @param {() => void} onClick */
  function makeButton(onClick) {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", onClick);
    return button;
  }

  /** @param {HTMLTableElement} table */
  function setUp(table) {
    const [body] = table.tBodies;
    const rows = Array.from(body?.rows ?? []);
    if (!body || rows.length < 2) return;
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "Filter";
    filter.setAttribute("aria-label", `Filter: ${table.caption?.textContent}`);
    filter.addEventListener("input", show);
    const count = document.createElement("span");
    count.className = "note";
    count.setAttribute("aria-live", "polite");
    let isFolded = true;
    const unfold = makeButton(() => {
      isFolded = !isFolded;
      show();
    });

    function show() {
      const wanted = filter.value.trim().toLowerCase();
      let matching = 0;
      for (const row of Array.from(body.rows)) {
        const isMatch = row.textContent?.toLowerCase().includes(wanted);
        if (isMatch) matching += 1;
        row.classList.toggle("off", !isMatch || (isFolded && wanted === "" && matching > fewRows));
      }
      count.textContent = wanted === "" ? "" : `${matching} of ${rows.length} rows`;
      unfold.textContent = isFolded ? `Show all ${rows.length} rows` : `Show the first ${fewRows} rows`;
      unfold.hidden = wanted !== "";
      unfold.setAttribute("aria-expanded", String(!isFolded));
    }

    // The first click on a header sorts in ascending order, the second in descending order; the third restores the original order.
    const headers = Array.from(table.tHead?.rows[0]?.cells ?? []);
    headers.forEach((header, at) => {
      const button = makeButton(() => {
        const before = header.getAttribute("aria-sort");
        for (const other of headers) other.removeAttribute("aria-sort");
        if (before !== "descending") header.setAttribute("aria-sort", before === null ? "ascending" : "descending");
        body.append(...(before === "descending" ? rows : sorted(rows, at, before === null ? 1 : -1)));
        show();
      });
      button.className = "sort";
      button.append(...Array.from(header.childNodes));
      header.append(button);
    });
    if (rows.length <= fewRows) return;
    table.closest(".scroll")?.before(filter, " ", count);
    table.closest(".scroll")?.after(unfold);
    show();
  }

  /**
   * Empty cells come last in both directions.
   * @param {readonly HTMLTableRowElement[]} rows
   * @param {number} at
   * @param {1 | -1} direction
   */
  function sorted(rows, at, direction) {
    const order = new Intl.Collator("en", { numeric: true });
    return rows.toSorted((a, b) => {
      const [one, other] = [a.cells[at], b.cells[at]];
      const [x, y] = [one?.dataset.sort, other?.dataset.sort];
      if (x === undefined || y === undefined)
        return direction * order.compare(one?.textContent ?? "", other?.textContent ?? "");
      if (x === "" || y === "") return Number(x === "") - Number(y === "");
      return direction * (Number(x) - Number(y));
    });
  }

  /** @param {Element} command */
  function addCopy(command) {
    const button = makeButton(() => {
      getSelection()?.selectAllChildren(command.querySelector("code") ?? command);
      if (!document.execCommand("copy")) return;
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    command.append(button);
  }

  for (const table of Array.from(document.querySelectorAll("table"))) setUp(table);
  for (const command of Array.from(document.querySelectorAll(".command"))) addCopy(command);
})();
