import { describe, expect, test } from "vitest";
import { reportNames } from "../reports.js";
import { hasBrowser, useBrowser } from "./open-report.js";

const browser = useBrowser();

describe.skipIf(!hasBrowser).each(reportNames)("the page of the %s report keeps to itself", (name) => {
  test.each([true, false])("no message, no error, no request, with a script: %s", async (javaScriptEnabled) => {
    const { page, complaints, close } = await browser.open(name, { javaScriptEnabled });
    expect(await page.locator("h1").count()).toBe(1);
    expect(complaints).toEqual([]);
    await close();
  });
});
