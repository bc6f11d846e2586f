import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { inFull } from "../../rounds.js";
import { Answers } from "../answers.js";
import { type Dataset, datasetId, documentId } from "../dataset.js";
import { SearchAnswers } from "../elasticsearch.js";
import { checkRows } from "./check-rows.js";
import { installTools } from "./install-tools.js";
import { measureTree } from "./measure-tree.js";
import { optionsIn } from "./options.js";
import { resultTable } from "./result-table.js";

const dataset: Dataset = { id: datasetId, documents: 2, chunks: 150, childLists: false, embedsChildren: false };

test("the service returns the same records to Elasticsearch clients as through the Knowledge API", () => {
  const answers = new Answers(dataset);
  const listed = [0, 1].flatMap((document) =>
    [1, 2].flatMap((page) => JSON.parse(String(answers.chunks(documentId(document), page, 100))).data),
  );
  const search = new SearchAnswers(dataset);
  let answer = JSON.parse(String(search.scroll('{"size":70}')));
  const hits: { _id: string; _source: { id: string } }[] = [];
  for (
    ;
    answer.hits.hits.length > 0;
    answer = JSON.parse(String(search.scroll(`{"scroll_id":"${answer._scroll_id}"}`)))
  )
    hits.push(...answer.hits.hits);
  expect(answer.hits.total.value).toBe(300);
  expect(hits.map(({ _source }) => _source)).toEqual(listed);
  expect(hits.map(({ _id }) => _id)).toEqual(listed.map(({ id }) => id));
});

test.runIf(inFull)("a measurement includes the time and memory of child processes", async () => {
  const busy =
    "const bytes = Buffer.alloc(150e6, 1); const end = Date.now() + 300; while (Date.now() < end) bytes[0]++;";
  const { wall, cpu, rss, stdout } = await measureTree(["sh", "-c", `"${process.execPath}" -e "${busy}"; echo done`]);
  expect(stdout).toBe("done\n");
  expect(wall).toBeGreaterThan(0.3);
  expect(cpu).toBeGreaterThan(0.1);
  expect(rss).toBeGreaterThan(150e6);
});

test("a failing command is named, with the end of its output", async () => {
  const failing = measureTree(["sh", "-c", "echo out of luck >&2; exit 7"]);
  await expect(failing).rejects.toThrow("sh -c echo out of luck >&2; exit 7 ended with 7: out of luck");
});

test("an installation without Python reports what is missing", async () => {
  const folder = await emptyFolder();
  vi.stubEnv("PATH", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(installTools(join(folder, "cache"), () => {})).rejects.toThrow(
    /^npm run compare could not run "python3 -m venv .*": there is no such program on the PATH\nInstall Python 3\.10 or later/,
  );
});

test("an installation without a network names the registry, and the next one tries again", async () => {
  const folder = await emptyFolder();
  const pip =
    'mkdir -p "$3/bin"; printf "#!/bin/sh\\necho no route to host >&2; exit 1\\n" > "$3/bin/python"; chmod 755 "$3/bin/python"';
  await writeFile(join(folder, "python3"), `#!/bin/sh\n${pip}\n`);
  await chmod(join(folder, "python3"), 0o755);
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const reported: string[] = [];
  for (let time = 0; time < 2; time++)
    await expect(installTools(join(folder, "cache"), (line) => reported.push(line))).rejects.toThrow(
      /pip install --quiet dlt.*": no route to host\nThis needs the Python Package Index: check the network/,
    );
  expect(reported).toEqual([0, 1].map(() => expect.stringMatching(/^installing dlt\[duckdb,parquet\]==\S+ in /)));
});

test("errors name wrong flags", () => {
  expect(optionsIn(["--data", "2x150", "--latency", "0", "--in-flight", "4", "--rounds", "1"])).toEqual({
    dataset,
    latency: 0,
    inFlight: 4,
    rounds: 1,
  });
  expect(() => optionsIn(["--data", "30000"])).toThrow(
    "--data 30000 is not of the form DOCUMENTSxCHUNKS, as in 200x150.",
  );
  expect(() => optionsIn(["--rounds", "0"])).toThrow("--rounds 0 is no whole number from 1 on.");
  expect(() => optionsIn(["--latncy", "0"])).toThrow("Unknown option '--latncy'");
});

test("a tool that misses rows, or whose texts differ from the first tool's, fails", () => {
  const comparison = { dataset, latency: 0, inFlight: 4, rounds: 1 };
  const whole = { rows: 300, digest: "17" };
  checkRows("one", comparison, whole, whole);
  expect(() => checkRows("one", comparison, { ...whole, rows: 299 }, whole)).toThrow("one wrote 299 of 300 chunks.");
  expect(() => checkRows("one", comparison, { ...whole, digest: "18" }, whole)).toThrow(
    "one wrote other texts than the first tool.",
  );
});

test("the table shows medians, peak memory, and ratios to the first tool with the same output", () => {
  const served = { cpu: 0.5, pages: 400, childLists: 0, others: 2 };
  const run = (wall: number, rss: number) => ({ wall, cpu: wall / 2, rss, served });
  const table = resultTable([
    { contestant: { name: "one", output: "jsonl" }, runs: [run(2, 100e6), run(9, 300e6), run(4, 200e6)] },
    { contestant: { name: "two", output: "duckdb" }, runs: [run(5, 100e6)] },
    { contestant: { name: "three", output: "jsonl" }, runs: [run(6, 150e6)] },
  ]);
  expect(table.split("\n").slice(2)).toEqual([
    "| one   | jsonl  | 4.0 s | 1.00 | 2.0 s | 1.00 | 300 MB | 1.00 |      402 |         0.50 s |",
    "| two   | duckdb | 5.0 s | 1.00 | 2.5 s | 1.00 | 100 MB | 1.00 |      402 |         0.50 s |",
    "| three | jsonl  | 6.0 s | 1.50 | 3.0 s | 1.50 | 150 MB | 0.50 |      402 |         0.50 s |",
    "",
  ]);
});

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-compare-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
