/**
 * Preloaded into the program (node --import). Sends it the signals in SIGNALS: the first when the file SIGNAL_AT exists
 * anywhere below SIGNAL_IN, each later one when the program has received the one before. The timing is exact, even on a
 * busy machine.
 */
import { readdirSync } from "node:fs";
import { basename } from "node:path";

const { SIGNALS = "", SIGNAL_AT, SIGNAL_IN = "" } = process.env;
const [first, ...others] = SIGNALS.split(",");

function isThere() {
  try {
    return readdirSync(SIGNAL_IN, { recursive: true, encoding: "utf8" }).some((path) => basename(path) === SIGNAL_AT);
  } catch {
    return false; // not created yet, or just removed
  }
}

function look() {
  if (!isThere()) {
    setImmediate(look).unref();
    return;
  }
  for (const [at, signal] of others.entries()) {
    process.once([first, ...others][at], () => process.kill(process.pid, signal));
  }
  process.kill(process.pid, first);
}

look();
