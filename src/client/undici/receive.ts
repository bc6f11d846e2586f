import type { Dispatcher } from "undici";

/** An answer as it came over the wire, its body in the pieces that came. */
export interface Received {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly pieces: readonly Buffer[];
}

/** Pieces that are joined to one. Each takes a hundred bytes beside its own, and some services send a body byte by byte. */
const piecesToJoin = 1024;

/** Is given every piece of a body, and the status of the answer. */
type OnPiece = (piece: Buffer, status: number) => void;

/** One request under way. */
export interface Receiving {
  /** Rejects with the error of the connection, or with what `end` was given. */
  readonly answer: Promise<Received>;
  /** The status of the answer, as soon as its headers are in. */
  readonly status: () => number | undefined;
  /** Ends the request, also one that still waits for its connection; without effect once the answer is in. */
  readonly end: (reason: Error) => void;
}

/**
 * Sends one request and gathers its answer. What `onPiece` or `onStart` throws ends the request; `onStart` is called
 * right before its first byte leaves. undici's `request` makes a stream of every
 * body and wants a signal: with it, an exchange of 5 kB took 92 µs of processor time, and takes 53 µs with this handler.
 */
export function receive(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  onPiece: OnPiece,
  onStart?: () => void,
): Receiving {
  const handler = new AnswerHandler(onPiece, onStart);
  dispatcher.dispatch(request, handler);
  return { answer: handler.answer, status: () => handler.status || undefined, end: (reason) => handler.end(reason) };
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Received>;
  status = 0;
  readonly #onPiece: OnPiece;
  readonly #onStart: (() => void) | undefined;
  #resolve!: (answer: Received) => void;
  #reject!: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #reason: Error | undefined;
  #headers: Received["headers"] = {};
  readonly #joined: Buffer[] = [];
  #pieces: Buffer[] = [];

  constructor(onPiece: OnPiece, onStart: (() => void) | undefined) {
    this.#onPiece = onPiece;
    this.#onStart = onStart;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  end(reason: Error): void {
    this.#reason = reason;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason) controller.abort(this.#reason);
    else this.#onStart?.();
  }

  onResponseStart(_: unknown, status: number, headers: Received["headers"]): void {
    if (status < 200) return; // it only informs: the answer is still to come
    this.status = status;
    this.#headers = headers;
  }

  onResponseData(_: unknown, piece: Buffer): void {
    this.#onPiece(piece, this.status);
    this.#pieces.push(piece);
    if (this.#pieces.length < piecesToJoin) return;
    this.#joined.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }

  onResponseEnd(): void {
    const pieces = this.#joined.length > 0 ? [...this.#joined, ...this.#pieces] : this.#pieces;
    this.#resolve({ status: this.status, headers: this.#headers, pieces });
  }

  onResponseError(_: unknown, error: Error): void {
    this.#reject(error);
  }
}
