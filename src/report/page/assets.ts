import { readFile } from "node:fs/promises";

/** The style of the page, and the script that sorts, filters and expands its tables. */
export interface Assets {
  readonly style: string;
  readonly script: string;
}

/** In the order in which a later rule wins. */
const styleNames = [
  "palette.css",
  "text.css",
  "first-screen.css",
  "page.css",
  "tables.css",
  "pictures.css",
  "print.css",
];

/** Reads the files that the build puts beside this one. */
export async function readAssets(): Promise<Assets> {
  const read = (name: string) => readFile(new URL(`./assets/${name}`, import.meta.url), "utf8");
  const styles = await Promise.all(styleNames.map(read));
  return { style: styles.join(""), script: await read("page.js") };
}
