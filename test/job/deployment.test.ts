import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes, InterruptedError } from "../../src/errors.js";
import { loadJob } from "../../src/job/load-job.js";
import { runHere } from "../cli/run-here.js";
import { runKbdump } from "../cli/run-kbdump.js";
import { documentation } from "../documentation.js";
import { startReceiver } from "../notify/start-receiver.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { expectMounted, manifestsOf } from "./kubernetes.js";

const read = (path: string) => readFile(`jobs/${path}`, "utf8");
const looksSecret = /dataset-\w{16}|Bearer |password/i;

test.each([
  "systemd/kbdump.service",
  "systemd/kbdump.timer",
  "systemd/nightly.yaml",
  "kubernetes/cronjob.yaml",
  "kubernetes/indexed-job.yaml",
  "container/Dockerfile",
])("jobs/%s says for whom it is, holds no secret, and is part of the package", async (path) => {
  const text = await read(path);
  expect(text).toMatch(/^# (For|Starts) /);
  expect(text).not.toMatch(looksSecret);
  const pattern = /grep -vE '([^']+)'/.exec(await readFile(".ci/run", "utf8"))?.[1] ?? "";
  expect(`package/jobs/${path}`).toMatch(new RegExp(pattern));
  expect(`package/jobs/${path}.bak`).not.toMatch(new RegExp(pattern));
  expect(documentation).toContain(`jobs/${path}`);
});

/** The values in a systemd unit by `Section.Key`, in order. */
function unitFrom(text: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  let section = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section;
    const [, key, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key) values.set(`${section}.${key}`, [...(values.get(`${section}.${key}`) ?? []), value]);
  }
  return values;
}

test.runIf(spawnSync("systemd-analyze", ["--version"]).status === 0)(
  "systemd has nothing to say against the units",
  async () => {
    const folder = await testFolder();
    const service = await read("systemd/kbdump.service");
    expect(service).toContain("\nExecStart=/usr/local/bin/kbdump ");
    await writeFile(join(folder, "kbdump.service"), service.replace("/usr/local/bin/kbdump", "/bin/true"));
    await writeFile(join(folder, "kbdump.timer"), await read("systemd/kbdump.timer"));
    const units = ["kbdump.service", "kbdump.timer"].map((name) => join(folder, name));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", ...units], { encoding: "utf8" });
    expect({ status, said: (stdout + stderr).split("\n").filter((line) => line.includes("kbdump")) }).toEqual({
      status: 0,
      said: [],
    });
  },
);

test.runIf(inFull)(
  "the service runs as systemd would run it: credentials, variables and working directory",
  async () => {
    const store = new Store();
    const dataset = store.addDataset(makeDocument({ chunks: 3 }));
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const receiver = await startReceiver();
    const unit = unitFrom(await read("systemd/kbdump.service"));
    const [credentials, state] = [await testFolder(), await testFolder()];
    const files: Record<string, string> = {
      api_key: `${server.key}\n`,
      "nightly.yaml": await read("systemd/nightly.yaml"),
    };
    const loaded = (unit.get("Service.LoadCredential") ?? []).map((entry) => entry.split(":")[0] ?? "");
    expect(loaded.sort()).toEqual(Object.keys(files).sort());
    for (const name of loaded) await writeFile(join(credentials, name), files[name] ?? "");
    const env = {
      CREDENTIALS_DIRECTORY: credentials,
      KNOWLEDGE_BASE_URL: server.url,
      KNOWLEDGE_DATASET_ID: dataset.id,
      NOTIFY_URL: receiver.url,
    };
    const [, ...args] = (unit.get("Service.ExecStart")?.[0] ?? "").split(" ");
    const given = args.map((argument) => argument.replace(/^\$\{CREDENTIALS_DIRECTORY\}/, credentials));
    const { code, stdout } = await runKbdump([...given, "--format", "jsonl"], env, state);
    expect([code, stdout.split(":")[0], receiver.paths()]).toEqual([0, "complete", "/start /"]);
    expect(await readFile(join(state, "output", "nightly", "metrics.prom"), "utf8")).toContain("kbdump_runs_total");
    const [wrong, partial] = [exitCodes.usage, exitCodes.partial];
    expect(unit.get("Service.RestartPreventExitStatus")).toEqual([`${wrong} ${partial}`]);
    expect(unit.get("Service.SuccessExitStatus")).toEqual([String(new InterruptedError("SIGTERM").exitCode)]);
  },
);

