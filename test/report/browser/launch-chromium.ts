import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.js";

const quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Starts the installed Chromium without a window; fails if there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error(
      "There is no Chromium. Install it (in Debian: apt-get install chromium), or set CHROMIUM to its path.",
    );
  return chromium.launch({ executablePath, args: [...quiet, "--no-first-run"], chromiumSandbox: !isRoot() });
}

/** As root (as in containers), Chromium does not start with its sandbox. */
const isRoot = () => process.getuid?.() === 0;
