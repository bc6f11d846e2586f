import type { Format, Job } from "../job/job.js";

/** The formats that a run of this job writes. A shard writes JSONL, of which `kbdump join` makes those that the job asks for. */
export function writtenFormats({ shard, output }: Pick<Job, "shard" | "output">): readonly Format[] {
  return shard ? ["jsonl"] : output.formats;
}
