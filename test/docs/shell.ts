import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { exampleUrl } from "./example-folder.js";

/** The services that replace the addresses in the documentation. */
export interface StandIn {
  readonly url: string;
  readonly key: string;
  /** The service that receives copies. */
  readonly target?: { readonly url: string; readonly key: string };
  /** The address of the object store. */
  readonly store?: string;
  /** The address of the broker. */
  readonly broker?: string;
}

/** The addresses in the documentation for a service to copy to, an object store and a broker. */
const exampleTarget = "https://new-kb.example.com/v1";
const exampleStore = "https://minio.example.com";
const exampleBroker = "redis://queue.example.com:6379";

/** The output of a block and its exit code: 0 for a server that still runs, -1 if a signal ended it. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the shell blocks of one page in order, as a user would type them; exported variables persist. */
export class Shell {
  readonly #folder: string;
  readonly #service: StandIn;
  readonly #env: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];
  #blocks = 0;
  #port: number | undefined;

  constructor(folder: string, service: StandIn, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#service = service;
    const path = [join(folder, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
    this.#env = { ...env, PATH: path, HOME: folder };
  }

  /** Replaces address, key and port from the documentation by those of this machine. */
  async adapted(text: string): Promise<string> {
    if (text.includes("8080")) this.#port ??= await freePort();
    return text
      .replaceAll(exampleUrl, this.#service.url)
      .replaceAll(exampleTarget, this.#service.target?.url ?? exampleTarget)
      .replaceAll(exampleStore, this.#service.store ?? exampleStore)
      .replaceAll(exampleBroker, this.#service.broker ?? exampleBroker)
      .replace(/(?<=KNOWLEDGE_API_KEY=)\S*…/g, this.#service.key)
      .replace(/(?<=KNOWLEDGE_RESTORE_KEY=)\S*…/g, this.#service.target?.key ?? this.#service.key)
      .replace(/(?<=127\.0\.0\.1:|--port )8080/g, String(this.#port));
  }

  /** Runs a block until it ends. A block with a single `kbdump serve` keeps running in the background until `close`. */
  async run(block: string): Promise<Printed> {
    const text = await this.adapted(block);
    const serves = /^kbdump serve [^\n&]*\n$/.test(text);
    const names = ["out", "err"].map((name) => join(this.#folder, `block-${this.#blocks}.${name}`));
    this.#blocks++;
    const files = names.map((name) => openSync(name, "w"));
    const script = `[ ! -e .exported ] || . ./.exported\n${text}${serves ? "" : "export -p > .exported\n"}`;
    const child = spawn("sh", ["-euc", script], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ["ignore", ...files],
      detached: true, // its own process group, so that `close` also ends its child processes
    });
    this.#children.push(child);
    const ended = once(child, "exit");
    for (const file of files) closeSync(file);
    const printed = async (code: number): Promise<Printed> => {
      const [stdout = "", stderr = ""] = await Promise.all(names.map((name) => readFile(name, "utf8")));
      return { code, stdout, stderr };
    };
    if (!serves) return printed((await ended)[0] ?? -1);
    for (;;) {
      const soFar = await printed(child.exitCode ?? 0);
      if (child.exitCode !== null || soFar.stdout.includes("key: ")) return soFar;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends every process that a block started. */
  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "exit");
      process.kill(-child.pid, "SIGTERM");
      await ended;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
