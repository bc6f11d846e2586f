import { readFile } from "node:fs/promises";

/** The style of the page, and the script that sorts, filters and expands its tables. */
export interface Assets {
  readonly style: string;
  readonly script: string;
}

/** Reads the files that the build puts next to this one. */
export async function readAssets(): Promise<Assets> {
  const read = (name: string) => readFile(new URL(`./assets/${name}`, import.meta.url), "utf8");
  return { style: await read("page.css"), script: await read("page.js") };
}
