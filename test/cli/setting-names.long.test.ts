import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runJob } from "../../src/run/run-job.js";
import { deadUrl, json, serve } from "../client/serve.js";
import { jobFile, jobFor, testFolder } from "../run/job-for.js";
import { runHere } from "./run-here.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0";
const datasets = [{ id: dataset, documents: [document] }];

/** A command that connects to a service, and what it calls the settings for address and certificates. */
interface Asking {
  readonly address: string;
  readonly certificates: string;
  readonly args: (url: string) => Promise<readonly string[]>;
}

/** The commands to test: a run with a job file, a run without one, and a restore. */
async function startCommands(): Promise<readonly Asking[]> {
  const { url: source, key, close } = await startService();
  onTestFinished(close);
  const made = { service: { base_url: source }, datasets, child_chunks: "auto", output: { formats: ["jsonl"] } };
  const { folder } = await runJob(await jobFor(await testFolder(), made), { env: { KNOWLEDGE_API_KEY: key } });
  return [
    {
      ...{ address: "service.base_url", certificates: "service.ca_file" },
      args: async (base_url) => ["run", await jobFile(await testFolder(), { service: { base_url }, datasets })],
    },
    {
      ...{ address: "--base-url", certificates: "service.ca_file" },
      args: async (url) => [
        ...["run", "--base-url", url, "--dataset", dataset],
        ...["--document", document, "--out", await testFolder()],
      ],
    },
    {
      ...{ address: "--to", certificates: "--ca-file" },
      args: async (url) => ["restore", folder, "--document", document, "--to", url],
    },
  ];
}

const errorOf = async (args: readonly string[]) =>
  runHere([...args, "--quiet"], { KNOWLEDGE_API_KEY: "dataset-k", KNOWLEDGE_RESTORE_KEY: "dataset-k" });

test("every command names its own setting if no service, or another service, answers at the address", async () => {
  const dead = await deadUrl();
  const { url } = await serve((_, response) => response.writeHead(404).end("<title>404 Not Found</title>"));
  const ask = async ({ address, args }: Asking) => {
    const gone = await errorOf(await args(dead));
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining("kbdump: the service cannot be reached: ") });
    expect(gone.stderr).toMatch(
      new RegExp(`; check that the service runs and that ${address} is right \\(GET \\S+\\)\n$`),
    );
    const other = await errorOf(await args(url.replace("/v1", "/api")));
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(
      new RegExp(`Knowledge API; check ${address}, which usually ends in /v1 \\(GET \\S+\\)\n$`),
    );
  };
  await Promise.all((await startCommands()).map(ask));
});

test("every command names its own setting for certificates", async () => {
  const { url } = await serve(json({ data: [], total: 0 }), "one");
  for (const { certificates, args } of await startCommands()) {
    const { code, stderr } = await errorOf(await args(url));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `; ${certificates} names a file of certificates to trust in addition to the usual ones \\(GET \\S+\\)\n$`,
      ),
    );
  }
});

test("a file without certificates is named by the setting that it came from", async () => {
  const [, , restore] = await startCommands();
  const missing = join(await testFolder(), "none.pem");
  const service = { base_url: "https://127.0.0.1/v1", ca_file: missing };
  const job = await jobFile(await testFolder(), { service, datasets });
  const restoring = [...((await restore?.args(service.base_url)) ?? []), "--ca-file", missing];
  const said = (name: string) => ({
    code: 2,
    stderr: `kbdump: The job cannot run:\n  ${name}: cannot read ${missing}\n`,
  });
  expect(await errorOf(["run", job])).toMatchObject(said("service.ca_file"));
  expect(await errorOf(restoring)).toMatchObject(said("--ca-file"));
});
