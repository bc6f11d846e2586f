import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { sampleKnowledge } from "../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../src/demo/start-service.js";
import { testFolder } from "../run/job-for.js";

const [datasetId, documentId] = ["be707760-4d1d-4f33-b3ad-f9bace31e975", "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0"];
const edited = "ccad34a6-dae3-48d0-879a-89340a264176";

/** Starts a proxy in front of a service, so that a test sees every request. */
async function startLine(origin: string) {
  let look: (path: string) => number | undefined = () => undefined;
  const server = createServer(async ({ method = "GET", url = "/", headers }, response) => {
    const refused = look(url);
    if (refused !== undefined) {
      response.writeHead(refused, { "content-type": "application/json" });
      response.end(JSON.stringify({ code: "forbidden", message: "refused by the test" }));
      return;
    }
    const target = new URL(url, origin);
    const sent = request(target, { method, headers: { ...headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    response.req.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const onRequest = (listener: typeof look) => {
    look = listener;
  };
  return { origin: `http://127.0.0.1:${port}`, onRequest };
}

/** The sample service with manual edits in its document, and the guard command for it. */
export async function guarded() {
  const folder = await testFolder();
  const clock = () => new Date();
  const demo = sampleKnowledge(clock);
  const service = await startService({ demo });
  onTestFinished(() => service.close());
  const segments = `${service.url}/datasets/${datasetId}/documents/${documentId}/segments`;
  const write = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
    const answer = await fetch(`${segments}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
  };
  await write(`/${edited}`, { segment: { content: "Edited by a person." } });
  await write("", { segments: [{ content: "Added by a person." }] });
  const line = await startLine(new URL(service.url).origin);
  const flags = [
    "--base-url",
    service.url.replace(new URL(service.url).origin, line.origin),
    "--dataset",
    datasetId,
    "--name",
    "kb",
    "--interval",
    "0.1",
  ];
  const env = { KNOWLEDGE_API_KEY: service.key, KNOWLEDGE_RESTORE_KEY: service.key };
  return {
    /** Edits the chunks at these positions, from 0. */
    edit: async (...positions: readonly number[]) => {
      const { chunks } = demo.store.readIn(datasetId, documentId);
      for (const at of positions) await write(`/${chunks[at]?.row.id}`, { segment: { content: `Edited at ${at}.` } });
    },
    contents: () => demo.store.readIn(datasetId, documentId).chunks.map(({ row }) => row.content),
    reindex: (seconds = 0.3) => demo.store.reindex(documentId, { seconds }),
    /** Called with each request before it is answered. If it returns a status, the request is answered with that. */
    onRequest: line.onRequest,
    command: ["guard", ...flags, "--document", documentId, "--out", join(folder, "out")],
    env,
    runs: join(folder, "out", "kb-guard", "runs"),
  };
}
