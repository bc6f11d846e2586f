import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasBrowser, useBrowser } from "./open-report.js";

const browser = useBrowser();

type Values = readonly (number | string | null)[];

/** The effect of three clicks on the header of a column: its cells before and after each, and the sort order that the header reports. */
interface Clicked {
  readonly before: Values;
  readonly after: readonly { readonly order: string | null; readonly values: Values }[];
}

/** Clicks the headers of all tables. A value is the sort number of a cell, null if the cell has no value, or else the text. */
const clickHeaders = (page: Page) =>
  page.evaluate<
    Clicked[]
  >(`[...document.querySelectorAll("thead th")].filter((header) => header.querySelector("button")).map((header) => {
    const cells = () => [...header.closest("table").tBodies[0].rows].map((row) => row.cells[header.cellIndex]);
    const valueIn = ({ dataset, textContent }) =>
      dataset.sort === undefined ? textContent : dataset.sort === "" ? null : Number(dataset.sort);
    const click = () => {
      header.querySelector("button").click();
      return { order: header.getAttribute("aria-sort"), values: cells().map(valueIn) };
    };
    return { before: cells().map(valueIn), after: [click(), click(), click()] };
  })`);

const numbers = (values: Values) => values.filter((value) => typeof value === "number");

/** The number of visible rows. */
const shownRows = (table: Locator) => table.locator("tbody tr:visible").count();

describe.skipIf(!hasBrowser)("the tables of the page", () => {
  test("a click on a header sorts upwards, the next one downwards, the third as it was; nulls come last", async () => {
    const { page, complaints, close } = await browser.open("sample");
    const columns = await clickHeaders(page);
    for (const { before, after } of columns) {
      expect(after.map(({ order }) => order)).toEqual(["ascending", "descending", null]);
      expect(after[2]?.values).toEqual(before);
      const [known, nulls] = [numbers(before), before.filter((value) => value === null)];
      if (known.length === 0) continue;
      const sorted = known.toSorted((a, b) => a - b);
      expect(after[0]?.values).toEqual([...sorted, ...nulls]);
      expect(after[1]?.values).toEqual([...sorted.reverse(), ...nulls]);
    }
    expect(columns.filter(({ before }) => before.includes(null) && numbers(before).length > 1)).not.toEqual([]);
    expect(columns.filter(({ before }) => numbers(before).length === 0)).not.toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test("a filter leaves the rows that say it, and counts them; all of them come back", async () => {
    const { page, complaints, close } = await browser.open("sample");
    const long = page.locator(".table", { has: page.locator("tbody tr:nth-child(12)") });
    const box = long.filter({ visible: true }).first();
    const table = box.locator("table");
    const texts = await table.locator("tbody tr").allTextContents();
    const word = /\p{Letter}{4,}/u.exec(texts[11] ?? "")?.[0].toLowerCase() ?? "";
    const matching = texts.filter((text) => text.toLowerCase().includes(word)).length;
    await box.getByRole("searchbox").fill(word.toUpperCase());
    expect(await shownRows(table)).toBe(matching);
    expect(await box.locator("[aria-live]").innerText()).toBe(`${matching} of ${texts.length} rows`);
    await box.getByRole("searchbox").fill("no row says this");
    expect(await shownRows(table)).toBe(0);
    await box.getByRole("searchbox").fill("");
    expect(await shownRows(table)).toBe(10);
    await box.getByRole("button", { name: `Show all ${texts.length} rows` }).click();
    expect(await shownRows(table)).toBe(texts.length);
    await box.getByRole("button", { name: "Show the first 10 rows" }).click();
    expect(await shownRows(table)).toBe(10);
    expect(complaints).toEqual([]);
    await close();
  });

  test("the keyboard is enough to reach the sections, sort a table and scroll it", async () => {
    const { page, close } = await browser.open("sample");
    const focused = <Value>(expression: string) => page.evaluate<Value>(`document.activeElement.${expression}`);
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press("Tab");
        if (await focused<boolean>(`matches(${JSON.stringify(selector)})`)) return;
      }
      throw new Error(`the keyboard does not reach ${selector}`);
    };
    await page.keyboard.press("Tab");
    expect(await focused("textContent")).toBe("Skip to the sections");
    expect(await page.locator(":focus").boundingBox()).toMatchObject({ x: expect.any(Number) });
    await page.keyboard.press("Enter");
    expect(await focused("localName")).toBe("main");
    await tabTo("table button");
    expect(await focused<string>("matches(':focus-visible')")).toBe(true);
    await page.keyboard.press("Enter");
    expect(await focused("closest('th').getAttribute('aria-sort')")).toBe("ascending");
    await page.keyboard.press("Shift+Tab");
    expect(await focused("getAttribute('role')")).toBe("region");
    await close();
  });
});
