/**
 * Loaded into the program before it starts (node --import): sends it the signals of SIGNALS, the first when the file
 * SIGNAL_AT is there at any depth below the folder SIGNAL_IN, each other when the one before was heard. So a signal comes
 * at one exact point, however busy the machine is.
 */
import { readdirSync } from "node:fs";
import { basename } from "node:path";

const { SIGNALS = "", SIGNAL_AT, SIGNAL_IN = "" } = process.env;
const [first, ...others] = SIGNALS.split(",");

function isThere() {
  try {
    return readdirSync(SIGNAL_IN, { recursive: true, encoding: "utf8" }).some((path) => basename(path) === SIGNAL_AT);
  } catch {
    return false; // not made yet, or just removed
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