test("the pod finds its job, its key and its volume at their mount paths, and is not retried without need", async () => {
  const { ConfigMap, PersistentVolumeClaim, CronJob } = JSON.parse(JSON.stringify(await manifestsOf("cronjob.yaml")));
  const folder = await testFolder();
  await writeFile(join(folder, "nightly.yaml"), ConfigMap.data["nightly.yaml"]);
  const job = await loadJob({ file: join(folder, "nightly.yaml") }, {}, { NOTIFY_URL: "https://hc-ping.com/uuid" });
  const { spec } = CronJob.spec.jobTemplate;
  const [container] = spec.template.spec.containers;
  const paths = [container.args[1], job.service.apiKeyFile ?? "", job.output.dir];
  expectMounted(spec.template.spec, paths, PersistentVolumeClaim.metadata.name);
  expect(container.args[1]).toBe("/etc/kbdump/nightly.yaml");
  expect(spec.podFailurePolicy.rules[0].onExitCodes.values).toEqual([exitCodes.usage, exitCodes.partial]);
  expect(spec.template.spec.restartPolicy).toBe("Never"); // podFailurePolicy requires this
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  expect(container.image).toMatch(/:\d+\.\d+\.\d+$/);
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

test.runIf(inFull)("every line of the pod's log is JSON, whether the run is complete, partial or wrong", async () => {
  const { CronJob } = JSON.parse(JSON.stringify(await manifestsOf("cronjob.yaml")));
  const [command, , ...flags] = CronJob.spec.jobTemplate.spec.template.spec.containers[0].args;
  const store = new Store();
  const document = makeDocument({ chunks: 1 });
  const dataset = store.addDataset(document);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const datasets = (...documents: string[]) => [{ id: dataset.id, documents }];
  const output = { formats: ["jsonl"] };
  for (const [code, job] of [
    [0, { datasets: datasets(document.id) }],
    [3, { datasets: datasets(document.id, "00000000-0000-4000-8000-00000000dead") }],
    [2, { datasets: [] }],
  ] as const) {
    const file = await jobFile(folder, { service: { base_url: server.url, retries: 0 }, output, ...job });
    const ended = await runHere([command, file, ...flags], { KNOWLEDGE_API_KEY: server.key });
    expect(ended.code, ended.stderr).toBe(code);
    const lines = (ended.stderr + ended.stdout).trimEnd().split("\n");
    for (const line of lines) expect(JSON.parse(line), line).toBeTypeOf("object");
  }
});

test("the image installs from the lock file, contains no sources, and starts the program", async () => {
  const [, build = "", image = ""] = (await read("container/Dockerfile")).split(/^FROM node:\d+-bookworm-slim/m);
  for (const [command] of build.matchAll(/npm [a-z]+/g)) expect(["npm ci", "npm run"]).toContain(command);
  expect(image).not.toMatch(/npm|COPY (?!--from=build)/);
  const copied = [...image.matchAll(/^COPY --from=build (.*) \S+$/gm)].flatMap(([, paths = ""]) => paths.split(" "));
  expect(copied).toEqual(["package.json", "LICENSE", "dist", "jobs", "node_modules"].map((name) => `/kbdump/${name}`));
  const { bin } = JSON.parse(await readFile("package.json", "utf8"));
  expect(image).toContain(`exec node /kbdump/${bin.kbdump} `);
});

test("the line for cron prints something only if a run is not complete", async () => {
  const line = /^# {3}0 2 \* \* \* {2}(.*)$/m.exec(await read("nightly.yaml"))?.[1] ?? "";
  expect(documentation).toContain(line.replace(/^.*?(?=kbdump run)/, "").replace("jobs/", ""));
  const folder = await testFolder();
  await mkdir(join(folder, "bin"));
  const program = join(folder, "bin", "kbdump");
  await writeFile(join(folder, ".kbdump.env"), "");
  for (const code of [0, 3]) {
    await writeFile(program, `#!/bin/sh\necho "said: $*"\nexit ${code}\n`, { mode: 0o755 });
    const { stdout } = spawnSync("sh", ["-c", line.replace("/srv/kbdump", folder)], {
      env: { HOME: folder, PATH: `${join(folder, "bin")}:${process.env.PATH}` },
      encoding: "utf8",
    });
    expect(stdout).toBe(code === 0 ? "" : "said: run jobs/nightly.yaml --quiet\n");
  }
});
