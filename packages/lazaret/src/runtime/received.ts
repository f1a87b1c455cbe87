import { DecodeError } from '../core/failures.ts';
import type { HeaderList, Message } from '../core/message.ts';
import { headerText } from '../core/message.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A message as a handler sees it. Reading it never changes it. `T` is what `json()` gives where the app is typed or has a schema. */
export class ReceivedMessage<T = unknown> {
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

  /** The bytes as they came; `null` for a tombstone. */
  get body(): Uint8Array | null {
    return this.#message.body;
  }

  get headers(): HeaderList {
    return this.#message.headers;
  }

  /** The first value of a header as text. */
  header(name: string): string | undefined {
    return headerText(this.#message.headers, name);
  }

  /** The body as text. Throws `DecodeError` where it is not UTF-8; '' for a tombstone. */
  text(): string {
    const { body } = this.#message;
    if (body === null) return '';
    try {
      return utf8.decode(body);
    } catch (cause) {
      throw new DecodeError('body is not UTF-8 text', { cause });
    }
  }

  /** The body as JSON, parsed once. Throws `DecodeError` where it is none: quarantined on the first attempt. `null` for a tombstone. */
  json<As = T>(): As {
    if (!this.#read) {
      this.#value = this.#message.body === null ? (null as T) : parse<T>(this.text());
      this.#read = true;
    }
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
