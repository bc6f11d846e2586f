import { type Fate, type LossyWire, openLossyWire } from "./lossy-wire.js";

export interface FatedWire extends LossyWire {
  /** A signal that aborts at the n-th write from now. */
  readonly breakAt: (number: number) => AbortSignal;
  /** Lets every later write pass, and aborts no signal. */
  readonly mend: () => void;
}

/** A proxy that does these things to the first writes, in order. Reads and all later writes pass. */
export async function openFatedWire(service: string, fates: readonly Fate[]): Promise<FatedWire> {
  let left = fates;
  let onWrite = () => {};
  const wire = await openLossyWire(service, ({ method }) => {
    if (method === "GET") return "pass";
    onWrite();
    const [fate = "pass", ...others] = left;
    left = others;
    return fate;
  });
  return {
    ...wire,
    breakAt: (number) => {
      const broken = new AbortController();
      let writes = 0;
      onWrite = () => {
        if (++writes === number) broken.abort(new Error("broken off"));
      };
      return broken.signal;
    },
    mend: () => {
      left = [];
      onWrite = () => {};
    },
  };
}
