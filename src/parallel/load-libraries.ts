import { UsageError } from "../errors.js";

/** The libraries that only runs with workers need. */
export interface Libraries {
  readonly bullmq: typeof import("bullmq");
  readonly Redis: typeof import("ioredis").Redis;
  readonly Mutex: typeof import("redis-semaphore").Mutex;
}

const names = "bullmq ioredis redis-semaphore";

/** Loads what kbdump does not bring along, because few need it. UsageError where it is not installed. */
export async function loadLibraries(): Promise<Libraries> {
  try {
    const [bullmq, { Redis }, { Mutex }] = await Promise.all([
      import("bullmq"),
      import("ioredis"),
      import("redis-semaphore"),
    ]);
    return { bullmq, Redis, Mutex };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new UsageError(
      `Workers need ${names}, which are not all installed. Run npm install ${names} in the folder where you installed kbdump; after npm install --global kbdump, run npm install --global ${names}`,
      [],
    );
  }
}
