import { readLine } from "./line/read-line.js";
import { commonOptions } from "./options.js";

/** How a command line wants to be answered, as far as it can be told of one that may be wrong. */
export interface OutputFlags {
  readonly json: boolean;
  readonly logFormat: "text" | "json";
}

/** Reads `--json` and `--log-format` as the commands do, in every spelling; of several, the last. */
export function outputFlags(args: readonly string[]): OutputFlags {
  const { flags } = readLine(args, { json: commonOptions.json, "log-format": commonOptions["log-format"] });
  const last = (name: string) => flags.findLast((flag) => flag.name === name);
  const json = last("json");
  return {
    json: json !== undefined && json.value !== "false",
    logFormat: last("log-format")?.value === "json" ? "json" : "text",
  };
}
