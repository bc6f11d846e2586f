import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { inFull } from "../rounds.js";
import { ask, started } from "./ask.js";
import { smallKnowledge } from "./small-knowledge.js";

describe("startService", () => {
  it.runIf(inFull)("listens on a free port of loopback, with a random key", async () => {
    const [one, other] = await Promise.all([started(), started()]);
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(one.key).toMatch(/^kbdump-demo-[0-9a-f]{24}$/);
    expect(one.url).not.toBe(other.url);
    expect(one.key).not.toBe(other.key);
  });

  it.runIf(inFull)("uses the given port and key", async () => {
    const first = await startService();
    const port = Number(new URL(first.url).port);
    await first.close();
    const second = await started({ port, key: "my-key/with+signs=" });
    expect(new URL(second.url).port).toBe(String(port));
    expect((await ask(second, "/datasets")).status).toBe(200);
  });

  it.runIf(inFull)("names the port that is in use, and says what to do", async () => {
    const port = Number(new URL((await started()).url).port);
    await expect(startService({ port })).rejects.toThrow(
      `the service cannot listen on 127.0.0.1:${port}: the port is taken; stop what listens there, or choose another`,
    );
  });

  it("says so when the port is none", async () => {
    await expect(startService({ port: 70_000 })).rejects.toThrow(
      /127\.0\.0\.1:70000.*choose a port from 1024 to 65535/,
    );
  });

  it("closes at once with idle connections open, and may be closed twice", async () => {
    const service = await startService();
    const agent = new Agent({ keepAlive: true });
    await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${service.url}/datasets`, { agent }, (response) => response.resume().on("end", () => resolve(response))).on(
        "error",
        reject,
      );
    });
    expect(Object.keys(agent.freeSockets)).toHaveLength(1);
    const start = performance.now();
    await Promise.all([service.close(), service.close()]);
    await service.close();
    expect(performance.now() - start).toBeLessThan(500);
    await expect(fetch(service.url)).rejects.toThrow();
    agent.destroy();
  });

  it("closes while an answer is still being read", async () => {
    const small = smallKnowledge([{}]);
    const slow = { ...small, datasets: () => setTimeout(100, { rows: [], total: 0 }) };
    const service = await started({ knowledge: slow });
    const cut = expect(ask(service, "/datasets")).rejects.toThrow();
    await setTimeout(30);
    await service.close();
    await cut;
    await setTimeout(100);
  });
});
