import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openClient } from "../../src/client/open-client.js";
import { sumOfOriginals } from "../../src/commands/run/summary.js";
import { jsonReply, type Route, route } from "../../src/demo/routes.js";
import { startService } from "../../src/demo/start-service.js";
import { askerOfFiles } from "../../src/originals/file-routes.js";
import { planJob } from "../../src/plan/plan-job.js";
import { runJob } from "../../src/run/run-job.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { runKbdump } from "../cli/run-kbdump.js";
import { inFull } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { file } from "../servers/file-store.js";
import { writableSample } from "../servers/writable/writable-knowledge.js";
import { everyText, give, type Library, library, originalsOf, run, sign } from "./library.js";

/** The requests for originals and details that the server received, by kind. */
function askedOf({ server }: Library) {
  const count = (ending: RegExp) => server.requests.filter(({ path }) => ending.test(path)).length;
  return {
    upload: count(/\/upload-file$/),
    download: count(/\/download$/),
    details: count(/\/documents\/[^/]+$/),
  };
}

/** A library on a release that serves originals over this route. */
async function libraryOn(release: "upload-file" | "download" | "none", documents: number): Promise<Library> {
  const place = await library(documents);
  place.server.behaviour.originals = release;
  return place;
}

/** Removes the file of a document. */
function takeAway({ datasets, ids }: Library, at: number): void {
  const document = datasets[0]?.documents.get(ids[at] ?? "");
  if (document) document.upload = null;
}

const verdictsOf = (result: Parameters<typeof originalsOf>[0]) => originalsOf(result).map(({ verdict }) => verdict);

describe("a release until 1.8, with upload-file", () => {
  test.runIf(inFull)("gets requests on no other route, even if the first documents have no file", async () => {
    const place = await libraryOn("upload-file", 12);
    for (let at = 0; at < 8; at++) takeAway(place, at);
    const result = await run(place, { service: { concurrency: 8 } });
    expect(verdictsOf(result)).toEqual(place.ids.map((_, at) => (at < 8 ? "missing" : "complete")));
    expect(originalsOf(result)[0]?.reason).toContain("404 not_found UploadFile not found");
    expect(askedOf(place)).toEqual({ upload: 12, download: 0, details: 0 });
  });
});

describe("a release from 1.9 to 1.13.0, without a route", () => {
  test.runIf(inFull)(
    "is asked once for each, and one warning says so; the run is complete",
    { timeout: 120_000 },
    async () => {
      const place = await libraryOn("none", 25);
      place.server.behaviour.latency = ({ path }) => (/(upload-file|download)$/.test(path) ? 30 : 0);
      const { server, folder } = place;
      const job = {
        name: "test",
        service: { base_url: server.url, concurrency: 8 },
        datasets: "all",
        originals: true,
        details: false,
      };
      await writeFile(join(folder, "job.yaml"), JSON.stringify({ ...job, output: { formats: ["jsonl"] } }));
      const env = { KNOWLEDGE_API_KEY: server.key };
      const shown = await runKbdump(["run", "job.yaml"], env, folder);
      expect(shown.code).toBe(0);
      expect(askedOf(place)).toEqual({ upload: 1, download: 1, details: 0 });
      expect(shown.stdout).toMatch(/^0 originals saved \(0 B\), 25 missing$/m);
      const warning = "this release does not provide originals";
      for (const text of [shown.stdout, shown.stderr]) expect(text.split(warning)).toHaveLength(2);
      for (const text of [shown.stdout, shown.stderr]) expect(text).not.toMatch(/base_url|is missing:/);

      const ran = await runKbdump(["run", "job.yaml", "--json", "--quiet"], env, folder);
      const result = JSON.parse(ran.stdout);
      expect(ran.code).toBe(0);
      expect(result).toMatchObject({
        status: "complete",
        originals: { complete: 0, wrong_size: 0, missing: 25 },
        warnings: [expect.stringMatching(new RegExp(`^${warning}: `))],
      });
      expect(await verifyRun(join(folder, result.folder))).toMatchObject({ status: "sound" });
    },
  );

  test("gives each original the same reason, and still saves attachments", async () => {
    const place = await libraryOn("none", 2);
    const [chunk] = place.datasets[0]?.documents.get(place.ids[0] ?? "")?.chunks ?? [];
    const facts = { id: "a", name: "a.png", size: 5, mime_type: "image/png" };
    if (chunk) chunk.attachments = [{ ...facts, source_url: `${place.files.url}/a?${sign}` }];
    place.files.files.set("/a", file("bytes"));
    const { manifest } = await run(place);
    const reason = "this release does not provide originals";
    expect(manifest.originals?.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ["missing", reason],
      ["complete", null],
      ["missing", reason],
    ]);
  });
});

