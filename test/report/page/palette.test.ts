import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const style = readFileSync("src/report/page/assets/page.css", "utf8");

const themes = [
  ["light", colorsOf(1)],
  ["dark", colorsOf(2)],
] as const;

test.for(themes)("%s: texts have a contrast of 4.5:1 to their background", ([, colors]) => {
  for (const ground of ["ground", "raised"]) {
    for (const text of ["ink", "quiet", "accent", "good", "warn", "bad"]) {
      expect(contrast(colors, text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  }
  for (const tone of ["good", "warn", "bad"]) {
    expect(contrast(colors, tone, `${tone}-soft`), `${tone} on ${tone}-soft`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colors, "ink", `${tone}-soft`), `ink on ${tone}-soft`).toBeGreaterThanOrEqual(4.5);
  }
});

test.for(themes)("%s: marks have 3:1 to the ground", ([, colors]) => {
  for (let mark = 1; mark <= 8; mark += 1) {
    expect(contrast(colors, `mark-${mark}`, "ground"), `mark-${mark}`).toBeGreaterThanOrEqual(3);
  }
});

/** The custom properties and their colours in the light (1) or the dark (2) theme. */
function colorsOf(theme: 1 | 2): ReadonlyMap<string, string> {
  const colors = style.matchAll(/--([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);/g);
  return new Map([...colors].map((found) => [found[1] ?? "", found[theme + 1] ?? ""]));
}

/** The contrast of two colours by WCAG 2. */
function contrast(colors: ReadonlyMap<string, string>, one: string, other: string): number {
  const luminance = (name: string) => {
    const color = colors.get(name);
    if (color === undefined) throw new Error(`no colour --${name}`);
    const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
      const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
