import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { StopError } from "../../src/errors.js";
import { openBroker } from "../../src/parallel/broker.js";
import { inFull } from "../rounds.js";
import { hasRedis, startRedis } from "../servers/start-redis.js";

const secret = "Zx9-never-shown";
const user = "nightwatch";

/** A server with unusual behaviour; returns its address, with a user and a password that no message may show. */
async function startOdd(manners: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    manners(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `redis://${user}:${secret}@127.0.0.1:${(server.address() as AddressInfo).port}/0`;
}

/** The error message for a broker that cannot be opened. */
async function refusal(url: string, patience?: number): Promise<string> {
  const error: unknown = await openBroker(url, patience).then(
    (broker) => {
      broker.close();
      expect.fail("it was opened");
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StopError);
  const { message } = error as StopError;
  expect(JSON.stringify([message, error, (error as StopError).cause])).not.toMatch(`${secret}|${user}`);
  expect(message).toMatch(/^the broker rediss?:\/\/[^ @]+ cannot be used: \P{Cc}+$/u);
  return message;
}

const noRedis = "the server there is neither Redis nor Valkey. Start Redis or Valkey there, or correct the address";

test.runIf(inFull)("if the connection is refused, the error names the address without its secrets", async () => {
  expect(await refusal(`redis://${user}:${secret}@127.0.0.1:1/3`)).toBe(
    "the broker redis://127.0.0.1:1/3 cannot be used: nothing listens there. Start Redis or Valkey there, or correct the address",
  );
});

test("a name that no machine has is distinguished from a broker that is not running", async () => {
  expect(await refusal("redis://nowhere.invalid:6379")).toMatch(/name of a host is not known\. Correct the address$/);
});

test.each([
  ["HTTP", (socket: Socket) => void socket.on("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"))],
  ["SSH", (socket: Socket) => void socket.write("SSH-2.0-OpenSSH_9.6\r\n")],
])("a port that speaks %s is no broker", async (_name, manners) => {
  expect(await refusal(await startOdd(manners))).toContain(noRedis);
});

test("a connection that ends before an answer is distinguished from a port that speaks something else", async () => {
  expect(await refusal(await startOdd((socket) => void socket.end()))).toMatch(
    /it closes the connection without an answer\. Start Redis/,
  );
});

test.runIf(inFull)("an answer that never arrives is waited for exactly as long as requested", async () => {
  const url = await startOdd(() => {});
  const begin = performance.now();
  expect(await refusal(url, 300)).toMatch(/no answer\. Start Redis or Valkey there/);
  expect(performance.now() - begin).toBeGreaterThan(290);
  expect(performance.now() - begin).toBeLessThan(1_500);
});

test.runIf(inFull)("if TLS gets no answer, the message says how to do without TLS", async () => {
  const url = await startOdd(() => {}); // Redis without TLS is silent too: it waits for the end of a line
  expect(await refusal(url.replace("redis:", "rediss:"), 300)).toMatch(
    /firewall is between; if no TLS is spoken there, write redis:\/\/$/,
  );
});

test("a broker that repeats the command in its error does not make the message show a secret", async () => {
  const error = `-ODD it refuses 'HELLO' '3' 'AUTH' '${user}' '${secret}' \u001b[31m\r\n`;
  const answerAll = (commands: string) => error.repeat(commands.match(/^\*\d+\r$/gm)?.length ?? 0);
  const url = await startOdd((socket) => void socket.on("data", (data) => socket.write(answerAll(String(data)))));
  expect(await refusal(url, 500)).toMatch(/ODD it refuses 'HELLO' '3' 'AUTH' '…' '…'/);
});

test("without the libraries, the message says how to install them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-no-libraries-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "parallel"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  for (const file of ["errors.js", "file-error.js", "safe-text.js", "parallel/broker.js"])
    await cp(join("dist", file), join(folder, file));
  const script = `const { openBroker } = await import("${pathToFileURL(folder)}/parallel/broker.js"); await openBroker("redis://127.0.0.1").catch((error) => console.log(error.name, error.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  expect(stdout).toMatch(
    /^UsageError Workers need bullmq ioredis, .* npm install bullmq ioredis in .* --global bullmq/,
  );
});

describe.skipIf(!hasRedis)("with a real broker", () => {
  async function startBroker() {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const at = (login: string) => server.url.replace("//", `//${login}@`);
    return { server, at };
  }

  test("each wrong login causes an error that says what to fix, and a right one works", async () => {
    const { server, at } = await startBroker();
    const open = await openBroker(server.url);
    const admin = open.connect();
    await admin.acl("SETUSER", user, "on", `>${secret}`, "-@all", "+info", "+hello");
    await admin.config("SET", "requirepass", secret);
    open.close();
    expect(await refusal(server.url)).toMatch(/asks for a password\. Write it into the address/);
    expect(await refusal(at(`:${secret}x`))).toMatch(/refuses the user or the password of the address\. Correct/);
    expect(await refusal(at(`${user}x:${secret}`))).toMatch(/refuses the user or the password/);
    expect(await refusal(at(`${user}:${secret}`))).toMatch(/its user may not do what workers need\. Give/);
    expect(await refusal(`${at(`:${secret}`)}/99`)).toMatch(/no database of this number\. Correct the end/);
    const broker = await openBroker(`${at(`:${secret}`)}/15`);
    onTestFinished(broker.close);
    expect(broker.shown).toBe(`${server.url}/15`);
    expect(await broker.connect().ping()).toBe("PONG");
  });

  test.runIf(inFull)("a frozen broker, and one without TLS, are given up in time", async () => {
    const { server } = await startBroker();
    expect(await refusal(server.url.replace("redis:", "rediss:"), 500)).toMatch(/no answer|no TLS is spoken/);
    server.signal("SIGSTOP");
    expect(await refusal(server.url, 500)).toMatch(/no answer/);
    server.signal("SIGCONT");
  });

  test.runIf(inFull)(
    "a connection comes back after a restart of the broker, and its commands wait for that",
    async () => {
      const { server } = await startBroker();
      const broker = await openBroker(server.url);
      onTestFinished(broker.close);
      const connection = broker.connect();
      await connection.set("a", "1");
      await server.kill();
      const answer = connection.get("a");
      await sleep(100);
      await server.start();
      expect(await answer).toBeNull();
    },
  );

  test("a connection without a queue of commands refuses them at once while the broker is gone", async () => {
    const { server } = await startBroker();
    const broker = await openBroker(server.url);
    onTestFinished(broker.close);
    const connection = broker.connect({ enableOfflineQueue: false, commandTimeout: 200 });
    await new Promise((resolve) => connection.once("ready", resolve));
    server.signal("SIGSTOP");
    await expect(connection.ping()).rejects.toThrow("Command timed out");
    server.signal("SIGCONT");
    await server.kill();
    await sleep(50);
    await expect(connection.ping()).rejects.toThrow(/enableOfflineQueue|Connection is closed/);
  });
});
