/** Who remembers how often a message was started and failed. */
export type Counting = 'broker' | 'own journal' | 'store' | 'nobody';

/** How exactly attempts and crashes are counted, for people; `undefined` where the broker does it by itself, exactly. */
export function countingSentence(by: Counting, failures: 'row' | 'copy' | 'journal'): string | undefined {
  switch (by) {
    case 'broker':
      return undefined;
    case 'own journal':
      return 'counting: exact (journal)';
    case 'store':
      return "counting: exact (journal in the app's store); a message without an id is not in it";
    case 'nobody':
      return failures === 'journal'
        ? "counting: approximate (the broker's count of deliveries, where a kill spends an attempt and crashes are not known); name a 'store'"
        : "counting: attempts exact, crashes approximate (the broker's count of deliveries); name a 'store'";
  }
}
