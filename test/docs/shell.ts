import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { exampleUrl } from "./example-folder.js";

/** The service that stands in for the one of the examples. */
export interface StandIn {
  readonly url: string;
  readonly key: string;
  /** A service to copy to, which stands in for that of the examples. */
  readonly target?: { readonly url: string; readonly key: string };
  /** The address of an object store, which stands in for the one of the examples. */
  readonly store?: string;
  /** The address of a broker, likewise. */
  readonly broker?: string;
}

/** The addresses of a service to copy to, of an object store and of a broker that the documentation uses. */
const exampleTarget = "https://new-kb.example.com/v1";
const exampleStore = "https://minio.example.com";
const exampleBroker = "redis://queue.example.com:6379";

/** The output of a block, and its exit code: 0 while it serves, -1 if a signal ended it. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the shell blocks of one page one after the other, as somebody would type them: exported variables stay. */
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

  /** The text with the address, the key and the port of this machine in place of those of the documentation. */
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

  /** Runs a block to its end. A block that is one command that serves goes on in the background until `close`. */
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
      detached: true, // a group of its own, to end with all that it started
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

  /** Ends everything that was started. */
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
