import { createRequire } from "node:module";
import { arch, version as node, platform } from "node:process";
import { tool } from "../../tool.js";

/** The version, or with `--json` all that a report of a bug needs to know of the installation. DuckDB itself is not loaded. */
export function versionText(json: boolean): string {
  return json ? JSON.stringify({ ...tool, node, platform, arch, duckdb: duckdbVersion() }) : tool.version;
}

/** The version that the package of DuckDB gives; null if it is not installed. */
function duckdbVersion(): string | null {
  try {
    const content: unknown = createRequire(import.meta.url)("@duckdb/node-api/package.json");
    if (typeof content === "object" && content !== null && "version" in content) return String(content.version);
  } catch {
    // told by the null
  }
  return null;
}
