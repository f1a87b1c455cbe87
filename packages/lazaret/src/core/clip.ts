const LONE_SURROGATE = /\p{Surrogate}/u;
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]+/gu;
const ELLIPSIS = '…';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * `text` in at most `max` UTF-16 units, ending in `…` where something was cut.
 * The result can always be encoded: lone surrogates become U+FFFD and no pair is cut in half. Control characters stay.
 */
export function clip(text: string, max: number): string {
  if (text.length <= max) return LONE_SURROGATE.test(text) ? copy(text) : text;
  return copy(wholeStart(text, max - ELLIPSIS.length)) + ELLIPSIS;
}

/** `text` on one line for people: at most `max` units, no control, format, private or unassigned characters, no line breaks. */
export function oneLine(text: string, max: number): string {
  return clip(
    clip(text, max * 2)
      .replace(NOT_PRINTABLE, ' ')
      .trim(),
    max,
  );
}

/** The first `max` units of `text`, one fewer where that would leave half of a surrogate pair. */
export function wholeStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}

/** Also frees the original: a slice would keep all of a 10 MB text alive behind it. */
function copy(text: string): string {
  return decoder.decode(encoder.encode(text));
}
