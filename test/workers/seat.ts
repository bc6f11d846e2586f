import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Finished, finished, startKbdump } from "../cli/run-kbdump.js";

/** A command that is started again after each kill, as a supervisor does it. */
export interface SeatOfProcess {
  /** The end of the first process that was not killed: its output, and its exit code. */
  readonly ended: Promise<Finished>;
  readonly isOver: () => boolean;
  /** Kills it with SIGKILL, and starts it again after some milliseconds. */
  readonly kill: (startAfter: number) => Promise<void>;
  /** Stops it with SIGSTOP; gives the function that wakes the same process. */
  readonly freeze: () => () => void;
  /** Ends it for good, and gives what it said. */
  readonly end: (signal: NodeJS.Signals) => Promise<Finished>;
}

/** A program that finds no broker ends at once; whoever started it tries again. */
const noBroker = /the broker \S+ cannot be used/;
const again = 300;

/** With KBDUMP_TRACE=1, each process says what it does, and what it said is printed when it has ended. */
const isTraced = process.env.KBDUMP_TRACE === "1";

/** Starts a command. */
export function openSeat(args: readonly string[], env: NodeJS.ProcessEnv): SeatOfProcess {
  let child: ChildProcess;
  let dead: ChildProcess | undefined;
  let said: Promise<Finished>;
  let over: Finished | undefined;
  let isEnding = false;
  let resolve = (_finished: Finished) => {};
  const ended = new Promise<Finished>((done) => {
    resolve = done;
  });
  const start = () => {
    if (isEnding || over) return;
    child = startKbdump(isTraced ? args.filter((arg) => arg !== "--quiet") : args, env);
    const { pid } = child;
    said = finished(child);
    void said.then(async (now) => {
      if (isTraced) process.stderr.write(`--- kbdump ${args[0]} (${pid}) ended with ${now.code}\n${now.stderr}\n`);
      if (now.code === null && !isEnding) return; // killed: kill() starts it again
      if (now.code === 1 && noBroker.test(now.stderr) && !isEnding) {
        await sleep(again);
        return start();
      }
      over = now;
      resolve(now);
    });
  };
  start();
  return {
    ended,
    isOver: () => over !== undefined,
    kill: async (startAfter) => {
      const killed = said;
      if (dead === child || !child.kill("SIGKILL")) return; // another kill starts it again
      dead = child;
      const { code } = await killed;
      await sleep(startAfter);
      if (code === null) start();
    },
    freeze: () => {
      const frozen = child;
      frozen.kill("SIGSTOP");
      return () => void frozen.kill("SIGCONT");
    },
    end: (signal) => {
      isEnding = true;
      child.kill(signal);
      return said;
    },
  };
}
