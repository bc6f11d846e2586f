import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { reportNames } from "../reports.js";
import { hasBrowser, openAll, useBrowser } from "./open-report.js";

const browser = useBrowser();

/** The brightness of background and text, from 0 to 255. */
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

describe.skipIf(!hasBrowser)("the page fits every screen", () => {
  test.each(reportNames)(
    "nothing of the %s report is cut or scrolls sideways, on a phone or a screen",
    async (name) => {
      const { page, close } = await browser.open(name);
      await openAll(page);
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        const cut =
          "[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth + 1)";
        expect(await page.evaluate<string[]>(`${cut}.map(({ ariaLabel }) => ariaLabel)`)).toEqual([]);
      }
      await close();
    },
  );

  test("the answers are on the first screen, and the page is short until sections are opened", async () => {
    const { page, close } = await browser.open("sample");
    for (const [width, first, whole] of [
      [1280, 800, 6_000],
      [360, 1_600, 10_500],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      const box = await page.locator(".next").boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(first);
      expect(await page.evaluate<number>("document.documentElement.scrollHeight")).toBeLessThan(whole);
    }
    await close();
  });

  test("it is dark if the reader prefers a dark page, and light on paper", async () => {
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
    "on paper, every row is visible and nothing can be clicked, with a script: %s",
    async (javaScriptEnabled) => {
      const { page, close } = await browser.open("sample", { javaScriptEnabled });
      await page.emulateMedia({ media: "print" });
      expect(await hidden(page, "main p, main tr, main td, main svg, main li")).toEqual([]);
      expect(await page.locator("button:not(.sort):visible, input:visible").count()).toBe(0);
      await close();
    },
  );

  test("without a script, every row is visible, and no control that needs one", async () => {
    const scripted = await browser.open("sample");
    const rows = await scripted.page.locator("tbody tr").count();
    await scripted.close();
    const { page, close } = await browser.open("sample", { javaScriptEnabled: false });
    expect(rows).toBeGreaterThan(40);
    expect(await page.locator("tbody tr").count()).toBe(rows);
    expect(await hidden(page, "main > section > .table tbody tr")).toEqual([]);
    expect(await page.locator("button:not(.sort):visible, input:visible").count()).toBe(0);
    await close();
  });
});

/** The first elements that have no size on the page. */
async function hidden(page: Page, selector: string): Promise<readonly string[]> {
  const found = await page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((element) => !element.checkVisibility() && element.textContent !== "").map((element) => element.outerHTML.slice(0, 200))`,
  );
  return found.slice(0, 5);
}
