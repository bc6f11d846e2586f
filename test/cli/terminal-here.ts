import { PassThrough } from "node:stream";
import type { Terminal } from "../../src/cli/dialogue.js";

/** A terminal in this process that receives these keys in order. */
export function openTerminalHere(pressed: readonly string[]) {
  let shown = "";
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 40 });
  output.on("data", (text) => {
    shown += text;
  });
  for (const key of pressed) input.write(key);
  const terminal: object = { input, output };
  return { openTerminal: () => terminal as Terminal, text: () => shown };
}
