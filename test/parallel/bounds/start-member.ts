import { onTestFinished } from "vitest";
import { openClient } from "../../../src/client/open-client.js";
import { emptyRequestCounts } from "../../../src/client/request-counts.js";
import { openSharedBounds } from "../../../src/parallel/bounds/open-shared-bounds.js";
import { openBroker } from "../../../src/parallel/broker.js";
import { testKey } from "../../client/open-test-http.js";

export interface MemberOptions {
  readonly broker: string;
  readonly service: string;
  readonly name: string;
  readonly concurrency?: number;
  readonly maxRps?: number;
  /** Requests that are always asked for at once. */
  readonly asked?: number;
}

/** One that reads a service under shared bounds, with connections of its own, as a process does. */
export interface TestMember {
  readonly said: readonly string[];
  readonly answered: () => number;
  readonly throttled: () => number;
  /** Asks for no more, and waits for what is under way. */
  readonly pause: () => Promise<void>;
  readonly goOn: () => void;
  /** Gives everything back. */
  readonly leave: () => Promise<void>;
}

export async function startMember(options: MemberOptions): Promise<TestMember> {
  const { service, name, concurrency = 8, maxRps, asked = concurrency } = options;
  const broker = await openBroker(options.broker);
  const said: string[] = [];
  const shared = openSharedBounds(broker, { service, concurrency, maxRps, say: (text) => said.push(text) });
  const progress = emptyRequestCounts();
  const client = openClient({ baseUrl: service, key: testKey, concurrency, shared, progress, timeout: 20 });
  let isOn = false;
  let isOver = false;
  let answered = 0;
  let loops: Promise<unknown> = Promise.resolve();
  const loop = async () => {
    while (isOn) {
      await client.documents(name, 1);
      answered++;
    }
  };
  const goOn = () => {
    isOn = true;
    loops = Promise.allSettled(Array.from({ length: asked }, loop));
  };
  const leave = async () => {
    if (isOver) return;
    isOver = true;
    isOn = false;
    await client.close();
    await loops;
    await shared.close();
    broker.close();
  };
  onTestFinished(leave);
  goOn();
  const pause = async () => {
    isOn = false;
    await loops;
  };
  return { said, answered: () => answered, throttled: () => progress.throttled, pause, goOn, leave };
}
