import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { envFor, type TestStore } from "./start-s3.js";

/** A proxy between a run and a store. It can hold back requests, change the time in answers, or refuse. */
export interface StoreProxy {
  readonly env: NodeJS.ProcessEnv;
  /** Requests so far: `PUT /bucket/key`. */
  readonly requests: readonly string[];
  /** Holds back the n-th request from now and all later ones. Resolves to that request when it arrives. */
  readonly holdAt: (number: number) => Promise<string>;
  /** Holds back the first request for which the function returns true, and all later ones. Resolves to that request when it arrives. */
  readonly holdWhere: (isIt: (request: string) => boolean) => Promise<string>;
  readonly letGo: () => void;
  /** Moves the clock in answers forward by this many milliseconds. */
  readonly ageBy: (milliseconds: number) => void;
  /** Answers requests with the error that the function returns. null: cuts the connection; undefined: forwards the request. */
  readonly refuse: (decide: (request: string) => { status: number; code: string } | null | undefined) => void;
}

/** Starts a proxy for a test. */
export async function startStoreProxy(store: TestStore): Promise<StoreProxy> {
  const requests: string[] = [];
  let age = 0;
  let [isHolding, isFirst] = [false, (_request: string, _number: number) => false];
  let decide: Parameters<StoreProxy["refuse"]>[0] = () => undefined;
  let reached = (_request: string) => {};
  let open = () => {};
  let gate = Promise.resolve();
  const server = createServer(async (incoming, answer) => {
    const name = `${incoming.method} ${incoming.url}`;
    const number = requests.push(name) - 1;
    isHolding ||= isFirst(name, number);
    if (isHolding) {
      reached(name);
      await gate;
    }
    const refusal = decide(name);
    if (refusal === null) return void incoming.socket.destroy();
    if (refusal === undefined) return forward(incoming, answer, store.port, () => age);
    incoming.resume();
    answer.writeHead(refusal.status, { "content-type": "application/xml" });
    answer.end(`<Error><Code>${refusal.code}</Code><Message>no</Message></Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    open();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const leased = (isIt: typeof isFirst): Promise<string> => {
    isFirst = isIt;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return new Promise((resolve) => {
      reached = resolve;
    });
  };
  return {
    env: envFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    requests,
    holdAt: (number) => {
      const at = requests.length + number;
      return leased((_request, index) => index >= at);
    },
    holdWhere: (isIt) => leased(isIt),
    letGo: () => {
      [isHolding, isFirst] = [false, () => false];
      open();
    },
    ageBy: (milliseconds) => {
      age = milliseconds;
    },
    refuse: (function_) => {
      decide = function_;
    },
  };
}

function forward(incoming: IncomingMessage, answer: ServerResponse, port: number, age: () => number): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: "127.0.0.1", port, method, path, headers }, (received) => {
    const date = new Date(Date.parse(received.headers.date ?? "") + age()).toUTCString();
    answer.writeHead(received.statusCode ?? 500, { ...received.headers, date });
    received.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  incoming.pipe(onward);
}
