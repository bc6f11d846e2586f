import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "./find-program.js";

/** The program of moto, a simulation of AWS with conditional writes; undefined if it is not installed. */
export const findMoto = (env?: NodeJS.ProcessEnv) => findProgram(["moto_server"], env);
/** The programs of two stores that ignore conditions, rclone and s3rver; undefined if not installed. */
export const findRclone = (env?: NodeJS.ProcessEnv) => findProgram(["rclone"], env);
export const findS3rver = (env?: NodeJS.ProcessEnv) => findProgram(["s3rver"], env);

/** Whether a program for the bucket tests is missing. */
export function lacksStores(env?: NodeJS.ProcessEnv): boolean {
  return [findMoto, findRclone, findS3rver].some((find) => find(env) === undefined);
}

/** Whether the bucket tests can run. */
export const hasS3 = !lacksStores();

export interface TestStore {
  readonly endpoint: string;
  readonly port: number;
  /** The variables with which a user sets the store and its credentials. */
  readonly env: NodeJS.ProcessEnv;
  readonly makeBucket: (name: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The secret key in all tests. No message may show it. */
export const secretKey = "wJalr-SECRET-never-shown/bPxRfiCY";

/** moto checks a condition and writes in two steps. Handling one request at a time makes that atomic, like S3. */
const oneByOne = `
import threading
from moto.server import DomainDispatcherApplication, main
lock, answer = threading.Lock(), DomainDispatcherApplication.__call__
def locked(self, *request):
    with lock:
        return answer(self, *request)
DomainDispatcherApplication.__call__ = locked
main(["-H", "127.0.0.1", "-p", "0"])
`;

/** Starts moto on a free port of this machine. */
export async function startMoto(): Promise<TestStore> {
  const [, python = "python3"] = /^#!(.+)/.exec(await readFile(findMoto() ?? "", "utf8")) ?? [];
  const server = spawn(python.trim(), ["-c", oneByOne], { stdio: ["ignore", "ignore", "pipe"] });
  const endpoint = await announced(server, /Running on (http:\S+)/);
  const makeBucket = async (name: string) => void (await fetch(`${endpoint}/${name}`, { method: "PUT" }));
  return { ...storeAt(endpoint), makeBucket, stop: () => stop(server) };
}

/** Starts `rclone serve s3` on a free port of this machine. */
export async function startRclone(): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-rclone-"));
  const flags = ["--addr", "127.0.0.1:0", "--auth-key", `access,${secretKey}`, "--config", "/dev/null"];
  const server = spawn(findRclone() ?? "", ["serve", "s3", ...flags, folder], { stdio: ["ignore", "ignore", "pipe"] });
  const endpoint = await announced(server, /(http:\/\/127\.0\.0\.1:\d+)/);
  const makeBucket = async (name: string) => void (await mkdir(join(folder, name)));
  const end = async () => {
    await stop(server);
    await rm(folder, { recursive: true });
  };
  return { ...storeAt(endpoint), makeBucket, stop: end };
}

/** Starts s3rver on a free port of this machine. */
export async function startS3rver(): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-s3rver-"));
  const flags = ["--address", "127.0.0.1", "--port", "0", "--no-vhost-buckets", "--allow-mismatched-signatures"];
  const server = spawn(findS3rver() ?? "", ["--directory", folder, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  const address = await announced(server, /listening on (127\.0\.0\.1:\d+)/);
  const makeBucket = async (name: string) => void (await mkdir(join(folder, name)));
  const end = async () => {
    await stop(server);
    await rm(folder, { recursive: true });
  };
  return { ...storeAt(`http://${address}`, "S3RVER"), makeBucket, stop: end }; // it accepts no other key
}

/** The stores that ignore conditions. */
export const faultyStores = [
  { name: "rclone", start: startRclone },
  { name: "s3rver", start: startS3rver },
] as const;

/** The variables for a store, or for a proxy in front of it. */
export function envFor(endpoint: string, key = "access"): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_REGION: "us-east-1",
  };
}

function storeAt(url: string, key?: string) {
  const { origin: endpoint, port } = new URL(url);
  return { endpoint, port: Number(port), env: envFor(endpoint, key) };
}

/** Waits until a server prints its address, and returns it. */
async function announced(server: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    for (const stream of [server.stderr, server.stdout])
      stream?.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        const [, address] = pattern.exec(text) ?? [];
        if (address) resolve(address);
      });
    server.once("error", reject).once("exit", () => reject(new Error(`the store did not start: ${text}`)));
  });
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
}
