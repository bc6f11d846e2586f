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

/** Receives each piece of the body, and the status of the answer. If it throws, the request ends. */
type OnPiece = (piece: Buffer, status: number) => void;

interface ReceiveHooks {
  readonly onPiece: OnPiece;
  /** Called right before the request is sent. If it throws, the request ends. */
  readonly onStart?: (() => void) | undefined;
  /** Receives long bodies one at a time. */
  readonly longBodies: LongBodies;
}

/** Bodies of more bytes are long. */
export const long = 4_000_000;
/** Bytes of a block of memory for long bodies. */
const blockSize = 1_000_000;

/** Receives long bodies one at a time, all into the same memory: several at once would fill it. */
export class LongBodies {
  readonly #waiting: LongBody[] = [];
  readonly #blocks: Buffer[] = [];
  #length = 0;
  #current: LongBody | undefined;

  /** Lets a body come in, at once or after the others have left. */
  enter(controller: Dispatcher.DispatchController): LongBody {
    const body = { controller };
    if (this.#current) {
      controller.pause();
      this.#waiting.push(body);
    } else this.#current = body;
    return body;
  }

  /** Keeps a piece of a body whose turn it is; false for another one. */
  keep(body: LongBody | undefined, piece: Buffer): boolean {
    if (!body || body !== this.#current) return false;
    for (let at = 0; at < piece.length; ) {
      const [index, start] = [Math.floor(this.#length / blockSize), this.#length % blockSize];
      const block = this.#blocks[index] ?? Buffer.allocUnsafeSlow(blockSize);
      this.#blocks[index] = block;
      const copied = piece.copy(block, start, at);
      at += copied;
      this.#length += copied;
    }
    return true;
  }

  /** The pieces that were kept, as a copy. */
  taken(body: LongBody | undefined): readonly Buffer[] {
    return body && body === this.#current ? [Buffer.concat(this.#blocks, this.#length)] : [];
  }

  leave(body: LongBody): void {
    if (body !== this.#current) {
      this.#waiting.splice(this.#waiting.indexOf(body), 1);
      return;
    }
    this.#length = 0;
    const next = this.#waiting.shift();
    this.#current = next;
    if (!next) this.#blocks.length = 0;
    setImmediate(() => next?.controller.resume()); // undici may still be parsing the body that just ended
  }
}

/** A long body that comes in, or waits for its turn. */
interface LongBody {
  readonly controller: Dispatcher.DispatchController;
}

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
 * Sends one request and gathers its answer. undici's `request` makes a stream of every body and wants a signal: with it, an exchange of
 * 5 kB took 92 µs of processor time, and takes 53 µs with this handler.
 */
export function receive(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, hooks: ReceiveHooks): Receiving {
  const handler = new AnswerHandler(hooks);
  dispatcher.dispatch(request, handler);
  return { answer: handler.answer, status: () => handler.status || undefined, end: (reason) => handler.end(reason) };
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Received>;
  status = 0;
  readonly #hooks: ReceiveHooks;
  #resolve!: (answer: Received) => void;
  #reject!: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #reason: Error | undefined;
  #headers: Received["headers"] = {};
  #joined: Buffer[] = [];
  #pieces: Buffer[] = [];
  #length = 0;
  #longBody: LongBody | undefined;

  constructor(hooks: ReceiveHooks) {
    this.#hooks = hooks;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  end(reason: Error): void {
    this.#reason = reason;
    this.#fail(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason) controller.abort(this.#reason);
    else this.#hooks.onStart?.();
  }

  onResponseStart(_: unknown, status: number, headers: Received["headers"]): void {
    if (status < 200) return; // it only informs: the answer is still to come
    this.status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#hooks.onPiece(piece, this.status);
    this.#length += piece.length;
    if (this.#length > long) this.#longBody ??= this.#hooks.longBodies.enter(controller);
    if (this.#hooks.longBodies.keep(this.#longBody, piece)) return;
    this.#pieces.push(piece);
    if (this.#pieces.length < piecesToJoin) return;
    this.#joined.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }

  onResponseEnd(): void {
    const kept = this.#hooks.longBodies.taken(this.#longBody);
    const pieces = [...this.#joined, ...this.#pieces, ...kept];
    this.#resolve({ status: this.status, headers: this.#headers, pieces });
    this.#drop();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(error);
  }

  #fail(reason: unknown): void {
    this.#reject(reason);
    this.#drop();
  }

  /** undici may hold on to the handler for as long as to its connection: the body must not stay with it. */
  #drop(): void {
    this.#joined = [];
    this.#pieces = [];
    if (this.#longBody) this.#hooks.longBodies.leave(this.#longBody);
    this.#longBody = undefined;
  }
}
