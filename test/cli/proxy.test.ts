import { expect, onTestFinished, test } from "vitest";
import { deadUrl } from "../client/serve.js";
import { sampleDatasets } from "../demo/sample-datasets.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startProxy } from "../servers/proxy.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { runHere } from "./run-here.js";
import { runKbdump } from "./run-kbdump.js";

/** A job whose service is only reachable through the proxy. */
async function startPlace() {
  const store = new Store();
  const document = makeDocument({ chunks: 120 });
  const dataset = store.addDataset(document);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const proxy = await startProxy(Number(new URL(server.url).port), { login: "me:secret" });
  const job = await jobFile(await testFolder(), {
    service: { base_url: "http://kb.example/v1", allow_http: true },
    datasets: [{ id: dataset.id, documents: [document.id] }],
    output: { formats: ["jsonl"] },
  });
  return { server, proxy, job, env: { KNOWLEDGE_API_KEY: server.key } };
}

test.runIf(inFull)("the embedded service is asked directly, whatever the environment says", async () => {
  const [dataset] = sampleDatasets();
  const job = await jobFile(await testFolder(), {
    service: { demo: true },
    datasets: [{ id: dataset?.id, documents: dataset?.documents.slice(0, 1) }],
    output: { formats: ["jsonl"] },
  });
  const { host } = new URL(await deadUrl());
  const { code, stderr } = await runHere(["run", job], { HTTP_PROXY: `http://${host}`, HTTPS_PROXY: `http://${host}` });
  expect({ code, proxy: stderr.includes(host) }).toEqual({ code: 0, proxy: false });
});

test.runIf(inFull)("run, through the proxy of the environment; its password is nowhere", async () => {
  const { proxy, server, job, env } = await startPlace();
  const http_proxy = proxy.url.replace("//", "//me:secret@");
  const { code, stdout, stderr } = await runKbdump(["run", job], { ...env, http_proxy });
  expect({ code, stderr: stderr.replace(/^.*reading.*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^complete: 1 document, 120 chunks/);
  expect(new Set(proxy.tunnels)).toEqual(new Set(["kb.example:80"]));
  expect(server.requests).not.toEqual([]);
  expect(stdout).not.toContain("secret");
});

test("plan, with a wrong password: exit 1 and one sentence, at once", async () => {
  const { proxy, server, job, env } = await startPlace();
  const HTTP_PROXY = proxy.url.replace("//", "//me:wrong@");
  const { code, stdout, stderr } = await runHere(["plan", job], { ...env, HTTP_PROXY });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^kbdump: the proxy \S+ does not accept the user and password \(407\); HTTP_PROXY holds them/);
  expect(stderr.split("\n")).toHaveLength(2);
  expect(stderr).not.toContain("wrong");
  expect(server.requests).toEqual([]);
  const wrong = await runHere(["run", job], { ...env, HTTP_PROXY: "socks4://me:secret@p" });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).not.toContain("secret");
});
