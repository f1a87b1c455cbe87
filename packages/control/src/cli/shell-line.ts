const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** A command as one may paste it: words that a shell would read otherwise stand in quotes. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
