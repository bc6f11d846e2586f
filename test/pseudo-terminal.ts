import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { expect } from "vitest";
import { cleanEnv } from "./cli/run-kbdump.js";

/** The size of a terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A program at a real pseudo-terminal; tests read its screen. */
export interface PseudoTerminal {
  /** The lines of the screen and the lines that scrolled off, from the top, without trailing blanks. */
  readonly lines: () => readonly string[];
  readonly text: () => string;
  /** Lines that the terminal wrapped because they were too wide, unwrapped. */
  readonly broken: () => readonly string[];
  /** Waits until the screen contains the text; on timeout, fails and shows the screen. */
  readonly shows: (text: string | RegExp) => Promise<void>;
  readonly type: (keys: string) => void;
  readonly resize: (size: Size) => void;
  /** Waits until the program ends; returns its exit code. */
  readonly ended: Promise<number>;
}

/** Keys as a terminal sends them. */
export const keys = { enter: "\r", space: " ", down: "\x1b[B", ctrlC: "\x03" } as const;

/** After this many milliseconds without output, an ended program has no more output. */
const quiet = 200;
/** How many milliseconds to wait for a text. */
const patience = 20_000;

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Starts the built program at a pseudo-terminal of this size. It sees only PATH and the given variables. */
export function openKbdump(
  args: readonly string[],
  { env = {}, cwd, columns = 80, rows = 30 }: Partial<Size> & { env?: NodeJS.ProcessEnv; cwd?: string },
): PseudoTerminal {
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const child = spawn(process.execPath, [program, ...args], {
    name: "xterm-256color",
    cols: columns,
    rows,
    env: { ...cleanEnv, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  let heard = performance.now();
  child.onData((data) => {
    heard = performance.now();
    screen.write(data);
  });
  const exited = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
  const ended = exited.then(async (code) => {
    while (performance.now() - heard < quiet) await delay(quiet / 4); // output may arrive after the exit
    await new Promise<void>((resolve) => screen.write("", resolve));
    return code;
  });
  const lines = () => {
    const { active } = screen.buffer;
    const all = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
    return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  };
  const text = () => lines().join("\n");
  const broken = () => {
    const parts = lines().map((line, at) => ({ line, isMore: screen.buffer.active.getLine(at)?.isWrapped ?? false }));
    return parts.flatMap(({ line, isMore }, at) => {
      if (isMore || !parts[at + 1]?.isMore) return [];
      const end = parts.findIndex((part, place) => place > at && !part.isMore);
      return [
        line +
          parts
            .slice(at + 1, end < 0 ? undefined : end)
            .map((part) => part.line)
            .join(""),
      ];
    });
  };
  return {
    lines,
    text,
    broken,
    shows: (wanted) =>
      expect
        .poll(text, { timeout: patience, interval: 20 })
        .toEqual(typeof wanted === "string" ? expect.stringContaining(wanted) : expect.stringMatching(wanted)),
    type: (typed) => child.write(typed),
    resize: ({ columns: width, rows: height }) => {
      screen.resize(width, height);
      child.resize(width, height);
    },
    ended,
  };
}
