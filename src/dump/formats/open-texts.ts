import type { TextFormat } from "./format.js";
import { fileFormats, formatOf } from "./formats.js";
import { jsonlText } from "./jsonl.js";

/** The text formats written during the crawl. Always includes JSONL, because the others are loaded from it. */
export async function openTexts(asked: readonly string[], csvSafe: boolean): Promise<readonly TextFormat[]> {
  const others: TextFormat[] = [];
  for (const name of fileFormats.filter((format) => asked.includes(format) && format !== jsonlText.format)) {
    const { openText } = await formatOf(name).load();
    if (openText) others.push(openText({ csvSafe }));
  }
  return [jsonlText, ...others];
}
