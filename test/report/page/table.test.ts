import { expect, test } from "vitest";
import { html } from "../../../src/report/page/html.js";
import { numberColumn, renderTable, type TableColumn } from "../../../src/report/page/table.js";

interface Row {
  readonly name: string;
  readonly count: number | null;
}

const columns: readonly TableColumn<Row>[] = [
  { title: "Name", cell: ({ name }) => name },
  numberColumn("Count", ({ count }) => count),
];
const rows = Array.from({ length: 50 }, (_, at) => ({ name: `row ${at}`, count: at === 1 ? null : at * 1000 }));
const options = { caption: "Rows", bytes: 100_000 };

test("a table has a caption, headers of columns and rows, and values to sort by", () => {
  const table = renderTable(columns, { rows: rows.slice(0, 3), total: 3, query: null }, options).toString();
  expect(table).toContain('<div class="scroll" role="region" aria-label="Rows" tabindex="0">');
  expect(table).toContain("<caption>Rows</caption>");
  expect(table).toContain('<th scope="col">Name</th><th scope="col" class="number">Count</th>');
  expect(table).toContain('<tr><th scope="row">row 2</th><td class="number" data-sort="2000">2,000</td></tr>');
  expect(table).toContain('data-sort=""><span class="none">–</span>');
  expect(table).not.toContain("not shown");
});

test("rows that are left out are counted, with the command that prints all of them", () => {
  const cut = { rows: rows.slice(0, 2), total: 5012, query: 'kbdump sql nightly "SELECT 1 < 2"' };
  const table = renderTable(columns, cut, options).toString();
  expect(table).toContain("5,010 more rows are not shown.");
  expect(table).toContain("kbdump sql nightly &quot;SELECT 1 &lt; 2&quot;");
});

test("a table shows no more rows than fit into its bytes", () => {
  const cut = { rows, total: rows.length, query: null };
  const row = '<tr><th scope="row">row 2</th><td class="number" data-sort="2000">2,000</td></tr>\n';
  const table = renderTable(columns, cut, { ...options, bytes: 10 * row.length }).toString();
  const shown = table.match(/scope="row"/g)?.length ?? 0;
  expect(shown).toBeGreaterThan(7);
  expect(shown).toBeLessThan(12);
  expect(table).toContain(`${50 - shown} more rows are not shown.`);
});

test("without a row there is no table, but a sentence", () => {
  expect(renderTable(columns, { rows: [], total: 0, query: null }, options).toString()).toBe(
    html`<p class="nothing">Rows: none.</p>`.toString(),
  );
});
