import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { type ReportName, reports } from "../reports.js";
import { findChromium } from "./find-chromium.js";
import { launchChromium } from "./launch-chromium.js";

/** Whether a browser is installed. If not, `test/say-what-was-skipped.ts` reports the skipped tests. */
export const hasBrowser = findChromium() !== undefined;

/** A report, opened in a browser. */
export interface OpenReport {
  readonly page: Page;
  /** Console messages, errors, dialogs and requests of the page; empty if all is well. */
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
}

export interface ReportBrowser {
  /** Opens a report from disk, like a user. */
  readonly open: (name: ReportName, options?: BrowserContextOptions) => Promise<OpenReport>;
  /** Opens a page with this text. */
  readonly openText: (text: string, options?: BrowserContextOptions) => Promise<OpenReport>;
  /** Opens a file. */
  readonly openFile: (path: string, options?: BrowserContextOptions) => Promise<OpenReport>;
}

/** Starts a browser for the tests of a file and ends it after the last one. */
export function useBrowser(): ReportBrowser {
  let browser: Browser | undefined;
  let folder = "";
  let written = 0;
  beforeAll(async () => {
    if (!hasBrowser) return;
    folder = await mkdtemp(join(tmpdir(), "kbdump-browser-"));
    browser = await launchChromium();
    await reports.sample();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    if (folder !== "") await rm(folder, { recursive: true, force: true });
  });
  const openFile = async (path: string, options: BrowserContextOptions = {}) => {
    if (!browser) throw new Error("the browser did not start");
    return openIn(browser, path, options);
  };
  const openText = async (text: string, options: BrowserContextOptions = {}) => {
    const path = join(folder, `report-${++written}.html`);
    await writeFile(path, text);
    return openFile(path, options);
  };
  const open = async (name: ReportName, options: BrowserContextOptions = {}) =>
    openText(await reports[name](), options);
  return { open, openText, openFile };
}

async function openIn(browser: Browser, path: string, options: BrowserContextOptions): Promise<OpenReport> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const { href } = pathToFileURL(path);
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("page", (other) => complaints.push(`another page: ${other.url()}`));
  context.on("request", (request) => {
    if (request.url() !== href) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(href);
  return { page, complaints, close: () => context.close() };
}

/** Opens every collapsed section. */
export async function openAll(page: Page): Promise<void> {
  await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
}
