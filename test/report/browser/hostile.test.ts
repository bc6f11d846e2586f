import { once } from "node:events";
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { foreign, html } from "../../../src/report/page/html.js";
import { inFull } from "../../rounds.js";
import { reports } from "../reports.js";
import { hasBrowser, openAll, useBrowser } from "./open-report.js";

const browser = useBrowser();

/** The different elements of the page, by name and attribute names. */
const markup = (page: Page) =>
  page.evaluate<{ elements: string[]; attributes: string[] }>(`(() => {
    const all = [...document.querySelectorAll("*")];
    const attributes = all.flatMap((element) => element.getAttributeNames().map((name) => element.localName + " " + name));
    return { elements: [...new Set(all.map(({ localName }) => localName))], attributes: [...new Set(attributes)] };
  })()`);

describe.skipIf(!hasBrowser)("texts of a hostile service stay texts", () => {
  test.runIf(inFull)(
    "they add no element and no attribute to the page",
    async () => {
      const [sample, hostile] = [await browser.open("sample"), await browser.open("hostile")];
      const [expected, found] = [await markup(sample.page), await markup(hostile.page)];
      const known = [...expected.elements, "ul", "li"];
      expect(found.elements.filter((name) => !known.includes(name))).toEqual([]);
      expect(found.attributes.filter((name) => !expected.attributes.includes(name) && name !== "ul class")).toEqual([]);
      expect(found.attributes.filter((name) => / (on.*|style|src|srcdoc)$/.test(name))).toEqual([]);
      expect(await hostile.page.locator("script").count()).toBe(1);
      expect(await hostile.page.locator("style").count()).toBe(1);
      const foreign = ["img", "iframe", "object", "embed", "form", "base", "link", "plaintext"];
      expect(foreign.filter((name) => found.elements.includes(name))).toEqual([]);
      const links = await hostile.page
        .locator("[href]")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
      expect(links.filter((href) => !href.startsWith("#"))).toEqual([]);
      const headings = async (page: Page) => (await page.locator("h2").allTextContents()).sort();
      expect(await headings(hostile.page)).toEqual(await headings(sample.page));
      expect(await hostile.page.title()).toMatch(/^test: report of run \d+T\d+Z$/);
      expect(hostile.complaints).toEqual([]);
      await sample.close();
      await hostile.close();
    },
    180_000,
  );

  test.runIf(inFull)("a name does not change the text direction of what follows it", async () => {
    const name = html`${foreign("\u202e\u2067 دليل name")}`.toString();
    const text = (await reports.sample()).replace(/<bdi>[^<]*<\/bdi>/g, () => name);
    const { page, close } = await browser.openText(text);
    await openAll(page);
    const turned = await page.evaluate<{ names: number; turned: string[] }>(`(() => {
      const lastBox = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()].filter(({ width }) => width > 0);
      };
      const pairs = [...document.querySelectorAll("bdi")].flatMap((name) => {
        const next = name.nextSibling;
        const [before, after] = [lastBox(name).at(-1), next ? lastBox(next)[0] : undefined];
        return before && after ? [{ name, before, after }] : [];
      });
      const isTurned = ({ before, after }) => after.top < before.bottom - 2 && after.left < before.right - 2;
      return { names: pairs.length, turned: pairs.filter(isTurned).map(({ name }) => name.parentElement.outerHTML.slice(0, 300)) };
    })()`);
    expect(turned.names).toBeGreaterThan(20);
    expect(turned.turned).toEqual([]);
    await close();
  });

  test("injected code does not run even if it gets into the page", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    const foreign = [
      `<script>document.title = "owned"</script>`,
      `<script src="${url}/script.js"></script>`,
      `<img src="data:,x" onerror="document.title = 'owned'">`,
      `<img src="${url}/image.png">`,
      `<iframe src="${url}/frame.html"></iframe>`,
      `<p id="styled" style="position: fixed">x</p>`,
      `<style>#styled { display: none }</style>`,
    ].join("");
    const text = await reports.sample();
    const { page, complaints, close } = await browser.openText(text.replace("</main>", () => `${foreign}</main>`));
    expect(await page.title()).toBe(/<title>(.*)<\/title>/.exec(text)?.[1]);
    const style = "getComputedStyle(document.getElementById('styled'))";
    expect(await page.evaluate<string>(`${style}.position`)).toBe("static");
    expect(await page.evaluate<string>(`${style}.display`)).toBe("block");
    const blocked = complaints.filter((complaint) => complaint.includes("Content Security Policy"));
    expect(blocked.length).toBeGreaterThanOrEqual(6);
    expect(asked).toEqual([]);
    await close();
  });
});
