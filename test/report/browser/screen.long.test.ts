import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { hasBrowser, useBrowser } from "./open-report.js";

const kept = join(import.meta.dirname, "screen.png");
const isUpdate = process.env.UPDATE_SCREEN === "1";

/**
 * The width of a block in pixels. Averaging a block keeps the layout and turns letters into a grey that hardly depends
 * on the font.
 */
const block = 32;
/** The share of blocks that may differ. Measured: another font changes at most 3 % of the blocks, a missing part at least 8 %. */
const tolerance = 0.06;

const browser = useBrowser();

describe.skipIf(!hasBrowser)("the first screen of the report", () => {
  test("it looks as it did (UPDATE_SCREEN=1 keeps the new look), and a missing part is seen", async () => {
    const { page, close } = await browser.open("sample", {
      viewport: { width: 1280, height: 800 },
      colorScheme: "light",
    });
    if (isUpdate) await writeFile(kept, await page.screenshot());
    const expected = PNG.sync.read(await readFile(kept));
    const difference = async () => shareOfDifferentBlocks(expected, PNG.sync.read(await page.screenshot()));
    expect(await difference()).toBeLessThan(tolerance);
    for (const part of ["style", ".answers", ".next", "body > header"]) {
      await page.evaluate(`document.querySelector("${part}").remove()`);
      expect(await difference(), part).toBeGreaterThan(tolerance);
      await page.reload();
    }
    await close();
  });
});

function shareOfDifferentBlocks(one: PNG, other: PNG): number {
  expect([other.width, other.height]).toEqual([one.width, one.height]);
  const { data, width, height } = scaledDown(one);
  const options = { threshold: 0.05, includeAA: true };
  return pixelmatch(data, scaledDown(other).data, undefined, width, height, options) / (width * height);
}

/** Replaces each block of the picture by its average. */
function scaledDown({ data, width, height }: PNG): PNG {
  const small = new PNG({ width: Math.floor(width / block), height: Math.floor(height / block) });
  for (let at = 0; at < small.data.length; at++) {
    const [channel, pixel] = [at % 4, Math.floor(at / 4)];
    const [left, top] = [(pixel % small.width) * block, Math.floor(pixel / small.width) * block];
    let sum = 0;
    for (let y = top; y < top + block; y++)
      for (let x = left; x < left + block; x++) sum += data[(y * width + x) * 4 + channel] ?? 0;
    small.data[at] = Math.round(sum / block ** 2);
  }
  return small;
}
