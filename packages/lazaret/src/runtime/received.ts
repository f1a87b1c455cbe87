import { DecodeError } from '../core/failures.ts';
import type { HeaderList, Message } from '../core/message.ts';
import { headerText } from '../core/message.ts';

/** A message as a handler sees it. Reading it never changes it. `T` is what `json()` gives where the app is typed or has a schema. */
export interface ReceivedMessage<T = unknown> {
  readonly id: string | undefined;
  readonly key: string | undefined;
  /** The bytes as they came; `null` for a tombstone. */
  readonly body: Uint8Array | null;
  readonly headers: HeaderList;
  /** The first value of a header as text. */
  header(name: string): string | undefined;
  /** The body as text. Throws `DecodeError` where it is not UTF-8; '' for a tombstone. */
  text(): string;
  /**
   * The body as JSON, parsed once; with a schema, what the schema made of it. Throws `DecodeError` where it is none: quarantined on the
   * first attempt. `null` for a tombstone. `json<Order>()` says what the app's types do not, and checks nothing.
   */
  json<As = T>(): As;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The message of a delivery, for the handler that runs on it. */
export class Incoming<T = unknown> implements ReceivedMessage<T> {
  readonly #message: Message;
  #value: T | undefined;
  #read = false;

  constructor(message: Message) {
    this.#message = message;
  }

  get id(): string | undefined {
    return this.#message.id;
  }

  get key(): string | undefined {
    return this.#message.key;
  }

  get body(): Uint8Array | null {
    return this.#message.body;
  }

  get headers(): HeaderList {
    return this.#message.headers;
  }

  header(name: string): string | undefined {
    return headerText(this.#message.headers, name);
  }

  text(): string {
    const { body } = this.#message;
    if (body === null) return '';
    try {
      return utf8.decode(body);
    } catch (cause) {
      throw new DecodeError('body is not UTF-8 text', { cause });
    }
  }

  json<As = T>(): As {
    if (!this.#read) this.replace(this.#message.body === null ? (null as T) : parse<T>(this.text()));
    return this.#value as unknown as As;
  }

  /** What a schema made of the body; `json()` gives it from then on. */
  replace(value: T): void {
    this.#value = value;
    this.#read = true;
  }
}

function parse<T>(text: string): T {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as T;
  } catch (cause) {
    throw new DecodeError(cause instanceof Error ? cause.message : 'body is not JSON', { cause });
  }
}
