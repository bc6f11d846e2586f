import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasBrowser, reportNames, useBrowser } from "./open-report.js";

const browser = useBrowser();

/** How bright the ground of the page is, and its text, from 0 to 255. */
async function brightness(page: Page): Promise<{ ground: number; text: number }> {
  const [ground, text] = await page.evaluate<[string, string]>(
    `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('main p')).color]`,
  );
  return { ground: meanOfColor(ground), text: meanOfColor(text) };
}

function meanOfColor(color: string): number {
  const parts = [...color.matchAll(/[\d.]+/g)].map(Number);
  return ((parts[0] ?? 0) + (parts[1] ?? 0) + (parts[2] ?? 0)) / 3;
}

describe.skipIf(!hasBrowser)("the page fits where it is shown", () => {
  test.each(reportNames)("no sideways scrolling of the %s report, on a phone or a screen", async (name) => {
    const { page, close } = await browser.open(name);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
    await close();
  });

  test("it is dark where the reader wants it dark, and light on paper", async () => {
    const { page, close } = await browser.open("sample", { colorScheme: "light" });
    const light = await brightness(page);
    expect(light.ground).toBeGreaterThan(230);
    expect(light.text).toBeLessThan(100);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await brightness(page);
    expect(dark.ground).toBeLessThan(60);
    expect(dark.text).toBeGreaterThan(150);
    await page.emulateMedia({ colorScheme: "dark", media: "print" });
    const printed = await brightness(page);
    expect(printed.ground).toBeGreaterThan(230);
    expect(printed.text).toBeLessThan(100);
    await close();
  });

  test.each([true, false])(
    "on paper, everything is there and nothing to click, with a script: %s",
    async (javaScriptEnabled) => {
      const { page, close } = await browser.open("sample", { javaScriptEnabled });
      await page.emulateMedia({ media: "print" });
      expect(await hidden(page, "main p, main tr, main td, main svg, main li")).toEqual([]);
      expect(await page.locator("button:not(.sort):visible, input:visible").count()).toBe(0);
      await close();
    },
  );

  test("without a script, every row is there, and nothing that needs one", async () => {
    const { page, close } = await browser.open("sample", { javaScriptEnabled: false });
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(100);
    expect(await hidden(page, "main :not(details) > .table tbody tr")).toEqual([]);
    expect(await page.locator("button:not(.sort):visible, input:visible").count()).toBe(0);
    await close();
  });
});

/** The first elements that take no space on the page. */
async function hidden(page: Page, selector: string): Promise<readonly string[]> {
  const found = await page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((element) => !element.checkVisibility() && element.textContent !== "").map((element) => element.outerHTML.slice(0, 200))`,
  );
  return found.slice(0, 5);
}
