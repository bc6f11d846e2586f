import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../browser/launch-chromium.js";
import { makeSampleReport } from "./sample-report.js";

const target = "docs/pictures";

interface Picture {
  readonly name: string;
  /** The section at which the picture starts; the top of the page by default. */
  readonly part?: string;
}

const screen = { viewport: { width: 1280, height: 800 } };

const pictures: readonly Picture[] = [{ name: "report" }, { name: "report-lost", part: "#lost" }];

/** Takes the pictures for the documentation from a real report on the sample data and prints their paths. */
export async function takePictures(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-pictures-"));
  const browser = await launchChromium();
  try {
    const report = pathToFileURL(await makeSampleReport(folder)).href;
    await mkdir(target, { recursive: true });
    for (const picture of pictures) {
      const path = await takePicture(browser, report, picture);
      process.stdout.write(`${path}  ${Math.round((await stat(path)).size / 1000)} kB\n`);
    }
  } finally {
    await browser.close();
    await rm(folder, { recursive: true });
  }
}

async function takePicture(browser: Browser, report: string, { name, part }: Picture): Promise<string> {
  const path = join(target, `${name}.png`);
  const page = await browser.newPage(screen);
  await page.goto(report);
  if (part !== undefined) await scrollTo(page, part);
  await page.screenshot({ path });
  await page.close();
  return path;
}

async function scrollTo(page: Page, part: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(part)}).scrollIntoView({ behavior: "instant" })`);
}
