import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.js";

const quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Starts the Chromium that is installed, without a window. Fails if there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error(
      "There is no Chromium. Install it (in Debian: apt-get install chromium), or set CHROMIUM to its path.",
    );
  return chromium.launch({ executablePath, args: [...quiet, "--no-first-run"], chromiumSandbox: !isRoot() });
}

/** Chromium refuses to start in a sandbox for root, who runs the tests in containers. */
const isRoot = () => process.getuid?.() === 0;
