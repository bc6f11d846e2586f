import { readFileSync } from "node:fs";

/** Name and version of this program, from package.json. */
export const tool: { readonly name: string; readonly version: string } = readTool();

function readTool(): { name: string; version: string } {
  const text: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  if (typeof text !== "object" || text === null || !("version" in text)) throw new Error("package.json has no version");
  return { name: "kbdump", version: String(text.version) };
}
