/** Says something to whoever watches a run; never a result. */
export type Log = (level: "info" | "warn", message: string) => void;
