import type { Broker } from "../broker/open-broker.js";
import type { SharedBounds } from "../client/shared-bounds.js";
export interface OpenSharedBounds extends SharedBounds {
  readonly share: () => number;
  readonly close: () => Promise<void>;
}
export async function openSharedBounds(
  _b: Broker,
  o: {
    service: string;
    concurrency: number;
    maxRps: number | undefined;
    most: number | undefined;
    signal: AbortSignal;
    say: (t: string) => void;
  },
): Promise<OpenSharedBounds> {
  return {
    share: () => o.most ?? o.concurrency,
    close: async () => {},
    enter: async () => ({ isSure: () => true, leave: () => {} }),
    rate: () => Infinity,
    pause: () => {},
    onPause: () => {},
  };
}
