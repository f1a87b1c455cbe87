/** What a process knows of the others that consume its queue. Changes while it runs. */
export interface Fleet {
  /** Whether others are heard at present: then one of them all probes. */
  joined: boolean;
  /** This one included, as far as anybody knows. */
  processes: number;
}

export const ALONE: Readonly<Fleet> = { joined: false, processes: 1 };
