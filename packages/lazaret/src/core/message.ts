/**
 * A message as every broker can carry it: an id, an ordering key, bytes, and a header list.
 * Plain data; nothing on its way through Lazaret parses and re-serialises a body.
 */
export interface Message {
  /** `lazaret-id`, else the configured extractor, else the broker's id at first sight. Absent until our first copy gives one. */
  readonly id?: string;
  /** Ordering key: messages of one key keep their order where the broker can promise it. */
  readonly key?: string;
  /** `null` (a Kafka tombstone) is not the same as empty. */
  readonly body: Uint8Array | null;
  readonly headers: HeaderList;
  /** The driver's lossless envelope, opaque above the driver and handed back on replay. */
  readonly native?: Native;
}

export type HeaderValue = string | Uint8Array;

/** An ordered multimap: names may repeat, and a name is never the key of a plain object, so `__proto__` is a name like others. */
export type HeaderList = readonly (readonly [name: string, value: HeaderValue])[];

export interface Native {
  readonly driver: string;
  readonly version: number;
  readonly bytes: Uint8Array;
}

export const NO_HEADERS: HeaderList = Object.freeze([]);

/** The first value of `name` as text (bytes are read as UTF-8), or `undefined`. Names are compared exactly. */
export function headerText(headers: HeaderList, name: string): string | undefined {
  for (const [candidate, value] of headers) {
    if (candidate === name) return typeof value === 'string' ? value : new TextDecoder().decode(value);
  }
  return undefined;
}

/** A copy of `headers` in which `name` stands once, at the end, with `value`. */
export function withHeader(headers: HeaderList, name: string, value: HeaderValue): HeaderList {
  return [...withoutHeaders(headers, [name]), [name, value]];
}

/** `headers` without any of `names`; the same list when none occurs. */
export function withoutHeaders(headers: HeaderList, names: readonly string[]): HeaderList {
  return headers.some(([name]) => names.includes(name)) ? headers.filter(([name]) => !names.includes(name)) : headers;
}
