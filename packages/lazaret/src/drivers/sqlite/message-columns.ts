import type { Message } from '../../core/message.ts';
import { messageOf } from '../../core/stored-message.ts';
import type { Value } from '../../sqlite/binding.ts';
import { loadText } from '../../sqlite/text.ts';

/** A message from its columns. */
export function loadMessage(id: Value, key: Value, headers: Value, native: Value, body: Value): Message {
  return messageOf(
    loadText(id as string | Uint8Array),
    key === null ? null : loadText(key as string | Uint8Array),
    headers as string | null,
    native as string | null,
    body as Uint8Array | null,
  );
}
