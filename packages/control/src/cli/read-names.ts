import { readField } from './safe-text.ts';

const NUMBER = /^[0-9]+$/;

/**
 * What is piped in: one name a line, and of a tab-separated line its first field, so that the output of a list can be handed on. A number
 * there is a letter's, whatever ids messages have.
 */
export async function readNames(input: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of input) text += decoder.decode(chunk, { stream: true });
  return (text + decoder.decode())
    .split(/\r?\n/)
    .map((line) => readField(line.split('\t', 1)[0]!.trim()))
    .map((name) => (NUMBER.test(name) ? `#${name}` : name))
    .filter((name) => name !== '');
}
