import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { findProgram } from "./find-program.js";

/** The program of the broker for tests of workers; undefined if none is installed. */
export const findRedis = (env?: NodeJS.ProcessEnv) => findProgram(["redis-server", "valkey-server"], env);

/** Whether the tests of workers can run. */
export const hasRedis = findRedis() !== undefined;

/** A broker for a test. It writes nothing to disk. */
export interface TestBroker {
  readonly url: string;
  readonly port: number;
  /** Sends a signal to the broker's process. SIGSTOP freezes it until SIGCONT. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Kills the broker, as in a power cut, and starts an empty one on the same port. */
  readonly restart: () => Promise<void>;
  /** Kills the broker. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts a broker on a free port of this machine. */
export async function startRedis(): Promise<TestBroker> {
  const port = await freePort();
  let server: ChildProcess | undefined;
  const start = async () => {
    server = spawn(
      findRedis() ?? "",
      ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
      {
        stdio: "ignore",
      },
    );
    await answers(port);
  };
  const kill = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    signal: (name) => void server?.kill(name),
    restart: async () => {
      await kill();
      await start();
    },
    kill,
    start,
    stop: kill,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}

/** Waits until the broker answers a PING. */
async function answers(port: number): Promise<void> {
  while (!(await isThere(port))) await delay(20);
}

function isThere(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(String(answer).startsWith("+PONG"));
    });
    socket.once("error", () => resolve(false));
  });
}
