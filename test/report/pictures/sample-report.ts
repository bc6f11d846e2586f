import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startService } from "../../../src/demo/start-service.js";
import { runKbdump } from "../../cli/run-kbdump.js";

const handbook = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const products = "363de3fa-c033-4479-aa89-3e7cf01dccd5";
const document = "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0";

const job = (base_url: string) => ({
  name: "handbook",
  service: { base_url },
  datasets: [
    { id: handbook, documents: "all", batches: ["20250306120000123456"] },
    { id: products, documents: "all", batches: ["20250602093000654321", "import/März 2025 #3? 100%"] },
  ],
  output: { formats: ["jsonl", "duckdb"] },
});

type Send = (path: string, body: unknown) => Promise<void>;

/** Manual edits of a sample document, one list per day. */
const workOfDays: readonly (readonly ((send: Send) => Promise<void>)[])[] = [
  [
    (send) => send("/ccad34a6-dae3-48d0-879a-89340a264176", { segment: { content: "The last page is number 9." } }),
    (send) => send("/d5adb765-1e27-4a75-9235-0b758d32a85c", { segment: { content: "Commas, and semicolons, too." } }),
  ],
  [(send) => send("", { segments: [{ content: "Ask Ms Ito for the key.", keywords: ["key"] }] })],
  [
    (send) => send("", { segments: [{ content: "The office closes at six." }] }),
    (send) => send("/4a22222a-5275-4c20-81b4-e4417c2b180f", { segment: { enabled: false } }),
    (send) => send("/86497cb8-43dd-4198-9ac7-a41fdcb176e5/child_chunks", { content: "Quotes of five languages." }),
  ],
];

/**
 * Makes a report on the sample data in this folder, with the built program: several nightly runs with manual edits in
 * between, then a re-index that removes the edits. Returns the path of the page.
 */
export async function makeSampleReport(folder: string): Promise<string> {
  const service = await startService();
  try {
    await writeFile(join(folder, "handbook.yaml"), JSON.stringify(job(service.url)));
    const kbdump = (...args: readonly string[]) => runIn(folder, args, service.key);
    const send = sendTo(service);
    await kbdump("run", "handbook.yaml");
    for (const work of workOfDays) {
      for (const edit of work) await edit(send);
      await kbdump("run", "handbook.yaml");
    }
    await post(new URL(`/demo/reindex/${document}?seconds=0`, service.url), service.key, {});
    await kbdump("run", "handbook.yaml");
    await kbdump("report", "handbook", "--against", "handbook", "--file", "report.html");
  } finally {
    await service.close();
  }
  return join(folder, "report.html");
}

async function runIn(folder: string, args: readonly string[], key: string): Promise<void> {
  const { code, stderr } = await runKbdump([...args, "--quiet"], { KNOWLEDGE_API_KEY: key }, folder);
  if (code !== 0) throw new Error(`kbdump ${args.join(" ")} exited with ${code}: ${stderr}`);
}

function sendTo({ url, key }: { readonly url: string; readonly key: string }): Send {
  return (path, body) => post(new URL(`${url}/datasets/${handbook}/documents/${document}/segments${path}`), key, body);
}

async function post(url: URL, key: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const { ok, status } = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!ok) throw new Error(`${url.pathname} answered ${status}`);
}