describe("a release from 1.13.1 on, with download", () => {
  test.runIf(inFull)(
    "gives the file; its facts come from the details of the document, and no link lies anywhere",
    async () => {
      const place = await libraryOn("download", 3);
      give(place, 1, "short", { size: 99 });
      place.files.files.delete("/2");
      const logged: string[] = [];
      const log = (_level: string, text: string) => logged.push(text);
      const result = await run(place, { service: { retries: 6 } }, { log });
      expect(originalsOf(result)[0]).toMatchObject({
        ...{ path: `originals/${place.ids[0]}/Guide 0.pdf`, name: "Guide 0.pdf", mime_type: "application/pdf" },
        ...{ file_id: "upload-0", bytes: 10, expected_bytes: 10, verdict: "complete" },
      });
      expect(verdictsOf(result)).toEqual(["complete", "wrong size", "missing"]);
      expect(askedOf(place)).toEqual({ upload: 1, download: 3, details: 3 });
      expect(place.files.asked.map(({ authorization }) => authorization)).toEqual([undefined, undefined, undefined]);
      for (const text of [await everyText(place.folder), logged.join("\n")]) expect(text).not.toContain(sign);
      expect(await verifyRun(result.folder)).toMatchObject({ status: "sound" });
    },
  );

  test.runIf(inFull)(
    "gets one request for the details of a document, also from a run that reads them and from one that tries again",
    async () => {
      const place = await libraryOn("download", 3);
      place.files.files.set("/1", (response, nth) =>
        nth % 2 === 1 ? void response.writeHead(503).end() : file("original 1")(response),
      );
      for (const details of [false, true]) {
        place.server.reset();
        const result = await run(place, { details, child_chunks: "none" });
        expect(originalsOf(result).map(({ name }) => name)).toEqual(["Guide 0.pdf", "Guide 1.pdf", "Guide 2.pdf"]);
        expect(askedOf(place)).toEqual({ upload: 1, download: details ? 3 : 4, details: 3 });
        for (const at of place.ids.keys()) give(place, at, `original ${at}`, { id: `next-${at}` });
      }
    },
  );

  test.runIf(inFull)(
    "decides the route with the first of many documents in flight, even if those have no file",
    async () => {
      const place = await libraryOn("download", 40);
      place.server.behaviour.latency = ({ path }) => (/(upload-file|download)$/.test(path) ? 20 : 0);
      for (let at = 0; at < 16; at++) takeAway(place, at);
      const result = await run(place, { service: { concurrency: 16, retries: 6 }, details: true });
      expect(verdictsOf(result)).toEqual(place.ids.map((_, at) => (at < 16 ? "missing" : "complete")));
      expect(originalsOf(result)[7]?.reason).toContain("404 not_found UploadFile not found");
      expect(askedOf(place)).toEqual({ upload: 1, download: 40, details: 40 });
      const asked = place.server.requests.filter(({ path }) => /(upload-file|download)$/.test(path));
      expect(Math.max(...asked.map(({ inFlight }) => inFlight))).toBeGreaterThan(4);
    },
  );

  test("a question that fails for a while decides nothing", async () => {
    const place = await libraryOn("download", 5);
    place.server.behaviour.faults = ({ path }) =>
      path.endsWith("/upload-file") && askedOf(place).upload === 1 ? { kind: "status", status: 500 } : undefined;
    const result = await run(place, { service: { retries: 0 } });
    expect(verdictsOf(result).toSorted()).toEqual(["complete", "complete", "complete", "complete", "missing"]);
    expect(askedOf(place)).toMatchObject({ upload: 2, download: 4 });
  });

  test("a file whose details name no upload is saved without a name, and one without a link is missing", async () => {
    const place = await libraryOn("download", 3);
    const documents = place.ids.map((id) => place.datasets[0]?.documents.get(id));
    if (documents[0]) delete documents[0].details;
    if (documents[1]) documents[1].details = { id: documents[1].id, data_source_info: { name: "of a pipeline" } };
    give(place, 2, "original 2", { download_url: "ftp://files" });
    const result = await run(place);
    expect(originalsOf(result).map(({ verdict, path, expected_bytes }) => [verdict, path, expected_bytes])).toEqual([
      ["complete", `originals/${place.ids[0]}/original`, 10],
      ["complete", `originals/${place.ids[1]}/original`, 10],
      ["missing", null, null],
    ]);
    expect(originalsOf(result)[2]?.reason).toBe("the service returns no link to it");
  });

  test("an answer that is broken off within the link shows no signature", async () => {
    const place = await libraryOn("download", 1);
    place.server.behaviour.faults = ({ path }) => (path.endsWith("/download") ? { kind: "invalid-json" } : undefined);
    const [original] = originalsOf(await run(place, { service: { retries: 0 } }));
    expect(original?.reason).toMatch(/the body is not valid JSON: \{"url":"http:\/\/127\.0\.0\.1:\d+\/0\?…/);
    expect(await everyText(place.folder)).not.toContain("sign=");
  });

  test.runIf(inFull)(
    "a later run keeps unchanged files, and an interrupted one continues with what it had",
    async () => {
      const place = await libraryOn("download", 4);
      const stop = new AbortController();
      place.files.files.set("/3", () => setTimeout(() => stop.abort(new Error("enough")), 300));
      await expect(run(place, {}, { signal: stop.signal })).rejects.toThrow("enough");
      place.files.files.set("/3", file("original 3"));
      const fetched = () => place.files.asked.splice(0).map(({ url }) => url.split("?")[0]);
      fetched();
      place.server.reset();
      const complete = ["complete", "complete", "complete", "complete"];
      expect(verdictsOf(await run(place))).toEqual(complete);
      expect([fetched(), askedOf(place)]).toEqual([["/3"], { upload: 1, download: 1, details: 1 }]);

      give(place, 1, "original 1, longer");
      give(place, 2, "original 2", { id: "another-upload" });
      const later = await run(place);
      expect(verdictsOf(later)).toEqual(complete);
      expect(fetched().sort()).toEqual(["/1", "/2"]);
      expect(await verifyRun(later.folder)).toMatchObject({ status: "sound", checked: { originals: 4 } });
    },
  );
});

test.runIf(inFull).each([
  ["upload-file", false, 6],
  ["upload-file", true, 6],
  ["download", false, 1 + 9],
  ["download", true, 1 + 6],
  ["none", false, 2],
] as const)("plan counts the requests for originals of %s, with details %s: %i", async (release, details, requests) => {
  const place = await libraryOn(release, 3);
  const { server, folder } = place;
  const about = { service: { base_url: server.url }, datasets: "all", child_chunks: "none", details };
  const env = { KNOWLEDGE_API_KEY: server.key };
  const planned = await planJob(await jobFor(folder, { ...about, originals: true }), { env });
  expect(askedOf(place)).toMatchObject({ upload: 1, download: release === "upload-file" ? 0 : 1 });
  const { manifest } = await run(place, { child_chunks: "none", details });
  expect(planned.requests.this_job).toBe(manifest.requests.sent);
  const without = await planJob(await jobFor(folder, about), { env });
  expect(planned.requests.this_job - without.requests.this_job).toBe(requests);
});

test("simultaneous documents wait for the first one, and after a failure for the next one", async () => {
  const place = await libraryOn("none", 6);
  const { server } = place;
  server.behaviour.latency = 20;
  server.behaviour.faults = (_, nth) =>
    nth === 0 && server.requests.length === 1 ? { kind: "status", status: 500 } : undefined;
  const api = openClient({ baseUrl: server.url, key: server.key, retries: 0, concurrency: 6 });
  const askerOf = askerOfFiles({ api, baseUrl: server.url, details: undefined });
  const asking = place.ids.map((documentId) => {
    const ref = { datasetId: place.datasets[0]?.id ?? "", documentId, status: [], keyword: undefined };
    return askerOf({ ref, attachment: null, name: documentId })().catch((error: Error) => error.message);
  });
  const [first, ...others] = await Promise.all(asking);
  expect(first).toContain("500");
  expect(others).toEqual(others.map(() => "this release does not provide originals"));
  expect(askedOf(place)).toEqual({ upload: 2, download: 1, details: 0 });
  expect(server.maxInFlight).toBe(1);
  await api.close();
});

/** The demo's route as a service of this release has it; without the route for originals if the release has none. */
function ofRelease(release: "upload-file" | "download" | "none", each: Route): readonly Route[] {
  if (release === "upload-file" || !each.path.source.endsWith("/upload-file$")) return [each];
  if (release === "none") return [];
  const path = "/v1/datasets/:dataset/documents/:document/download";
  const download = route("GET", path, async (asked) => {
    const { download_url: url } = JSON.parse(String((await each.reply(asked)).content));
    return jsonReply(200, { url });
  });
  return [download];
}

test.runIf(inFull).each([
  ["upload-file", { complete: 10, wrong_size: 1, missing: 2 }],
  ["download", { complete: 10, wrong_size: 1, missing: 2 }],
  ["none", { complete: 0, wrong_size: 0, missing: 13 }],
] as const)("the sample data on a release with the route %s", async (originals, sum) => {
  const { reads, routes } = writableSample(() => new Date());
  const service = await startService({ demo: { reads, routes: routes.flatMap((each) => ofRelease(originals, each)) } });
  onTestFinished(() => service.close());
  const folder = await testFolder();
  const about = { service: { base_url: service.url }, datasets: "all", child_chunks: "none", consistency: "counts" };
  const job = await jobFor(folder, { ...about, originals: true, output: { formats: ["jsonl"] } });
  const { manifest } = await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  expect(sumOfOriginals(manifest)).toMatchObject({ originals: sum, attachments: { complete: 216, missing: 0 } });
});
