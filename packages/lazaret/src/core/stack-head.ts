const HEAD_LOOKED_AT = 512;
const LEAD = 64;

/**
 * Where the frames of a stack begin: after the message that most languages repeat in front of them, else 0.
 * A message is somebody else's text, and lines of it may look like frames.
 */
export function framesStart(stack: string, message: string): number {
  if (message === '') return 0;
  const at = stack.slice(0, HEAD_LOOKED_AT).indexOf(message.slice(0, LEAD));
  return at === -1 ? 0 : at + message.length;
}
