import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startKbdump } from "../cli/run-kbdump.js";

interface Row {
  readonly id: string;
  readonly word_count: number;
}

const clients = 100;
const requestsEach = 50;

test("clients that send many requests and read nothing take little memory", { timeout: 60_000 }, async () => {
  const child = startKbdump(["serve", "--demo", "--key", "k", "--json"], {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const base = await new Promise<string>((resolve) => {
    child.stdout?.once("data", (text: Buffer) => resolve(JSON.parse(text.toString()).base_url));
  });
  const list = async (path: string) => {
    const answer = await fetch(`${base}${path}`, { headers: { authorization: "Bearer k" } });
    const { data }: { data: Row[] } = JSON.parse(await answer.text());
    return data;
  };
  const [dataset] = await list("/datasets");
  const documents = await list(`/datasets/${dataset?.id}/documents?limit=100`);
  const [largest] = documents.sort((a, b) => b.word_count - a.word_count);
  const path = `/v1/datasets/${dataset?.id}/documents/${largest?.id}/segments?limit=100`;
  const request = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\n\r\n`;
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let nr = 0; nr < clients; nr++) {
    const socket = connect(Number(new URL(base).port), "127.0.0.1").on("error", () => {});
    socket.pause();
    socket.write(request.repeat(requestsEach));
    sockets.push(socket);
  }
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await list("/datasets")).not.toEqual([]); // other clients still get answers
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_000;
  expect(peak).toBeLessThan(350);
});
