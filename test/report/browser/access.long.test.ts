import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { reportNames } from "../reports.js";
import { hasBrowser, openAll, useBrowser } from "./open-report.js";

const browser = useBrowser();

/** The axe-core rules that the page breaks, each with its first affected elements. */
async function brokenRules(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary).join("\\n")))`);
}

describe.skipIf(!hasBrowser)("everybody can read the page", () => {
  test.each(reportNames)("axe-core finds nothing serious in the %s report, light and dark", async (name) => {
    const { page, close } = await browser.open(name, { colorScheme: "light" });
    await openAll(page);
    await page.evaluate(await readFile("node_modules/axe-core/axe.min.js", "utf8"));
    expect(await brokenRules(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await brokenRules(page, ["color-contrast"])).toEqual([]);
    await close();
  });
});
