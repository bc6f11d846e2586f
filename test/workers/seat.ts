import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Finished, finished, startKbdump } from "../cli/run-kbdump.js";

/** A command that is restarted after each kill, as by a supervisor. */
export interface SeatOfProcess {
  /** The output and exit code of the first process that ended without a kill. */
  readonly ended: Promise<Finished>;
  readonly isOver: () => boolean;
  /** Kills the process with SIGKILL, and restarts it after this many milliseconds. */
  readonly kill: (startAfter: number) => Promise<void>;
  /** Stops the process with SIGSTOP; returns a function that wakes it. */
  readonly freeze: () => () => void;
  /** Ends the process with this signal, without a restart; returns its output. */
  readonly end: (signal: NodeJS.Signals) => Promise<Finished>;
}

/** Matches the error of a program that finds no broker. It ends at once, and is started again. */
const noBroker = /the broker \S+ cannot be used/;
const again = 300;

/** With KBDUMP_TRACE=1, every process logs its steps, and the test prints its output when it ends. */
const isTraced = process.env.KBDUMP_TRACE === "1";

/** Starts a command that is restarted after each kill. */
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
      if (now.code === null && !isEnding) return; // `kill` killed the process, and restarts it
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
      if (dead === child || !child.kill("SIGKILL")) return; // another kill restarts it
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
