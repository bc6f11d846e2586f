import * as v from "valibot";
import { withFolderName } from "../cli/bucket-names.js";
import { defineCommand } from "../cli/command.js";
import { findOptionsFrom, formatOption, outOption } from "../cli/options.js";
import { renderReading } from "../cli/progress-text.js";
import { count, listOf, result, text } from "../schema.js";
import { commandText } from "../shell-text.js";
import { runResult } from "./run/result.js";

const epilog = `Examples:
  kbdump join nightly
  kbdump join nightly.yaml
  kbdump join gathered/*-of-16 --out output
  kbdump join s3://kb-dumps/team/nightly

The shards are verified first, as kbdump verify does it, and so is that they are one run: the same job, version and list of documents, each shard once. The dump is published as a run of the job.

Exit codes: 0 complete · 1 failed, nothing published: a shard is missing, damaged or of another run · 2 wrong usage, or no shards · 3 published, but partial: some documents failed or changed while they were read, the lists of the shards differ, or latest, the database or stdout could not be written · 5 another run of this job is active · 130, 143 interrupted`;

/** `kbdump join <shards…>`: makes one dump from the shards of a run. */
export const command = defineCommand({
  name: "join <shards..>",
  about: "join the shards of a run to one dump, and publish it",
  positionals: {
    shards: {
      type: "string",
      array: true,
      demandOption: true,
      names: "folder",
      describe: "a job, to join the newest runs of all its shards; or run folders of all shards",
    },
  },
  options: { ...outOption, ...formatOption },
  epilog,
  results: () => ({ join: joinResult }),
  async run(args, environment) {
    const { findShards } = await import("../join/find-shards.js");
    const found = await findShards(args.shards, findOptionsFrom(args, environment));
    const { emptyJoinProgress, joinShards } = await import("../join/join-shards.js"); // slow to load; --help does not need it
    const progress = emptyJoinProgress();
    const start = performance.now();
    const { signal, env, names, view, committing: onCommit } = environment;
    const unwatch = view.watch(renderReading(progress));
    const invocation = environment.invocation();
    const { program } = invocation;
    const { out, format } = args;
    const context = { program, progress, signal, env, log: view.log, onCommit, out, format };
    const joined = await joinShards(found, context).finally(unwatch);
    const result = { ...joined, shards: joined.shards.map((shard) => withFolderName(shard, names)) };
    const elapsed = performance.now() - start;
    const { printRun } = await import("./run/summary.js"); // slow to load
    const mend = [...result.mend, commandText(invocation)];
    return printRun(result, elapsed, args, environment, mend, { shards: result.shards });
  },
});

/** The result of `kbdump join --json`: the result of a run, plus the joined runs. */
export const joinResult = result({
  ...runResult.entries,
  shards: v.pipe(
    listOf(result({ index: count, run_id: text, folder: text })),
    v.description("the runs that were joined, in the order of their shards"),
  ),
});
